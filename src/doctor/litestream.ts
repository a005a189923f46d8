import { readdirSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { isSystemError } from "../base/errors.ts"
import { type DiagnosticResult, ok, warning } from "./diagnostics.ts"

/** How long Litestream may leave a change. It looks every second. */
const DELAY_MS_MAX = 5 * 60_000

/** How many files may wait for the replica. Litestream begins one a minute at most, and removes those that the replica has. */
const WAITING_MAX = 5

/**
 * Whether Litestream v0.3 copies the changes of the SQLite database at `path`, by the copies of the write-ahead log that it keeps beside
 * it; null: it was never there. Litestream itself is silent about a replica that has no room, and does not go on when it has.
 */
export function diagnoseLitestream(path: string): DiagnosticResult | null {
  const folder = join(dirname(path), `.${basename(path)}-litestream`)
  const waiting = modifiedAtMs(join(folder, "generations"))
  if (waiting === null) return null
  if (waiting.length > WAITING_MAX)
    return warning(
      `${waiting.length} files of Litestream wait for its replica.`,
      "Make room and a way to the replica, and restart Litestream.",
    )
  const writtenAtMs = statSync(`${path}-wal`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (writtenAtMs - Math.max(0, ...waiting) > DELAY_MS_MAX)
    return warning(
      "Litestream does not copy the changes of the database.",
      `Start or restart it. If it is not used any more, remove ${folder}.`,
    )
  return ok("Litestream copies the changes of the database.")
}

/** When each file in a folder and those below was modified; null: there is no such folder. */
function modifiedAtMs(folder: string): readonly number[] | null {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    return files.map(
      ({ parentPath, name }) => statSync(join(parentPath, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    )
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null
    throw error
  }
}
