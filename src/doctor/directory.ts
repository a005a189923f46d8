import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  realpathSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs"
import { dirname, join, resolve } from "node:path"
import { brokenLinkTarget, diskSpaceAt, mebibytes, nearestExisting } from "../base/disk-space.ts"
import { errorCode, isSystemError } from "../base/errors.ts"
import { describeOwner } from "../base/file-owner.ts"
import { READ_ONLY_REMEDY } from "../customers/store/core/store-error.ts"
import { type DiagnosticResult, failed, ok, skipped, warning } from "./diagnostics.ts"

/** What a start needs: refreshed lists, and room for the write-ahead log of a busy database. */
export const DISK_FREE_BYTES_MIN = 64 * 1024 * 1024
/** With less, the data of a few weeks may not fit. */
export const DISK_FREE_BYTES_RECOMMENDED = 512 * 1024 * 1024

const OWNER_ONLY_MODE = 0o700
const MODE_BITS = 0o777
const OTHERS_WRITE_MODE = 0o002
const STICKY_MODE = 0o1000
const GROUP_WRITE_MODE = 0o020
const ROOT_UID = 0
/** One page, the least that can be mapped. */
const PAGE_BYTES = 4096

const FREE_SPACE_REMEDY = "Free some space on this disk, or set MAILKIND_DATA_DIR to a directory on another disk."

/**
 * Checks that the data directory exists, who can access it, and that a file in it can be written, synced and mapped. It creates a
 * file named after `token` for a moment.
 */
export function diagnoseDirectory(path: string, token: string): DiagnosticResult {
  const full = resolve(path)
  const found = statOrErrorCode(full)
  if (typeof found === "string")
    return failed(
      `${full} cannot be read (${found}).${ownerNote(full)}`,
      `Make the user of the server the owner of ${full}.`,
    )
  if (found === null) return missingDirectory(full)
  if (!found.isDirectory())
    return failed(`${full} is not a directory.`, "Move the file away, or set MAILKIND_DATA_DIR.")
  const fault = writeErrorCode(join(full, `doctor.${token}`), path => void Bun.mmap(path))
  if (fault !== null)
    return failed(
      `A file in ${full} cannot be written and mapped (${fault}).${isAccess(fault) ? ownerNote(full) : ""}`,
      WRITE_ERROR_REMEDIES[fault] ?? OWNERSHIP_REMEDY,
    )
  const access = dataDirectoryAccess(full)
  if (access.kind === "refused") return failed(access.seen, access.remedy)
  if (access.kind === "warned") return warning(access.seen, access.remedy)
  return ok(`${full} has mode ${octal(found.mode)}, and a file in it can be written and mapped.`)
}

/**
 * What users besides the one that serves may do with a directory. Root may do everything everywhere and does not count.
 * `refused`: anybody may write, or another user owns it. `warned`: a group may write, which some platforms set up, or others may
 * read.
 */
type AccessOfOthers =
  | { readonly kind: "none" }
  | { readonly kind: "warned" | "refused"; readonly seen: string; readonly remedy: string }

/**
 * What others may do with the data directory, or with one of its parents. Where there is no directory its parents alone count, since a
 * start creates it for its owner alone.
 */
export function dataDirectoryAccess(path: string): AccessOfOthers {
  const full = resolve(path)
  const found = statOrErrorCode(full)
  const own: AccessOfOthers =
    found === null || typeof found === "string" || !found.isDirectory() ? { kind: "none" } : accessOfOthers(full, found)
  return own.kind === "refused" ? own : (accessByParents(full) ?? own)
}

/** Who may write into a parent without the sticky bit can put another directory in the place of ours. Null: nobody can. */
function accessByParents(full: string): AccessOfOthers | null {
  // Each link on the way stands in a directory of its own.
  const places = [join(realPath(dirname(full)), "data"), realPath(full), full].flatMap(parentsOf)
  for (const place of new Set(places)) {
    const found = statOrErrorCode(place)
    if (found === null || typeof found === "string") continue
    if ((found.mode & OTHERS_WRITE_MODE) === 0 || (found.mode & STICKY_MODE) !== 0) continue
    const seen = `${place} has mode ${octal(found.mode)}. Others can replace the directories in it.`
    return { kind: "warned", seen, remedy: `Run \`chmod o-w ${place}\`, or set MAILKIND_DATA_DIR.` }
  }
  return null
}

const parentsOf = (path: string): readonly string[] =>
  dirname(path) === path ? [] : [dirname(path), ...parentsOf(dirname(path))]

