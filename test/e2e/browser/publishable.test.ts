import { expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { Browser } from "playwright-core"
import { LIMITS } from "../../../src/contract/limits.ts"
import { ReducedResult } from "../../../src/contract/result-schema.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { bounded } from "../../support/bounded.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing, openBrowser, STEP_MS } from "./browser.ts"
import { pageServer } from "./page-server.ts"

const Made = Type.Object({ key: Type.String() })

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
  const page = await bounded(browser.newPage(), () => "the browser opened no page")
  await page.goto(`${origin}/`, { timeout: STEP_MS })
  const ask = (sent: Sent): Promise<Got> =>
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
  return sent => bounded(ask(sent), () => `the page of ${origin} got nothing from ${sent.method} ${sent.url}`)
}

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the page of an allowed origin reads the reduced result and its limits, and another page reads nothing`,
  async () => {
    const [{ origin: allowed }, { origin: stranger }] = [pageServer(), pageServer()]
    const [browser, { url: server, run, stop }] = await Promise.all([openBrowser(), serverProcess()])
    onTestEnd(stop)
    await run("account", "create", "page@example.com", "--tier", "0")
    const made = await run("key", "create", "--account", "page@example.com", "--publishable", "--origin", allowed)
    const { key } = Value.Decode(Made, made)
    const [fromAllowed, fromStranger] = await Promise.all([openPage(browser, allowed), openPage(browser, stranger)])
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
  BROWSER_TEST_MS,
)
