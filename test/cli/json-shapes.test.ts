import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { EXIT_CODES } from "../../src/cli/output.ts"
import { Usage } from "../../src/contract/usage-schema.ts"
import { recordFeedback } from "../../src/customers/feedback/feedback.ts"
import { ROOT } from "../architecture/source-files.ts"
import { random } from "../customers/temp-store.ts"
import { openCommands } from "./open-commands.ts"

const PAGE = readFileSync(join(ROOT, "src/http/site/docs/pages/commands.md"), "utf8")

/** The rows of the table below a heading, without its head. */
const tableBelow = (heading: string): readonly (readonly string[])[] =>
  (PAGE.split(heading)[1]?.split("\n## ")[0] ?? "")
    .split("\n")
    .filter(line => line.startsWith("| `") || /^\| \d/.test(line))
    .map(line =>
      line
        .slice(1, -1)
        .split("|")
        .map(cell => cell.trim()),
    )

const namesIn = (text: string): readonly string[] => [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)

type Shapes = ReadonlyMap<string, readonly string[]>

/** The members that a row takes over: from the row before it, from a named one, or from elsewhere. */
function referredMembers(text: string, shapes: Shapes): readonly string[] {
  const [, named] = /^the same as `([\w ]+)`/.exec(text) ?? []
  if (named !== undefined) return shapes.get(named) ?? []
  if (text.startsWith("the same")) return [...shapes.values()].at(-1) ?? []
  if (text.startsWith("the members of a version")) return namesIn(/`versions` \(([^)]*)\)/.exec(PAGE)?.[1] ?? "")
  return text.includes("members of [`GET /v1/usage`]") ? Object.keys(Usage.properties) : []
}

/** The members of each command as the page tells them: those that its row refers to, and its own. */
function documentedShapes(): Shapes {
  const shapes = new Map<string, readonly string[]>()
  for (const [command = "", cell = ""] of tableBelow("{#json}")) {
    const [members = ""] = cell.split(";")
    const own = namesIn(members.replaceAll(/\([^)]*\)/g, "").replace(/^the same as `[\w ]+`/, ""))
    shapes.set(command.replaceAll("`", ""), [...referredMembers(members, shapes), ...own].toSorted())
  }
  return shapes
}

test("every command of the table of JSON prints the members that the guide names, and no others", async () => {
  const { changes, run, runJson } = await openCommands({ files: { "new.csv": "email\nnew@example.com" } })
  const { id } = await runJson("account", "create", "jane@example.com")
  const { id: key } = await runJson("key", "create", "--account", "jane@example.com")
  const report = { accountId: id, domain: "a.com", roleWord: null, comment: null }
  await recordFeedback(changes, random, { ...report, currentCategory: "unknown", reportedCategory: "business" })
  const [{ id: reportId }] = await runJson("feedback", "list")
  await run("terms", "publish", "--version", "1", "--url", "https://a.example", "--material")
  const args: Readonly<Record<string, readonly string[]>> = {
    "account import": ["new.csv"],
    "account list": [],
    "account tier": ["jane@example.com", "2"],
    "key list": ["--account", "jane@example.com"],
    "feedback show": [reportId],
    "feedback accept": [reportId],
    "feedback list": [],
    "terms show": [],
    "terms withdraw": ["1"],
    audit: ["--act", "tier_set"],
  }
  const documented = documentedShapes()
  const printed = new Map<string, readonly string[]>()
  for (const command of documented.keys()) {
    const found = await runJson(...command.split(" "), ...(args[command] ?? ["jane@example.com"]))
    printed.set(command, Object.keys(Array.isArray(found) ? found[0] : found).toSorted())
  }
  expect([...printed]).toEqual([...documented])
  const shape = documented.get("key list")
  for (const command of [
    ["show", key],
    ["update", key, "--name", "x"],
    ["revoke", key],
    ["create", "--account", "jane@example.com"],
  ])
    expect(Object.keys(await runJson("key", ...command)).toSorted()).toEqual([...(shape ?? [])])
})

test("the guide has every exit code, with the code of its error", () => {
  const documented = tableBelow("{#exit-codes}").map(([code, error]) => [code, error?.replaceAll("`", "") || null])
  expect(documented).toEqual(Object.entries(EXIT_CODES).map(([code, { error }]) => [code, error]))
})

test("help tells of a command as JSON what it takes", async () => {
  const { runJson } = await openCommands()
  const help = await runJson("help", "key", "update")
  expect(help).toMatchObject({ path: ["key", "update"], arguments: [{ name: "id" }], children: [] })
  expect(help.options).toContainEqual(expect.objectContaining({ names: ["--network"], takesValue: true }))
})
