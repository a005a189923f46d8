import { describe, expect, spyOn, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ADAPTERS } from "../../../../src/http/site/docs/adapters.ts"
import { testApp } from "../../../support/app.ts"
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

/** As much of each library as its adapter uses. */
const LIBRARIES = {
  hono: "export class Hono { post(_, handler) { this.handler = handler; return this } }",
  elysia:
    "export class Elysia { post(_, handler) { this.handler = handler; return this } }; export const t = { Object: x => x, String: () => null }",
  express:
    "export default Object.assign(() => ({ post(_, __, handler) { this.handler = handler } }), { json: () => null })",
  "next/server": "export const NextResponse = { json: (body, { status }) => ({ body, status }) }",
  "better-auth": "export const betterAuth = options => options",
  "better-auth/api":
    "export class APIError extends Error { constructor(status, { message }) { super(message); this.status = status } }",
  standardwebhooks: "export class Webhook { verify(text) { return JSON.parse(text) } }",
  // The real client, over the network of the test.
  "mailkind-client": `
    import { createMailkind as create } from ${JSON.stringify(join(import.meta.dir, "../../../../src/client/mailkind-client.ts"))}
    export const network = { fetch: null }
    export const createMailkind = options => create({ ...options, fetch: (...sent) => network.fetch(...sent) })`,
} as const

/** The adapters as the page shows them, among libraries that do nothing else, and a way to say who answers their requests. */
async function loadAdapters(key: string) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-adapters-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const libraries = Object.entries(LIBRARIES).map(([name, text]) => [`node_modules/${name}/index.js`, text] as const)
  const adapters = Object.values(ADAPTERS).map(({ file, text }) => [file, text] as const)
  for (const [name, text] of [...libraries, ...adapters]) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  const own = { MK_URL: "http://localhost", MK_API_KEY: key, BEFORE_USER_CREATED_HOOK_SECRET: "" }
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

/** What each adapter tells a person whose sign-up has this body; null: they are let in. */
async function waysIn(load: (file: string) => Promise<Record<string, never>>) {
  const of = async (name: keyof typeof ADAPTERS) => Object(await load(ADAPTERS[name].file))
  const [{ refusalOf }, { auth }, { beforeUserCreated }] = [
    await of("mailkind"),
    await of("better-auth"),
    await of("supabase"),
  ]
  const [{ app: hono }, { app: elysia }, { app: express }] = [await of("hono"), await of("elysia"), await of("express")]
  const { POST } = await of("next")
  const told = ({ status, body }: { status: number; body: { message?: string } }): string | null => {
    expect([201, 422]).toContain(status)
    return status === 201 ? null : (body.message ?? "")
  }
  const reply = (body: object, status: number) => ({ body, status })
  const request = (body: unknown) => ({ json: async () => JSON.parse(JSON.stringify(body)) })
  return {
    mailkind: (body: unknown) => refusalOf(Object(body).email),
    hono: async (body: unknown) => told(await hono.handler({ req: request(body), json: reply })),
    elysia: async (body: unknown) =>
      told(await elysia.handler({ body: Object(body), status: (status: number, sent: object) => reply(sent, status) })),
    express: async (body: unknown) => {
      const response = Promise.withResolvers<ReturnType<typeof reply>>()
      const status = (code: number) => ({ json: (sent: object) => response.resolve(reply(sent, code)) })
      await express.handler({ body }, { status })
      return told(await response.promise)
    },
    next: async (body: unknown) => told(await POST(request(body))),
    "better-auth": (body: unknown) =>
      auth.databaseHooks.user.create.before(Object(body)).then(
        () => null,
        (error: Error) => error.message,
      ),
    supabase: async (body: unknown) => {
      const sent = JSON.stringify({ user: Object(body) })
      const { error } = await (await beforeUserCreated({ text: async () => sent, headers: [] })).json()
      return error?.message ?? null
    },
  } satisfies Record<Exclude<keyof typeof ADAPTERS, "keycloak">, (body: unknown) => Promise<string | null>>
}

describe("the adapters", async () => {
  const { app, key } = await testApp()
  const { load, answerBy } = await loadAdapters(key)
  const ways = await waysIn(load)
  const fromServer = (url: string, init: RequestInit) => app(new Request(url, init))

  /** What each adapter makes of a sign-up with this body. */
  const toldBy = async (body: unknown) => {
    const told = Object.entries(ways).map(async ([name, way]) => [name, await way(body)] as const)
    return Object.fromEntries(await Promise.all(told))
  }
  const all = (told: string | null) => Object.fromEntries(Object.keys(ways).map(name => [name, told]))

  test.each(ENTERED)("tell a person who enters %s by kind and reason", async (_, email, told) => {
    answerBy(fromServer)
    expect(await toldBy({ email })).toEqual(all(told))
  })

  test("refuse a sign-up without a body, and let in by phone and anonymously where that is offered", async () => {
    expect(await toldBy(null)).toEqual(all(NO_ADDRESS))
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
  ])("let people in by %s, and log it without the address", async (_, status, body) => {
    const logged = spyOn(console, "error").mockImplementation(() => undefined)
    answerBy(() => Response.json(Object(body).code === undefined ? body : { detail: "x", ...Object(body) }, { status }))
    expect(await toldBy({ email: BLOCKED })).toEqual(all(null))
    expect(logged).toHaveBeenCalledTimes(Object.keys(ways).length)
    expect(JSON.stringify(logged.mock.calls)).not.toContain(BLOCKED)
    logged.mockRestore()
  })

  test("let people in where there is no network", async () => {
    const logged = spyOn(console, "error").mockImplementation(() => undefined)
    answerBy(() => Promise.reject(new Error("unreachable")))
    expect(await toldBy({ email: BLOCKED })).toEqual(all(null))
    logged.mockRestore()
  })

  test("refuse what any server finds too large", async () => {
    answerBy(() => new Response("<html>too large", { status: 413 }))
    expect(await toldBy({ email: BLOCKED })).toEqual(all(NO_ADDRESS))
  })
})