/** The path without symbolic links; as it is where it does not exist. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (isSystemError(error)) return path
    throw error
  }
}

/** Who may write into the data directory can replace the database and the lists, whoever owns those. */
export function accessOfOthers(
  full: string,
  { mode, uid }: { readonly mode: number; readonly uid: number },
  ownUid: number | undefined = process.geteuid?.(),
): AccessOfOthers {
  const isMine = ownUid === undefined || ownUid === ROOT_UID || uid === ownUid
  const seen = `${full} has mode ${octal(mode)}${isMine ? "" : ` and belongs to the user ${uid}; this process runs as ${ownUid}`}.`
  const command = isMine
    ? `Run \`chmod 700 ${full}\``
    : `As root, run \`chown -R ${ownUid} ${full} && chmod 700 ${full}\``
  const remedy = `${command}, or set MAILKIND_DATA_DIR.`
  if ((mode & OTHERS_WRITE_MODE) !== 0) return { kind: "refused", seen: `${seen} Others can write to it.`, remedy }
  if (ownUid !== undefined && uid !== ownUid && uid !== ROOT_UID)
    return {
      // In a container, root often serves from a directory of the host's user.
      kind: ownUid === ROOT_UID ? "warned" : "refused",
      seen: `${full} belongs to the user ${uid}, who can write to it. This process runs as ${ownUid}.`,
      remedy:
        ownUid === ROOT_UID
          ? "If the server runs as that user, run commands as that user too: it cannot use what root writes there. Else set MAILKIND_DATA_DIR."
          : `Run it as that user, or as root run \`chown -R ${ownUid} ${full}\`, or set MAILKIND_DATA_DIR.`,
    }
  if ((mode & GROUP_WRITE_MODE) !== 0) return { kind: "warned", seen: `${seen} Its group can write to it.`, remedy }
  if ((mode & MODE_BITS & ~OWNER_ONLY_MODE) === 0) return { kind: "none" }
  return { kind: "warned", seen: `${seen} Others can read it.`, remedy: `${command}.` }
}

const octal = (mode: number): string => `0${(mode & MODE_BITS).toString(8)}`

/** Checks the free space of the disk that has or will have the data directory. */
export function diagnoseDisk(path: string): DiagnosticResult {
  const full = resolve(path)
  const place = nearestExisting(full)
  if (place === null) return skipped(`No parent directory of ${full} can be read.`)
  const { freeBytes: free, hasInodes } = diskSpaceAt(place)
  const seen = `${mebibytes(free)} are free.`
  if (free < DISK_FREE_BYTES_MIN)
    return failed(`${seen} A server needs at least ${mebibytes(DISK_FREE_BYTES_MIN)}.`, FREE_SPACE_REMEDY)
  if (!hasInodes) return failed(`${seen} But it accepts no more files.`, FREE_SPACE_REMEDY)
  if (free < DISK_FREE_BYTES_RECOMMENDED)
    return warning(`${seen} That is less than ${mebibytes(DISK_FREE_BYTES_RECOMMENDED)}.`, FREE_SPACE_REMEDY)
  return ok(seen)
}

function missingDirectory(full: string): DiagnosticResult {
  const target = brokenLinkTarget(full)
  if (target !== null)
    return failed(
      `${full} is a link to ${target}, which is missing.`,
      "Create that directory, or set MAILKIND_DATA_DIR.",
    )
  const place = nearestExisting(dirname(full))
  try {
    if (place !== null) accessSync(place, constants.W_OK | constants.X_OK)
  } catch (refused) {
    const code = errorCode(refused)
    return failed(
      `${full} does not exist and cannot be created (${code}).${isAccess(code) ? ownerNote(dirname(full)) : ""}`,
      WRITE_ERROR_REMEDIES[code] ?? OWNERSHIP_REMEDY,
    )
  }
  return warning(
    `${full} does not exist.`,
    "The first start creates it. If you have data elsewhere, set MAILKIND_DATA_DIR.",
  )
}

/** Whose the path, or the nearest directory above it, is, as a further sentence. */
export function ownerNote(path: string): string {
  const place = nearestExisting(path)
  const owner = place && describeOwner(place)
  return owner ? ` ${owner}.` : ""
}

const isAccess = (code: string): boolean => code === "EACCES" || code === "EPERM"

const OWNERSHIP_REMEDY = "Let the user of the server write to the data directory, or set MAILKIND_DATA_DIR."
const WRITE_ERROR_REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: FREE_SPACE_REMEDY,
  EDQUOT: FREE_SPACE_REMEDY,
  EROFS: READ_ONLY_REMEDY,
  ENODEV: "This file system cannot map files. Set MAILKIND_DATA_DIR to a directory on another one.",
}

function statOrErrorCode(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch (refused) {
    return errorCode(refused)
  }
}

/** The error code of writing a file there, and of what else is done with it; `null` if it succeeds. The file is removed again. */
export function writeErrorCode(path: string, use: (path: string) => void = () => undefined): string | null {
  try {
    const file = openSync(path, "wx", 0o600)
    try {
      writeSync(file, new Uint8Array(PAGE_BYTES))
      fsyncSync(file)
      use(path)
    } finally {
      closeSync(file)
      unlinkSync(path)
    }
    return null
  } catch (fault) {
    return errorCode(fault)
  }
}
