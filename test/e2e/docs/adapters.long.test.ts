import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ADAPTERS } from "../../../src/http/site/docs/adapters.ts"
import { javascriptClientFiles } from "../../client/client-files.ts"
import { type ServerProcess, serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(300_000)

const LIBRARIES = [
  "better-auth@1.7.25",
  "hono@4.13.19",
  "elysia@1.4.30",
  "express@5.3.0",
  "next@16.4.6",
  "standardwebhooks@1.1.0",
]
const HOOK_SECRET = `v1,whsec_${Buffer.from("a secret of the hook, for tests").toString("base64")}`

/** Signs up by each adapter and prints what the person got. */
const PROGRAM = `
import { Webhook } from "standardwebhooks"
import { app as elysia } from "./elysia-app.js"
import { app as express } from "./express-app.js"
import { app as hono } from "./hono-app.js"
import { auth } from "./auth.js"
import { beforeUserCreated } from "./before-user-created.js"
import { POST } from "./route.js"

const sent = (path, body, headers = {}) =>
  new Request("http://localhost" + path, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) })
const listening = await new Promise(resolve => { const server = express.listen(0, "127.0.0.1", () => resolve(server)) })
const webhook = new Webhook(process.env.BEFORE_USER_CREATED_HOOK_SECRET.replace("v1,whsec_", ""))
const signed = body => {
  const [id, at, text] = ["msg_1", new Date(), JSON.stringify(body)]
  return new Request("http://localhost/", { method: "POST", body: text, headers: { "webhook-id": id, "webhook-timestamp": String(Math.floor(at / 1000)), "webhook-signature": webhook.sign(id, at, text) } })
}
const ways = {
  hono: email => hono.request("/sign-up", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email }) }),
  elysia: email => elysia.handle(sent("/sign-up", { email })),
  express: email => fetch("http://127.0.0.1:" + listening.address().port + "/sign-up", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email }) }),
  next: email => POST(sent("/sign-up", { email })),
  supabase: email => beforeUserCreated(signed({ metadata: { name: "before-user-created" }, user: { email } })),
  "better-auth": email => auth.handler(sent("/api/auth/sign-up/email", { email, password: "a long password", name: "Jane" }, { origin: "http://localhost" })),
}
const all = {}
for (const [name, way] of Object.entries(ways)) {
  all[name] = {}
  for (const email of await Bun.file("emails.json").json()) {
    const answer = await way(email)
    const body = await answer.json().catch(() => null)
    all[name][JSON.stringify(email) ?? ""] = { status: answer.status, refused: body?.error?.message ?? body?.message ?? null }
  }
}
all.forged = (await beforeUserCreated(sent("/", {}, { "webhook-id": "x", "webhook-timestamp": "1", "webhook-signature": "v1,x" }))).status
all.byPhone = await (await beforeUserCreated(signed({ user: { email: "", phone: "1" } }))).json()
console.log(JSON.stringify(all))
process.exit(0)
`

/** better-auth without a database of its own keeps users in memory. */
const AUTH_IN_TESTS = ADAPTERS["better-auth"].text
  .replace('from "better-auth"\n', 'from "better-auth"\nimport { memoryAdapter } from "better-auth/adapters/memory"\n')
  .replace(
    "// ... your own options",
    'database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),\n  secret: "a secret of thirty-two characters!", baseURL: "http://localhost", trustedOrigins: ["http://localhost"],',
  )

async function project(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-adapters-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, "package.json"), '{"name":"shop","private":true,"type":"module"}')
  const environment = { PATH: process.env["PATH"], HOME: process.env["HOME"] }
  const installed = await startProgram(
    [process.execPath, "add", "--exact", ...LIBRARIES],
    directory,
    environment,
  ).ended()
  if (installed.code !== 0) throw new Error(installed.err)
  const adapters = Object.values(ADAPTERS).map(({ file, text }): [string, string] => [file, text])
  const files = {
    ...Object.fromEntries(adapters),
    "auth.js": AUTH_IN_TESTS,
    "program.js": PROGRAM,
    ...(await javascriptClientFiles()),
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  return directory
}

