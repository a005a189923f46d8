import { link, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Folder } from "../check/refresh/refresh-state.ts"

/** Only whoever runs the server reads what is in its folders. */
const DIRECTORY_MODE = 0o700

/**
 * Writes a new file beside `path`, with the system before it is renamed, so that `path` is the old file or the new one at
 * every moment, and after a loss of power too. The folder is made when it is not there. What cannot be written whole leaves
 * nothing behind: a disk that is full would only fill further.
 */
export async function writeFileAtomic(path: string, bytes: Uint8Array | string): Promise<void> {
  const fresh = `${path}.${process.pid}.new`
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
  try {
    await writeDurably(fresh, bytes)
    await rename(fresh, path)
  } catch (fault) {
    await rm(fresh, { force: true })
    throw fault
  }
}

async function writeDurably(path: string, bytes: Uint8Array | string): Promise<void> {
  const file = await open(path, "w")
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A real folder. */
export const createFolder = (folder: string): Folder => ({
  read: name => nullOnCode(readFile(join(folder, name)), "ENOENT"),
  writeAtomic: (name, bytes) => writeFileAtomic(join(folder, name), bytes),
  createExclusive: async (name, text) => {
    await mkdir(folder, { recursive: true, mode: DIRECTORY_MODE })
    const path = join(folder, name)
    const fresh = `${path}.${Bun.randomUUIDv7()}.claim`
    try {
      // Linked when it has its text: whoever finds the file finds who has made it.
      await writeFile(fresh, text)
      return (
        (await nullOnCode(
          link(fresh, path).then(() => true),
          "EEXIST",
        )) ?? false
      )
    } finally {
      await rm(fresh, { force: true })
    }
  },
  remove: name => rm(join(folder, name), { force: true }),
  list: async () => (await nullOnCode(readdir(folder), "ENOENT")) ?? [],
})

/** Null where the system answers with the error of this code. */
async function nullOnCode<T>(work: Promise<T>, code: string): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === code) return null
    throw error
  }
}
