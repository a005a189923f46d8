import { expect, setDefaultTimeout, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { CHECKOUT, PROGRAM } from "../../../bench/servers/product.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { CHECKOUT_COMMAND } from "../../../src/http/site/docs/command-lines.ts"
import { type ServerProcess, serverProcess } from "../../contract/server-process.ts"
import { sampleIn } from "../../http/site/docs/sample-in.ts"
import { bounded } from "../../support/bounded.ts"
import { createBrowser, keyIn, linksIn } from "../../support/html-browser.ts"
import { askLoopback, fetchLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { attributesIn } from "../../support/open-site.ts"
import { testSmtp } from "../../support/smtp-server.ts"
import { ALL_RUNNERS } from "./languages.ts"

setDefaultTimeout(180_000)

/** How the pages of the server call the program. */
const COMMAND = PROGRAM === CHECKOUT ? CHECKOUT_COMMAND : "mailkind"

const Made = Type.Object({ id: Type.String(), key: Type.String() })
const Used = Type.Object({ today: Type.Object({ by_key: Type.Array(Type.Object({ id: Type.String() })) }) })

/** A page as a browser gets it. */
const pageOf = async ({ url }: ServerProcess, path: string): Promise<string> =>
  (await askLoopback(`${url}${path}`, { headers: { Accept: "text/html" } })).body

/** The words of a shell's line: quotes hold words together, and a variable is what it stands for. */
const wordsOf = (line: string, variables: Readonly<Record<string, string>>): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) =>
    (quoted ?? bare ?? "").replace(/\$(\w+)/g, (_, name: string) => variables[name] ?? ""),
  )

/** What whoever never heard of mailkind has: a server that was started, the key it printed, and its pages. */
async function stranger() {
  const smtp = await testSmtp()
  const server = await serverProcess({
    MAILKIND_SMTP_URL: smtp.url,
    MAILKIND_MAIL_FROM: "mailkind <keys@mk.example.com>",
  })
  onTestEnd(server.stop)
  const runner = ALL_RUNNERS.find(({ named }) => named === "bun")
  if (runner === undefined) throw new Error("the tests run on Bun")
  const start = await pageOf(server, ROUTES.docsStart.path)
  /** Checks an address by a program as the page has it. */
  const run = async (key: string) => {
    const text = sampleIn(start, "check.mjs")
    if (text === null) throw new Error("the page has no check.mjs")
    return await runner.run("check.mjs", text, ["jane@gmail.com"], key)
  }
  /** Runs a sample of a page in a shell, and compares its answer; where there is no curl, nobody is asked. */
  const shell = async (html: string, caption: string, args: readonly string[], key: string, answer: object) => {
    const command = sampleIn(html, caption)
    if (command === null) throw new Error(`the page has no ${caption}`)
    const [curl] = ALL_RUNNERS
    if (curl === undefined || curl.isMissing) return
    expect(JSON.parse((await curl.run("pasted.sh", command, args, key)).out)).toMatchObject(answer)
  }
  const pasted = (html: string, answer: object, caption = "Command") => shell(html, caption, [], "", answer)
  return { server, smtp, start, run, shell, pasted }
}

type Stranger = Awaited<ReturnType<typeof stranger>>

test("a stranger finds the way from the start to a check, a batch, a report, the usage, a sign-in, another key and the end of the first", async () => {
  const found = await stranger()
  await lookedAround(found)
  await usedTheFirstKey(found)
  await exchangedByCommands(found)
  await exchangedOnTheDashboard(found)
})

/** From the first page over the guide to the quick start, and a question without a key. */
async function lookedAround({ server, start, pasted }: Stranger): Promise<void> {
  expect(attributesIn(await pageOf(server, ROUTES.home.path), "href")).toContain(ROUTES.docsGuide.path)
  expect(attributesIn(await pageOf(server, ROUTES.docsGuide.path), "href")).toContain(ROUTES.docsStart.path)
  await pasted(start, { category: "business", recommendation: "allow" })
}

