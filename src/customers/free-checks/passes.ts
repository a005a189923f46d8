import type { Clock, Random } from "../../base/clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import { isSecret, newSecret, secretHash } from "../sign-in/secret.ts"
import type { Store } from "../store/store.ts"

/** How long a pass is good for, in milliseconds. */
const PASS_MS = LIMITS.passMinutes * 60_000

/** What came of a pass that was shown. */
export type Shown =
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
    [secretHash(secret), challengeNonce, LIMITS.passChecks - 1, clock()],
  )
  return count === 0 ? null : secret
}

/** Takes one check of a pass. It is one statement, so that of checks at the same moment no more are taken than are left. */
export async function takeFromPass(store: Store, clock: Clock, secret: string): Promise<Shown> {
  if (!isSecret(secret)) return "forged"
  const hash = secretHash(secret)
  const taken = await store.run(
    `UPDATE free_check_passes SET checks_left = checks_left - 1
     WHERE hash = $1 AND checks_left > 0 AND issued_at_ms > $2`,
    [hash, clock() - PASS_MS],
  )
  if (taken > 0) return "taken"
  return (await store.one("SELECT hash FROM free_check_passes WHERE hash = $1", [hash])) === null ? "forged" : "over"
}

/** Gives one check back to a pass. */
export async function giveBackToPass(store: Store, secret: string): Promise<void> {
  await store.run("UPDATE free_check_passes SET checks_left = checks_left + 1 WHERE hash = $1 AND checks_left < $2", [
    secretHash(secret),
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
