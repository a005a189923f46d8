import { constants, type FileHandle, open, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { isSystemError } from "../base/errors.ts"
import { makeFolder } from "../base/file-owner.ts"

/** An open file of a job. All functions reject with the system's error. */
export type JobFile = {
  /** Writes all bytes from a byte of the file on. */
  readonly write: (bytes: Uint8Array, at: number) => Promise<void>
  /** Resolves when everything that was written is on the disk. */
  readonly sync: () => Promise<void>
  readonly truncate: (length: number) => Promise<void>
  /** Reads so many bytes, or as many as there are. */
  readonly read: (at: number, length: number) => Promise<Uint8Array>
  readonly close: () => Promise<void>
}

/** The folder with the files of jobs. */
export type JobFiles = {
  /** Creates a file, or empties it, for its owner alone. */
  readonly create: (name: string) => Promise<JobFile>
  /** Opens a file for reading; null: there is none. */
  readonly open: (name: string) => Promise<JobFile | null>
  /** Removes a file, if it is there. */
  readonly remove: (name: string) => Promise<void>
  /** The names of all files; none where there is no folder. */
  readonly names: () => Promise<readonly string[]>
}

const FILE_MODE = 0o600
/** Through no link: the folder may be another user's, who could put one there. */
const NEW_FILE = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW

/** The folder at a path, which the first file creates. `onMoved` is told how many bytes were read or written. */
export function createJobFiles(path: string, onMoved: (bytes: number) => void = () => undefined): JobFiles {
  return {
    create: async name => {
      await makeFolder(path)
      const handle = await open(join(path, name), NEW_FILE, FILE_MODE)
      await syncFolder(path)
      return toJobFile(handle, onMoved)
    },
    open: async name => {
      try {
        return toJobFile(await open(join(path, name), "r"), onMoved)
      } catch (error) {
        if (isSystemError(error, "ENOENT")) return null
        throw error
      }
    },
    remove: name => rm(join(path, name), { force: true }),
    names: async () => {
      try {
        return await readdir(path)
      } catch (error) {
        if (isSystemError(error, "ENOENT")) return []
        throw error
      }
    },
  }
}

/** So that the name of a new file is on the disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function toJobFile(handle: FileHandle, onMoved: (bytes: number) => void): JobFile {
  return {
    write: async (bytes, at) => {
      // A write may be partial, for example on a disk that is almost full.
      for (let written = 0; written < bytes.length; )
        written += (await handle.write(bytes, written, bytes.length - written, at + written)).bytesWritten
      onMoved(bytes.length)
    },
    sync: () => handle.sync(),
    truncate: length => handle.truncate(length),
    read: async (at, length) => {
      const bytes = new Uint8Array(length)
      let count = 0
      for (let isMore = true; isMore && count < length; ) {
        const { bytesRead } = await handle.read(bytes, count, length - count, at + count)
        count += bytesRead
        isMore = bytesRead > 0
      }
      onMoved(count)
      return bytes.subarray(0, count)
    },
    close: () => handle.close(),
  }
}

/** The file with the list of a job. */
export const inputFileName = (jobId: string): string => `${jobId}.list`

/** The file with the results that were written under a lease. */
export const resultFileName = (jobId: string, lease: number): string => `${jobId}.${lease}.results`

/** The job that a file belongs to; null: the file is none of a job. */
export const jobIdOfFile = (name: string): string | null =>
  /^(job_[0-9A-Za-z]+)\.(?:list|\d+\.results)$/.exec(name)?.[1] ?? null

/** Creates an empty file. */
export async function createEmptyFile(files: JobFiles, name: string): Promise<void> {
  await (await files.create(name)).close()
}
