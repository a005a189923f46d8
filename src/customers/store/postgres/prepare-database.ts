import type { Clock } from "../../../base/outside-world.ts"
import type { Store } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"
import { migrate } from "../migrations/migrate.ts"

/** On which channel of the database everybody is told that the change log has grown, or that a node came or went. */
export const CHANGES_CHANNEL = "mailkind_changes"

/** Names the lock under which tables are changed: "mailkind" in ASCII, as a 63-bit number. */
export const MIGRATION_LOCK = "7881692342889377380"

/** How long one that migrates may think between two statements, in milliseconds. */
const MIGRATION_IDLE_MS = 30_000

/**
 * Brings the tables of the database up to date: all that is missing, or, when anything fails, nothing. Of several that start
 * together, the others wait. Rejects with a `StoreError` where the database is not fit for us.
 */
export async function prepareDatabase(store: Store, clock: Clock, where: string): Promise<void> {
  await store.transaction(async inner => {
    await requireSupportedServer(inner, where)
    // Of one that migrates and dies the server knows nothing at once: the others wait no longer than this for it.
    await inner.run(`SET LOCAL idle_in_transaction_session_timeout = ${MIGRATION_IDLE_MS}`)
    await inner.one(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    await requireOwnDatabase(inner, where)
    await migrate(withBytewiseCollation(inner), clock, where)
    for (const teller of NOTIFY_TRIGGERS) await ensureNotifyTrigger(inner, teller)
  })
}

/** A store whose new columns of text sort by their bytes, as in SQLite, whatever order the database has for others. */
const withBytewiseCollation = (store: Store): Store => ({
  ...store,
  run: (sql, params) =>
    store.run(TABLE_DEFINITION.test(sql) ? sql.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"') : sql, params),
  transaction: work => store.transaction(inner => work(withBytewiseCollation(inner))),
})

const TABLE_DEFINITION = /^(?:CREATE|ALTER) TABLE /

/** By which trigger of a table others are told that there is something to look at. */
type NotifyTrigger = { readonly table: string; readonly trigger: string; readonly after: string }

/** A node that beats on tells nobody: only one that comes or goes does. */
const NOTIFY_TRIGGERS: readonly NotifyTrigger[] = [
  {
    table: "change_head",
    trigger: "change_head_tells",
    after: "UPDATE ON change_head FOR EACH ROW WHEN (NEW.id <> OLD.id)",
  },
  { table: "nodes", trigger: "nodes_tell", after: "INSERT OR DELETE ON nodes FOR EACH ROW" },
]

/** Whoever makes a change tells the others as soon as it is durable: PostgreSQL passes a notification on at the commit. */
async function ensureNotifyTrigger(store: Store, { table, trigger, after }: NotifyTrigger): Promise<void> {
  const there = await store.one("SELECT 1 AS one FROM pg_trigger WHERE tgname = $1 AND tgrelid = to_regclass($2)", [
    trigger,
    table,
  ])
  if (there !== null) return
  const body = `BEGIN PERFORM pg_notify('${CHANGES_CHANNEL}', ''); RETURN NULL; END`
  await store.run(
    `CREATE OR REPLACE FUNCTION tell_of_changes() RETURNS trigger LANGUAGE plpgsql AS '${escapeQuotes(body)}'`,
  )
  await store.run(`CREATE TRIGGER ${trigger} AFTER ${after} EXECUTE FUNCTION tell_of_changes()`)
}

const escapeQuotes = (text: string): string => text.replaceAll("'", "''")

/** The oldest version of PostgreSQL that is supported, as the server numbers it. */
const VERSION_MIN = 120_000

/** Rejects with a `StoreError` when the server or what stands before it is not fit for us. To be asked before any setting is made. */
export async function requireSupportedServer(store: Pick<Store, "one">, where: string): Promise<void> {
  const row = await store.one<{ version: string; number: string; encoding: string; schema: string | null }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
       current_setting('server_encoding') AS encoding, current_schema()::text AS schema`,
  )
  if (Number(row?.number) < VERSION_MIN) throw new StoreError("outdated", where, `its version is ${row?.version}`)
  // What a connection asks for as it begins is lost where a pooler lends out connections that have begun already.
  const bound = await store.one<{ source: string }>("SELECT source FROM pg_settings WHERE name = 'statement_timeout'")
  if (bound?.source !== "client")
    throw new StoreError("pooled", where, "the server is not told what bounds a statement")
  if (row?.encoding !== "UTF8") throw new StoreError("unfit", where, `its encoding is ${row?.encoding}, not UTF8`)
  if (row.schema === null)
    throw new StoreError("refused", where, "the search_path of that user names no schema that is there")
}

/** Rejects with a `StoreError` when another program has its tables where ours are, or would be. Those of extensions do not count. */
export async function requireOwnDatabase(store: Pick<Store, "all">, where: string): Promise<void> {
  const tables = await store.all<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`,
  )
  if (tables.length > 0 && !tables.some(({ name }) => name === "migrations"))
    throw new StoreError("foreign_database", where, `it has ${tables.length} tables and no table of migrations`)
}
