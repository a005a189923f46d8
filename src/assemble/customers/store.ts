import { existsSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import type { Log } from "../../base/log.ts"
import { createProgress, type Progress } from "../../cli/classify/progress.ts"
import type { BackupDeps, StoreCopyDeps } from "../../cli/database.ts"
import { CommandError } from "../../cli/output.ts"
import type { Settings } from "../../config/settings.ts"
import { backUpDatabase } from "../../customers/store/backup/backup.ts"
import { copyToPostgres } from "../../customers/store/backup/copy-to-postgres.ts"
import { acquireRecoveredLock, restoreDatabase } from "../../customers/store/backup/restore.ts"
import type { OpenStore } from "../../customers/store/core/store.ts"
import { openStoreAt } from "../../customers/store/open-store.ts"
import { isPostgresUrl } from "../../customers/store/postgres/postgres-url.ts"
import { realPath } from "../../customers/store/sqlite/database-file.ts"
import type { System } from "../../system/system.ts"

/**
 * Opens the store: the PostgreSQL database of the settings, or the file in the data directory, which is created when it is missing.
 * Rejects with a `StoreError`. `log` is told of a database that goes away later on.
 */
export async function openStore(system: System, settings: Settings, log: Log): Promise<OpenStore> {
  const { clock, setTimer, random } = system
  const where = settings.MAILKIND_DATABASE_URL?.reveal() ?? join(settings.MAILKIND_DATA_DIR, "mailkind.sqlite")
  return await openStoreAt(where, {
    clock,
    setTimer,
    random,
    connectionsMax: settings.MAILKIND_DATABASE_CONNECTIONS,
    onAvailabilityChange: fault =>
      fault === null
        ? log("info", "the database answers again")
        : log("error", "the database does not answer", { fault: fault.code, remedy: fault.remedy }),
  })
}

/** What moves the SQLite database of these settings to PostgreSQL; how far it is, is drawn on a terminal. */
export function createStoreCommandDeps(system: System, settings: () => Settings): StoreCopyDeps {
  return {
    copy: async to => {
      const { MAILKIND_DATABASE_URL: named, MAILKIND_DATA_DIR: directory } = settings()
      const url = to ?? named?.reveal() ?? ""
      if (!isPostgresUrl(url) || !URL.canParse(url)) throw new CommandError("Say where to: --to postgres://…", 2)
      // The tables are made, or brought up to date, as a start would do it.
      await (await openStoreAt(url, system)).close()
      const state: { progress: Progress | null } = { progress: null }
      const told = (done: number, total: number): void => {
        state.progress ??= createProgress(system.terminal, total, system.stopwatch, "rows")
        state.progress.update(done, done)
      }
      try {
        return await copyToPostgres(join(directory, "mailkind.sqlite"), url, told)
      } finally {
        state.progress?.stop()
      }
    },
  }
}

/** Backups of the database of these settings, and restores of them. */
export function createBackupDeps(system: System, settings: () => Settings): BackupDeps {
  const database = (): string => {
    const { MAILKIND_DATABASE_URL: url, MAILKIND_DATA_DIR: directory } = settings()
    if (url !== null) throw new CommandError(POSTGRES_BACKUP_HELP, 2)
    return join(directory, "mailkind.sqlite")
  }
  return {
    backup: async (file, mustNotExist) => {
      const path = database()
      if (!existsSync(path)) throw new CommandError(`There is no database at ${path}. Set MAILKIND_DATA_DIR.`, 2)
      rejectDatabaseFiles(file, path)
      // A restore waits for us, and we for it.
      const letGo = acquireRecoveredLock(realPath(path))
      try {
        return backUpDatabase(realPath(path), resolve(file), { mustNotExist })
      } finally {
        letGo()
      }
    },
    restore: async file => {
      const path = database()
      rejectDatabaseFiles(file, path)
      if (!existsSync(file)) throw new CommandError(`There is no file ${file}.`, 2)
      return restoreDatabase(resolve(file), realPath(path), compactTimestamp(system.clock()))
    },
  }
}

const POSTGRES_BACKUP_HELP = `The database is PostgreSQL, which has its own: pg_dump --format=custom --file=FILE "$MAILKIND_DATABASE_URL"
writes a backup while servers run, and pg_restore --clean --if-exists --single-transaction --dbname="$MAILKIND_DATABASE_URL" FILE puts it
back when none does. After that: UPDATE change_head SET id = id + 1000000, so that every node drops what it holds.`

/** An instant as a part of a file's name: `20260102T030405678Z`. */
const compactTimestamp = (atMs: number): string => new Date(atMs).toISOString().replace(/[-:.]/g, "")

/** The database is no backup of itself, whatever name it is called by. */
function rejectDatabaseFiles(file: string, path: string): void {
  const beside = ["", "-wal", "-shm", ".lock", ".restoring", ".restored"].map(ending => resolve(path + ending))
  if (beside.includes(resolve(file)) || isSameFile(file, path))
    throw new CommandError("That is the database itself, or a file that belongs to it.", 2)
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map(path => statSync(path, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
}
