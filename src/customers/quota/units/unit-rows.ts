import { createBulkStatements } from "../../store/core/sql-text.ts"
import type { Store } from "../../store/core/store.ts"
import type { UnitLease } from "./unit-lease.ts"

/** So many units of a subject's day. A subject is an account or a publishable key; days count from 1 January 1970, UTC. */
export type DayUnits = { readonly subject: string; readonly day: number; readonly count: number }

/**
 * How many days of a subject are kept: those it was last used on. They are told by the rows that are there, not by the
 * clock, so that one that runs a year ahead for a moment does not delete today.
 */
const DAYS_STORED = 7

/** What stands in for the units of a day that may have been deleted: there is no telling that any are left. */
const ALL_UNITS = Number.MAX_SAFE_INTEGER

/** The oldest day of a subject that is kept, where older ones have been deleted; null where none was. */
const oldestStoredDay = (subject: string): string =>
  `SELECT day FROM units WHERE subject = ${subject} ORDER BY day DESC LIMIT 1 OFFSET ${DAYS_STORED - 1}`

/** A day of a subject. */
type SubjectDay = Pick<DayUnits, "subject" | "day">

/** How many units all processes hold or have used of each of these days, in their order; a day older than those kept counts as used up. */
export async function readLeased(store: Store, days: readonly SubjectDay[]): Promise<readonly number[]> {
  const read: LeasedRow[] = []
  const rows = days.map(({ subject, day }) => [subject, day])
  for (const { sql, params } of READ_LEASED(rows)) read.push(...(await store.all<LeasedRow>(sql, params)))
  return days.map(({ day }, at) => {
    const { leased = null, oldest = null } = read[at] ?? {}
    return oldest !== null && oldest > day ? ALL_UNITS : (leased ?? 0)
  })
}

type LeasedRow = { readonly leased: number | null; readonly oldest: number | null }

const READ_LEASED = createBulkStatements(
  ["TEXT", "BIGINT"],
  rows => `SELECT (SELECT leased FROM units WHERE subject = column1 AND day = column2) AS leased,
  (${oldestStoredDay("column1")}) AS oldest FROM ${rows} ORDER BY place`,
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
      await store.run(`DELETE FROM units WHERE subject = $1 AND day < (${oldestStoredDay("$1")})`, [subject])
  return leased
}

const ADD_LEASED = createBulkStatements(
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

/** What came of leasing for one lease: how many units of its day are leased by all, and how many of these it was granted now. */
type LeaseGrant = { readonly lease: UnitLease; readonly leased: number; readonly granted: number }

/**
 * Leases as many units as each lease wishes for, no two of them of the same day of a subject. Each turn in which one gets none
 * means that another process got some. `store` is a transaction's.
 */
export async function leaseUnits(store: Store, leases: readonly UnitLease[]): Promise<readonly LeaseGrant[]> {
  const done: LeaseGrant[] = []
  for (let open = leases; open.length > 0; ) {
    const leased = await readLeased(store, open)
    const wishes = open.map((lease, at) => ({
      lease,
      leased: leased[at] ?? 0,
      count: lease.wantedUnits(leased[at] ?? 0),
    }))
    done.push(...wishes.filter(({ count }) => count === 0).map(wish => ({ ...wish, granted: 0 })))
    const wanted = wishes.filter(({ count }) => count > 0)
    const left: UnitLease[] = []
    for (const [perDay, alike] of Map.groupBy(wanted.sort(byQuota), ({ lease }) => lease.perDay)) {
      const units = alike.map(({ lease: { subject, day }, count }) => ({ subject, day, count }))
      const added = await addLeased(store, units, perDay)
      for (const [at, { lease, count }] of alike.entries()) {
        const now = added[at] ?? null
        if (now === null) left.push(lease)
        else done.push({ lease, leased: now, granted: count })
      }
    }
    open = left
  }
  return done
}

type LeaseRequest = { readonly lease: UnitLease }

/** One order for all processes: in an engine that locks rows, two that take the same ones never wait for each other. */
const byQuota = ({ lease: one }: LeaseRequest, { lease: other }: LeaseRequest): number =>
  one.perDay - other.perDay || bySubject(one, other)
