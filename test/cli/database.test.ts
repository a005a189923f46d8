import { describe, expect, test } from "bun:test"
import { linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Command } from "commander"
import { createContext } from "../../src/assemble/context.ts"
import { createBackupDeps } from "../../src/assemble/customers/store.ts"
import { registerBackupCommands } from "../../src/cli/database.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { SCHEMA_VERSION } from "../../src/customers/store/migrations/migrations.ts"
import { openSqlite } from "../../src/customers/store/sqlite-store.ts"
import { createSystem } from "../../src/system/system.ts"
import { newAccount, tempLog, tempPath } from "../customers/temp-store.ts"
import { outcomeOf } from "../support/outcome-of.ts"

/** The commands over a data directory with one account. */
async function commands() {
  const path = tempPath("mailkind.sqlite")
  const directory = dirname(path)
  const store = await openSqlite(path, () => 1)
  await newAccount(tempLog(store))
  await store.close()
  const read = parseSettings({ MAILKIND_DATA_DIR: directory })
  if (read.kind === "faulty") throw new Error("faulty")
  const system = { ...createSystem(), clock: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6) }
  const tools = createBackupDeps(() => createContext(system, read.settings))
  const lines: string[] = []
  const run = async (...words: string[]) => {
    lines.length = 0
    const root = new Command().exitOverride()
    registerBackupCommands(root, { line: text => void lines.push(text), stderrLine: () => undefined }, tools)
    return await outcomeOf(root.parseAsync(words, { from: "user" }))
  }
  return { path, backup: join(directory, "backup"), run, lines }
}

test("a backup tells what it holds, and a second one wants --force", async () => {
  const { backup, run, lines } = await commands()
  expect(await run("backup", backup)).not.toThrow()
  expect(lines.join()).toMatch(/backup holds 1 accounts and 0 keys in [\d,]+ bytes/)
  expect(await run("backup", backup)).toThrow("exists already. --force replaces it.")
  expect(await run("backup", backup, "--force", "--json")).not.toThrow()
  expect(JSON.parse(lines.join())).toEqual({
    ...{ path: backup, bytes: readFileSync(backup).length, accounts: 1, keys: 0, migration: SCHEMA_VERSION },
  })
})

test("a restore tells what was kept and taken over, for people and for programs", async () => {
  const { path, backup, run, lines } = await commands()
  await run("backup", backup)
  expect(await run("restore", backup)).not.toThrow()
  expect(lines).toContain(`The previous database is ${path}.replaced-20260102T030405006Z.`)
  expect(lines).toContain("Taken over: 0 revocations of keys, 0 days of quotas, 0 ends of mails.")
  writeFileSync(path, "broken ".repeat(1000))
  expect(await run("restore", backup)).toThrow("EEXIST")
  const { lines: others, run: again, path: other, backup: another } = await commands()
  await again("backup", another)
  writeFileSync(other, "broken ".repeat(1000))
  expect(await again("restore", another, "--json")).not.toThrow()
  expect(JSON.parse(others.join())).toMatchObject({
    accounts: 1,
    kept_as: `${other}.replaced-20260102T030405006Z`,
    carried_over: null,
  })
})

test("a restore tells of a folder of lists that is another database's, with the command that ends that", async () => {
  const { path, backup, run, lines } = await commands()
  await run("backup", backup)
  const mark = join(dirname(path), "jobs", "installation.0123456789abcdef")
  mkdirSync(dirname(mark))
  writeFileSync(mark, "")
  await run("restore", backup)
  expect(lines.join()).toContain(`run \`rm ${mark}\``)
  rmSync(mark)
  rmSync(`${path}.replaced-20260102T030405006Z`)
  await run("restore", backup, "--json")
  expect(JSON.parse(lines.join())).toMatchObject({ jobs_folder: null })
})

describe("refused as wrong use is", () => {
  test("the database itself as its backup, by whatever name, even with --force", async () => {
    const { path, run } = await commands()
    const [linked, named] = [join(dirname(path), "linked"), join(dirname(path), "named")]
    linkSync(path, linked)
    symlinkSync(path, named)
    const before = readFileSync(path)
    for (const file of [path, `${path}-wal`, `${path}.lock`, `${path}.restored`, linked, named]) {
      expect(await run("backup", file, "--force")).toThrow("the database itself")
      expect(await run("restore", file)).toThrow("the database itself")
    }
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test("a backup that is not there, and a backup of a database that is not there, which is not made", async () => {
    const { run, backup } = await commands()
    expect(await run("restore", backup)).toThrow("There is no file")
    const read = parseSettings({ MAILKIND_DATA_DIR: join(dirname(backup), "nowhere") })
    if (read.kind === "faulty") throw new Error("faulty")
    const { backup: none } = createBackupDeps(() => createContext(createSystem(), read.settings))
    expect(await outcomeOf(none(backup, true))).toThrow("There is no database")
  })
})