test("each adapter refuses a blocked address with a reason, asks once for each sign-up, and lets people in when a check fails", async () => {
  const [directory, server] = [await project(), await serverProcess()]
  onTestEnd(server.stop)
  const run = async (url: string, key: string, ...emails: readonly unknown[]) => {
    writeFileSync(join(directory, "emails.json"), JSON.stringify(emails))
    const own = { MK_URL: url, MK_API_KEY: key, BEFORE_USER_CREATED_HOOK_SECRET: HOOK_SECRET }
    const environment = { PATH: process.env["PATH"], HOME: directory, NODE_ENV: "production", ...own }
    const { code, out, err } = await startProgram([process.execPath, "program.js"], directory, environment).ended()
    if (code !== 0) throw new Error(err)
    expect(err).not.toContain("@")
    const { forged, byPhone, ...libraries } = JSON.parse(out.trim().split("\n").at(-1) ?? "")
    expect([forged, byPhone]).toEqual([401, {}])
    return { libraries, err }
  }
  const expectLetIn = (
    libraries: Record<string, Record<string, { status: number; refused: string | null }>>,
    email: string,
  ) => {
    for (const [name, ended] of Object.entries(libraries))
      expect({
        name,
        refused: ended[JSON.stringify(email)]?.refused,
        isOk: (ended[JSON.stringify(email)]?.status ?? 500) < 300,
      }).toEqual({
        name,
        refused: null,
        isOk: true,
      })
  }

  const { libraries } = await run(server.url, server.firstKey, "jane@stripe.com", "a@mailinator.com")
  expect(Object.keys(libraries).sort()).toEqual(
    Object.keys(ADAPTERS)
      .filter(name => !["mailkind", "keycloak"].includes(name))
      .sort(),
  )
  expectLetIn(libraries, "jane@stripe.com")
  for (const [name, ended] of Object.entries<Record<string, { status: number; refused: string }>>(libraries)) {
    const { refused, status } = ended['"a@mailinator.com"'] ?? {}
    expect([name, refused]).toEqual([name, "Please use an address that you will keep."])
    expect([name, status]).toEqual([name, name === "supabase" ? 200 : 422])
  }
  expect(await checksOf(server)).toBe(2 * Object.keys(libraries).length)

  // What test/http/site/docs has each adapter told, here with the real libraries, some of which refuse it themselves.
  const blocked = "b@mailinator.com"
  const others = [
    blocked + " ".repeat(70_000),
    `${blocked}\u0000`,
    `${blocked}\ud800`,
    "x".repeat(70_000),
    "",
    null,
    7,
    [blocked],
    {},
  ]
  const { libraries: refusing } = await run(server.url, server.firstKey, ...others)
  for (const [name, ended] of Object.entries<Record<string, { status: number; refused: string | null }>>(refusing))
    for (const [text, { status, refused }] of Object.entries(ended))
      expect({ name, text: text.slice(0, 40), isRefused: refused !== null || status >= 400 }).toMatchObject({
        isRefused: true,
      })

  const revoked = await run(server.url, `svc_live_${"0".repeat(38)}`, "b@mailinator.com")
  expectLetIn(revoked.libraries, "b@mailinator.com")
  expect(revoked.err).toContain("a sign-up was not checked: refused")
  const dead = await run("http://127.0.0.1:1", server.firstKey, "c@mailinator.com")
  expectLetIn(dead.libraries, "c@mailinator.com")
  expect(dead.err).toContain("a sign-up was not checked: unreachable")
})

async function checksOf(server: ServerProcess): Promise<unknown> {
  const { body } = await server.ask("GET /v1/usage", { key: server.firstKey })
  return Object(body["today"]).checks
}
