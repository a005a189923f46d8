import type { Clock } from "../../../base/outside-world.ts"
import type { Store } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { MIGRATIONS } from "./migrations.ts"

/**
 * Brings the tables of the store at `where` up to date, each migration in a transaction of its own that also records
 * when it ran. Rejects with a `newer` fault when the store knows migrations that this program does not; then nothing is
 * changed. When nothing is missing, nothing is written.
 */
export async function migrate(store: Store, clock: Clock, where: string): Promise<void> {
  await createMigrationsTable(store)
  const knownHead = MIGRATIONS.at(-1)?.number ?? 0
  const storedHead = await readSchemaVersion(store)
  if (storedHead > knownHead)
    throw new StoreError("newer", where, `its tables are at ${storedHead}, this version knows ${knownHead}`)
  for (const migration of MIGRATIONS)
    if (migration.number > storedHead) await store.transaction(inner => applyMigration(inner, migration, clock))
}

async function applyMigration(
  store: Store,
  { number, description, statements }: (typeof MIGRATIONS)[number],
  clock: Clock,
) {
  // Asked again now that nobody else can write: another process may have been faster.
  if ((await readSchemaVersion(store)) >= number) return
  for (const statement of statements) await store.run(statement)
  await store.run("INSERT INTO migrations (number, makes, ran_at_ms) VALUES ($1, $2, $3)", [
    number,
    description,
    clock(),
  ])
}

/** Makes the table in which migrations are recorded, where it is not there. */
export async function createMigrationsTable(store: Store): Promise<void> {
  await store.run(
    "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, makes TEXT NOT NULL, ran_at_ms BIGINT NOT NULL)",
  )
}

/** The number of the latest migration that the store has run; 0: it is new. */
export async function readSchemaVersion(store: Store): Promise<number> {
  const row = await store.one<{ head: number }>("SELECT COALESCE(MAX(number), 0) AS head FROM migrations")
  return row?.head ?? 0
}
