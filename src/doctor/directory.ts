import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs"
import { dirname, join, resolve } from "node:path"
import { faultCode } from "../base/fault-code.ts"
import { doubtful, type Examined, failing, skipped, well } from "./examined.ts"

/** A start wants about this much: the unpacked lists, and room for the log of a busy database. */
export const DISK_FREE_BYTES_MIN = 64 * 1024 * 1024
/** Below this, what is written in a few weeks may not fit. */
export const DISK_FREE_BYTES_GOOD = 512 * 1024 * 1024

const OWNER_ONLY = 0o700
const RIGHTS = 0o777
/** One page, which is the least that can be mapped. */
const PAGE_BYTES = 4096

const ROOM = "Free some space on this disk, or name a directory on another one by MAILKIND_DATA_DIR."

/**
 * Looks at the data directory: whether it is one, whose it is, and whether a file in it can be written, synced and mapped,
 * for which a file named after `token` is there for a moment.
 */
export function examineDirectory(path: string, token: string): Examined {
  const full = resolve(path)
  const found = statOf(full)
  if (typeof found === "string")
    return failing(`${full} cannot be looked into (${found}).`, `Make ${full} a directory of the user that serves.`)
  if (found === null) return missing(full)
  if (!found.isDirectory()) return failing(`${full} is no directory.`, "Move the file away, or set MAILKIND_DATA_DIR.")
  const fault = writeFault(join(full, `doctor.${token}`))
  if (fault !== null)
    return failing(`A file in ${full} cannot be written and mapped (${fault}).`, REMEDIES[fault] ?? OWN_REMEDY)
  const rights = found.mode & RIGHTS
  if ((rights & ~OWNER_ONLY) !== 0)
    return doubtful(`${full} has mode 0${rights.toString(8)}: others may look into it.`, `Run \`chmod 700 ${full}\`.`)
  return well(`${full} has mode 0${rights.toString(8)}, and a file in it can be written and mapped.`)
}

/** Looks at how much room there is where the data directory is, or will be. */
export function examineDisk(path: string): Examined {
  const full = resolve(path)
  const place = nearest(full)
  if (place === null) return skipped(`Nothing on the way to ${full} can be looked at.`)
  const { bavail, bsize, ffree, files } = statfsSync(place)
  const free = bavail * bsize
  const seen = `${inMegabytes(free)} are free.`
  if (free < DISK_FREE_BYTES_MIN)
    return failing(`${seen} A server wants ${inMegabytes(DISK_FREE_BYTES_MIN)} at least.`, ROOM)
  // A file system without a table of files tells of none at all.
  if (files > 0 && ffree === 0) return failing(`${seen} But it takes no more files.`, ROOM)
  if (free < DISK_FREE_BYTES_GOOD)
    return doubtful(`${seen} That is less than ${inMegabytes(DISK_FREE_BYTES_GOOD)}.`, ROOM)
  return well(seen)
}

function missing(full: string): Examined {
  const place = nearest(dirname(full))
  try {
    if (place !== null) accessSync(place, constants.W_OK | constants.X_OK)
  } catch (refused) {
    return failing(`${full} is not there, and cannot be made (${faultCode(refused)}).`, OWN_REMEDY)
  }
  return doubtful(
    `${full} is not there.`,
    "Nothing, if this host has not served yet: the first start makes it. Else set MAILKIND_DATA_DIR.",
  )
}

const OWN_REMEDY = "Make the data directory one that the user who serves may write, or set MAILKIND_DATA_DIR."
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: ROOM,
  EDQUOT: ROOM,
  EROFS: "Mount the file system for writing, or name a directory on another one by MAILKIND_DATA_DIR.",
  ENODEV: "This file system maps no files: name a directory on another one by MAILKIND_DATA_DIR.",
}

function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch (refused) {
    return faultCode(refused)
  }
}

/** The path, or the nearest directory above it that is there; null: none may be seen. */
function nearest(path: string): string | null {
  for (let place = path; ; place = dirname(place)) {
    const found = statOf(place)
    if (found !== null && typeof found !== "string") return place
    if (dirname(place) === place) return null
  }
}

/** The code of what fails when a file is written there; null: nothing does, and it is gone again. */
function writeFault(path: string): string | null {
  try {
    const file = openSync(path, "wx", 0o600)
    try {
      writeSync(file, new Uint8Array(PAGE_BYTES))
      fsyncSync(file)
      Bun.mmap(path)
    } finally {
      closeSync(file)
      unlinkSync(path)
    }
    return null
  } catch (fault) {
    return faultCode(fault)
  }
}

const inMegabytes = (bytes: number): string => `${Math.floor(bytes / (1024 * 1024)).toLocaleString("en")} MiB`
