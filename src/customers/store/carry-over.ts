import { constants, Database } from "bun:sqlite"
import { pathToFileURL } from "node:url"
import { faultOf } from "./sqlite-file.ts"
import { StoreFault } from "./store-fault.ts"

/** What a restored database has of the one that it replaces, so that nothing that was promised since is taken back. */
export type CarriedOver = {
  /** Keys that were revoked since the backup, and stay so. */
  readonly revokedCount: number
  /** Days of accounts and keys of which more units had been leased: their quotas go on from there. */
  readonly unitsCount: number
  /** Mails that were sent, or given up, since the backup, and are not sent again. */
  readonly mailsCount: number
  /** Accounts that were made since the backup, and are gone. */
  readonly lostAccountsCount: number
  /** Accounts that were deleted since the backup, and are back. */
  readonly returnedAccountsCount: number
}

type Tables = ReadonlySet<string>

/**
 * Makes a restored copy fit to follow the database at `old`; null: there is none. Of it is taken over what must not go back:
 * revocations, units that were leased, and what became of mails. Whether it can be read or not, nobody is signed in any more,
 * for a session may have been ended since, and the change log goes on behind both. Null: the old one cannot be read.
 */
export function carryOver(copy: string, old: string | null): CarriedOver | null {
  const { SQLITE_OPEN_READWRITE, SQLITE_OPEN_URI } = constants
  const database = new Database(copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI)
  try {
    const carried = old === null ? null : taken(database, old)
    const own = tablesOf(database, "main")
    for (const table of ["sessions", "sign_ins"]) if (own.has(table)) database.run(`DELETE FROM ${table}`)
    if (own.has("change_head")) database.run("UPDATE change_head SET id = id + 1")
    return carried
  } finally {
    database.close()
  }
}

/**
 * All of it, or, where the old database is damaged, nothing. Throws a `StoreFault`: `full` where the copy has no room for it,
 * and `busy` where another program keeps the old one.
 */
function taken(database: Database, old: string): CarriedOver | null {
  const url = pathToFileURL(old)
  url.search = "?mode=ro"
  try {
    database.query("ATTACH ? AS old").run(url.href)
    const tables = tablesOf(database, "main").intersection(tablesOf(database, "old"))
    return database.transaction(() => takenOf(database, tables))()
  } catch (fault) {
    const known = faultOf(fault, old)
    // What was revoked must not be good again for want of room.
    if (known instanceof StoreFault && (known.code === "full" || known.code === "busy")) throw known
    if (fault instanceof Error && "errno" in fault) return null
    throw fault
  }
}

function takenOf(database: Database, tables: Tables): CarriedOver {
  const changed = (table: string, sql: string): number => (tables.has(table) ? database.run(sql).changes : 0)
  const counted = (sql: string): number => (tables.has("accounts") ? Number(database.query(sql).values()[0]?.[0]) : 0)
  if (tables.has("change_head"))
    database.run("UPDATE change_head SET id = MAX(id, (SELECT COALESCE(MAX(id), 0) FROM old.change_head))")
  return {
    revokedCount: changed("keys", REVOKED),
    unitsCount: changed("units", LEASED),
    mailsCount: changed("outbox", ENDED),
    lostAccountsCount: counted("SELECT COUNT(*) FROM old.accounts WHERE id NOT IN (SELECT id FROM main.accounts)"),
    returnedAccountsCount: counted("SELECT COUNT(*) FROM main.accounts WHERE id NOT IN (SELECT id FROM old.accounts)"),
  }
}

const REVOKED = `UPDATE main.keys SET revoked_at_ms = gone.revoked_at_ms, revoked_by = gone.revoked_by
  FROM old.keys AS gone
  WHERE gone.id = main.keys.id AND gone.revoked_at_ms IS NOT NULL AND main.keys.revoked_at_ms IS NULL`

const LEASED = `INSERT INTO main.units (subject, day, leased) SELECT subject, day, leased FROM old.units WHERE true
  ON CONFLICT (subject, day) DO UPDATE SET leased = excluded.leased WHERE excluded.leased > units.leased`

const ENDED = `UPDATE main.outbox SET ending = gone.ending, ended_at_ms = gone.ended_at_ms, claim = NULL
  FROM old.outbox AS gone
  WHERE gone.account_id = main.outbox.account_id AND gone.notice = main.outbox.notice
    AND gone.subject = main.outbox.subject AND gone.ended_at_ms IS NOT NULL AND main.outbox.ended_at_ms IS NULL`

function tablesOf(database: Database, schema: "main" | "old"): Set<string> {
  const names = database.query(`SELECT name FROM ${schema}.sqlite_master WHERE type = 'table'`).values()
  return new Set(names.flat().map(String))
}
