import type { Clock, Random } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import { widerNetworks } from "../quota/client-networks.ts"
import { keyedHash } from "../sign-in/installation-secret.ts"
import { hashSecret, isSecret, newSecret } from "../sign-in/secrets.ts"
import type { Store } from "../store/core/store.ts"

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
export async function prunePasses(store: Store, nowMs: TrustedInstant, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM free_check_passes WHERE hash IN
       (SELECT hash FROM free_check_passes WHERE issued_at_ms <= $1 LIMIT $2)`,
    [nowMs - 2 * PASS_MS, countMax],
  )
}

/**
 * The checks without a pass of a client or a network on a day (counted from 1 January 1970 UTC). Its name is stored as a keyed
 * hash that differs from day to day.
 */
type Allowance = { readonly hash: string; readonly day: number; readonly checksMax: number }

/** The allowances of a client on a day: its own, and that of its IPv6 /48. */
export function allowancesOn(day: number, key: string, client: string): readonly Allowance[] {
  const allowance = (name: string, checksMax: number): Allowance => ({
    hash: keyedHash(key, `${day} ${name}`),
    day,
    checksMax,
  })
  const sites = widerNetworks(client).filter(({ prefix }) => prefix === 48)
  return [
    allowance(client, LIMITS.freeChecksPerClientAndDay),
    ...sites.map(({ name }) => allowance(name, LIMITS.freeChecksPerSiteAndDay)),
  ]
}

/** Uses one check of each allowance; false: none is left of one of them, and nothing is used. */
export async function takeFromAllowances(store: Store, allowances: readonly Allowance[]): Promise<boolean> {
  // They are read first, so that requests that are refused write nothing.
  for (const allowance of allowances) if (await isUsedUp(store, allowance)) return false
  for (const [index, allowance] of allowances.entries()) {
    if (await takeFromAllowance(store, allowance)) continue
    await refundToAllowances(store, allowances.slice(0, index))
    return false
  }
  return true
}

async function isUsedUp(store: Store, { hash, day, checksMax }: Allowance): Promise<boolean> {
  const row = await store.one<{ used: number }>(
    "SELECT used FROM free_check_days WHERE client_hash = $1 AND day = $2",
    [hash, day],
  )
  return row !== null && row.used >= checksMax
}

/** A single statement, so that parallel checks never use more than are left. */
async function takeFromAllowance(store: Store, { hash, day, checksMax }: Allowance): Promise<boolean> {
  const count = await store.run(
    `INSERT INTO free_check_days (client_hash, day, used) VALUES ($1, $2, 1)
     ON CONFLICT (client_hash, day) DO UPDATE SET used = free_check_days.used + 1 WHERE free_check_days.used < $3`,
    [hash, day, checksMax],
  )
  return count > 0
}

/** Returns one check to each allowance. One of which none is used has no row. */
export async function refundToAllowances(store: Store, allowances: readonly Allowance[]): Promise<void> {
  for (const { hash, day } of allowances) {
    await store.run("UPDATE free_check_days SET used = used - 1 WHERE client_hash = $1 AND day = $2 AND used > 0", [
      hash,
      day,
    ])
    await store.run("DELETE FROM free_check_days WHERE client_hash = $1 AND day = $2 AND used = 0", [hash, day])
  }
}

/** Deletes at most `countMax` rows of days before yesterday, so that a clock set back slightly does not renew an allowance. */
export async function pruneClientDays(store: Store, nowMs: TrustedInstant, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM free_check_days WHERE client_hash IN
       (SELECT client_hash FROM free_check_days WHERE day < $1 LIMIT $2)`,
    [utcDay(nowMs) - 1, countMax],
  )
}
