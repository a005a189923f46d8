import { SQL } from "bun"

/** What a statement is about, by what stands in it; the first that fits. What none fits is `other`. */
const KINDS = {
  "begin and end": /^(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i,
  usage: /\b(?:INTO|FROM|UPDATE) usage\b/,
  "last use": /^(?:UPDATE|INSERT INTO) keys\b/,
  "look-up of keys": /^SELECT keys\./,
  "mails to send": /\boutbox\b/,
  "terms to tell": /\bFROM terms\b/,
  units: /\b(?:INTO|FROM|UPDATE) units\b/,
  changes: /\b(?:FROM|UPDATE) change(?:_head|s)\b/,
  heartbeats: /\b(?:INTO|FROM|UPDATE) nodes\b/,
} as const satisfies Record<string, RegExp>

/** How many statements a database was asked, of each kind. */
export type StatementCounts = Readonly<Record<keyof typeof KINDS | "other", number>>

/** The kinds in the order in which they are told. */
export const STATEMENT_KINDS = [...Object.keys(KINDS), "other"] as (keyof StatementCounts)[] // the keys are those of KINDS

/** What PostgreSQL is started with, so that it counts. */
export const COUNTING_SETTINGS = ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_utility=on"]

/** Counts the statements that one database is asked, as the server itself does. Disposing of it ends its connection. */
export type CountedStatements = AsyncDisposable & {
  /** Those since this was last asked, or since the count was begun. */
  readonly take: () => Promise<StatementCounts>
}

/** Begins to count what is asked in `database`. `url` is that of another database of the server, so that what is asked here is not counted. */
export async function countStatements(url: string, database: string): Promise<CountedStatements> {
  const client = new SQL(url, { max: 1 })
  await client.unsafe("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
  let before = await countsIn(client, database)
  return {
    take: async () => {
      const now = await countsIn(client, database)
      const since = difference(now, before)
      before = now
      return since
    },
    [Symbol.asyncDispose]: () => client.close({ timeout: 0 }),
  }
}

/** All statements of the counts. */
export const allOf = (counts: StatementCounts): number => STATEMENT_KINDS.reduce((sum, kind) => sum + counts[kind], 0)

async function countsIn(client: SQL, database: string): Promise<StatementCounts> {
  const rows = await client.unsafe<{ query: string; calls: string }[]>(
    `SELECT query, calls FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)`,
    [database],
  )
  const counts = Object.fromEntries(STATEMENT_KINDS.map(kind => [kind, 0])) as Record<keyof StatementCounts, number> // one a kind
  for (const { query, calls } of rows) counts[kindOf(query)] += Number(calls)
  return counts
}

const kindOf = (query: string): keyof StatementCounts =>
  STATEMENT_KINDS.find(kind => kind !== "other" && KINDS[kind].test(query)) ?? "other"

function difference(now: StatementCounts, before: StatementCounts): StatementCounts {
  const entries = STATEMENT_KINDS.map(kind => [kind, now[kind] - before[kind]])
  return Object.fromEntries(entries) as StatementCounts // one a kind
}
