import { join } from "node:path"
import type { Log } from "./base/log.ts"
import type { Settings } from "./config/settings.ts"
import { openStoreAt } from "./customers/store/open-store.ts"
import type { OpenStore } from "./customers/store/store.ts"
import type { World } from "./world.ts"

/**
 * Opens the store: the PostgreSQL database of the settings, or the file in the data directory, which is created when it is missing.
 * Rejects with a `StoreFault`. `log` is told of a database that goes away later on.
 */
export async function openStore(world: World, settings: Settings, log: Log): Promise<OpenStore> {
  const { clock, later } = world
  const where = settings.MAILKIND_DATABASE_URL?.reveal() ?? join(settings.MAILKIND_DATA_DIR, "mailkind.sqlite")
  return await openStoreAt(where, {
    clock,
    later,
    connectionsMax: settings.MAILKIND_DATABASE_CONNECTIONS,
    told: fault =>
      fault === null
        ? log("info", "the database answers again")
        : log("error", "the database does not answer", { fault: fault.code, remedy: fault.remedy }),
  })
}
