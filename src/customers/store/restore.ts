import { constants, Database } from "bun:sqlite"
import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { type CarriedOver, carryOver } from "./carry-over.ts"
import { type Copied, syncFile, vacuumInto, verifiedCopy } from "./copy.ts"
import { holdAlone, holdTogether, type LetGo } from "./hold.ts"
import { KNOWN_HEAD } from "./look.ts"
import { createFile, faultOf } from "./sqlite-file.ts"
import { StoreFault } from "./store-fault.ts"

/** What a restore has done. */
export type Restored = Copied & {
  /** Where the database is that was there before; null: there was none. A log that could not be folded lies beside it. */
  readonly keptAs: string | null
  /** What was taken over of it; null: there was none, or it cannot be read. */
  readonly carried: CarriedOver | null
}

/** The steps of a restore, in their order; before `decided` nothing has happened, and from then on it is finished by whoever opens the database. */
export type RestoreStep = "copied" | "kept" | "decided" | "log_removed" | "replaced"

/**
 * Puts the backup at `from` in place of the database at `path`, which is kept beside it under the name that `stamp` ends. A
 * backup that is damaged, or of a newer version, changes nothing. Throws a `StoreFault`: `busy` where anybody has the
 * database open. Killed at any moment, or without power, it has happened whole or not at all. `reached` is told of each step.
 */
export function restoreDatabase(
  from: string,
  path: string,
  stamp: string,
  reached: (step: RestoreStep) => void = () => undefined,
): Restored {
  const letGo = holdAlone(path)
  try {
    finish(path)
    return replace(from, path, stamp, reached)
  } catch (fault) {
    throw faultOf(fault, path)
  } finally {
    removeFresh(path)
    letGo()
  }
}

/** A copy that is being made, and one that only has to be put in its place. */
const fresh = (path: string): string => `${path}.restoring`
const decided = (path: string): string => `${path}.restored`

/** With its journal, which would be played back into the next one of this name. */
function removeFresh(path: string): void {
  for (const ending of ["", "-journal"]) rmSync(fresh(path) + ending, { force: true })
}

/**
 * Holds the database together with others, after a restore that was cut short has been finished. Throws a `StoreFault` as
 * `holdTogether` does.
 */
export function holdWhole(path: string): LetGo {
  for (;;) {
    const letGo = holdTogether(path)
    // Whoever restores holds the database alone: what lies here now was left.
    removeFresh(path)
    if (!existsSync(decided(path))) return letGo
    letGo()
    finishAlone(path)
  }
}

function finishAlone(path: string): void {
  const letGo = holdAlone(path, FINISH_WAIT_MS)
  try {
    finish(path)
  } finally {
    letGo()
  }
}

/** Several who open the database at once find the same restore to finish. */
const FINISH_WAIT_MS = 5000

function replace(from: string, path: string, stamp: string, reached: (step: RestoreStep) => void): Restored {
  const { head } = verifiedCopy(from)
  if (head > KNOWN_HEAD)
    throw new StoreFault("newer", from, `its tables are at ${head}, this version knows ${KNOWN_HEAD}`)
  const hasOld = existsSync(path)
  if (hasOld) foldLog(path)
  removeFresh(path)
  const half = createFile(fresh(path))
  vacuumInto(from, half, false)
  const carried = carryOver(half, hasOld ? path : null)
  const copied = verifiedCopy(half)
  syncFile(half)
  reached("copied")
  const keptAs = hasOld ? keep(path, stamp) : null
  reached("kept")
  renameSync(half, decided(path))
  syncFile(dirname(path))
  reached("decided")
  finish(path, reached)
  return { ...copied, path, keptAs, carried }
}

/**
 * Folds the log into the database, so that it is one file: SQLite does it for whoever is the only one. A database that is
 * too damaged for that keeps its log beside it. Throws `busy` where another program has it open.
 */
function foldLog(path: string): void {
  let database: Database | undefined
  try {
    database = new Database(path, constants.SQLITE_OPEN_READWRITE)
    database.run("PRAGMA journal_mode = DELETE")
  } catch (fault) {
    const known = faultOf(fault, path)
    if (!(known instanceof StoreFault) || known.code === "busy") throw known
  } finally {
    database?.close()
  }
}

const LOGS = ["-wal", "-shm", "-journal"] as const

/** Gives the database a second name, under which it stays; what is there already under that name is not touched. */
function keep(path: string, stamp: string): string {
  const kept = `${path}.replaced-${stamp}`
  for (const ending of ["", "-wal", "-journal"]) if (existsSync(path + ending)) linkOrCopy(path + ending, kept + ending)
  syncFile(dirname(path))
  return kept
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "EEXIST") throw fault
    copyFileSync(from, to)
    syncFile(to)
  }
}

/** The log goes first: one of another database would be read as this one's. */
function finish(path: string, reached: (step: RestoreStep) => void = () => undefined): void {
  if (!existsSync(decided(path))) return
  for (const ending of LOGS) rmSync(path + ending, { force: true })
  syncFile(dirname(path))
  reached("log_removed")
  renameSync(decided(path), path)
  syncFile(dirname(path))
  reached("replaced")
}
