import type { Clock } from "../../../base/outside-world.ts"
import { sanitizeText } from "../../../base/untrusted-text.ts"
import type { Store } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { createMigrationsTable, migrate, readKnownVersion } from "../migrations/migrate.ts"
import { SCHEMA_VERSION, TABLE_NAMES } from "../migrations/migrations.ts"

/** The channel on which all processes are notified that the change log has grown, or that a node came or went. */
export const CHANGES_CHANNEL = "mailkind_changes"

/** How long a migration may pause between two statements, in milliseconds. */
const MIGRATION_IDLE_MS = 30_000

/**
 * Migrates the database and creates its triggers in one transaction, and resolves with the `search_path` for all later connections. Of
 * several processes that start together, one migrates and the others wait. Rejects with a `StoreError` when the server is not supported,
 * the database belongs to another program, or its schema or its tables are not ours alone.
 */
export async function prepareDatabase(
  store: Store,
  clock: Clock,
  location: string,
  session: SessionKind = "direct",
): Promise<string> {
  // The lock needs a table. Of two that create it at once, one learns that the other has.
  await store
    .transaction(async inner => {
      await requireOwnDatabase(inner, location, session)
      await createMigrationsTable(withBytewiseCollation(inner))
    })
    .catch(error => {
      if (!isThereAlready(error)) throw error
    })
  try {
    return await store.transaction(async inner => {
      const searchPath = await requireOwnDatabase(inner, location, session)
      // The server does not notice at once that a migrating process died: this bounds how long the others wait for it.
      await inner.run(`SET LOCAL idle_in_transaction_session_timeout = ${MIGRATION_IDLE_MS}`)
      // Nobody can take it who may not write our tables, as anybody could an advisory lock (DECISIONS 120).
      await inner.run("LOCK TABLE migrations IN SHARE ROW EXCLUSIVE MODE")
      await migrate(withBytewiseCollation(inner), clock, location).catch(error => {
        throw isThereAlready(error) ? new StoreError("altered", location, error.message, error) : error
      })
      for (const notifyTrigger of NOTIFY_TRIGGERS) await ensureNotifyTrigger(inner, notifyTrigger)
      return searchPath
    })
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "busy")) throw error
    throw new StoreError("busy", location, `${error.reason}${await describeLockHolder(store, location, session)}`)
  }
}

/**
 * The `search_path` for connections that only read a database that accepts no writes, whose tables are already those of this version.
 * Rejects with a `StoreError` else.
 */
export async function requirePrepared(store: Store, location: string, session: SessionKind): Promise<string> {
  return await store.transaction(async inner => {
    const searchPath = await requireOwnDatabase(inner, location, session)
    const table = await inner.one<{ id: number | null }>("SELECT to_regclass('migrations')::oid::bigint AS id")
    const version = (table?.id ?? null) === null ? 0 : await readKnownVersion(inner, location)
    if (version === SCHEMA_VERSION) return searchPath
    throw new StoreError(
      "standby",
      location,
      `its tables have version ${version}, and this program wants to make them those of ${SCHEMA_VERSION}`,
    )
  })
}

/**
 * What `CREATE TABLE IF NOT EXISTS` fails with when another creates the table at once: its row, its type or its relation is there. A
 * migration fails so, or for a column, when an older dump was restored over the tables of a later version.
 */
const IS_THERE = /^(?:UNIQUE|PostgreSQL 42(?:701|710|P07))/

const isThereAlready = (error: unknown): error is Error => error instanceof Error && IS_THERE.test(error.message)

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

/** What reads the catalogue, in one transaction. */
type CatalogueReader = Pick<Store, "all" | "one">

/** Whether our parameters hold on the connection, or it is lent by a pooler. */
export type SessionKind = "direct" | "pooled"

/**
 * Makes names in the statements of this transaction mean those of PostgreSQL alone, and gives the schema that they meant before. Rejects
 * with a `StoreError` when the server is not supported, or a pooler is in front of it which was not expected. Its first statement names
 * the schema of all that it uses, since others may have put functions and operators of the same names into the schemas of the search path.
 * Through a pooler no search path of ours holds: the one that the server has set for the user must name one schema.
 */
