import { SQLiteError } from "bun:sqlite"
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { StoreError, type StoreErrorCode } from "../core/store-error.ts"

/** SQLite's result codes, without what extends them, and the fault each one is (sqlite.org/rescode.html). */
const SQLITE_ERROR_CODES: Readonly<Record<string, StoreErrorCode>> = {
  NOTADB: "not_a_database",
  CORRUPT: "damaged",
  CANTOPEN: "unwritable",
  READONLY: "unwritable",
  PERM: "unwritable",
  AUTH: "unwritable",
  FULL: "full",
  BUSY: "busy",
  LOCKED: "busy",
  IOERR: "failed",
}

/**
 * Makes sure that the file exists, so that its rights are ours to choose: 0600, and 0700 for directories that were
 * missing. What exists keeps its rights. Gives the file's one true path, or throws an `unwritable` (or `full`) fault.
 */
export function ensureFile(path: string): string {
  const full = resolve(path)
  try {
    mkdirSync(dirname(full), { recursive: true, mode: 0o700 })
    createExclusively(full)
    // SQLite would open a write-protected file without a word, and fail at the first write.
    accessSync(full, constants.R_OK | constants.W_OK)
    return realpathSync(full)
  } catch (fault) {
    const code = errnoOf(fault)
    throw new StoreError(code === "ENOSPC" ? "full" : "unwritable", full, code, fault)
  }
}

/**
 * The one true path of a file that may not be there; directories that are missing are made, 0700. Throws an `unwritable`
 * fault.
 */
export function realPath(path: string): string {
  const full = resolve(path)
  try {
    if (existsSync(full)) return realpathSync(full)
    mkdirSync(dirname(full), { recursive: true, mode: 0o700 })
    return join(realpathSync(dirname(full)), basename(full))
  } catch (fault) {
    throw new StoreError("unwritable", full, errnoOf(fault), fault)
  }
}

/** A file that exists is not even opened: closing it would drop the locks that a connection of this process has on it. */
function createExclusively(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch (fault) {
    if (errnoOf(fault) !== "EEXIST") throw fault
  }
}

function errnoOf(fault: unknown): string {
  return fault instanceof Error && "code" in fault ? String(fault.code) : String(fault)
}

/** The `StoreError` that a failure of SQLite is; anything else, such as a broken constraint, is given back as it is. */
export function sqliteStoreError(fault: unknown, path: string): unknown {
  if (!(fault instanceof SQLiteError)) return fault
  const [, kind = ""] = fault.code?.split("_") ?? []
  const code = SQLITE_ERROR_CODES[kind]
  return code === undefined ? fault : new StoreError(code, path, `${fault.code}: ${fault.message}`, fault)
}
