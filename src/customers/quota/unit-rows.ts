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

/** The oldest day that is kept, where older ones have been deleted; null where none was. */
const OLDEST_KEPT = `SELECT day FROM units WHERE subject = $1 ORDER BY day DESC LIMIT 1 OFFSET ${DAYS_KEPT - 1}`

/** How many units all processes hold or have used of the subject's day; a day older than those kept counts as used up. */
export async function readLeased(store: Store, subject: string, day: number): Promise<number> {
  const row = await store.one<{ leased: number | null; oldest: number | null }>(
    `SELECT (SELECT leased FROM units WHERE subject = $1 AND day = $2) AS leased, (${OLDEST_KEPT}) AS oldest`,
    [subject, day],
  )
  if (row !== null && row.oldest !== null && row.oldest > day) return ALL
  return row?.leased ?? 0
}

/**
 * Adds units, at most `perDay` of them, to those of a day, and gives how many these are then; null: they would be more
 * than `perDay`, and none was added. It is one statement, so that processes that lease at the same moment cannot pass the
 * quota together.
 */
export async function addLeased(store: Store, { subject, day, count }: DayUnits, perDay: number) {
  const row = await store.one<{ leased: number }>(
    `INSERT INTO units (subject, day, leased) VALUES ($1, $2, $3)
     ON CONFLICT (subject, day) DO UPDATE SET leased = units.leased + excluded.leased
     WHERE units.leased + excluded.leased <= $4 RETURNING leased`,
    [subject, day, count, perDay],
  )
  // The first units of a day: time to delete a day.
  if (row?.leased === count)
    await store.run(`DELETE FROM units WHERE subject = $1 AND day < (${OLDEST_KEPT})`, [subject])
  return row?.leased ?? null
}

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
