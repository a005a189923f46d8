import { expect, test } from "bun:test"
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { removeAccount } from "../../../../src/customers/accounts/accounts.ts"
import { suspendAccount } from "../../../../src/customers/accounts/suspension.ts"
import { backUpDatabase } from "../../../../src/customers/store/backup/backup.ts"
import {
  DELETED_MONTHS_MAX,
  readDeletedAccounts,
  recordDeletedAccount,
} from "../../../../src/customers/store/backup/deleted-accounts.ts"
import { restoreDatabase } from "../../../../src/customers/store/backup/restore.ts"
import { openSqlite } from "../../../../src/customers/store/sqlite-store.ts"
import { newAccount, tempLog, tempPath } from "../../temp-store.ts"

const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5)
const ID = "acc_0123456789abcdefghij"

test("the files of deleted accounts hold times and ids, for their owner alone, by month", () => {
  const directory = join(dirname(tempPath()), "data")
  recordDeletedAccount(directory, { id: ID, atMs: AT_MS })
  const path = join(directory, "deleted-accounts-2026-01")
  expect(readFileSync(path, "utf8")).toBe(`2026-01-02T03:04:05.000Z ${ID}\n`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readDeletedAccounts([directory, directory, join(directory, "nowhere")])).toEqual([{ id: ID, atMs: AT_MS }])
})

test("a line that was cut is passed over and spoils no later one", () => {
  const directory = dirname(tempPath())
  recordDeletedAccount(directory, { id: ID, atMs: AT_MS })
  appendFileSync(join(directory, "deleted-accounts-2026-01"), "2026-01-02T03:04")
  recordDeletedAccount(directory, { id: `${ID}2`, atMs: AT_MS })
  expect(readDeletedAccounts([directory]).map(({ id }) => id)).toEqual([ID, `${ID}2`])
})

test("fifteen months of deleted accounts are kept, and other files stay", () => {
  const directory = dirname(tempPath())
  writeFileSync(join(directory, "deleted-accounts-of-mine"), "")
  for (let month = 0; month < DELETED_MONTHS_MAX + 2; month++)
    recordDeletedAccount(directory, { id: ID, atMs: Date.UTC(2026, month, 2) })
  const names = readdirSync(directory).filter(name => name.startsWith("deleted-accounts-2"))
  expect(names.length).toBe(DELETED_MONTHS_MAX)
  expect(names.sort()[0]).toBe("deleted-accounts-2026-03")
  expect(readdirSync(directory)).toContain("deleted-accounts-of-mine")
})

/** A database with two accounts, the first suspended, its backup in a directory of its own, and then the first one deleted. */
async function deletedSinceBackup() {
  const path = tempPath("mailkind.sqlite")
  const store = await openSqlite(path, () => AT_MS)
  const log = tempLog(store)
  const [gone, kept] = [await newAccount(log, "gone@example.com"), await newAccount(log, "kept@example.com")]
  await suspendAccount(log, gone, "")
  const backups = join(dirname(path), "backups")
  mkdirSync(backups)
  backUpDatabase(path, join(backups, "backup"), { mustNotExist: true })
  await removeAccount(log, gone)
  await store.close()
  return { path, backups, backup: join(backups, "backup"), gone, kept }
}

/** The ids of the accounts, and the count of suspensions that are kept. */
async function contents(path: string) {
  const store = await openSqlite(path, () => AT_MS)
  const ids = (await store.all<{ id: string }>("SELECT id FROM accounts")).map(({ id }) => id)
  const row = await store.one<{ count: number }>("SELECT COUNT(*) AS count FROM former_suspensions")
  await store.close()
  return { ids, suspensions: row?.count }
}

test.each(["beside the database", "beside the backup, when the database is lost"])(
  "an account deleted since the backup stays deleted after a restore, with its suspension kept: its id stands %s",
  async place => {
    const { path, backups, backup, gone, kept } = await deletedSinceBackup()
    const isLost = place !== "beside the database"
    recordDeletedAccount(isLost ? backups : dirname(path), { id: gone, atMs: AT_MS })
    if (isLost) rmSync(path)
    expect(
      restoreDatabase(backup, path, "stamp", { deleted: readDeletedAccounts([dirname(path), backups]) }),
    ).toMatchObject({
      deletedAgainCount: 1,
      accountsCount: 1,
    })
    expect(await contents(path)).toEqual({ ids: [kept], suspensions: 1 })
    expect(readFileSync(path, "latin1")).not.toContain("gone@example.com")
  },
)
