import { statSync } from "node:fs"
import { isSystemError, StartupError } from "../base/errors.ts"
import { logError } from "../base/log.ts"
import { HOUR_MS } from "../base/time.ts"
import type { Sample } from "../contract/metrics.ts"
import { recordDeletedAccount } from "../customers/store/backup/deleted-accounts.ts"
import type { ChangeLog } from "../customers/store/change-log/change-log.ts"
import { knownBackupAtMs, startBackupScheduler } from "../process/backup-scheduler.ts"
import { startScheduledRefresh } from "./check/refresh.ts"
import type { AppContext, StoreContext } from "./context.ts"
import type { Part } from "./part.ts"

/** Refreshes the lists and backs up the database as often as the settings say. The returned function stops both. */
export function startSchedules(context: AppContext): () => void {
  const stops = [startScheduledRefresh(context), startScheduledBackups(context)]
  return () => {
    for (const stop of stops) stop()
  }
}

function startScheduledBackups({ system, settings, log }: AppContext): () => void {
  const { MAILKIND_BACKUP_DIR: directory, MAILKIND_BACKUP_HOURS: hours } = settings
  if (directory === null) return () => undefined
  return startBackupScheduler({ system, log, directory, intervalMs: hours * HOUR_MS, keep: backupsKept(hours) })
}

/** Tells the age of the newest backup. */
export function createBackupsPart({ system: { clock, stopwatch }, settings }: AppContext): Part {
  const { MAILKIND_BACKUP_DIR: directory, MAILKIND_BACKUP_HOURS: hours } = settings
  if (directory === null) return {}
  const startedAtMs = stopwatch()
  const read = async (): Promise<readonly Sample[]> => {
    const newestAtMs = await knownBackupAtMs(directory, clock())
    const ageMs = newestAtMs === null ? stopwatch() - startedAtMs : clock() - newestAtMs
    return [
      ["mailkind_backup_interval_seconds", (hours * HOUR_MS) / 1000],
      ["mailkind_backup_age_seconds", Math.max(0, ageMs) / 1000],
    ]
  }
  return { queriedSamples: [{ read, failure: "the backups were not counted" }] }
}

/** How many scheduled backups are kept: those of a week, and at least seven. */
export const backupsKept = (everyHours: number): number => Math.max(7, Math.ceil((7 * 24) / everyHours))

/** Refuses a directory of backups that is not there, and one for a database that is not SQLite. */
export function checkBackupDirectory({
  MAILKIND_BACKUP_DIR: directory,
  MAILKIND_DATABASE_URL: url,
}: AppContext["settings"]): void {
  if (directory === null) return
  if (url !== null)
    throw new StartupError("MAILKIND_BACKUP_DIR is for SQLite. PostgreSQL has its own tools for backups: unset it.")
  if (!isDirectory(directory))
    throw new StartupError(
      `The directory of MAILKIND_BACKUP_DIR does not exist, or this user may not see it: ${directory}. Create it, or mount its disk.`,
    )
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}

/**
 * Wraps a listener of the changes of this process so that it first records deleted accounts beside the SQLite database and its backups, for
 * a later restore. A failure is logged, since the account is deleted already.
 */
export function recordDeletions(
  context: AppContext & Partial<Pick<StoreContext, "trustedTime">>,
  notify: ChangeLog["notify"],
): ChangeLog["notify"] {
  const { system, settings, log, trustedTime } = context
  const clock = trustedTime?.reference ?? system.clock
  const { MAILKIND_DATABASE_URL: url, MAILKIND_DATA_DIR: data, MAILKIND_BACKUP_DIR: backups } = settings
  if (url !== null) return notify
  const directories = backups === null ? [data] : [data, backups]
  const onError = logError(log, "a deletion of an account was not recorded beside the database")
  const record = (id: string): void => {
    for (const directory of directories)
      try {
        recordDeletedAccount(directory, { id, atMs: clock() })
      } catch (error) {
        onError(error)
      }
  }
  return changes => {
    for (const { kind, subject } of changes) if (kind === "account_removed") record(subject)
    notify(changes)
  }
}
