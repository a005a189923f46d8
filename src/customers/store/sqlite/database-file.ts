import { SQLiteError } from "bun:sqlite"
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
} from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { StoreError, type StoreErrorCode } from "../core/store-error.ts"

/** SQLite's primary result codes and the error code for each (sqlite.org/rescode.html). */
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
 * Creates the file if it is missing, with mode 0600, and its missing directories with 0700. Existing ones keep their modes. Returns
 * the real path of the file. Throws an `unwritable` or `full` error.
 */
export function ensureFile(path: string): string {
  const absolute = resolve(path)
  try {
    mkdirSync(dirname(absolute), { recursive: true, mode: 0o700 })
    createExclusively(absolute)
    // SQLite would open a write-protected file without an error, and fail at the first write.
    accessSync(absolute, constants.R_OK | constants.W_OK)
    return realpathSync(absolute)
  } catch (error) {
    const code = errnoOf(error)
    throw new StoreError(code === "ENOSPC" ? "full" : "unwritable", absolute, code, error)
  }
}

/** A new file that only its owner may read and write. */
export type PrivateFile = {
  readonly path: string
  /** Flushes what was written to the disk. */
  readonly sync: () => void
  /** Whether its name still leads to it, and its owner and mode are as they were. */
  readonly isUnchanged: () => boolean
  /** Call it after the connections of this process to the file are closed, since closing drops their locks. */
  readonly close: () => void
}

/**
 * Creates a file with mode 0600 where nothing is, and its missing directories with 0700. Follows no link in its last name. Throws an
 * `unwritable` or `full` error, also when something of that name exists.
 */
export function createPrivateFile(path: string): PrivateFile {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    const created = fstatSync(file)
    return {
      path,
      sync: () => fsyncSync(file),
      isUnchanged: () => {
        const named = lstatSync(path, { throwIfNoEntry: false })
        return (["dev", "ino", "uid", "mode"] as const).every(property => named?.[property] === created[property])
      },
      close: () => closeSync(file),
    }
  } catch (error) {
    const code = errnoOf(error)
    throw new StoreError(code === "ENOSPC" ? "full" : "unwritable", path, code, error)
  }
}

/**
 * The real path of a file that may be missing. Creates missing directories with mode 0700. Throws an `unwritable` error.
 */
export function realPath(path: string): string {
  const absolute = resolve(path)
  try {
    if (existsSync(absolute)) return realpathSync(absolute)
    mkdirSync(dirname(absolute), { recursive: true, mode: 0o700 })
    return join(realpathSync(dirname(absolute)), basename(absolute))
  } catch (error) {
    throw new StoreError("unwritable", absolute, errnoOf(error), error)
  }
}

/** An existing file is not opened, since closing it would drop the locks that a connection of this process holds on it. */
function createExclusively(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error
  }
}

/** The `errno` name of a system error. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error)
}

/** The `StoreError` for an error of SQLite. Returns any other error, and one such as a broken constraint, as it is. */
export function sqliteStoreError(error: unknown, path: string): unknown {
  if (!(error instanceof SQLiteError)) return error
  const [, kind = ""] = error.code?.split("_") ?? []
  const code = SQLITE_ERROR_CODES[kind]
  return code === undefined ? error : new StoreError(code, path, `${error.code}: ${error.message}`, error)
}
