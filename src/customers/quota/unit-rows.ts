import { overRows } from "../store/over-rows.ts"
import type { Store } from "../store/store.ts"

/** So many units of a subject's day. A subject is an account or a publishable key; days count from 1 January 1970, UTC. */
export type DayUnits = { readonly subject: string; readonly day: number; readonly count: number }

/**
 * How many days of a subject are kept: those it was last used on. They are told by the rows that are there, not by the
 * clock, so that one that runs a year ahead for a moment does not delete today.
 */
const DAYS_KEPT = 7

/** What stands in for the units of a day that may have been deleted: there is no telling that any are left. */
const ALL = Number.MAX_SAFE_INTEGER

/** The oldest day of a subject that is kept, where older ones have been deleted; null where none was. */
const oldestKept = (subject: string): string =>
  `SELECT day FROM units WHERE subject = ${subject} ORDER BY day DESC LIMIT 1 OFFSET ${DAYS_KEPT - 1}`

/** A day of a subject. */
export type SubjectDay = Pick<DayUnits, "subject" | "day">

/** How many units all processes hold or have used of each of these days, in their order; a day older than those kept counts as used up. */
export async function readLeased(store: Store, days: readonly SubjectDay[]): Promise<readonly number[]> {
  const read: LeasedRow[] = []
  const rows = days.map(({ subject, day }) => [subject, day])
  for (const { sql, params } of READ_LEASED(rows)) read.push(...(await store.all<LeasedRow>(sql, params)))
  return days.map(({ day }, at) => {
    const { leased = null, oldest = null } = read[at] ?? {}
    return oldest !== null && oldest > day ? ALL : (leased ?? 0)
  })
}

type LeasedRow = { readonly leased: number | null; readonly oldest: number | null }

const READ_LEASED = overRows(
  ["TEXT", "BIGINT"],
  rows => `SELECT (SELECT leased FROM units WHERE subject = column1 AND day = column2) AS leased,
  (${oldestKept("column1")}) AS oldest FROM ${rows} ORDER BY place`,
)

/**
 * Adds units, at most `perDay` of them each, to those of some days, no two of the same, and gives how many these are then, in their
 * order; null: they would be more than `perDay`, and none was added. To ask and to add is one statement, so that processes
 * that lease at the same moment cannot pass the quota together.
 */
export async function addLeased(
  store: Store,
  added: readonly DayUnits[],
  perDay: number,
): Promise<readonly (number | null)[]> {
  const after = new Map<string, number>()
  const rows = added.map(({ subject, day, count }) => [subject, day, count])
  for (const { sql, params } of ADD_LEASED(rows, [perDay]))
    for (const row of await store.all<DayUnits>(sql, params)) after.set(`${row.day} ${row.subject}`, row.count)
  const leased = added.map(({ subject, day }) => after.get(`${day} ${subject}`) ?? null)
  // The first units of a day: time to delete a day.
  for (const [at, { subject, count }] of added.entries())
    if (leased[at] === count)
      await store.run(`DELETE FROM units WHERE subject = $1 AND day < (${oldestKept("$1")})`, [subject])
  return leased
}

const ADD_LEASED = overRows(
  ["TEXT", "BIGINT", "BIGINT"],
  rows => `INSERT INTO units (subject, day, leased) SELECT column1, column2, column3 FROM ${rows}
  WHERE column1 <> '' ORDER BY place
  ON CONFLICT (subject, day) DO UPDATE SET leased = units.leased + excluded.leased
  WHERE units.leased + excluded.leased <= CAST($1 AS BIGINT) RETURNING subject, day, leased AS count`,
  1,
)

/** Takes units that nobody used off those of a day. */
export async function subtractLeased(store: Store, { subject, day, count }: DayUnits): Promise<void> {
  await store.run("UPDATE units SET leased = leased - $3 WHERE subject = $1 AND day = $2 AND leased >= $3", [
    subject,
    day,
    count,
  ])
}

/** One order for all processes: in an engine that locks rows, two that take the same ones never wait for each other. */
export const bySubject = (a: { readonly subject: string }, b: { readonly subject: string }): number =>
  a.subject < b.subject ? -1 : Number(a.subject > b.subject)
