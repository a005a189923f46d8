import type { Stopwatch } from "../../base/clock.ts"
import type { ForeignClaim } from "./outbox.ts"

/**
 * Tells which claims of other processes are abandoned: the ones that this process has looked at for `leaseMs` of its own
 * time without seeing them renewed. So no clock that is set decides it, and a process that has just started waits.
 */
export class AbandonedClaims {
  readonly #stopwatch: Stopwatch
  readonly #leaseMs: number
  /** Since when each claim has stood as it stands. */
  #seen = new Map<string, number>()

  constructor(stopwatch: Stopwatch, leaseMs: number) {
    this.#stopwatch = stopwatch
    this.#leaseMs = leaseMs
  }

  /** Takes in all claims of others as they stand now, and gives the abandoned ones. */
  among(claims: readonly ForeignClaim[]): readonly ForeignClaim[] {
    const now = this.#stopwatch()
    const since = (claim: ForeignClaim): number => this.#seen.get(stateOf(claim)) ?? now
    this.#seen = new Map(claims.map(claim => [stateOf(claim), since(claim)]))
    return claims.filter(claim => now - since(claim) >= this.#leaseMs)
  }
}

const stateOf = ({ accountId, notice, subject, claim, renewalCount }: ForeignClaim): string =>
  JSON.stringify([accountId, notice, subject, claim, renewalCount])
