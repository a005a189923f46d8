import { readdirSync, rmSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { isSystemError } from "../base/errors.ts"
import type { Log } from "../base/log.ts"
import { SingleFlight } from "../base/single-flight.ts"
import { compareText, parseJson } from "../base/text.ts"
import { removePartialFiles } from "../customers/store/backup/backup.ts"
import type { CommandResult } from "../system/child-processes.ts"
import type { System } from "../system/system.ts"
import { readStderr } from "./command-output.ts"

/** How often it checks whether a backup is due. */
const DUE_POLL_MS = 60_000
/** The delay before a backup that failed is tried again. */
const RETRY_MS = 10 * 60_000
/** The longest that a backup may take: a database of some gigabytes on a slow disk. */
const BACKUP_TIMEOUT_MS = 60 * 60_000

/** What an operator does about backups that fail. */
const REMEDY =
  "Run `mailkind doctor --only backups database`. Make the directory writable, and free some space on its disk."

/** The names of scheduled backups. Other files in the directory are left alone. */
const PREFIX = "mailkind-"
const BACKUP_NAME = /^mailkind-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.sqlite$/

/** The dependencies of a backup scheduler. */
export type BackupSchedulerDeps = {
  readonly system: Pick<System, "clock" | "stopwatch" | "runInterval"> & {
    readonly processes: Pick<System["processes"], "run">
  }
  readonly log: Log
  readonly directory: string
  readonly intervalMs: number
  /** How many backups are kept. */
  readonly keep: number
}

/**
 * Backs up the database on schedule, each time in a child process, which reads every page of the copy before it gets its name. An
 * overdue backup is made soon after the start. Older ones are removed only after a new one was verified. The returned function stops
 * the schedule.
 */
export function startBackupScheduler({ system, log, directory, intervalMs, keep }: BackupSchedulerDeps): () => void {
  const runs = new SingleFlight<"backup", void>()
  let triedAtMs: number | null = null
  let hasFailed = false
  const logFailure = (why: string): void => {
    log(hasFailed ? "debug" : "error", "no backup was written", { where: directory, why, remedy: REMEDY })
    hasFailed = true
  }
  const backUp = async (): Promise<void> => {
    const nowMs = system.clock()
    const path = join(directory, backupName(nowMs))
    const result = await system.processes.run(["backup", path, "--json"], BACKUP_TIMEOUT_MS)
    const failure = failureOf(result)
    if (failure !== null) logFailure(failure)
    else {
      hasFailed = false
      log("info", "a backup was written", { file: backupName(nowMs), bytes: bytesOf(result) })
    }
    try {
      removePartialFiles(directory, PREFIX)
      if (failure === null) removeOldBackups(directory, keep, backupName(nowMs))
    } catch (error) {
      log("error", "old backups were not removed", { where: directory, why: whyUnusable(error), remedy: REMEDY })
    }
  }
  const backUpIfDue = async (): Promise<void> => {
    const sinceTryMs = triedAtMs === null ? null : system.stopwatch() - triedAtMs
    if (!isDue(newestBackupAtMs(directory), system.clock(), intervalMs, sinceTryMs)) return
    triedAtMs = system.stopwatch()
    await backUp()
  }
  return system.runInterval(DUE_POLL_MS, () => {
    void runs.run("backup", () => backUpIfDue().catch(error => logFailure(whyUnusable(error))))
  })
}

/** Whether a backup is due. A backup of the future was made before the clock was set back: only what this process did counts then. */
function isDue(newestAtMs: number | null, nowMs: number, intervalMs: number, sinceTryMs: number | null): boolean {
  if (sinceTryMs !== null && sinceTryMs < Math.min(RETRY_MS, intervalMs)) return false
  if (newestAtMs === null) return true
  if (newestAtMs > nowMs) return sinceTryMs === null || sinceTryMs >= intervalMs
  return nowMs - newestAtMs >= intervalMs
}

/** The name of a backup that begins at this instant. */
export const backupName = (atMs: number): string =>
  `${PREFIX}${new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, "")}.sqlite`

/**
 * When the newest backup of a directory was begun; null: it has none, or cannot be read. One of the future, which a clock that was ahead
 * has made, does not count: nobody knows its age.
 */
export async function knownBackupAtMs(directory: string, nowMs: number): Promise<number | null> {
  try {
    const times = backupNames(await readdir(directory)).map(beganAtMs)
    return times.findLast(atMs => atMs <= nowMs) ?? null
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

function newestBackupAtMs(directory: string): number | null {
  const name = backupNames(readdirSync(directory)).at(-1)
  return name === undefined ? null : beganAtMs(name)
}

function beganAtMs(name: string): number {
  const [, year, month, day, hour, minute, second] = BACKUP_NAME.exec(name) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

/** The names of the backups, the oldest first. */
const backupNames = (names: readonly string[]): string[] =>
  names.filter(name => BACKUP_NAME.test(name)).sort(compareText)

function removeOldBackups(directory: string, keep: number, latest: string): void {
  const others = backupNames(readdirSync(directory)).filter(name => name !== latest)
  for (const name of others.slice(0, Math.max(0, others.length - (keep - 1))))
    rmSync(join(directory, name), { force: true })
}

/** Why the command wrote no backup; null: it did. */
function failureOf(result: CommandResult | null): string | null {
  if (result === null) return "It took too long or was killed."
  if (result.exitCode === 0) return null
  return readStderr(result.stderr).message || "It failed."
}

function bytesOf(result: CommandResult | null): number {
  const written = parseJson(result?.stdout ?? "") as { readonly bytes?: number } | undefined // by this program
  return written?.bytes ?? 0
}

function whyUnusable(error: unknown): string {
  if (isSystemError(error, "ENOENT")) return "The directory of MAILKIND_BACKUP_DIR does not exist. Is its disk mounted?"
  return `The directory of MAILKIND_BACKUP_DIR cannot be used (${isSystemError(error) ? String(error.code) : String(error)}).`
}