export async function requireSupportedServer(
  store: CatalogueReader,
  location: string,
  session: SessionKind,
): Promise<string> {
  const row = await store.one<{
    version: string
    number: string
    encoding: string
    schema: string | null
    schemas: number
    source: string | null
  }>(
    `SELECT pg_catalog.current_setting('server_version'::pg_catalog.text) AS version,
       pg_catalog.current_setting('server_version_num'::pg_catalog.text) AS number,
       pg_catalog.current_setting('server_encoding'::pg_catalog.text) AS encoding,
       pg_catalog.current_schema()::pg_catalog.text AS schema,
       pg_catalog.cardinality(pg_catalog.current_schemas(false)) AS schemas,
       (SELECT source FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) 'statement_timeout'::pg_catalog.text) AS source`,
  )
  if (Number(row?.number) < VERSION_MIN) throw new StoreError("outdated", location, `its version is ${row?.version}`)
  // A pooler lends connections that are open already, so the parameters of ours are lost (DECISIONS 171).
  if (session === "direct" && row?.source !== "client")
    throw new StoreError("pooled", location, "the server did not get our statement_timeout")
  if (row?.encoding !== "UTF8") throw new StoreError("unfit", location, `its encoding is ${row?.encoding}, not UTF8`)
  if (row.schema === null)
    throw new StoreError("rightless", location, "the search_path of that user names no existing schema")
  if (session === "pooled" && row.schemas > 1)
    throw new StoreError("pooled", location, `the search_path of that user names ${row.schemas} schemas`)
  await store.all("SET LOCAL search_path = pg_catalog, pg_temp")
  return row.schema
}

/**
 * Rejects with a `StoreError` when a start would: the server is not supported, another program has tables in our schema, others may
 * create in it or have done so (DECISIONS 120), or a table is not ours alone. Else names in statements mean those of our schema and of
 * PostgreSQL and nothing else, in this transaction, and on other connections by the `search_path` that is given.
 */
export async function requireOwnDatabase(
  store: CatalogueReader,
  location: string,
  session: SessionKind,
): Promise<string> {
  const schema = await requireSupportedServer(store, location, session)
  await requireOwnSchema(store, location, schema)
  await requireNoForeignTables(store, location, schema)
  await requireOwnTables(store, location, schema)
  const searchPath = `"${schema.replaceAll('"', '""')}", pg_temp`
  await store.all(`SET LOCAL search_path = ${searchPath}`)
  return searchPath
}

/** The schema of our tables, in statements whose first parameter is its name. */
const OUR_SCHEMA = "(SELECT oid FROM pg_namespace WHERE nspname = $1)"

/** Superusers may do anything, so what belongs to one of them is trusted, too. */
const isTrusted = (owner: string): string =>
  `(${owner} = (SELECT oid FROM pg_roles WHERE rolname = current_user) OR (SELECT rolsuper FROM pg_roles WHERE oid = ${owner}))`

/** Who may create in our schema, but its owner. Role 0 is everybody. */
const SELECT_OTHER_CREATORS = `SELECT COALESCE(pg_get_userbyid(NULLIF(grantee, 0))::text, 'PUBLIC') AS role
  FROM pg_namespace, aclexplode(nspacl)
  WHERE pg_namespace.oid = ${OUR_SCHEMA} AND privilege_type = 'CREATE' AND grantee <> nspowner AND ${isTrusted("grantee")} IS NOT TRUE
  ORDER BY role LIMIT 1`

/** What others have created in our schema that our statements could run instead of what PostgreSQL has. */
const SELECT_FOREIGN_CODE = `SELECT kind, name, pg_get_userbyid(owner)::text AS owner FROM (
    SELECT 'function' AS kind, proname::text AS name, proowner AS owner FROM pg_proc WHERE pronamespace = ${OUR_SCHEMA}
    UNION ALL SELECT 'operator', oprname::text, oprowner FROM pg_operator WHERE oprnamespace = ${OUR_SCHEMA}
    UNION ALL SELECT 'type', typname::text, typowner FROM pg_type WHERE typnamespace = ${OUR_SCHEMA} AND typrelid = 0 AND typelem = 0
  ) AS code WHERE NOT ${isTrusted("owner")} ORDER BY kind, name LIMIT 1`

/** Rejects with a `shared_schema` error when others may create functions and operators beside our tables, or have done so. */
async function requireOwnSchema(store: CatalogueReader, location: string, schema: string): Promise<void> {
  const creator = await store.one<{ role: string }>(SELECT_OTHER_CREATORS, [schema])
  if (creator !== null)
    throw new StoreError("shared_schema", location, `${readable(creator.role)} may create in ${readable(schema)}`)
  const code = await store.one<{ kind: string; name: string; owner: string }>(SELECT_FOREIGN_CODE, [schema])
  if (code !== null)
    throw new StoreError(
      "shared_schema",
      location,
      `the ${code.kind} ${readable(code.name)} in ${readable(schema)} belongs to ${readable(code.owner)}`,
    )
}

