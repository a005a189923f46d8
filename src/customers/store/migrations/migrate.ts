import type { Clock } from "../../../base/outside-world.ts"
import type { Store } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { CREATE_MIGRATIONS_TABLE, MIGRATIONS, SCHEMA_VERSION } from "./migrations.ts"

/**
 * Migrates the database at `location` to `SCHEMA_VERSION`, each migration in a transaction that also records when it ran. When
 * nothing is missing, nothing is written. Rejects with a `newer` error, and changes nothing, when the database has migrations that
 * this version does not know.
 */
export async function migrate(store: Store, clock: Clock, location: string): Promise<void> {
  await createMigrationsTable(store)
  const storedVersion = await readKnownVersion(store, location)
  for (const migration of MIGRATIONS)
    if (migration.number > storedVersion) await store.transaction(inner => applyMigration(inner, migration, clock))
}

async function applyMigration(
  store: Store,
  { number, description, statements }: (typeof MIGRATIONS)[number],
  clock: Clock,
) {
  // Read again inside the transaction: another process may have applied it meanwhile.
  if ((await readSchemaVersion(store)) >= number) return
  for (const statement of statements) await store.run(statement)
  await store.run("INSERT INTO migrations (number, makes, ran_at_ms) VALUES ($1, $2, $3)", [
    number,
    description,
    clock(),
  ])
}

/** Creates the table in which migrations are recorded, unless it exists. */
export async function createMigrationsTable(store: Store): Promise<void> {
  await store.run(CREATE_MIGRATIONS_TABLE)
}

/** The number of the latest migration that was applied; 0 for a new database. */
export async function readSchemaVersion(store: Store): Promise<number> {
  const row = await store.one<{ head: number }>("SELECT COALESCE(MAX(number), 0) AS head FROM migrations")
  return row?.head ?? 0
}

/** The same, of a database that this version knows. Rejects with a `newer` error where it does not. */
export async function readKnownVersion(store: Store, location: string): Promise<number> {
  const storedVersion = await readSchemaVersion(store)
  if (storedVersion <= SCHEMA_VERSION) return storedVersion
  const reason = `its tables have version ${storedVersion}, and this program knows ${SCHEMA_VERSION}`
  throw new StoreError("newer", location, reason)
}
