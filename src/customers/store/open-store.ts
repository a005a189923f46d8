import type { Clock } from "../../base/clock.ts"
import type { Later } from "../../base/timer.ts"
import { openPostgres } from "./postgres.ts"
import { isPostgresUrl } from "./postgres-url.ts"
import { openSqlite } from "./sqlite.ts"
import type { OpenStore } from "./store.ts"

/** Opens the PostgreSQL database when `where` is its URL, and else the SQLite file of that path. Rejects with a `StoreFault`. */
export async function openStoreAt(
  where: string,
  { clock, later }: { readonly clock: Clock; readonly later: Later },
): Promise<OpenStore> {
  return isPostgresUrl(where) ? await openPostgres(where, { clock, later }) : await openSqlite(where, clock)
}