async function usedTheFirstKey({ server, run, shell }: Stranger): Promise<void> {
  const { firstKey: key } = server
  expect(await run(key)).toMatchObject({ code: 0, out: "review, degraded: check again later\n" })
  const operation = async (name: string) => await pageOf(server, `${ROUTES.docs.path}/api/${name}`)
  await shell(await operation("post-batch"), "Request", [], key, { results: expect.any(Array) })
  await shell(await operation("post-feedback"), "Request", [], key, { status: "received" })
  await shell(await operation("get-usage"), "Request", [], key, { today: { remaining: null } })
}

/** Whether a check with the key gets a verdict. Without one the program lets the person in, and logs why. */
async function isTaken(run: Stranger["run"], key: string): Promise<boolean> {
  const { code, out, err } = await run(key)
  expect(code).toBe(0)
  if (!out.includes("unchecked")) return true
  expect([out, err]).toEqual(["allow, unchecked: refused\n", expect.stringContaining("key_revoked")])
  return false
}

/** On the server's own machine, by the commands of the page about keys. */
async function exchangedByCommands({ server, run }: Stranger): Promise<void> {
  const { firstKey: key } = server
  const { body } = await server.ask("GET /v1/usage", { key })
  const oldId = Value.Decode(Used, body).today.by_key[0]?.id ?? ""
  const commands = (sampleIn(await pageOf(server, ROUTES.docsKeys.path), "rotate-keys.sh") ?? "")
    .split("\n")
    .filter(line => line.startsWith(`${COMMAND} `))
    .map(line => wordsOf(line.slice(COMMAND.length), { OLD_KEY_ID: oldId }))
  const [create = [], list = [], revoke = []] = commands
  const made = Value.Decode(Made, await server.run(...create))
  expect(await isTaken(run, made.key)).toBe(true)
  expect(await isTaken(run, key)).toBe(true)
  expect(JSON.stringify(await server.run(...list))).toContain(made.id)
  await server.run(...revoke)
  await bounded(refused(server, key), () => "the key that was revoked is still taken")
  expect(await isTaken(run, key)).toBe(false)
  expect(await isTaken(run, made.key)).toBe(true)
}

const EMAIL = "jane@example.com"

/** By a mail and the forms of the pages, as they are served. */
async function exchangedOnTheDashboard({ server, smtp, run, pasted }: Stranger): Promise<void> {
  const jane = createBrowser(request => fetchLoopback(request), { origin: server.url, followsRedirects: true })
  const wanted = linksIn(await jane.get(ROUTES.home.path)).find(path => path === ROUTES.signIn.path) ?? ""
  const signIn = await jane.get(wanted)
  expect(signIn.path.split("?")[0]).toBe(ROUTES.signIn.path)
  const codeAsked = await jane.submit(signIn, { email: EMAIL })
  await smtp.takes(1)
  const code = /^ {4}(\d{6})\r?$/m.exec(smtp.taken[0]?.raw ?? "")?.[1] ?? ""
  const welcome = await jane.submit(codeAsked, { code })
  const first = keyIn(welcome.html) ?? ""
  await pasted(welcome.html, { category: "personal" }, "Paste this into a terminal")

  const keys = await jane.get(ROUTES.keys.path)
  const form = await jane.get(ROUTES.newKey.path)
  const second = keyIn((await jane.submit(form, { name: "Shop" }, "Create key")).html) ?? ""
  for (const key of [first, second]) expect(await isTaken(run, key)).toBe(true)

  const ofFirst = linksIn(keys).find(path => path.startsWith(`${ROUTES.dashboard.path}/keys/key_`)) ?? ""
  const revoked = await jane.submit(await jane.get(ofFirst), {}, "Revoke key")
  expect(revoked.text).toContain("revoked")
  expect(await isTaken(run, first)).toBe(false)
  const { status, body } = await server.ask("GET /v1/usage", { key: first })
  expect([status, body["code"]]).toEqual([401, "key_revoked"])
  expect(await isTaken(run, second)).toBe(true)

  await jane.submit(await jane.get(ROUTES.dashboard.path), {}, "Sign out")
  expect((await jane.get(ROUTES.dashboard.path)).path.split("?")[0]).toBe(ROUTES.signIn.path)
}

/** Resolves when the server refuses the key. Other processes learn of a revocation within seconds. */
async function refused(server: ServerProcess, key: string): Promise<void> {
  while ((await server.ask("GET /v1/usage", { key })).status !== 401);
}
