import { closeSync, constants, fchownSync, fstatSync, openSync, statSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { brokenLinkTarget } from "./disk-space.ts"
import { isSystemError } from "./errors.ts"

/** Only the user who runs the server can read its folders. */
const FOLDER_MODE = 0o700
const ROOT_UID = 0

/**
 * Gives the open file or folder that root has created in `folder` to the owner of that, as SQLite does beside a database, since a server of
 * that user has to use it (DECISIONS 178). Where the system refuses it, as without CAP_CHOWN, it stays root's.
 */
export function giveToOwnerOf(folder: string, descriptor: number): void {
  if (process.geteuid?.() !== ROOT_UID) return
  const [owner, given] = [statSync(folder), fstatSync(descriptor)]
  // A file with a second name may be another one of root's.
  if (owner.uid === ROOT_UID || given.uid !== ROOT_UID || (given.isFile() && given.nlink > 1)) return
  try {
    fchownSync(descriptor, owner.uid, owner.gid)
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

/** Creates a folder and its missing parents, for their owner alone. Those below `within` get its owner. Rejects with an error of the system. */
export async function makeFolder(path: string, within: string): Promise<void> {
  const target = brokenLinkTarget(within)
  if (target !== null) {
    // The system would say that it exists (EEXIST).
    const message = `${within} is a link to ${target}, which is missing`
    throw Object.assign(new Error(message), { code: "ENOTDIR", syscall: "mkdir" })
  }
  await mkdir(within, { recursive: true, mode: FOLDER_MODE })
  const full = resolve(path)
  const first = await mkdir(full, { recursive: true, mode: FOLDER_MODE })
  if (first === undefined) return
  const made = [full]
  for (let place = full; place.length > first.length; place = dirname(place)) made.unshift(dirname(place))
  for (const place of made) {
    // Others may have put a link there.
    const descriptor = openSync(place, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    giveToOwnerOf(dirname(place), descriptor)
    closeSync(descriptor)
  }
}

/** Whose a path that exists is, its mode, and who this process runs as; null: it cannot be looked at. */
export function describeOwner(path: string): string | null {
  try {
    const { uid, mode } = statSync(path)
    const octal = `0${(mode & 0o7777).toString(8)}`
    return `${path} belongs to the user ${uid} and has mode ${octal}; this process runs as the user ${process.geteuid?.() ?? "unknown"}`
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}
