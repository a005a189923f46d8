import type { Clock } from "../../base/clock.ts"
import { migrate } from "./migrate.ts"
import { refuseForeign, refuseUnfitServer } from "./postgres-fitness.ts"
import type { Store } from "./store.ts"

/** On which channel of the database everybody is told that the change log has grown, or that a node came or went. */
export const CHANGES_CHANNEL = "mailkind_changes"

/** Names the lock under which tables are changed: "mailkind" in ASCII, as a 63-bit number. */
export const MIGRATION_LOCK = "7881692342889377380"

/** How long one that migrates may think between two statements, in milliseconds. */
const MIGRATION_IDLE_MS = 30_000

/**
 * Brings the tables of the database up to date: all that is missing, or, when anything fails, nothing. Of several that start
 * together, the others wait. Rejects with a `StoreFault` where the database is not fit for us.
 */
export async function prepareTables(store: Store, clock: Clock, where: string): Promise<void> {
  await store.transaction(async inner => {
    await refuseUnfitServer(inner, where)
    // Of one that migrates and dies the server knows nothing at once: the others wait no longer than this for it.
    await inner.run(`SET LOCAL idle_in_transaction_session_timeout = ${MIGRATION_IDLE_MS}`)
    await inner.one(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    await refuseForeign(inner, where)
    await migrate(bytewise(inner), clock, where)
    for (const teller of TELLERS) await notifying(inner, teller)
  })
}

/** A store whose new columns of text sort by their bytes, as in SQLite, whatever order the database has for others. */
const bytewise = (store: Store): Store => ({
  ...store,
  run: (sql, params) => store.run(DEFINES.test(sql) ? sql.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"') : sql, params),
  transaction: work => store.transaction(inner => work(bytewise(inner))),
})

const DEFINES = /^(?:CREATE|ALTER) TABLE /

/** By which trigger of a table others are told that there is something to look at. */
type Teller = { readonly table: string; readonly trigger: string; readonly after: string }

/** A node that beats on tells nobody: only one that comes or goes does. */
const TELLERS: readonly Teller[] = [
  {
    table: "change_head",
    trigger: "change_head_tells",
    after: "UPDATE ON change_head FOR EACH ROW WHEN (NEW.id <> OLD.id)",
  },
  { table: "nodes", trigger: "nodes_tell", after: "INSERT OR DELETE ON nodes FOR EACH ROW" },
]

/** Whoever makes a change tells the others as soon as it is durable: PostgreSQL passes a notification on at the commit. */
async function notifying(store: Store, { table, trigger, after }: Teller): Promise<void> {
  const there = await store.one("SELECT 1 AS one FROM pg_trigger WHERE tgname = $1 AND tgrelid = to_regclass($2)", [
    trigger,
    table,
  ])
  if (there !== null) return
  const body = `BEGIN PERFORM pg_notify('${CHANGES_CHANNEL}', ''); RETURN NULL; END`
  await store.run(`CREATE OR REPLACE FUNCTION tell_of_changes() RETURNS trigger LANGUAGE plpgsql AS '${quoted(body)}'`)
  await store.run(`CREATE TRIGGER ${trigger} AFTER ${after} EXECUTE FUNCTION tell_of_changes()`)
}

const quoted = (text: string): string => text.replaceAll("'", "''")
