import type { Finding } from "../base/finding.ts"
import type { Clock } from "../base/outside-world.ts"
import type { CachingResolver } from "./dns/dns-types.ts"
import type { DetectedSuites, MailEvidence, Tenant } from "./verdict/evidence.ts"

/** How long what was found holds, and where it came from. */
export type CacheStatus = {
  /** Every part was held already, fresh or stale; false where nothing was asked or any part failed. */
  readonly isCached: boolean
  /** Until when it need not be asked for again, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** What DNS told of a domain's mail. */
export type MailProbeResult = CacheStatus & {
  readonly mail: Finding<MailEvidence>
  readonly suites: Finding<DetectedSuites>
}

/** What suite_b's identity endpoints told of a domain. */
export type TenantProbeResult = CacheStatus & { readonly tenant: Finding<Tenant | null> }

/** How long the answers to several questions hold together. */
type CacheStatusTracker = {
  /** Asks as `ask` does, and counts each answer that has come; one that failed may be asked for again after `failedForMs`. */
  readonly track: (ask: CachingResolver, failedForMs: number) => CachingResolver
  /** What the answers so far have in common: all were held, and until when the first of them is fresh. */
  readonly status: () => CacheStatus
}

/** Builds a freshness that has seen no answer: nothing is held, and nothing is fresh. */
export function createCacheStatusTracker(clock: Clock): CacheStatusTracker {
  let earliestMs: number | null = null
  let areAllHeld = true
  const note = (isCached: boolean, freshUntilMs: number): void => {
    earliestMs = Math.min(earliestMs ?? freshUntilMs, freshUntilMs)
    areAllHeld &&= isCached
  }
  return {
    track: (ask, failedForMs) => async question => {
      const answer = await ask(question)
      if (answer.known) note(answer.value.isCached, answer.value.freshUntilMs)
      else note(false, clock() + failedForMs)
      return answer
    },
    status: () => ({ isCached: earliestMs !== null && areAllHeld, freshUntilMs: earliestMs ?? clock() }),
  }
}
