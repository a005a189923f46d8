import { existsSync, readlinkSync, type StatsFs, statfsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { isSystemError, orNull } from "./errors.ts"

/** The room on a disk, as df(1) tells it: the reserve of root is part of neither number. */
export type DiskSpace = { readonly freeBytes: number; readonly sizeBytes: number; readonly hasInodes: boolean }

/** The room on the disk of a file system. File systems without an inode table report zero inodes. */
export const toDiskSpace = ({ bsize, blocks, bfree, bavail, ffree, files }: StatsFs): DiskSpace => ({
  freeBytes: bavail * bsize,
  sizeBytes: (blocks - bfree + bavail) * bsize,
  hasInodes: files === 0 || ffree > 0,
})

/** The room on the disk of a path that exists. Throws an error of the system, and blocks the thread while the disk is silent. */
export const diskSpaceAt = (path: string): DiskSpace => toDiskSpace(statfsSync(path))

/** The path, or the nearest directory above it that can be looked at; null: there is none. */
export function nearestExisting(path: string): string | null {
  for (let place = path; ; place = dirname(place)) {
    try {
      statSync(place)
      return place
    } catch (error) {
      if (!isSystemError(error)) throw error
      if (dirname(place) === place) return null
    }
  }
}

/** Where a link leads that leads to nothing; null: the path is none. */
export const brokenLinkTarget = (path: string): string | null =>
  orNull(() => (existsSync(path) ? null : readlinkSync(path)))

/** The room on the disk of a path that exists; null: it cannot be looked at. Blocks the thread while the disk is silent. */
export function describeRoom(path: string): string | null {
  const space = orNull(() => diskSpaceAt(path))
  if (space === null) return null
  const { freeBytes, sizeBytes, hasInodes } = space
  const inodes = hasInodes ? "" : ", and no inode"
  return `${mebibytes(freeBytes)} of ${mebibytes(sizeBytes)} are free on the disk of ${path}${inodes}`
}

/** A size as an operator reads it, rounded down. */
export const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1_048_576).toLocaleString("en")} MiB`
