import { Database } from "bun:sqlite"
import { expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { backUpDatabase, verifyBackup } from "../../../../src/customers/store/backup/backup.ts"
import { StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { SCHEMA_VERSION } from "../../../../src/customers/store/migrations/migrations.ts"
import { openSqlite } from "../../../../src/customers/store/sqlite-store.ts"
import { newAccount, tempLog, tempPath, tempStore } from "../../temp-store.ts"
import { spawnRestoreChild } from "./spawn-restore-child.ts"

setDefaultTimeout(60_000)

test("each backup of a database that another process writes is consistent and complete", async () => {
  const path = tempPath("mailkind.sqlite")
  const child = await spawnRestoreChild(["write", path], "writes")
  const counts: number[] = []
  for (let at = 0; at < 20; at++) {
    const to = join(dirname(path), `copy-${at}`)
    expect(backUpDatabase(path, to, { mustNotExist: true })).toMatchObject({ path: to })
    const copy = new Database(to, { readonly: true })
    const [[left, right] = []] = copy
      .query("SELECT SUM(side = 'left'), SUM(side = 'right') FROM pairs")
      .values() as number[][]
    copy.close()
    expect(left).toBe(right as number)
    counts.push(left ?? 0)
  }
  await child.kill()
  // It went on writing all the while.
  expect(counts.at(-1)).toBeGreaterThan(counts[0] ?? 0)
})

test("a backup is readable by its owner only, describes its contents, and leaves no other files", async () => {
  const path = tempPath("mailkind.sqlite")
  await newAccount(tempLog(await tempStore(path)))
  const to = join(dirname(tempPath()), "backup")
  const copied = backUpDatabase(path, to, { mustNotExist: true })
  expect(copied).toEqual({
    path: to,
    bytes: statSync(to).size,
    accountsCount: 1,
    keysCount: 0,
    schemaVersion: SCHEMA_VERSION,
  })
  expect(statSync(to).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(to))).toEqual(["backup"])
})

test("an existing file is replaced only on request", async () => {
  const path = tempPath("mailkind.sqlite")
  await tempStore(path)
  const to = tempPath("backup")
  writeFileSync(to, "mine")
  chmodSync(to, 0o644)
  expect(backUpDatabase(path, to, { mustNotExist: true })).toBeNull()
  expect(readFileSync(to, "utf8")).toBe("mine")
  expect(backUpDatabase(path, to, { mustNotExist: false })).not.toBeNull()
  expect(statSync(to).mode & 0o777).toBe(0o600)
  expect(verifyBackup(to).schemaVersion).toBe(SCHEMA_VERSION)
})

test("a backup of another schema version than the requested one is not made", async () => {
  const path = tempPath("mailkind.sqlite")
  await tempStore(path)
  const to = join(dirname(path), "copy")
  expect(backUpDatabase(path, to, { mustNotExist: false, schemaVersion: SCHEMA_VERSION - 1 })).toBeNull()
  expect(existsSync(to)).toBe(false)
})

test("a damaged database and an unwritable target are errors, and nothing is left behind", async () => {
  const path = tempPath("mailkind.sqlite")
  const store = await openSqlite(path, () => 1)
  await newAccount(tempLog(store))
  await store.close()
  writeFileSync(path, readFileSync(path).fill(0xff, 4096 * 8, 4096 * 9))
  const to = join(dirname(path), "copy")
  expect(() => backUpDatabase(path, to, { mustNotExist: true })).toThrow(StoreError)
  expect(readdirSync(dirname(path)).filter(name => name.startsWith("copy"))).toEqual([])
  expect(() => backUpDatabase(path, "/proc/copy", { mustNotExist: true })).toThrow(StoreError)
})

test("the partial copy of a killed process is removed by the next backup, that of a running one is not", async () => {
  const path = tempPath("mailkind.sqlite")
  await tempStore(path)
  const to = join(dirname(path), "copy")
  const child = await spawnRestoreChild(["hold", path], "holds")
  const [gone, alive] = [`${to}.${2 ** 22 - 1}.half`, `${to}.${child.pid}.half`]
  for (const half of [gone, alive, `${to}.${process.pid}.half`]) writeFileSync(half, "half")
  expect(backUpDatabase(path, to, { mustNotExist: true })).not.toBeNull()
  expect([existsSync(gone), existsSync(alive), existsSync(`${to}.${process.pid}.half`)]).toEqual([false, true, false])
})
