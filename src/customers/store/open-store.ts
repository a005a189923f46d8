import type { Clock, Random } from "../../base/clock.ts"
import type { Later } from "../../base/timer.ts"
import { openPostgres } from "./postgres.ts"
import { isPostgresUrl } from "./postgres-url.ts"
import { openSqlite } from "./sqlite.ts"
import type { OpenStore } from "./store.ts"
import type { StoreFault } from "./store-fault.ts"

/** What opening needs of the world; all but the clock is of PostgreSQL alone. */
export type Opening = {
  readonly clock: Clock
  readonly later: Later
  readonly random?: Random | undefined
  readonly connectionsMax?: number
  /** Is told when the database cannot be reached any more, by its fault, and when it answers again, by null. */
  readonly told?: (fault: StoreFault | null) => void
}

/** Opens the PostgreSQL database when `where` is its URL, and else the SQLite file of that path. Rejects with a `StoreFault`. */
export async function openStoreAt(where: string, opening: Opening): Promise<OpenStore> {
  return isPostgresUrl(where) ? await openPostgres(where, opening) : await openSqlite(where, opening.clock)
}
