import { statSync } from "node:fs"
import { HOUR_MS } from "../base/time.ts"
import { type DiagnosticResult, failed, ok, skipped, warning } from "./diagnostics.ts"
import { accessOfOthers, writeErrorCode } from "./directory.ts"

/** The scheduled backups: their directory, their schedule, and when the newest one was begun (null: there is none). */
export type BackupSchedule = {
  readonly directory: string | null
  readonly everyHours: number
  readonly newestAtMs: number | null
  readonly nowMs: number
  /** What Litestream does beside the database; null: it was never there. */
  readonly litestream: DiagnosticResult | null
}

/** How many backups in a row may be missed without a warning. */
const MISSED_BACKUPS_MAX = 2

/**
 * Checks that the directory of backups can be written, that the newest backup is young, and that a Litestream copies changes. It creates
 * a file for a moment.
 */
export function diagnoseBackups({ litestream, ...schedule }: BackupSchedule, token: string): DiagnosticResult {
  if (schedule.directory === null)
    return litestream ?? skipped("MAILKIND_BACKUP_DIR is not set. No backups are made on schedule.")
  const found = diagnoseSchedule({ ...schedule, directory: schedule.directory }, token)
  if (litestream === null || found.verdict !== "ok") return found
  return { ...litestream, seen: `${found.seen} ${litestream.seen}` }
}

type FoundSchedule = Omit<BackupSchedule, "litestream"> & { readonly directory: string }

function diagnoseSchedule(
  { directory, everyHours, newestAtMs, nowMs }: FoundSchedule,
  token: string,
): DiagnosticResult {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found?.isDirectory() !== true)
    return failed(`${directory} is no directory.`, "Create it, or mount its disk, or set MAILKIND_BACKUP_DIR.")
  const fault = writeErrorCode(`${directory}/doctor.${token}`, () => undefined)
  if (fault !== null)
    return failed(
      `A file in ${directory} cannot be written (${fault}).`,
      "Make it writable for this user, and free some space.",
    )
  const access = accessOfOthers(directory, found)
  if (access.kind !== "none")
    return warning(access.seen, `Run \`chmod 700 ${directory}\`. Backups have email addresses.`)
  if (newestAtMs === null)
    return warning(`${directory} has no backup yet.`, "Start the server, which makes one within minutes.")
  const hours = Math.floor((nowMs - newestAtMs) / HOUR_MS)
  const seen = `The newest backup in ${directory} is ${hours} hours old.`
  if (hours > everyHours * MISSED_BACKUPS_MAX)
    return warning(`${seen} The schedule is every ${everyHours} hours.`, "Read in the log why no backup was written.")
  return ok(seen)
}
