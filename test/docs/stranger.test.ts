import { expect, setDefaultTimeout, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { ROUTES } from "../../src/contract/routes.ts"
import { TASKS, type Task } from "../../src/http/site/docs/examples.ts"
import { type ServerProcess, serverProcess } from "../contract/server-process.ts"
import { sampleIn } from "../http/site/docs/sample-in.ts"
import { attributes } from "../http/site/open-site.ts"
import { afterwards } from "../world/afterwards.ts"
import { bounded } from "../world/bounded.ts"
import { askLoopback } from "../world/loopback.ts"
import { ALL_RUNNERS } from "./languages.ts"

setDefaultTimeout(180_000)

const Made = Type.Object({ id: Type.String(), key: Type.String() })

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
  const server = await serverProcess()
  afterwards(server.stop)
  const runner = ALL_RUNNERS.find(({ named }) => named === "bun")
  if (runner === undefined) throw new Error("the tests run on Bun")
  const start = await pageOf(server, ROUTES.docsStart.path)
  /** Runs a program as the page has it. */
  const run = async (task: Task, key: string, args: readonly string[] = TASKS[task].args) => {
    const text = sampleIn(start, `${task}.mjs`)
    if (text === null) throw new Error(`the page has no ${task}.mjs`)
    return await runner.run(`${task}.mjs`, text, args, key)
  }
  return { server, start, run }
}

test("a stranger finds the way from the first page to a first check, a batch, a report, the usage and another key", async () => {
  const { server, start, run } = await stranger()
  const { firstKey: key } = server

  // From the first page over the guide to the quick start.
  expect(attributes(await pageOf(server, ROUTES.home.path), "href")).toContain(ROUTES.docsGuide.path)
  expect(attributes(await pageOf(server, ROUTES.docsGuide.path), "href")).toContain(ROUTES.docsStart.path)

  // A question without a key, as it is pasted into a shell.
  const [curl] = ALL_RUNNERS
  if (curl !== undefined && !curl.isMissing) {
    const pasted = await curl.run("first.sh", sampleIn(start, "Command") ?? "", [], "")
    expect(JSON.parse(pasted.out)).toMatchObject({ category: "business", recommendation: "allow" })
  }

  expect(await run("check", key)).toMatchObject({ code: 0, out: "review, degraded: check again later\n" })
  expect(await run("batch", key)).toMatchObject({ code: 0, out: expect.stringContaining("jane@gmail.com personal") })
  expect(await run("feedback", key)).toMatchObject({
    code: 0,
    out: expect.stringContaining("received northwind-paper"),
  })
  const { out } = await run("usage", key)
  expect(out).toStartWith("used 3 remaining unlimited\n")
  const [oldId = ""] = out.split("\n")[1]?.split(" ") ?? []

  // The key is exchanged: by the commands of the page about keys, on the server's own machine.
  const commands = (sampleIn(await pageOf(server, ROUTES.docsKeys.path), "rotate-keys.sh") ?? "")
    .split("\n")
    .filter(line => line.startsWith("mailkind "))
    .map(line => wordsOf(line, { OLD_KEY_ID: oldId }).slice(1))
  const [create = [], list = [], revoke = []] = commands
  const made = Value.Decode(Made, await server.run(...create))
  expect((await run("check", made.key)).code).toBe(0)
  expect((await run("check", key)).code).toBe(0)
  expect(JSON.stringify(await server.run(...list))).toContain(made.id)
  await server.run(...revoke)
  await bounded(refused(server, key), () => "the key that was revoked is still taken")
  const stopped = await run("check", key)
  expect([stopped.code, stopped.err.includes("key_revoked")]).toEqual([1, true])
  expect((await run("check", made.key)).code).toBe(0)
})

/** Resolves when the server refuses the key. Other processes learn of a revocation within seconds. */
async function refused(server: ServerProcess, key: string): Promise<void> {
  while ((await server.ask("GET /v1/usage", { key })).status !== 401);
}
