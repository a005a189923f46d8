import { createBulkStatements } from "../../store/core/sql-text.ts"
import type { Store } from "../../store/core/store.ts"
import type { UnitLease } from "./unit-lease.ts"

/** A count of units of a subject's day. A subject is an account, a pool of it, or a key with a limit of its own; days count from 1 January 1970 UTC. */
export type DayUnits = { readonly subject: string; readonly day: number; readonly count: number }

/**
 * How many days of a subject are stored: those of its last use. They are found by the existing rows and not by the clock, so that a
 * clock that is a year ahead for a moment does not delete today.
 */
const DAYS_STORED = 7

/** Stands for the units of a day that may have been deleted, so that it counts as used up. */
const ALL_UNITS = Number.MAX_SAFE_INTEGER

/** SQL for the oldest stored day of a subject when older ones have been deleted; null when none was. */
const oldestStoredDay = (subject: string): string =>
  `SELECT day FROM units WHERE subject = ${subject} ORDER BY day DESC LIMIT 1 OFFSET ${DAYS_STORED - 1}`

/** A day of a subject. */
type SubjectDay = Pick<DayUnits, "subject" | "day">

/** How many units of each of these days are leased, in their order. A day older than the stored ones counts as used up. */
export async function readLeased(store: Store, days: readonly SubjectDay[]): Promise<readonly number[]> {
  const leasedRows: LeasedRow[] = []
  const rows = days.map(({ subject, day }) => [subject, day])
  for (const { sql, params } of READ_LEASED(rows)) leasedRows.push(...(await store.all<LeasedRow>(sql, params)))
  return days.map(({ day }, index) => {
    const { leased = null, oldest = null } = leasedRows[index] ?? {}
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
 * Leases units of different days, and returns how many are leased of each day then, in their order; null: there would be more than
 * `perDay`, and none was leased. The check and the update are one statement, so processes that lease at the same moment cannot exceed
 * the quota together.
 */
export async function addLeased(
  store: Store,
  requested: readonly DayUnits[],
  perDay: number,
): Promise<readonly (number | null)[]> {
  const leasedAfter = new Map<string, number>()
  const rows = requested.map(({ subject, day, count }) => [subject, day, count])
  for (const { sql, params } of ADD_LEASED(rows, [perDay]))
    for (const row of await store.all<DayUnits>(sql, params)) leasedAfter.set(`${row.day} ${row.subject}`, row.count)
  const leased = requested.map(({ subject, day }) => leasedAfter.get(`${day} ${subject}`) ?? null)
  // The first units of a day: an old day can be deleted.
  for (const [index, { subject, count }] of requested.entries())
    if (leased[index] === count)
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

/** Subtracts returned units from those of a day. */
export async function subtractLeased(store: Store, { subject, day, count }: DayUnits): Promise<void> {
  await store.run("UPDATE units SET leased = leased - $3 WHERE subject = $1 AND day = $2 AND leased >= $3", [
    subject,
    day,
    count,
  ])
}

/** One global order of rows: two processes that lock the same ones never deadlock. */
export const bySubject = (a: { readonly subject: string }, b: { readonly subject: string }): number =>
  a.subject < b.subject ? -1 : Number(a.subject > b.subject)

/** The result for one lease: how many units of its day are leased in all, and how many of them it was granted now. */
type LeaseGrant = { readonly lease: UnitLease; readonly leased: number; readonly granted: number }

/**
 * Leases what each lease wants, no two of them of the same subject's day, in the transaction of `store`. A lease that gets none because
 * another process was faster asks again in the next iteration.
 */
export async function leaseUnits(store: Store, leases: readonly UnitLease[]): Promise<readonly LeaseGrant[]> {
  const grants: LeaseGrant[] = []
  for (let remaining = leases; remaining.length > 0; ) {
    const leased = await readLeased(store, remaining)
    const requests = remaining.map((lease, index) => ({
      lease,
      leased: leased[index] ?? 0,
      count: lease.wantedUnits(leased[index] ?? 0),
    }))
    grants.push(...requests.filter(({ count }) => count === 0).map(request => ({ ...request, granted: 0 })))
    const wanting = requests.filter(({ count }) => count > 0)
    const refused: UnitLease[] = []
    for (const [perDay, sameQuota] of Map.groupBy(wanting.sort(byQuota), ({ lease }) => lease.perDay)) {
      const units = sameQuota.map(({ lease: { subject, day }, count }) => ({ subject, day, count }))
      const added = await addLeased(store, units, perDay)
      for (const [index, { lease, count }] of sameQuota.entries()) {
        const leasedNow = added[index] ?? null
        if (leasedNow === null) refused.push(lease)
        else grants.push({ lease, leased: leasedNow, granted: count })
      }
    }
    remaining = refused
  }
  return grants
}

type LeaseRequest = { readonly lease: UnitLease }

/** One global order of rows: two processes that lock the same ones never deadlock. */
const byQuota = ({ lease: one }: LeaseRequest, { lease: other }: LeaseRequest): number =>
  one.perDay - other.perDay || bySubject(one, other)
