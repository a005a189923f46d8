import type { Clock, Random } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { hashSecret, isSecret, newSecret } from "../sign-in/secrets.ts"
import type { Store } from "../store/core/store.ts"
import { keyedHash } from "./derived-keys.ts"

/** How long a pass is valid, in milliseconds. */
const PASS_MS = LIMITS.passMinutes * 60_000

/** The result of presenting a pass. */
type PassUse =
  /** One of its checks was used. */
  | "taken"
  /** It is used up or expired. */
  | "over"
  /** It was never issued. */
  | "forged"

/**
 * Issues a pass for the solution of the challenge with this nonce, and uses the first of its checks. Returns its secret,
 * available only here; null: the challenge already gave a pass.
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

/** Uses one check of a pass. A single statement, so that parallel checks never use more than are left. */
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

/** Returns one check to a pass. */
export async function refundToPass(store: Store, secret: string): Promise<void> {
  await store.run("UPDATE free_check_passes SET checks_left = checks_left + 1 WHERE hash = $1 AND checks_left < $2", [
    hashSecret(secret),
    LIMITS.passChecks,
  ])
}

/**
 * Deletes at most `countMax` passes that expired so long ago that browsers have dropped them too, and returns their count.
 * A solved challenge cannot be reused then: challenges expire sooner.
 */
export async function prunePasses(store: Store, clock: Clock, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM free_check_passes WHERE hash IN
       (SELECT hash FROM free_check_passes WHERE issued_at_ms <= $1 LIMIT $2)`,
    [clock() - 2 * PASS_MS, countMax],
  )
}

/** A client on a day (counted from 1 January 1970 UTC). The client is a keyed hash that differs from day to day. */
type ClientDay = { readonly clientHash: string; readonly day: number }

/** The allowance of a client today. */
export function clientToday(key: string, client: string, clock: Clock): ClientDay {
  const day = utcDay(clock())
  return { clientHash: keyedHash(key, `${day} ${client}`), day }
}

/** Uses one of the client's daily checks without a pass; false: none is left. A single statement. */
export async function takeFromDay(store: Store, { clientHash, day }: ClientDay): Promise<boolean> {
  const count = await store.run(
    `INSERT INTO free_check_days (client_hash, day, used) VALUES ($1, $2, 1)
     ON CONFLICT (client_hash, day) DO UPDATE SET used = free_check_days.used + 1 WHERE free_check_days.used < $3`,
    [clientHash, day, LIMITS.freeChecksPerClientAndDay],
  )
  return count > 0
}

/** Returns one check. A client that has used none has no row. */
export async function refundToDay(store: Store, { clientHash, day }: ClientDay): Promise<void> {
  await store.run("UPDATE free_check_days SET used = used - 1 WHERE client_hash = $1 AND day = $2 AND used > 0", [
    clientHash,
    day,
  ])
  await store.run("DELETE FROM free_check_days WHERE client_hash = $1 AND day = $2 AND used = 0", [clientHash, day])
}

/** Deletes at most `countMax` rows of days before yesterday, so that a clock set back slightly does not renew an allowance. */
export async function pruneClientDays(store: Store, clock: Clock, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM free_check_days WHERE client_hash IN
       (SELECT client_hash FROM free_check_days WHERE day < $1 LIMIT $2)`,
    [utcDay(clock()) - 1, countMax],
  )
}
