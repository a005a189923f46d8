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
  rmSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { brokenLinkTarget } from "../../../base/disk-space.ts"
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
    ensureDirectory(dirname(absolute))
    createExclusively(absolute)
    // SQLite would open a write-protected file without an error, and fail at the first write.
    accessSync(absolute, constants.R_OK | constants.W_OK)
    return realpathSync(absolute)
  } catch (error) {
    throw fileError(error, absolute)
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
    ensureDirectory(dirname(path))
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
    throw fileError(error, path)
  }
}

/**
 * The real path of a file that may be missing. Creates missing directories with mode 0700. Throws an `unwritable` error.
 */
export function realPath(path: string): string {
  const absolute = resolve(path)
  try {
    if (existsSync(absolute)) return realpathSync(absolute)
    ensureDirectory(dirname(absolute))
    return join(realpathSync(dirname(absolute)), basename(absolute))
  } catch (error) {
    throw fileError(error, absolute)
  }
}

/** Creates missing directories with mode 0700. Throws an `unwritable` or `full` error of the directory. */
function ensureDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    const code = errnoOf(error)
    const isFile = code === "EEXIST" || code === "ENOTDIR"
    const target = brokenLinkTarget(path)
    const what = isFile ? "is not a directory" : "does not exist and cannot be created"
    throw fileError(
      error,
      path,
      target === null ? `it ${what} (${code})` : `it is a link to ${target}, which is missing`,
    )
  }
}

/** Whether a disk or a quota has no room, by the `errno` name of an error. */
export const isNoRoom = (code: string | null): boolean => code === "ENOSPC" || code === "EDQUOT"

/** The `StoreError` for a file that the system does not create or open. */
function fileError(error: unknown, path: string, reason = errnoOf(error)): StoreError {
  return error instanceof StoreError
    ? error
    : new StoreError(isNoRoom(errnoOf(error)) ? "full" : "unwritable", path, reason, error)
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

/** Errors of SQLite that may mean that a file could not grow: it names no cause for its shared memory, or for a quota. */
const GROWTH_ERROR = /^SQLITE_(?:CANTOPEN|IOERR_(?:WRITE|FSYNC|DIR_FSYNC|TRUNCATE|SHM\w+))/

/** More than SQLite wants at once, which is 32 KiB of shared memory. */
const PROBE_BYTES = 65_536

/** The `errno` name of an error that shows that no file in the directory can grow; null: one can, or fails for another reason. */
export function growthErrorAt(directory: string): string | null {
  const path = join(directory, `probe.${Bun.randomUUIDv7()}`)
  try {
    const file = openSync(path, "wx", 0o600)
    try {
      // First, so that a killed process leaves nothing behind.
      rmSync(path)
      writeFileSync(file, new Uint8Array(PROBE_BYTES))
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    return null
  } catch (error) {
    return isNoRoom(errnoOf(error)) ? errnoOf(error) : null
  }
}

/** The `StoreError` for an error of SQLite. Returns any other error, and one such as a broken constraint, as it is. */
export function sqliteStoreError(error: unknown, path: string, growthError = growthErrorAt): unknown {
  if (!(error instanceof SQLiteError)) return error
  const [, kind = ""] = error.code?.split("_") ?? []
  const code = SQLITE_ERROR_CODES[kind]
  if (code === undefined) return error
  const reason = `${error.code}: ${error.message}`
  const noRoom = GROWTH_ERROR.test(error.code ?? "") ? growthError(dirname(path)) : null
  return noRoom === null
    ? new StoreError(code, path, reason, error)
    : new StoreError("full", path, `${reason} (${noRoom})`, error)
}
