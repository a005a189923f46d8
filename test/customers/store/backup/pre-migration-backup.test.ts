import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { verifyBackup } from "../../../../src/customers/store/backup/backup.ts"
import { MIGRATIONS } from "../../../../src/customers/store/migrations/migrations.ts"
import { openSqlite } from "../../../../src/customers/store/sqlite-store.ts"
import { outcomeOf } from "../../../support/outcome-of.ts"
import { tempPath } from "../../temp-store.ts"
import { createOlderDatabase } from "../migrations/older-database.ts"
import { spawnRestoreChild } from "./spawn-restore-child.ts"

setDefaultTimeout(300_000)

const now = () => 1_000
const HEAD = MIGRATIONS.length

const open = async (path: string): Promise<void> => await (await openSqlite(path, now)).close()
const keptBeside = (path: string): string[] =>
  readdirSync(dirname(path))
    .filter(name => name.includes(".before-"))
    .sort()

test("before its first missing migration a store is backed up", async () => {
  const path = createOlderDatabase(3)
  await open(path)
  expect(keptBeside(path)).toEqual(["mailkind.sqlite.before-4"])
  expect(verifyBackup(`${path}.before-4`)).toMatchObject({ schemaVersion: 3, accountsCount: 1 })
  expect(verifyBackup(path)).toMatchObject({ schemaVersion: HEAD, accountsCount: 1 })
})

test("a store that is new, up to date, or without an account is not backed up", async () => {
  const fresh = tempPath("mailkind.sqlite")
  await open(fresh)
  await open(fresh)
  const empty = createOlderDatabase(3, 0)
  await open(empty)
  const first = createOlderDatabase(1, 0)
  await open(first)
  expect([fresh, empty, first].flatMap(keptBeside)).toEqual([])
})

test("the backups before the two latest migrations are kept, and an older one of the same name is replaced", async () => {
  const path = createOlderDatabase(5, 3)
  for (const number of [2, 3, 4, 6]) writeFileSync(`${path}.before-${number}`, "an older one")
  writeFileSync(`${path}.before-6.note`, "somebody's")
  await open(path)
  expect(keptBeside(path)).toEqual([
    "mailkind.sqlite.before-4",
    "mailkind.sqlite.before-6",
    "mailkind.sqlite.before-6.note",
  ])
  expect(verifyBackup(`${path}.before-6`)).toMatchObject({ schemaVersion: 5, accountsCount: 3 })
})

test("a store that cannot be backed up is not migrated", async () => {
  const path = createOlderDatabase(5)
  mkdirSync(`${path}.before-6`)
  writeFileSync(`${path}.before-6/x`, "")
  expect(await outcomeOf(openSqlite(path, now))).toThrow()
  expect(verifyBackup(path).schemaVersion).toBe(5)
  expect(existsSync(`${path}-wal`)).toBe(false)
})

test("of several processes that open an old store at once, all succeed, and the backup is from before the migration", async () => {
  const path = createOlderDatabase(8, 50)
  await Promise.all([open(path), open(path), open(path)])
  expect(verifyBackup(`${path}.before-9`)).toMatchObject({ schemaVersion: 8, accountsCount: 50 })
})

describe("killed", () => {
  const MOMENTS = { "while it is copied": /\.half$/, "when the copy is there": /\.before-4$/ } as const
  for (const [moment, name] of Object.entries(MOMENTS))
    test(`${moment}, a store is brought up to date by the next who opens it, and a copy of before is kept`, async () => {
      const path = createOlderDatabase(3, 20_000)
      const child = await spawnRestoreChild(["open", path], null)
      const ended = child.ended()
      let isOver = false
      void ended.then(() => {
        isOver = true
      })
      while (!isOver && !readdirSync(dirname(path)).some(beside => name.test(beside)))
        await new Promise(resolve => setImmediate(resolve))
      await child.kill()
      await open(path)
      expect(verifyBackup(path)).toMatchObject({ schemaVersion: HEAD, accountsCount: 20_000 })
      // A kill between two migrations leaves two copies: the one from before the first, and the next opener's.
      const kept = keptBeside(path).filter(beside => !beside.endsWith(".half"))
      expect([1, 2]).toContain(kept.length)
      for (const copy of kept) {
        const { schemaVersion, accountsCount } = verifyBackup(join(dirname(path), copy))
        expect([`mailkind.sqlite.before-${schemaVersion + 1}`, accountsCount]).toEqual([copy, 20_000])
      }
    })
})
