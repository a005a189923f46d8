import { join } from "node:path"
import type { Log } from "./base/log.ts"
import { type Progress, progressOn } from "./cli/classify/progress.ts"
import { CommandFailure } from "./cli/output.ts"
import type { StoreTools } from "./cli/store-copy.ts"
import type { Settings } from "./config/settings.ts"
import { moveToPostgres } from "./customers/store/move.ts"
import { openStoreAt } from "./customers/store/open-store.ts"
import { isPostgresUrl } from "./customers/store/postgres-url.ts"
import type { OpenStore } from "./customers/store/store.ts"
import type { World } from "./world.ts"

/**
 * Opens the store: the PostgreSQL database of the settings, or the file in the data directory, which is created when it is missing.
 * Rejects with a `StoreFault`. `log` is told of a database that goes away later on.
 */
export async function openStore(world: World, settings: Settings, log: Log): Promise<OpenStore> {
  const { clock, later, random } = world
  const where = settings.MAILKIND_DATABASE_URL?.reveal() ?? join(settings.MAILKIND_DATA_DIR, "mailkind.sqlite")
  return await openStoreAt(where, {
    clock,
    later,
    random,
    connectionsMax: settings.MAILKIND_DATABASE_CONNECTIONS,
    told: fault =>
      fault === null
        ? log("info", "the database answers again")
        : log("error", "the database does not answer", { fault: fault.code, remedy: fault.remedy }),
  })
}

/** What moves the SQLite database of these settings to PostgreSQL; how far it is, is drawn on a terminal. */
export function storeToolsOf(world: World, settings: () => Settings): StoreTools {
  return {
    copy: async to => {
      const { MAILKIND_DATABASE_URL: named, MAILKIND_DATA_DIR: directory } = settings()
      const url = to ?? named?.reveal() ?? ""
      if (!isPostgresUrl(url) || !URL.canParse(url)) throw new CommandFailure("Say where to: --to postgres://…", 2)
      // The tables are made, or brought up to date, as a start would do it.
      await (await openStoreAt(url, world)).close()
      const state: { progress: Progress | null } = { progress: null }
      const told = (done: number, total: number): void => {
        state.progress ??= progressOn(world.terminal, total, world.stopwatch, "rows")
        state.progress.show(done, done)
      }
      try {
        return await moveToPostgres(join(directory, "mailkind.sqlite"), url, told)
      } finally {
        state.progress?.end()
      }
    },
  }
}
