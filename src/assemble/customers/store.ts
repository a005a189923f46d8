import { existsSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { logError } from "../../base/log.ts"
import { createProgress, type Progress } from "../../cli/classify/progress.ts"
import type { BackupDeps, StoreCopyDeps } from "../../cli/database.ts"
import { CommandError } from "../../cli/output.ts"
import type { AuditActKind } from "../../customers/audit/audit.ts"
import { compareMarks, describeWrongFolder } from "../../customers/jobs/jobs-folder.ts"
import { backUpDatabase } from "../../customers/store/backup/backup.ts"
import { copyToPostgres } from "../../customers/store/backup/copy-to-postgres.ts"
import { readDeletedAccounts } from "../../customers/store/backup/deleted-accounts.ts"
import { acquireRecoveredLock, checkBackup, restoreDatabase } from "../../customers/store/backup/restore.ts"
import { type OpenStore, wrapOperations } from "../../customers/store/core/store.ts"
import { isPostgresUrl, listenRemedy, outageOf, StoreError } from "../../customers/store/core/store-error.ts"
import { openStoreAt } from "../../customers/store/open-store.ts"
import { DatabasePoll } from "../../customers/store/poll/database-poll.ts"
import { NodeClaims } from "../../customers/store/poll/node-claims.ts"
import { WriteWatch } from "../../customers/store/poll/write-watch.ts"
import { realPath } from "../../customers/store/sqlite/database-file.ts"
import { sqliteJobsFolder } from "../../doctor/database.ts"
import type { Meter } from "../../http/metrics/meter.ts"
import { createJobFiles } from "../../jobs/job-files.ts"
import { jobsDirectory } from "../../jobs/jobs-part.ts"
import type { System } from "../../system/system.ts"
import { type AppContext, databasePlace, faultsOf, sqliteFile } from "../context.ts"
import type { Part } from "../part.ts"
import { isWorker, type ServeMode } from "../serve-mode.ts"

/**
 * Opens the store: the PostgreSQL database of the settings, or the SQLite file in the data directory, which it creates if
 * necessary. Rejects with a `StoreError`. Later failures and recoveries of the database are logged. `command`: a database that accepts no
 * writes is opened too, since many commands only read.
 */
export async function openStore(context: AppContext, use: "server" | "command" = "server"): Promise<OpenStore> {
  const { system, settings } = context
  const { clock, setTimer, random } = system
  return await openStoreAt(settings.MAILKIND_DATABASE_URL?.reveal() ?? sqliteFile(settings), {
    clock,
    setTimer,
    random,
    onAvailabilityChange: databaseOutages(context),
    mayBeReadOnly: use === "command",
    listenUrl: settings.MAILKIND_DATABASE_LISTEN_URL?.reveal(),
    onNotificationsChange: notificationOutages(context),
  })
}

/**
 * The poll of a process, and what one process of its node does for all of them. The store is the one for the parts of a server: a database
 * that accepts no writes is unavailable to them, whether or not this process writes.
 */
export function createDatabasePoll(context: AppContext, opened: OpenStore, mode: ServeMode) {
  const { system, log, settings } = context
  const claims = isWorker(mode) ? mode.node.claims : new NodeClaims(system.clock)
  const share = isWorker(mode) ? mode.shareObservation : undefined
  const onError = logError(log, "changes of other processes were not read")
  const tell = faultsOf(context).outages("error", "the database accepts no writes", "the database accepts writes again")
  let failure: StoreError | null = null
  const observe = (next: StoreError | null): void => {
    const isChanged = next?.code !== failure?.code
    failure = next
    if (isChanged) tell(next && outageOf(next))
  }
  // PostgreSQL tells by itself that it accepts no writes.
  const watch = settings.MAILKIND_DATABASE_URL === null ? new WriteWatch(opened, system.stopwatch) : null
  const store = { ...(watch?.store ?? opened), isUnavailable: () => failure !== null || opened.isUnavailable() }
  const poll = new DatabasePoll({ ...system, store, claims, share, onError })
  poll.add({
    columns: { unwritable: opened.unwritableSql },
    knows: () => ({ isWriteFailing: watch?.isFailing === true ? 1 : 0 }),
    observe: ({ rows: [{ unwritable }], known }) => {
      if (watch !== null) observe(watch.look(known["isWriteFailing"] === 1))
      else observe(unwritable == null ? null : new StoreError("standby", databasePlace(settings), `${unwritable}`))
    },
    miss: () => watch !== null && observe(watch.look()),
  })
  return { claims, poll, store }
}

/** Whether the settings name a database that may be there already. */
export const hasStore = ({ settings }: AppContext): boolean =>
  settings.MAILKIND_DATABASE_URL !== null || existsSync(sqliteFile(settings))

/** The same store, which counts the time of each operation. */
export const timeOperations = ({ stopwatch }: Pick<System, "stopwatch">, store: OpenStore, meter: Meter): OpenStore =>
  wrapOperations(store, async operation => {
    const startedAtMs = stopwatch()
    try {
      return await operation()
    } finally {
      meter.recordDatabaseOperation(stopwatch() - startedAtMs)
    }
  })

/** An open store as a part of a server, which closes it last. */
export const createStorePart = (store: OpenStore): Part => ({
  samples: () => [
    ["mailkind_database_up", store.isUnavailable() ? 0 : 1],
    ["mailkind_database_connections_in_use", store.connectionsInUse()],
  ],
  stop: store.close,
})

/** Logs when the database becomes unreachable, and when it answers again. */
export function databaseOutages(context: AppContext): (error: StoreError | null) => void {
  const tell = faultsOf(context).outages("error", "the database does not answer", "the database answers again")
  return error => tell(error && outageOf(error))
}

/** Logs when an address for notifications alone fails while the database answers, and when they come again. */
export function notificationOutages(context: AppContext): (error: StoreError | null) => void {
  const begins = "no notifications come from the database"
  const tell = faultsOf(context).outages("warn", begins, "notifications come from the database again")
  return error => tell(error && { ...outageOf(error), fault: "no_notifications", remedy: listenRemedy(error) })
}

/** Copies the SQLite database of the settings to PostgreSQL and shows the progress on a terminal. */
export function createStoreCommandDeps(context: () => AppContext): StoreCopyDeps {
  return {
    copy: async to => {
      const { system, settings } = context()
      const { MAILKIND_DATABASE_URL: configured } = settings
      const url = to ?? configured?.reveal() ?? ""
      if (!isPostgresUrl(url) || !URL.canParse(url))
        throw new CommandError("Name the database with --to postgres://…", 2)
      // Opening the store creates or migrates its tables.
      await (await openStoreAt(url, system)).close()
      const state: { progress: Progress | null } = { progress: null }
      const onProgress = (done: number, total: number): void => {
        state.progress ??= createProgress(system.terminal, total, system.stopwatch, "rows")
        state.progress.update(done, done)
      }
      try {
        return await copyToPostgres(sqliteFile(settings), url, onProgress)
      } finally {
        state.progress?.stop()
      }
    },
  }
}

/** Reads a backup. Its faults are not those of the database, which stays as it is. */
function readingBackup<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    if (error.code === "busy")
      throw new CommandError(
        "Another process held the database for too long: a server or Litestream runs on it, or another command. Stop it, and restore then.",
      )
    if (error.code !== "damaged" && error.code !== "not_a_database") throw error
    throw new CommandError(
      `${file} cannot be restored: ${error.reason}. Use another backup. The database was not changed.`,
    )
  }
}

