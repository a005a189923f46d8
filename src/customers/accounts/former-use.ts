import { utcDay } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import type { Store } from "../store/core/store.ts"
import { accountEmailHash } from "./account-email.ts"
import { UNIT_POOLS, type UnitPool, unitSubject } from "./unit-subjects.ts"

/*
 * The day's use of a deleted account is kept until 00:00 UTC under a hash of its email, and given to the next account with that
 * email: otherwise whoever deletes an account and signs up again would have a new day. It stands among the leased units, under
 * subjects that begin with `FORMER_PREFIX`.
 */

const FORMER_PREFIX = "former/"
/** The next text after all that begin with the prefix. */
const AFTER_FORMER = "former0"

/** Stands for a key in the usage of an account: what a former account with its email used on this day. */
export const FORMER_USE_KEY_ID = "former"

/** The measure of the usage that tells the units of a pool; null: none does. */
const USAGE_MEASURES: { readonly [P in UnitPool]: string | null } = {
  account: "used",
  publishable: "publishable_used",
  reports: null,
}

const formerSubject = (email: string, pool: UnitPool): string => `${FORMER_PREFIX}${accountEmailHash(email)}/${pool}`

/** How many days of a deleted account are kept, as many as `quota/units` stores of a subject. */
const FORMER_DAYS_MAX = 7

type DayRow = { readonly day: number; readonly count: number }

/**
 * Keeps what the account used on its last days, and deletes its counts, in the transaction of `store` that deletes the account. Which day is
 * today is not asked: a wrong clock would forget its use.
 */
export async function keepFormerUse(store: Store, accountId: string, email: string): Promise<void> {
  for (const pool of UNIT_POOLS) {
    const subject = unitSubject(accountId, pool)
    // An account without limits leases nothing, so what it used stands in its usage alone.
    const rows = await store.all<DayRow>(
      `SELECT day, MAX(count) AS count FROM (
         SELECT day, leased AS count FROM units WHERE subject = $1
         UNION ALL
         SELECT day, CAST(SUM(count) AS BIGINT) AS count FROM usage WHERE account_id = $2 AND measure = $3 GROUP BY day
       ) AS used GROUP BY day ORDER BY day DESC LIMIT $4`,
      [subject, accountId, USAGE_MEASURES[pool] ?? "", FORMER_DAYS_MAX],
    )
    for (const { day, count } of rows) await addUnits(store, formerSubject(email, pool), day, count)
    await store.run("DELETE FROM units WHERE subject = $1", [subject])
  }
}

/** Gives a new account what a former one with its email has used, as far as it is kept, in the transaction of `store` that creates it. */
export async function takeFormerUse(store: Store, accountId: string, email: string): Promise<void> {
  for (const pool of UNIT_POOLS) {
    const former = formerSubject(email, pool)
    const rows = await store.all<DayRow>("SELECT day, leased AS count FROM units WHERE subject = $1 AND leased > 0", [
      former,
    ])
    for (const { day, count } of rows) {
      await addUnits(store, unitSubject(accountId, pool), day, count)
      const measure = USAGE_MEASURES[pool]
      if (measure !== null)
        await store.run("INSERT INTO usage (account_id, key_id, day, measure, count) VALUES ($1, $2, $3, $4, $5)", [
          accountId,
          FORMER_USE_KEY_ID,
          day,
          measure,
          count,
        ])
    }
    await store.run("DELETE FROM units WHERE subject = $1", [former])
  }
}

/** Deletes the kept use of days that are over and returns the count of its rows. */
export async function pruneFormerUse(store: Store, nowMs: TrustedInstant): Promise<number> {
  return await store.run("DELETE FROM units WHERE subject >= $1 AND subject < $2 AND day < $3", [
    FORMER_PREFIX,
    AFTER_FORMER,
    utcDay(nowMs),
  ])
}

async function addUnits(store: Store, subject: string, day: number, count: number): Promise<void> {
  await store.run(
    `INSERT INTO units (subject, day, leased) VALUES ($1, $2, $3)
     ON CONFLICT (subject, day) DO UPDATE SET leased = units.leased + excluded.leased`,
    [subject, day, count],
  )
}
