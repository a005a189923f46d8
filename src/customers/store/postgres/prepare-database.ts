import type { Clock } from "../../../base/outside-world.ts"
import { sanitizeText } from "../../../base/untrusted-text.ts"
import type { Store } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { migrate } from "../migrations/migrate.ts"
import { TABLE_NAMES } from "../migrations/migrations.ts"

/** The channel on which all processes are notified that the change log has grown, or that a node came or went. */
export const CHANGES_CHANNEL = "mailkind_changes"

/** The advisory lock under which tables are migrated: "mailkind" in ASCII, as a 63-bit number. */
export const MIGRATION_LOCK = "7881692342889377380"

/** How long a migration may pause between two statements, in milliseconds. */
const MIGRATION_IDLE_MS = 30_000

/**
 * Migrates the database and creates its triggers in one transaction. Of several processes that start together, one migrates and the
 * others wait. Rejects with a `StoreError` when the server is not supported, the database belongs to another program, or its tables
 * are not ours alone.
 */
export async function prepareDatabase(store: Store, clock: Clock, location: string): Promise<void> {
  await store.transaction(async inner => {
    await requireSupportedServer(inner, location)
    // The server does not notice at once that a migrating process died: this bounds how long the others wait for it.
    await inner.run(`SET LOCAL idle_in_transaction_session_timeout = ${MIGRATION_IDLE_MS}`)
    await inner.one(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    await requireOwnDatabase(inner, location)
    await requireOwnTables(inner, location)
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

/** The function of all of them. */
const NOTIFY_FUNCTION = "tell_of_changes"

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
    `CREATE OR REPLACE FUNCTION ${NOTIFY_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS '${escapeQuotes(body)}'`,
  )
  await store.run(`CREATE TRIGGER ${trigger} AFTER ${after} EXECUTE FUNCTION ${NOTIFY_FUNCTION}()`)
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

type UnsafeTable = {
  readonly name: string
  readonly owner: string
  readonly trusted: number
  readonly kind: string
  readonly trigger: string | null
  readonly rule: string | null
}

/** Superusers may do anything, so what belongs to one of them is trusted, too. */
const isTrusted = (owner: string): string =>
  `(${owner} = (SELECT oid FROM pg_roles WHERE rolname = current_user) OR (SELECT rolsuper FROM pg_roles WHERE oid = ${owner}))`

const CURRENT_SCHEMA = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"

const OUR_TRIGGERS = NOTIFY_TRIGGERS.map(({ table, trigger }) => `('${table}', '${trigger}')`).join(", ")

/** What bears the name of one of our tables. It is read from the catalogue, and no statement here touches the table itself. */
const SELECT_OUR_TABLES = `SELECT relname::text AS name, pg_get_userbyid(relowner)::text AS owner, ${isTrusted("relowner")} AS trusted,
    relkind::text AS kind, (SELECT MIN(rulename::text) FROM pg_rewrite WHERE ev_class = pg_class.oid) AS rule,
    (SELECT MIN(tgname::text) FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE tgrelid = pg_class.oid AND NOT tgisinternal
      AND NOT ((relname::text, tgname::text) IN (${OUR_TRIGGERS}) AND proname = '${NOTIFY_FUNCTION}'
        AND pronamespace = ${CURRENT_SCHEMA} AND ${isTrusted("proowner")})) AS trigger
  FROM pg_class WHERE relnamespace = ${CURRENT_SCHEMA} AND relname::text IN (${TABLE_NAMES.map(name => `'${name}'`).join(", ")})
  ORDER BY relname`

/**
 * Rejects with a `shared_tables` error when a table of ours belongs to another user who is no superuser, is something else than a table,
 * or has a trigger or a rule that we did not create: whoever made it could run statements in our name. Call it before any statement
 * on the tables.
 */
export async function requireOwnTables(store: Pick<Store, "all">, location: string): Promise<void> {
  for (const table of await store.all<UnsafeTable>(SELECT_OUR_TABLES)) {
    const reason = describeUnsafeTable(table)
    if (reason !== null) throw new StoreError("shared_tables", location, reason)
  }
}

/** The longest name in PostgreSQL, in octets. */
const NAMEDATALEN = 64

/** A table, in the column `relkind` of PostgreSQL. */
const TABLE_KIND = "r"

function describeUnsafeTable({ name, owner, trusted, kind, trigger, rule }: UnsafeTable): string | null {
  const readable = (text: string): string => sanitizeText(text, NAMEDATALEN) ?? "without a name"
  if (trusted !== 1) return `${name} belongs to ${readable(owner)}`
  if (kind !== TABLE_KIND) return `${name} is no table`
  if (trigger !== null) return `${name} has the trigger ${readable(trigger)}`
  return rule === null ? null : `${name} has the rule ${readable(rule)}`
}
