import { constants, Database } from "bun:sqlite"
import {
  closeSync,
  existsSync,
  constants as files,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { StoreError } from "../core/store-error.ts"
import { errnoOf, isNoRoom } from "../sqlite/database-file.ts"
import { restrictSchema } from "../sqlite/own-schema.ts"
import { syncToDisk } from "./backup.ts"

/*
 * The ids of deleted accounts, which a restore of an older backup deletes again. They stand beside the database, and not in it, since a
 * restore replaces the database. Each month has a file, which is only appended to: `deleted-accounts-2026-01`, a line for each account:
 *
 *     2026-01-02T03:04:05.000Z acc_0123456789abcdefghij
 */

/** A deleted account. */
export type DeletedAccount = { readonly id: string; readonly atMs: number }

/** So many months are kept: more than 400 days. They are counted and not dated, so that a clock that jumps removes none. */
export const DELETED_MONTHS_MAX = 15

/** The most bytes of a month: a million accounts. */
const MONTH_BYTES_MAX = 64 * 1024 * 1024

const MONTH_FILE = /^deleted-accounts-\d{4}-\d\d$/
const LINE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (acc_[0-9A-Za-z]{1,40})$/
const NEWLINE = 0x0a

/** Appends a deleted account to the file of its month in `directory`. It is on the disk when this returns. Throws a `StoreError`. */
export function recordDeletedAccount(directory: string, { id, atMs }: DeletedAccount): void {
  const at = new Date(atMs).toISOString()
  const path = join(directory, `deleted-accounts-${at.slice(0, 7)}`)
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = files
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const isNew = !existsSync(path)
    const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
    try {
      const { size } = fstatSync(file)
      if (size >= MONTH_BYTES_MAX) throw new StoreError("full", path, `it has ${size} bytes`)
      const last = new Uint8Array(1)
      // A line that a full disk or a crash has cut must not spoil this one.
      const isCut = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE
      writeSync(file, `${isCut ? "\n" : ""}${at} ${id}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    if (isNew) removeOldMonths(directory)
  } catch (error) {
    if (error instanceof StoreError) throw error
    const code = errnoOf(error)
    throw new StoreError(isNoRoom(code) ? "full" : "unwritable", path, code, error)
  }
}

function removeOldMonths(directory: string): void {
  const months = readdirSync(directory).filter(name => MONTH_FILE.test(name))
  for (const name of months.sort().reverse().slice(DELETED_MONTHS_MAX)) rmSync(join(directory, name), { force: true })
  syncToDisk(directory)
}

/** The deleted accounts that the files of these directories name. Lines that are cut do not count. Throws a `StoreError`. */
export function readDeletedAccounts(directories: readonly string[]): readonly DeletedAccount[] {
  const byId = new Map<string, DeletedAccount>()
  for (const directory of new Set(directories))
    for (const path of monthFiles(directory))
      for (const line of readMonth(path).split("\n")) {
        const [, at = "", id = ""] = LINE.exec(line) ?? []
        if (id !== "") byId.set(id, { id, atMs: Date.parse(at) })
      }
  return [...byId.values()]
}

function monthFiles(directory: string): readonly string[] {
  try {
    const months = readdirSync(directory).filter(name => MONTH_FILE.test(name))
    return months
      .sort()
      .slice(-DELETED_MONTHS_MAX)
      .map(name => join(directory, name))
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return []
    throw new StoreError("unwritable", directory, errnoOf(error), error)
  }
}

function readMonth(path: string): string {
  try {
    const found = lstatSync(path)
    if (!found.isFile() || found.size > 2 * MONTH_BYTES_MAX)
      throw new StoreError("unwritable", path, "it is no file that mailkind has written")
    return readFileSync(path, "latin1")
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError("unwritable", path, errnoOf(error), error)
  }
}

/**
 * Deletes accounts from a copy of a database, with every row about them, and keeps their suspensions. Accounts that are not in it do
 * not count. Returns how many were deleted. Their bytes are overwritten.
 */
export function deleteAccountsAgain(copy: string, accounts: readonly DeletedAccount[]): number {
  if (accounts.length === 0) return 0
  const database = new Database(copy, constants.SQLITE_OPEN_READWRITE)
  try {
    restrictSchema(database)
    for (const sql of ["PRAGMA foreign_keys = ON", "PRAGMA secure_delete = ON", "PRAGMA journal_mode = MEMORY"])
      database.run(sql)
    const tables = new Set(database.query("SELECT name FROM sqlite_master WHERE type = 'table'").values().flat())
    if (!tables.has("accounts")) return 0
    return database.transaction(() =>
      accounts.reduce((count, account) => count + deleteAccount(database, tables, account), 0),
    )()
  } finally {
    database.close()
  }
}

/** Does what the deletion of an account does. The database may be of an older version. Returns 1, or 0 when there is no such account. */
function deleteAccount(database: Database, tables: ReadonlySet<unknown>, { id, atMs }: DeletedAccount): number {
  if (tables.has("former_suspensions")) {
    const suspended = database
      .query<{ email: string; suspended_at_ms: number }, [string]>(
        "SELECT email, suspended_at_ms FROM accounts WHERE id = ? AND suspended_at_ms IS NOT NULL",
      )
      .get(id)
    if (suspended !== null)
      database.run(
        `INSERT INTO former_suspensions (email_hash, suspended_at_ms, kept_at_ms) VALUES (?, ?, ?)
         ON CONFLICT (email_hash) DO UPDATE SET kept_at_ms = excluded.kept_at_ms`,
        [Bun.SHA256.hash(suspended.email, "hex"), suspended.suspended_at_ms, atMs],
      )
  }
  if (tables.has("units"))
    database.run(
      `DELETE FROM units WHERE subject = ?1 OR subject IN (?1 || '/publishable', ?1 || '/reports')
         OR subject IN (SELECT id FROM keys WHERE account_id = ?1)`,
      [id],
    )
  if (database.query("SELECT 1 FROM accounts WHERE id = ?").get(id) === null) return 0
  database.run("DELETE FROM accounts WHERE id = ?", [id])
  return 1
}
