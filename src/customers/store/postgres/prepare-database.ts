import type { Clock } from "../../../base/outside-world.ts"
import type { Store } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { migrate } from "../migrations/migrate.ts"

/** The channel on which all processes are notified that the change log has grown, or that a node came or went. */
export const CHANGES_CHANNEL = "mailkind_changes"

/** The advisory lock under which tables are migrated: "mailkind" in ASCII, as a 63-bit number. */
export const MIGRATION_LOCK = "7881692342889377380"

/** How long a migration may pause between two statements, in milliseconds. */
const MIGRATION_IDLE_MS = 30_000

/**
 * Migrates the database and creates its triggers in one transaction. Of several processes that start together, one migrates and the
 * others wait. Rejects with a `StoreError` when the server is not supported or the database belongs to another program.
 */
export async function prepareDatabase(store: Store, clock: Clock, location: string): Promise<void> {
  await store.transaction(async inner => {
    await requireSupportedServer(inner, location)
    // The server does not notice at once that a migrating process died: this bounds how long the others wait for it.
    await inner.run(`SET LOCAL idle_in_transaction_session_timeout = ${MIGRATION_IDLE_MS}`)
    await inner.one(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    await requireOwnDatabase(inner, location)
    await migrate(withBytewiseCollation(inner), clock, location)
    for (const notifyTrigger of NOTIFY_TRIGGERS) await ensureNotifyTrigger(inner, notifyTrigger)
  })
}

/** Wraps a store so that new text columns sort by their bytes, as in SQLite, whatever the collation of the database is. */
const withBytewiseCollation = (store: Store): Store => ({
  ...store,
  run: (sql, params) =>
    store.run(TABLE_DEFINITION.test(sql) ? sql.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"') : sql, params),
  transaction: work => store.transaction(inner => work(withBytewiseCollation(inner))),
})

const TABLE_DEFINITION = /^(?:CREATE|ALTER) TABLE /

/** A trigger that notifies other processes of changes of a table. */
type NotifyTrigger = { readonly table: string; readonly trigger: string; readonly after: string }

/** A heartbeat notifies nobody; only a node that comes or goes does. */
const NOTIFY_TRIGGERS: readonly NotifyTrigger[] = [
  {
    table: "change_head",
    trigger: "change_head_tells",
    after: "UPDATE ON change_head FOR EACH ROW WHEN (NEW.id <> OLD.id)",
  },
  { table: "nodes", trigger: "nodes_tell", after: "INSERT OR DELETE ON nodes FOR EACH ROW" },
]

/** Creates the trigger unless it exists. PostgreSQL sends its notification when the change is committed. */
async function ensureNotifyTrigger(store: Store, { table, trigger, after }: NotifyTrigger): Promise<void> {
  const existing = await store.one("SELECT 1 AS one FROM pg_trigger WHERE tgname = $1 AND tgrelid = to_regclass($2)", [
    trigger,
    table,
  ])
  if (existing !== null) return
  const body = `BEGIN PERFORM pg_notify('${CHANGES_CHANNEL}', ''); RETURN NULL; END`
  await store.run(
    `CREATE OR REPLACE FUNCTION tell_of_changes() RETURNS trigger LANGUAGE plpgsql AS '${escapeQuotes(body)}'`,
  )
  await store.run(`CREATE TRIGGER ${trigger} AFTER ${after} EXECUTE FUNCTION tell_of_changes()`)
}

const escapeQuotes = (text: string): string => text.replaceAll("'", "''")

/** The oldest supported version of PostgreSQL, in the form of `server_version_num`. */
const VERSION_MIN = 120_000

/** Rejects with a `StoreError` when the server is not supported or a pooler is in front of it. Call it before any SET. */
export async function requireSupportedServer(store: Pick<Store, "one">, location: string): Promise<void> {
  const row = await store.one<{ version: string; number: string; encoding: string; schema: string | null }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
       current_setting('server_encoding') AS encoding, current_schema()::text AS schema`,
  )
  if (Number(row?.number) < VERSION_MIN) throw new StoreError("outdated", location, `its version is ${row?.version}`)
  // A pooler lends connections that are open already, so the parameters of ours are lost (DECISIONS 37).
  const setting = await store.one<{ source: string }>("SELECT source FROM pg_settings WHERE name = 'statement_timeout'")
  if (setting?.source !== "client")
    throw new StoreError("pooled", location, "the server did not get our statement_timeout")
  if (row?.encoding !== "UTF8") throw new StoreError("unfit", location, `its encoding is ${row?.encoding}, not UTF8`)
  if (row.schema === null)
    throw new StoreError("refused", location, "the search_path of that user names no existing schema")
}

/** Rejects with a `StoreError` when another program has tables in our schema. Those of extensions do not count. */
export async function requireOwnDatabase(store: Pick<Store, "all">, location: string): Promise<void> {
  const tables = await store.all<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`,
  )
  if (tables.length > 0 && !tables.some(({ name }) => name === "migrations"))
    throw new StoreError("foreign_database", location, `it has ${tables.length} tables and no table of migrations`)
}
