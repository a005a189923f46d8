import { existsSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { streamErrorMessage } from "../cli/classify/results-writer.ts"
import { syncToDisk } from "../customers/store/backup/backup.ts"
import { StartupError } from "../process/startup-error.ts"

/** The file that gets the key of the first start. */
export type FirstKeyFile = {
  /** Writes the key, so that it survives a power failure. A second call replaces the first. Rejects with `StartupError`, also if the file was there before. */
  readonly write: (text: string) => Promise<void>
  /** Whether there is a file, whoever wrote it. */
  readonly isThere: () => boolean
  /** Removes what was written: it is certain that the account of the key was not created. */
  readonly remove: () => void
}

/** The file at this path, which only its owner can read. It is created when a key is written. */
export function createFirstKeyFile(path: string): FirstKeyFile {
  let isOurs = false
  const put = async (text: string): Promise<void> => {
    const file = await open(path, isOurs ? "w" : "wx", 0o600)
    isOurs = true
    try {
      await file.writeFile(`${text}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    syncToDisk(dirname(resolve(path)))
  }
  const remove = (): void => {
    if (isOurs) rmSync(path, { force: true })
    isOurs = false
  }
  return {
    isThere: () => existsSync(path),
    remove,
    write: async text => {
      try {
        await put(text)
      } catch (error) {
        remove()
        const message = streamErrorMessage(error)
        if (message === null) throw error
        throw new StartupError(`The first key cannot be written to the file of MAILKIND_FIRST_KEY_TO: ${message}.`)
      }
    },
  }
}
