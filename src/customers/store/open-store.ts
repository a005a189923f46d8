import type { Clock, Random, SetTimer } from "../../base/outside-world.ts"
import type { OpenStore } from "./core/store.ts"
import { isPostgresUrl, type StoreError } from "./core/store-error.ts"
import { openPostgres } from "./postgres-store.ts"
import { openSqlite } from "./sqlite-store.ts"

/** What opening a store needs. All but the clock is for PostgreSQL only. */
export type StoreOptions = {
  readonly clock: Clock
  readonly setTimer: SetTimer
  readonly random?: Random | undefined
  /** Called with the error when the database becomes unreachable, and with null when it answers again. */
  readonly onAvailabilityChange?: (error: StoreError | null) => void
  readonly listenUrl?: string | null | undefined
  /** Whether a database that accepts no writes is opened too, for what only reads. */
  readonly mayBeReadOnly?: boolean | undefined
  /** Called with the error when the address for notifications alone does not answer, and with null when it does again. */
  readonly onNotificationsChange?: (error: StoreError | null) => void
}

/** Opens the PostgreSQL database when `location` is its URL, otherwise the SQLite file of that path. Rejects with a `StoreError`. */
export async function openStoreAt(location: string, options: StoreOptions): Promise<OpenStore> {
  return isPostgresUrl(location) ? await openPostgres(location, options) : await openSqlite(location, options.clock)
}
