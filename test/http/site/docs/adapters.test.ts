import { describe, expect, spyOn, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import type { Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import { ADAPTERS } from "../../../../src/http/site/docs/adapters.ts"
import { testApp } from "../../../support/app.ts"
import { askLoopback } from "../../../support/loopback.ts"
import { onTestEnd } from "../../../support/on-test-end.ts"

const NO_ADDRESS = "That is not an email address."
const BLOCKED = "x@mailinator.com"
const DISPOSABLE = "Please use an address that you will keep."

/** What a person can enter, and what they are told; null: they are let in. */
const ENTERED: readonly (readonly [name: string, email: unknown, told: string | null])[] = [
  ["a business address", "jane@stripe.com", null],
  ["a blocked address", BLOCKED, DISPOSABLE],
  ["a blocked address before 70 000 blanks", BLOCKED + " ".repeat(70_000), DISPOSABLE],
  ["a blocked address among other white space", `\t\u00a0\u2028${BLOCKED}\u3000\r\n`, DISPOSABLE],
  ["a blocked address with a NUL", `${BLOCKED}\u0000`, NO_ADDRESS],
  ["a blocked address with a lone surrogate", `${BLOCKED}\ud800`, NO_ADDRESS],
  ["a blocked address with a long local part", `${"x".repeat(300)}@mailinator.com`, NO_ADDRESS],
  ["a text of 70 000 characters", `${"x".repeat(70_000)}@mailinator.com`, NO_ADDRESS],
  ["an empty text", "", NO_ADDRESS],
  ["blanks", " \u3000\n", NO_ADDRESS],
  ["nothing", undefined, NO_ADDRESS],
  ["null", null, NO_ADDRESS],
  ["a number", 7, NO_ADDRESS],
  ["true", true, NO_ADDRESS],
  ["an array", [BLOCKED], NO_ADDRESS],
  ["an object", { email: BLOCKED }, NO_ADDRESS],
  ["no address", "jane", NO_ADDRESS],
  ["a domain that gets no mail", "jane@nothing.invalid", "This address cannot receive email. Please check it."],
  ["a typing error that gets no mail", "jane@gmial.con", "Did you mean an address at gmail.com?"],
  ["a typing error that a form asks about", "jane@gmial.com", null],
]

const ROOT = join(import.meta.dir, "../../../..")
const LIBRARIES = ["hono", "elysia", "express", "fastify", "better-auth", "standardwebhooks"]
const HOOK_SECRET = `v1,whsec_${Buffer.from("a secret of the hook, for tests").toString("base64")}`

/** The real client, over the network of the test. */
const CLIENT = `
  import { createMailkind as create } from ${JSON.stringify(join(ROOT, "src/client/mailkind-client.ts"))}
  export const network = { fetch: null }
  export const createMailkind = options => create({ ...options, fetch: (...sent) => network.fetch(...sent) })`

/** better-auth without a database of its own keeps users in memory. */
const AUTH = ADAPTERS["better-auth"].text
  .replace('from "better-auth"\n', 'from "better-auth"\nimport { memoryAdapter } from "better-auth/adapters/memory"\n')
  .replace(
    "// ... your own options",
    `database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  secret: "a secret of thirty-two characters!", baseURL: "http://localhost", trustedOrigins: ["http://localhost"],
  logger: { disabled: true }, rateLimit: { enabled: false }, telemetry: { enabled: false },`,
  )

/** The adapters as the page shows them, with the libraries themselves, and a way to say who answers their requests. */
async function loadAdapters(key: string) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-adapters-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  mkdirSync(join(directory, "node_modules/mailkind-client"), { recursive: true })
  for (const name of LIBRARIES) symlinkSync(join(ROOT, "node_modules", name), join(directory, "node_modules", name))
  const adapters = Object.values(ADAPTERS).map(({ file, text }): [string, string] => [file, text])
  const files = Object.fromEntries(adapters)
  for (const [name, text] of Object.entries({
    ...files,
    [ADAPTERS["better-auth"].file]: AUTH,
    "node_modules/mailkind-client/index.js": CLIENT,
  }))
    writeFileSync(join(directory, name), text)
  const own = { MK_URL: "http://localhost", MK_API_KEY: key, BEFORE_USER_CREATED_HOOK_SECRET: HOOK_SECRET }
  Object.assign(process.env, own)
  onTestEnd(() => {
    for (const name of Object.keys(own)) delete process.env[name]
  })
  const load = async (file: string) => Object(await import(join(directory, file)))
  const { network } = await load("node_modules/mailkind-client/index.js")
  const answerBy = (fetch: (url: string, init: RequestInit) => Response | Promise<Response>): void => {
    network.fetch = fetch
  }
  return { load, answerBy }
}

/** What better-auth refuses by itself before its hook is called, in its own words. */
const OWN_REFUSAL = "refused by better-auth itself"

const JSON_TYPE = { "Content-Type": "application/json" }
const post = (body: unknown): { method: string; headers: Record<string, string>; body: string } => ({
  method: "POST",
  headers: JSON_TYPE,
  body: JSON.stringify(body) ?? "",
})

/** What a sign-up was answered, as the person reads it; null: they are let in. */
function toldBy(status: number, body: string): string | null {
  if (status < 300) return null
  if (status !== 422) return `status ${status}`
  return JSON.parse(body).message
}

/** What each adapter tells a person whose sign-up has this body; null: they are let in. */
async function waysIn(load: (file: string) => Promise<Record<string, never>>) {
  const of = async (name: keyof typeof ADAPTERS) => Object(await load(ADAPTERS[name].file))
  const { refusalOf, checkCounts } = await of("mailkind")
  const [{ auth }, { beforeUserCreated }, { POST }] = [await of("better-auth"), await of("supabase"), await of("next")]
  const [{ app: hono }, { app: elysia }] = [await of("hono"), await of("elysia")]
  const [{ app: express }, { app: fastify }] = [await of("express"), await of("fastify")]
  const listening = await new Promise<Server>(resolve => {
    const server: Server = express.listen(0, "127.0.0.1", () => resolve(server))
  })
  onTestEnd(() => listening.close())
  const expressUrl = `http://127.0.0.1:${Object(listening.address()).port}/sign-up`
  const told = async (response: Response): Promise<string | null> => toldBy(response.status, await response.text())
  const request = (body: unknown, path = "/sign-up") => new Request(`http://localhost${path}`, post(body))
  const webhook = new Webhook(HOOK_SECRET.replace("v1,whsec_", ""))
  const signUp = (user: unknown) => {
    const [id, at, text] = ["msg_1", new Date(), JSON.stringify({ metadata: {}, user })]
    const signature = webhook.sign(id, at, text)
    const stamp = String(Math.floor(at.getTime() / 1000))
    const headers = { "webhook-id": id, "webhook-timestamp": stamp, "webhook-signature": signature }
    return new Request("http://localhost/", { method: "POST", body: text, headers })
  }
  const ways = {
    mailkind: (body: unknown) => refusalOf(Object(body).email),
    hono: async (body: unknown) => told(await hono.request("/sign-up", post(body))),
    elysia: async (body: unknown) => told(await elysia.handle(request(body))),
    express: async (body: unknown) => {
      const answered = await askLoopback(expressUrl, post(body))
      return toldBy(answered.status, answered.body)
    },
    fastify: async (body: unknown) => {
      const { method, headers, body: payload } = post(body)
      const answered = await fastify.inject({ method, url: "/sign-up", headers, payload })
      return toldBy(answered.statusCode, answered.body)
    },
    next: async (body: unknown) => told(await POST(request(body))),
    "better-auth": async (body: unknown) => {
      const response: Response = await auth.handler(
        request({ password: "a long password", name: "Jane", ...Object(body) }, "/api/auth/sign-up/email"),
      )
      // It refuses by itself what has not the form of an address.
      return response.status === 400 ? OWN_REFUSAL : told(response)
    },
    supabase: async (body: unknown) => {
      const { error } = await (await beforeUserCreated(signUp(Object(body)))).json()
      return error?.message ?? null
    },
  } satisfies Record<keyof typeof ADAPTERS, (body: unknown) => Promise<string | null>>
  return { ways, checkCounts, refusesUnsigned: () => beforeUserCreated(request({})) }
}

describe("the adapters", async () => {
  const { app, key } = await testApp()
  const { load, answerBy } = await loadAdapters(key)
  const { ways, checkCounts, refusesUnsigned } = await waysIn(load)
  const fromServer = (url: string, init: RequestInit) => app(new Request(url, init))

  /** What each adapter makes of a sign-up with this body. */
  const toldByAll = async (body: unknown) => {
    const told = Object.entries(ways).map(async ([name, way]) => [name, await way(body)] as const)
    return Object.fromEntries(await Promise.all(told))
  }
  const all = (told: string | null) => Object.fromEntries(Object.keys(ways).map(name => [name, told]))

  test.each(ENTERED)("tell a person who enters %s by kind and reason", async (_, email, told) => {
    answerBy(fromServer)
    const { "better-auth": byBetterAuth, ...byOthers } = await toldByAll({ email })
    const { "better-auth": _own, ...others } = all(told)
    expect(byOthers).toEqual(others)
    const isRefused = told === null ? [null] : [told, OWN_REFUSAL]
    expect(isRefused).toContain(byBetterAuth)
  })

  test("ask once for a sign-up, and tell it by the hook of better-auth", async () => {
    let count = 0
    answerBy((url, init) => {
      count++
      return fromServer(url, init)
    })
    expect(await ways["better-auth"]({ email: "once@mailinator.com" })).toBe(DISPOSABLE)
    expect(count).toBe(1)
  })

  test("refuse a sign-up without a body, and let in by phone and anonymously where that is offered", async () => {
    const ownWords = { "better-auth": OWN_REFUSAL, express: "status 400" } // which take no body but an object
    expect(await toldByAll(null)).toEqual({ ...all(NO_ADDRESS), ...ownWords })
    expect((await refusesUnsigned()).status).toBe(401)
    expect(await ways.supabase({ email: "", phone: "1" })).toBe(null)
    expect(await ways.supabase({ is_anonymous: true })).toBe(null)
  })

  test.each([
    ["a mistake of the program", 400, { code: "invalid_input", errors: [{ pointer: "/policy" }] }],
    ["an unexplained refusal", 400, { code: "invalid_input" }],
    ["a revoked key", 401, { code: "key_revoked" }],
    ["a rate limit", 429, { code: "rate_limited" }],
    ["a quota", 429, { code: "quota_exceeded" }],
    ["a server error", 500, { code: "internal_error" }],
    ["a page of a proxy", 200, "<html>"],
  ])("let people in by %s, count it, and log it without the address", async (fault, status, body) => {
    const before = checkCounts().unchecked
    const email = `${fault.replaceAll(" ", "-")}@mailinator.com`
    const logged = spyOn(console, "error").mockImplementation(() => undefined)
    answerBy(() => Response.json(Object(body).code === undefined ? body : { detail: "x", ...Object(body) }, { status }))
    expect(await toldByAll({ email })).toEqual(all(null))
    expect(logged).toHaveBeenCalledTimes(Object.keys(ways).length)
    expect(JSON.stringify(logged.mock.calls)).not.toContain(email)
    expect(checkCounts().unchecked - before).toBe(Object.keys(ways).length)
    logged.mockRestore()
  })

  test("let people in where there is no network", async () => {
    const logged = spyOn(console, "error").mockImplementation(() => undefined)
    answerBy(() => Promise.reject(new Error("unreachable")))
    expect(await toldByAll({ email: "dead@mailinator.com" })).toEqual(all(null))
    expect(checkCounts().uncheckedBecause.unreachable).toBe(Object.keys(ways).length)
    logged.mockRestore()
  })

  test("refuse what any server finds too large", async () => {
    answerBy(() => new Response("<html>too large", { status: 413 }))
    expect(await toldByAll({ email: BLOCKED })).toEqual(all(NO_ADDRESS))
  })
})
