import { constants, Database } from "bun:sqlite"
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readdirSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { countIn, faultsIn, type Look, lookInto } from "./look.ts"
import { createFile, faultOf } from "./sqlite-file.ts"
import { StoreFault } from "./store-fault.ts"

/** What a copy holds. */
export type Copied = {
  readonly path: string
  readonly bytes: number
  readonly accountsCount: number
  readonly keysCount: number
  /** The number of its latest migration. */
  readonly head: number
}

/** Copies that were left half-written by a process that was killed are named after it. */
const HALF = /\.(\d+)\.half(?:-journal)?$/

/** Which copy is wanted. */
export type Wanted = {
  /** A file that is there is not replaced. */
  readonly isNew: boolean
  /** The number of its latest migration; absent: any. */
  readonly head?: number
}

/**
 * Writes a copy of the database at `from`, as it is at one moment between two commits, whoever else writes, and gives it
 * its name when every page of it has been read back and the disk has it: `to` is the whole copy or what it was before.
 * Null: there is a file, or another migration has been run. It is for its owner alone. Throws a `StoreFault`, and leaves
 * nothing behind then. It keeps this process while it writes.
 */
export function copyDatabase(from: string, to: string, { isNew, head }: Wanted): Copied | null {
  if (isNew && existsSync(to)) return null
  removeHalves(to)
  const half = createFile(`${to}.${process.pid}.half`)
  try {
    vacuumInto(from, half, true)
    const copied = verifiedCopy(half)
    if (head !== undefined && copied.head !== head) return null
    syncFile(half)
    if (!moved(half, to, isNew)) return null
    syncFile(dirname(to))
    return { ...copied, path: to }
  } catch (fault) {
    throw faultOf(fault, to)
  } finally {
    for (const path of [half, `${half}-journal`]) rmSync(path, { force: true })
  }
}

/** What a database file of ours holds, after every page of it has been read. Throws a `StoreFault` where one is damaged, or there is none. */
export function verifiedCopy(path: string): Copied {
  const copied = lookInto(path, look => whole(look, path))
  if (copied === null) throw new StoreFault("unwritable", path, "there is no such file")
  return copied
}

function whole(look: Look, path: string): Copied {
  const [fault] = faultsIn(look)
  if (fault !== undefined) throw new StoreFault("damaged", path, fault)
  const { head, bytes } = look
  return { path, bytes, head, accountsCount: countIn(look, "accounts"), keysCount: countIn(look, "keys") }
}

/** Puts what the system holds of a file, or of the names in a directory, on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Writes the database at `from` to the empty file `to`. `isInUse`: others may have it open, or open it just now; else it is
 * only read, from whatever it lies on.
 */
export function vacuumInto(from: string, to: string, isInUse: boolean): void {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE, SQLITE_OPEN_URI } = constants
  const url = pathToFileURL(from)
  url.search = isInUse ? "?mode=rw" : existsSync(`${from}-wal`) ? "?mode=ro" : "?mode=ro&immutable=1"
  const database = new Database(url.href, (isInUse ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_URI)
  try {
    // Another connection may fold the log into the file just now.
    database.run("PRAGMA busy_timeout = 5000")
    database.query("VACUUM INTO ?").run(to)
  } finally {
    database.close()
  }
}

/** False: the name is taken, and shall not be. A file system without links has to be asked first. */
function moved(from: string, to: string, isNew: boolean): boolean {
  if (!isNew) {
    renameSync(from, to)
    return true
  }
  try {
    linkSync(from, to)
    return true
  } catch (fault) {
    const code = fault instanceof Error && "code" in fault ? fault.code : ""
    if (code === "EEXIST" || existsSync(to)) return false
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw fault
    renameSync(from, to)
    return true
  }
}

/** Removes what processes that are gone have left of copies of this name: each is as large as the database. */
function removeHalves(to: string): void {
  if (!existsSync(dirname(to))) return
  for (const name of readdirSync(dirname(to))) {
    const pid = name.startsWith(`${basename(to)}.`) ? HALF.exec(name)?.[1] : undefined
    if (pid !== undefined && (Number(pid) === process.pid || !isRunning(Number(pid))))
      rmSync(join(dirname(to), name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (fault) {
    return fault instanceof Error && "code" in fault && fault.code === "EPERM"
  }
}
