import type { Clock } from "../../base/clock.ts"
import { dayOf } from "../../base/utc-day.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Store } from "../store/store.ts"
import { under } from "./checker-keys.ts"

/** A day, counted from 1 January 1970 UTC, of a client whose name is its keyed hash; that differs from day to day. */
export type ClientDay = { readonly clientHash: string; readonly day: number }

/** Today, of a client. */
export function clientDay(key: string, client: string, clock: Clock): ClientDay {
  const day = dayOf(clock())
  return { clientHash: under(key, `${day} ${client}`), day }
}

/** Takes one of the checks that a client has on the day without a pass; false: it has none left. One statement, as `addLeased`. */
export async function takeFromDay(store: Store, { clientHash, day }: ClientDay): Promise<boolean> {
  const count = await store.run(
    `INSERT INTO free_check_days (client_hash, day, used) VALUES ($1, $2, 1)
     ON CONFLICT (client_hash, day) DO UPDATE SET used = free_check_days.used + 1 WHERE free_check_days.used < $3`,
    [clientHash, day, LIMITS.freeChecksPerClientAndDay],
  )
  return count > 0
}

/** Gives one back. A client that has used none has no row. */
export async function giveBackToDay(store: Store, { clientHash, day }: ClientDay): Promise<void> {
  await store.run("UPDATE free_check_days SET used = used - 1 WHERE client_hash = $1 AND day = $2 AND used > 0", [
    clientHash,
    day,
  ])
  await store.run("DELETE FROM free_check_days WHERE client_hash = $1 AND day = $2 AND used = 0", [clientHash, day])
}

/** Deletes at most `countMax` rows of days before yesterday, which a clock that is set back a little does not bring back. */
export async function pruneClientDays(store: Store, clock: Clock, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM free_check_days WHERE client_hash IN
       (SELECT client_hash FROM free_check_days WHERE day < $1 LIMIT $2)`,
    [dayOf(clock()) - 1, countMax],
  )
}
