import type { Clock } from "../../base/clock.ts"
import { MIGRATIONS } from "./migrations.ts"
import type { Store } from "./store.ts"
import { StoreFault } from "./store-fault.ts"

/**
 * Brings the tables of the store at `where` up to date, each migration in a transaction of its own that also records
 * when it ran. Rejects with a `newer` fault when the store knows migrations that this program does not; then nothing is
 * changed. When nothing is missing, nothing is written.
 */
export async function migrate(store: Store, clock: Clock, where: string): Promise<void> {
  await makeTable(store)
  const knownHead = MIGRATIONS.at(-1)?.number ?? 0
  const storedHead = await headOf(store)
  if (storedHead > knownHead)
    throw new StoreFault("newer", where, `its tables are at ${storedHead}, this version knows ${knownHead}`)
  for (const migration of MIGRATIONS)
    if (migration.number > storedHead) await store.transaction(inner => apply(inner, migration, clock))
}

async function apply(store: Store, { number, makes, statements }: (typeof MIGRATIONS)[number], clock: Clock) {
  // Asked again now that nobody else can write: another process may have been faster.
  if ((await headOf(store)) >= number) return
  for (const statement of statements) await store.run(statement)
  await store.run("INSERT INTO migrations (number, makes, ran_at_ms) VALUES ($1, $2, $3)", [number, makes, clock()])
}

/** Makes the table in which migrations are recorded, where it is not there. */
export async function makeTable(store: Store): Promise<void> {
  await store.run(
    "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, makes TEXT NOT NULL, ran_at_ms BIGINT NOT NULL)",
  )
}

/** The number of the latest migration that the store has run; 0: it is new. */
export async function headOf(store: Store): Promise<number> {
  const row = await store.one<{ head: number }>("SELECT COALESCE(MAX(number), 0) AS head FROM migrations")
  return row?.head ?? 0
}
