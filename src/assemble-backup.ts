import { existsSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import type { BackupTools } from "./cli/backup.ts"
import { CommandFailure } from "./cli/output.ts"
import type { Settings } from "./config/settings.ts"
import { copyDatabase } from "./customers/store/copy.ts"
import { holdWhole, restoreDatabase } from "./customers/store/restore.ts"
import { truePath } from "./customers/store/sqlite-file.ts"
import type { World } from "./world.ts"

/** Backups of the database of these settings, and restores of them. */
export function backupsOf(world: World, settings: () => Settings): BackupTools {
  const database = (): string => {
    const { MAILKIND_DATABASE_URL: url, MAILKIND_DATA_DIR: directory } = settings()
    if (url !== null) throw new CommandFailure(POSTGRES_BACKUP, 2)
    return join(directory, "mailkind.sqlite")
  }
  return {
    backup: async (file, isNew) => {
      const path = database()
      if (!existsSync(path)) throw new CommandFailure(`There is no database at ${path}. Set MAILKIND_DATA_DIR.`, 2)
      refuseOwn(file, path)
      // A restore waits for us, and we for it.
      const letGo = holdWhole(truePath(path))
      try {
        return copyDatabase(truePath(path), resolve(file), { isNew })
      } finally {
        letGo()
      }
    },
    restore: async file => {
      const path = database()
      refuseOwn(file, path)
      if (!existsSync(file)) throw new CommandFailure(`There is no file ${file}.`, 2)
      return restoreDatabase(resolve(file), truePath(path), stampOf(world.clock()))
    },
  }
}

const POSTGRES_BACKUP = `The database is PostgreSQL, which has its own: pg_dump --format=custom --file=FILE "$MAILKIND_DATABASE_URL"
writes a backup while servers run, and pg_restore --clean --if-exists --single-transaction --dbname="$MAILKIND_DATABASE_URL" FILE puts it
back when none does. After that: UPDATE change_head SET id = id + 1000000, so that every node drops what it holds.`

/** An instant as a part of a file's name: `20260102T030405678Z`. */
const stampOf = (atMs: number): string => new Date(atMs).toISOString().replace(/[-:.]/g, "")

/** The database is no backup of itself, whatever name it is called by. */
function refuseOwn(file: string, path: string): void {
  const beside = ["", "-wal", "-shm", ".lock", ".restoring", ".restored"].map(ending => resolve(path + ending))
  if (beside.includes(resolve(file)) || isSame(file, path))
    throw new CommandFailure("That is the database itself, or a file that belongs to it.", 2)
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map(path => statSync(path, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
}
