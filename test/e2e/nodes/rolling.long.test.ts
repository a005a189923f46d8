import { expect, setDefaultTimeout } from "bun:test"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "../../architecture/source-files.ts"
import { onPostgres } from "../../customers/engines.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { type ApiRequest, createCluster, reporterKeys, startLoad } from "./cluster.ts"

setDefaultTimeout(180_000)

const CALLERS: readonly ApiRequest[] = [
  ["POST /v1/check", { email: "jane@acme-widgets-of-nodes.com" }],
  ["POST /v1/check/batch", { items: ["jane@gmail.com", "acme-widgets-of-nodes.com"] }],
  ["POST /v1/feedback", { domain: "acme-widgets-of-nodes.com", expected_category: "relay" }],
  ["GET /v1/usage"],
]

/** The sources of a version that comes after this one: it adds to tables that every request needs. */
function newerSources(): string {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-newer-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  for (const name of ["src", "package.json", "tsconfig.json"])
    cpSync(join(ROOT, name), join(directory, name), { recursive: true })
  for (const name of ["data", "node_modules"]) symlinkSync(join(ROOT, name), join(directory, name))
  const file = join(directory, "src/customers/store/migrations/migrations.ts")
  const text = readFileSync(file, "utf8")
  const added = ["accounts", "keys", "units", "usage", "feedback"].map(
    table => `"ALTER TABLE ${table} ADD COLUMN later TEXT"`,
  )
  const newer = text.replace(
    "\n]\n",
    `\n  { number: 1000, description: "more", statements: [${added.join(", ")}] },\n]\n`,
  )
  if (newer === text) throw new Error("the table of migrations does not end as expected")
  writeFileSync(file, newer)
  return directory
}

onPostgres("nodes are brought to a newer version one after the other, and no request fails", async () => {
  const { nodes, newKey, start, psql } = await createCluster(2)
  const [a, b] = nodes
  if (a === undefined || b === undefined) throw new Error("there are two places")
  const older = { a: await a.serve(), b: await b.serve() }
  const load = startLoad(
    nodes.map(({ port }) => port),
    await reporterKeys({ newKey }),
    CALLERS,
  )
  await load.goesOn(20)
  const newer = newerSources()

  await a.serve(["--replace"], newer)
  expect(await older.a.ended()).toMatchObject({ code: 0 })
  expect(psql("SELECT MAX(number) FROM migrations")).toBe("1000")
  // The older one goes on, on the tables as they are now; but none of its version starts any more, and no command does.
  await load.goesOn(20)
  for (const words of [["serve"], ["account", "list"]]) {
    const refused = await start(words).ended()
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("written by a newer version of mailkind") })
  }
  await load.goesOn(20)

  await b.serve(["--replace"], newer)
  expect(await older.b.ended()).toMatchObject({ code: 0 })
  await load.goesOn(20)
  expect(load.processesCount()).toBe(4)
  expect(Object.keys(await load.end())).toEqual(["200", "202"])
})