/** Backs up and restores the database of the settings. */
export function createBackupDeps(context: () => AppContext): BackupDeps {
  const databasePath = (): string => {
    const { settings } = context()
    if (settings.MAILKIND_DATABASE_URL !== null) throw new CommandError(POSTGRES_BACKUP_HELP, 2)
    return sqliteFile(settings)
  }
  return {
    backup: async (file, mustNotExist) => {
      const path = databasePath()
      if (!existsSync(path)) throw new CommandError(`There is no database at ${path}. Set MAILKIND_DATA_DIR.`, 2)
      rejectDatabaseFiles(file, path)
      // Excludes a concurrent restore.
      const release = acquireRecoveredLock(realPath(path))
      try {
        return backUpDatabase(realPath(path), resolve(file), { mustNotExist })
      } finally {
        release()
      }
    },
    restore: async file => {
      const path = databasePath()
      rejectDatabaseFiles(file, path)
      if (!existsSync(file)) throw new CommandError(`There is no file ${file}.`, 2)
      const { system, settings } = context()
      const places = [dirname(resolve(file)), dirname(realPath(path)), settings.MAILKIND_BACKUP_DIR]
      const deleted = readDeletedAccounts(places.filter(place => place !== null))
      const atMs = system.clock()
      const act = { kind: "database_restored" satisfies AuditActKind, operatorId: system.operatorName(), atMs }
      const restored = readingBackup(file, () =>
        restoreDatabase(resolve(file), realPath(path), compactTimestamp(atMs), { deleted, act }),
      )
      const folder = resolve(jobsDirectory(settings))
      const stored = sqliteJobsFolder(realPath(path))
      const state = compareMarks(await createJobFiles(folder).names(), stored?.mark ?? null, false)
      return { ...restored, jobsFolder: state.kind === "own" ? null : describeWrongFolder(state, folder) }
    },
    check: async file => {
      const found = statSync(file, { throwIfNoEntry: false })
      if (found === undefined) throw new CommandError(`There is no file ${file}.`, 2)
      return readingBackup(file, () => ({ ...checkBackup(resolve(file)), writtenAtMs: found.mtimeMs }))
    },
  }
}

const POSTGRES_BACKUP_HELP = `The database is PostgreSQL, which has its own: pg_dump --format=custom --file=FILE "$MAILKIND_DATABASE_URL"
writes a backup while servers run. The commands of /docs/scaling#postgres-backup put it back when none does. Use the address of PostgreSQL
itself, not of a pooler.`

/** An instant for a file name: `20260102T030405678Z`. */
const compactTimestamp = (atMs: number): string => new Date(atMs).toISOString().replace(/[-:.]/g, "")

/** Refuses the database itself as a backup file, also under another name. */
function rejectDatabaseFiles(file: string, path: string): void {
  const databaseFiles = ["", "-wal", "-shm", ".lock", ".restoring", ".restored"].map(ending => resolve(path + ending))
  if (databaseFiles.includes(resolve(file)) || isSameFile(file, path))
    throw new CommandError("This is the database itself, or a file that belongs to it.", 2)
}

function isSameFile(path: string, other: string): boolean {
  const [a, b] = [path, other].map(each => statSync(each, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
}
