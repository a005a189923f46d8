import type { Store } from "./store.ts"
import { StoreFault } from "./store-fault.ts"

/** The oldest version of PostgreSQL that is supported, as the server numbers it. */
const VERSION_MIN = 120_000

/** Rejects with a `StoreFault` when the server or what stands before it is not fit for us. To be asked before any setting is made. */
export async function refuseUnfitServer(store: Pick<Store, "one">, where: string): Promise<void> {
  const row = await store.one<{ version: string; number: string; encoding: string; schema: string | null }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
       current_setting('server_encoding') AS encoding, current_schema()::text AS schema`,
  )
  if (Number(row?.number) < VERSION_MIN) throw new StoreFault("outdated", where, `its version is ${row?.version}`)
  // What a connection asks for as it begins is lost where a pooler lends out connections that have begun already.
  const bound = await store.one<{ source: string }>("SELECT source FROM pg_settings WHERE name = 'statement_timeout'")
  if (bound?.source !== "client")
    throw new StoreFault("pooled", where, "the server is not told what bounds a statement")
  if (row?.encoding !== "UTF8") throw new StoreFault("unfit", where, `its encoding is ${row?.encoding}, not UTF8`)
  if (row.schema === null)
    throw new StoreFault("refused", where, "the search_path of that user names no schema that is there")
}

/** Rejects with a `StoreFault` when another program has its tables where ours are, or would be. Those of extensions do not count. */
export async function refuseForeign(store: Pick<Store, "all">, where: string): Promise<void> {
  const tables = await store.all<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`,
  )
  if (tables.length > 0 && !tables.some(({ name }) => name === "migrations"))
    throw new StoreFault("foreign_database", where, `it has ${tables.length} tables and no table of migrations`)
}
