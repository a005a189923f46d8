import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SCHEMA_VERSION } from "../../../src/customers/store/migrations/migrations.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { POSTGRES_PROGRAMS } from "../../support/postgres.ts"
import { type ApiRequest, createCluster, reporterKeys, startLoad } from "./cluster.ts"

setDefaultTimeout(240_000)

const MIGRATIONS = "src/customers/store/migrations/migrations.ts"

const CALLERS: readonly ApiRequest[] = [
  ["POST /v1/check", { email: "jane@acme-widgets-of-nodes.com" }],
  ["POST /v1/check/batch", { items: ["jane@gmail.com", "acme-widgets-of-nodes.com"] }],
  ["POST /v1/feedback", { domain: "acme-widgets-of-nodes.com", expected_category: "relay" }],
  ["GET /v1/usage"],
]

const git = (...words: readonly string[]) => Bun.spawnSync(["git", "-C", ROOT, ...words])

/** The version before the one that last added a migration; null: its history is not here. */
function versionBefore(): string | null {
  const wanted = Bun.env["MAILKIND_TEST_OLD_VERSION"]
  const changed = git("log", "-n", "1", "--format=%H", "--", MIGRATIONS).stdout.toString().trim()
  const commit = wanted ?? (changed === "" ? "" : `${changed}^`)
  return commit !== "" && git("cat-file", "-e", `${commit}:${MIGRATIONS}`).exitCode === 0 ? commit : null
}

/** The sources of a version, with its own lists, whose format may be another, and the packages of this checkout. */
function sourcesOf(commit: string): string {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-older-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  mkdirSync(directory, { recursive: true })
  const archive = git("archive", commit)
  const unpacked = Bun.spawnSync(["tar", "-x", "-C", directory], { stdin: archive.stdout })
  if (unpacked.exitCode !== 0) throw new Error(unpacked.stderr.toString())
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"))
  const built = Bun.spawnSync([process.execPath, join(directory, "src/main.ts"), "lists", "build", "--quiet"])
  if (built.exitCode !== 0) throw new Error(built.stderr.toString())
  return directory
}

const OLD = versionBefore()
const missing = [
  ...(OLD === null ? ["the history of the repository is not here"] : []),
  ...(POSTGRES_PROGRAMS === null ? ["PostgreSQL is not installed"] : []),
]

test.skipIf(missing.length > 0)(
  `nodes of the version before the last migration are brought to this one, one after the other, and no request fails${missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")})`}`,
  async () => {
    const older = sourcesOf(OLD ?? "")
    const { nodes, newKey, psql } = await createCluster(3)
    const before = await Promise.all(nodes.map(({ serve }) => serve([], older)))
    const keys = await reporterKeys({ newKey: email => newKey(email, older) })
    const schema = (): number => Number(psql("SELECT MAX(number) FROM migrations"))
    expect(schema()).toBeLessThan(SCHEMA_VERSION)
    const load = startLoad(
      nodes.map(({ port }) => port),
      keys,
      CALLERS,
    )
    await load.goesOn(20)
    for (const [at, { serve }] of nodes.entries()) {
      await serve(["--replace"])
      expect(await before[at]?.ended()).toMatchObject({ code: 0 })
      expect(schema()).toBe(SCHEMA_VERSION)
      // Both versions serve on the new tables.
      await load.goesOn(20)
    }
    expect(load.processesCount()).toBe(6)
    const answers = await load.end()
    console.log(`from ${OLD} by schema ${SCHEMA_VERSION}: ${JSON.stringify(answers)}`)
    expect(Object.keys(answers)).toEqual(["200", "202"])
  },
)
