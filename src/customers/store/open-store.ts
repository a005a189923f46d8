import type { Clock, Random, SetTimer } from "../../base/outside-world.ts"
import type { OpenStore } from "./core/store.ts"
import type { StoreError } from "./core/store-error.ts"
import { isPostgresUrl } from "./postgres/postgres-url.ts"
import { openPostgres } from "./postgres-store.ts"
import { openSqlite } from "./sqlite-store.ts"

/** What opening needs of the world; all but the clock is of PostgreSQL alone. */
export type StoreOptions = {
  readonly clock: Clock
  readonly setTimer: SetTimer
  readonly random?: Random | undefined
  readonly connectionsMax?: number
  /** Is told when the database cannot be reached any more, by its fault, and when it answers again, by null. */
  readonly onAvailabilityChange?: (fault: StoreError | null) => void
}

/** Opens the PostgreSQL database when `where` is its URL, and else the SQLite file of that path. Rejects with a `StoreError`. */
export async function openStoreAt(where: string, opening: StoreOptions): Promise<OpenStore> {
  return isPostgresUrl(where) ? await openPostgres(where, opening) : await openSqlite(where, opening.clock)
}