/** Rejects with a `StoreError` when another program has tables in our schema. Those of extensions do not count. */
async function requireNoForeignTables(store: CatalogueReader, location: string, schema: string): Promise<void> {
  const tables = await store.all<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relnamespace = ${OUR_SCHEMA} AND relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`,
    [schema],
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

const OUR_TRIGGERS = NOTIFY_TRIGGERS.map(({ table, trigger }) => `('${table}', '${trigger}')`).join(", ")

/** What bears the name of one of our tables. It is read from the catalogue, and no statement here touches the table itself. */
const SELECT_OUR_TABLES = `SELECT relname::text AS name, pg_get_userbyid(relowner)::text AS owner, ${isTrusted("relowner")} AS trusted,
    relkind::text AS kind, (SELECT MIN(rulename::text) FROM pg_rewrite WHERE ev_class = pg_class.oid) AS rule,
    (SELECT MIN(tgname::text) FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE tgrelid = pg_class.oid AND NOT tgisinternal
      AND NOT ((relname::text, tgname::text) IN (${OUR_TRIGGERS}) AND proname = '${NOTIFY_FUNCTION}'
        AND pronamespace = ${OUR_SCHEMA} AND ${isTrusted("proowner")})) AS trigger
  FROM pg_class WHERE relnamespace = ${OUR_SCHEMA} AND relname::text IN (${TABLE_NAMES.map(name => `'${name}'`).join(", ")})
  ORDER BY relname`

/**
 * Rejects with a `shared_tables` error when a table of ours belongs to another user who is no superuser, is something else than a table,
 * or has a trigger or a rule that we did not create: whoever made it could run statements in our name. Call it before any statement
 * on the tables.
 */
async function requireOwnTables(store: CatalogueReader, location: string, schema: string): Promise<void> {
  for (const table of await store.all<UnsafeTable>(SELECT_OUR_TABLES, [schema])) {
    const reason = describeUnsafeTable(table)
    if (reason !== null) throw new StoreError("shared_tables", location, reason)
  }
}

/** The longest name in PostgreSQL, in octets. */
const NAMEDATALEN = 64

/** A name that others chose, for a message. */
const readable = (name: string): string => sanitizeText(name, NAMEDATALEN) ?? "without a name"

/** A table, in the column `relkind` of PostgreSQL. */
const TABLE_KIND = "r"

function describeUnsafeTable({ name, owner, trusted, kind, trigger, rule }: UnsafeTable): string | null {
  if (trusted !== 1) return `${name} belongs to ${readable(owner)}`
  if (kind !== TABLE_KIND) return `${name} is no table`
  if (trigger !== null) return `${name} has the trigger ${readable(trigger)}`
  return rule === null ? null : `${name} has the rule ${readable(rule)}`
}

/** Who has held a lock on one of our tables for longest, and for how many seconds. */
const SELECT_LOCK_HOLDER = `SELECT activity.pid, usename::text AS user, application_name AS application, relname::text AS name,
    EXTRACT(EPOCH FROM clock_timestamp() - xact_start)::bigint AS seconds
  FROM pg_locks JOIN pg_class ON pg_class.oid = relation JOIN pg_stat_activity AS activity ON activity.pid = pg_locks.pid
  WHERE granted AND relnamespace = ${OUR_SCHEMA} AND relkind = '${TABLE_KIND}' AND activity.pid <> pg_backend_pid()
  ORDER BY xact_start LIMIT 1`

type LockHolder = {
  readonly pid: number
  readonly user: string
  readonly application: string
  readonly name: string
  readonly seconds: number
}

/** Names whoever keeps others from our tables, for a message that goes on; nothing when the server does not tell. */
async function describeLockHolder(store: Store, location: string, session: SessionKind): Promise<string> {
  const holder = await store
    .transaction(async inner => {
      const schema = await requireSupportedServer(inner, location, session)
      return await inner.one<LockHolder>(SELECT_LOCK_HOLDER, [schema])
    })
    .catch(() => null) // the error that is described already is the one to tell
  if (holder === null) return ""
  const { pid, user, application, name, seconds } = holder
  return `; its process ${pid} of the user ${readable(user)} (${readable(application)}) has had a lock on ${name} for ${seconds} seconds`
}
