import { Deadline } from "../base/concurrency.ts"
import { type Finding, known, unknown } from "../base/finding.ts"
import type { Clock, SetTimer } from "../base/outside-world.ts"
import { type AgeProbe, type AgeProbeResult, ageInDays } from "./age/age-probe.ts"
import type { HomepageCache, HomepageResult } from "./homepage/homepage-cache.ts"
import type { Evidence } from "./verdict/evidence.ts"

/** What a deep check was told of a domain. */
export type DeepEvidence = Pick<Evidence, "ageDays" | "homepage"> & {
  /** All of it came from a cache. */
  readonly isCached: boolean
  /** Until when asking again would tell the same, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** What deep checks ask. Names are registrable domains as A-labels, lower case. */
export type DeepProbe = {
  /** What is held and fresh comes without a promise. It never rejects. */
  readonly lookup: (domain: string) => DeepEvidence | Promise<DeepEvidence>
  /** The age in days that an earlier deep check found, for a check that is not deep; null: it is not held in memory. */
  readonly cachedAgeDays: (domain: string) => number | null
}

type DeepProbeDeps = {
  readonly ageProbe: AgeProbe
  readonly homepageCache: HomepageCache
  /** DNS is known to be away, so that nothing from outside is worth waiting for. */
  readonly isUnavailable: () => boolean
  readonly clock: Clock
  readonly setTimer: SetTimer
}

/** The whole time of what is deep about a check: a homepage may take all of it. */
const DEEP_TIMEOUT_MS = 5000

/** An age in days is right for a part of a day only. */
const AGE_FRESH_MS = 3_600_000

/** Builds the deep part of checks: the age and the homepage are asked for side by side. */
export function createDeepProbe({ ageProbe, homepageCache, isUnavailable, clock, setTimer }: DeepProbeDeps): DeepProbe {
  return {
    lookup: domain => {
      const age = ageProbe.fresh(domain)
      const page = homepageCache.fresh(domain)
      if ((age !== undefined && page !== undefined) || isUnavailable())
        return told(age ?? AGE_UNAVAILABLE, page ?? HOMEPAGE_UNAVAILABLE)
      const budget = new Deadline(setTimer, DEEP_TIMEOUT_MS)
      const late = { freshUntilMs: clock(), isCached: false }
      return Promise.all([
        age ?? budget.wait(Promise.resolve(ageProbe.lookup(domain)), { ...late, registration: unknown("timed_out") }),
        page ?? budget.wait(homepageCache.lookup(domain, budget), { ...late, homepage: unknown("timed_out") }),
      ])
        .then(([ofAge, ofPage]) => told(ofAge, ofPage))
        .finally(() => budget.cancel())
    },
    cachedAgeDays: ageProbe.cachedAgeDays,
  }

  function told(age: AgeProbeResult, page: HomepageResult): DeepEvidence {
    return {
      ageDays: daysOf(age.registration),
      homepage: page.homepage,
      isCached: age.isCached && page.isCached,
      freshUntilMs: Math.min(age.freshUntilMs, page.freshUntilMs, clock() + AGE_FRESH_MS),
    }
  }

  function daysOf(registration: AgeProbeResult["registration"]): Finding<number | null> {
    if (!registration.known) return registration
    return known(registration.value === null ? null : ageInDays(registration.value, clock()))
  }
}

const UNAVAILABLE: Finding<never> = unknown("unavailable")
const NOT_CACHED = { isCached: false, freshUntilMs: 0 }
const AGE_UNAVAILABLE: AgeProbeResult = { ...NOT_CACHED, registration: UNAVAILABLE }
const HOMEPAGE_UNAVAILABLE: HomepageResult = { ...NOT_CACHED, homepage: UNAVAILABLE }

/** Nothing could be asked. */
const DEEP_UNAVAILABLE: DeepEvidence = { ...NOT_CACHED, ageDays: UNAVAILABLE, homepage: UNAVAILABLE }

/** Of somebody who asks nobody: each deep check answers like a plain one, and says so. */
export const OFFLINE_DEEP_PROBE: DeepProbe = { lookup: () => DEEP_UNAVAILABLE, cachedAgeDays: () => null }
