import type { Clock, Random } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { hashSecret, isSecret, newSecret } from "../sign-in/secrets.ts"
import type { Store } from "../store/core/store.ts"
import { keyedHash } from "./derived-keys.ts"

/** How long a pass is good for, in milliseconds. */
const PASS_MS = LIMITS.passMinutes * 60_000

/** What came of a pass that was shown. */
type PassUse =
  /** One of its checks was taken. */
  | "taken"
  /** It was one of ours, and is used up or too old. */
  | "over"
  /** Nobody gave it. */
  | "forged"

/**
 * Issues a pass for the solution of the challenge with this nonce, and takes the first of its checks. Gives its secret,
 * this once; null: the challenge was worth one already.
 */
export async function issuePass(
  store: Store,
  clock: Clock,
  random: Random,
  challengeNonce: string,
): Promise<string | null> {
  const secret = newSecret(random)
  const count = await store.run(
    `INSERT INTO free_check_passes (hash, challenge, checks_left, issued_at_ms) VALUES ($1, $2, $3, $4)
     ON CONFLICT (challenge) DO NOTHING`,
    [hashSecret(secret), challengeNonce, LIMITS.passChecks - 1, clock()],
  )
  return count === 0 ? null : secret
}

/** Takes one check of a pass. It is one statement, so that of checks at the same moment no more are taken than are left. */
export async function takeFromPass(store: Store, clock: Clock, secret: string): Promise<PassUse> {
  if (!isSecret(secret)) return "forged"
  const hash = hashSecret(secret)
  const taken = await store.run(
    `UPDATE free_check_passes SET checks_left = checks_left - 1
     WHERE hash = $1 AND checks_left > 0 AND issued_at_ms > $2`,
    [hash, clock() - PASS_MS],
  )
  if (taken > 0) return "taken"
  return (await store.one("SELECT hash FROM free_check_passes WHERE hash = $1", [hash])) === null ? "forged" : "over"
}

/** Gives one check back to a pass. */
export async function refundToPass(store: Store, secret: string): Promise<void> {
  await store.run("UPDATE free_check_passes SET checks_left = checks_left + 1 WHERE hash = $1 AND checks_left < $2", [
    hashSecret(secret),
    LIMITS.passChecks,
  ])
}

/**
 * Deletes at most `countMax` passes that are over for so long that browsers have forgotten them too, and gives their count.
 * What was solved for one cannot be solved again: challenges end sooner.
 */
export async function prunePasses(store: Store, clock: Clock, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM free_check_passes WHERE hash IN
       (SELECT hash FROM free_check_passes WHERE issued_at_ms <= $1 LIMIT $2)`,
    [clock() - 2 * PASS_MS, countMax],
  )
}

/** A day, counted from 1 January 1970 UTC, of a client whose name is its keyed hash; that differs from day to day. */
type ClientDay = { readonly clientHash: string; readonly day: number }

/** Today, of a client. */
export function clientToday(key: string, client: string, clock: Clock): ClientDay {
  const day = utcDay(clock())
  return { clientHash: keyedHash(key, `${day} ${client}`), day }
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
export async function refundToDay(store: Store, { clientHash, day }: ClientDay): Promise<void> {
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
    [utcDay(clock()) - 1, countMax],
  )
}
