import { statSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { brokenLinkTarget } from "./disk-space.ts"
import { orNull } from "./errors.ts"

/** Only the user who runs the server can read its folders. */
const FOLDER_MODE = 0o700

/** Creates a folder and its missing parents, for their owner alone. Rejects with an error of the system, which names a link to nothing. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: FOLDER_MODE })
  } catch (error) {
    for (let place = resolve(path); place !== dirname(place); place = dirname(place)) {
      const target = brokenLinkTarget(place)
      // The system says of it that it exists (EEXIST).
      if (target !== null)
        throw Object.assign(new Error(`${place} is a link to ${target}, which is missing`), {
          ...{ code: "ENOTDIR", syscall: "mkdir" },
        })
    }
    throw error
  }
}

/** Whose a path that exists is, its mode, and who this process runs as; null: it cannot be looked at. */
export function describeOwner(path: string): string | null {
  const found = orNull(() => statSync(path))
  if (found === null) return null
  const octal = `0${(found.mode & 0o7777).toString(8)}`
  return `${path} belongs to the user ${found.uid} and has mode ${octal}; this process runs as the user ${process.geteuid?.() ?? "unknown"}`
}

/** The user other than root to whom a path belongs, while this process is root's; null: there is none. */
export function otherOwnerForRoot(path: string): number | null {
  if (process.geteuid?.() !== 0) return null
  const uid = statSync(path, { throwIfNoEntry: false })?.uid ?? 0
  return uid === 0 ? null : uid
}
