import { afterAll, expect, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Value } from "@sinclair/typebox/value"
import type { Browser } from "playwright-core"
import { LIMITS } from "../../src/contract/limits.ts"
import { ReducedResult } from "../../src/contract/schemas.ts"
import { ROOT } from "../house/source.ts"

const CHROMIUM = ["/usr/bin/chromium", Bun.which("chromium"), Bun.which("google-chrome")].find(
  (path): path is string => path !== null && existsSync(path),
)
/** Null: it is not installed. */
const playwright = await import("playwright-core").catch(() => null)
const missing = [...(CHROMIUM === undefined ? ["Chromium"] : []), ...(playwright === null ? ["playwright-core"] : [])]

/** It talks to nobody but the page. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

const directory = mkdtempSync(join(tmpdir(), "mailkind-browser-"))
const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  rmSync(directory, { recursive: true, force: true })
})

/** Our program as a process of its own, in a data directory of its own. */
const spawn = (args: readonly string[]) =>
  Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), ...args], {
    cwd: directory,
    env: {
      HOME: directory,
      PATH: process.env["PATH"] ?? "",
      MAILKIND_PORT: "0",
      MAILKIND_DNS_SERVERS: "off",
      MAILKIND_IDENTITY_URL: "off",
    },
    stdout: "pipe",
    stderr: "pipe",
  })

/** Runs a command and gives what it printed. Rejects with its complaint when it fails. */
async function run(...args: string[]): Promise<string> {
  const child = spawn(args)
  const [out, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(complaint)
  return out.trim()
}

/** Starts the server and gives its address. */
async function serve(): Promise<string> {
  const child = spawn(["serve"])
  ends.push(() => {
    child.kill()
    return child.exited
  })
  let printed = ""
  for await (const chunk of child.stdout) {
    printed += new TextDecoder().decode(chunk)
    const address = /listens on (\S+)/.exec(printed)?.[1]
    if (address !== undefined) return address
  }
  throw new Error(`the server ended: ${await new Response(child.stderr).text()}`)
}

/** Serves an empty page and gives its origin. */
function pageOrigin(): string {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("<!doctype html><title>page</title>", { headers: { "Content-Type": "text/html" } }),
  })
  ends.push(() => server.stop(true))
  return `http://127.0.0.1:${server.port}`
}

async function launch(): Promise<Browser> {
  if (playwright === null || CHROMIUM === undefined) throw new Error("there is no browser")
  const browser = await playwright.chromium.launch({ executablePath: CHROMIUM, args: ARGS })
  ends.push(() => browser.close())
  return browser
}

type Sent = {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/** What a page's script got: an answer that it may read, or the name of the error that the browser threw at it. */
type Got = {
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly error?: string
}

/** A page of the origin, as a function that lets its script ask. */
async function openPage(browser: Browser, origin: string): Promise<(sent: Sent) => Promise<Got>> {
  const page = await browser.newPage()
  await page.goto(`${origin}/`)
  return sent =>
    page.evaluate<Got, Sent>(
      ({ url, ...init }) =>
        fetch(url, init).then(
          async answer => ({
            status: answer.status,
            body: await answer.json(),
            headers: Object.fromEntries(answer.headers),
          }),
          (error: unknown) => ({ error: error instanceof Error ? error.name : String(error) }),
        ),
      sent,
    )
}

const title =
  missing.length === 0 ? "in a browser" : `in a browser (skipped: ${missing.join(" and ")} is not installed)`

test.skipIf(missing.length > 0)(
  `${title}, the page of an allowed origin reads the reduced result and its limits, and another page reads nothing`,
  async () => {
    const [allowed, stranger] = [pageOrigin(), pageOrigin()]
    const makeKey = async (): Promise<string> => {
      await run("account", "create", "owner@localhost", "--tier", "0")
      return await run("key", "create", "--account", "owner@localhost", "--publishable", "--origin", allowed)
    }
    const [browser, key] = await Promise.all([launch(), makeKey()])
    const [server, fromAllowed, fromStranger] = await Promise.all([
      serve(),
      openPage(browser, allowed),
      openPage(browser, stranger),
    ])
    const get: Sent = {
      url: `${server}/v1/check?email=jane%40gmail.com`,
      method: "GET",
      headers: { Authorization: `Bearer ${key}` },
    }
    // JSON and a header for the key: the browser asks beforehand whether it may.
    const post: Sent = {
      url: `${server}/v1/check`,
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify({ email: "jane@mailinator.com", deep: true }),
    }

    const got = await fromAllowed(get)
    const posted = await fromAllowed(post)
    expect([got.status, posted.status]).toEqual([200, 200])
    expect([got.body, posted.body]).toMatchObject([{ category: "personal" }, { category: "disposable" }])
    for (const { body, headers = {} } of [got, posted]) {
      expect([...Value.Errors(ReducedResult, body)]).toEqual([])
      expect(headers["ratelimit-policy"]).toContain(`q=${LIMITS.publishableUnitsPerDay}`)
      expect(headers["ratelimit"]).toContain('"day";r=')
      expect(headers["x-request-id"]).toStartWith("req_")
    }
    const refused = await fromAllowed({ ...post, body: "{" })
    expect([refused.status, refused.body]).toMatchObject([400, { code: "invalid_input" }])

    for (const sent of [get, post]) expect(await fromStranger(sent)).toEqual({ error: "TypeError" })
    // Without a header for the key there is no preflight: the answer arrives, and the browser keeps it from the page.
    expect(await fromStranger({ ...get, headers: {} })).toEqual({ error: "TypeError" })
    // Only checks are a page's to ask for.
    const { headers } = get
    expect(await fromAllowed({ url: `${server}/v1/usage`, method: "GET", headers })).toEqual({ error: "TypeError" })
  },
  60_000,
)
