import { Deadline } from "../base/concurrency.ts"
import { type Finding, known, unknown } from "../base/finding.ts"
import type { Clock, SetTimer } from "../base/outside-world.ts"
import { type AgeProbe, type AgeProbeResult, ageInDays } from "./age/age-probe.ts"
import type { CacheStatus } from "./cache-status.ts"
import type { HomepageCache, HomepageResult } from "./homepage/homepage-cache.ts"
import type { Evidence } from "./verdict/evidence.ts"

/** What a deep check adds: the domain's age and what its homepage is. */
export type DeepEvidence = CacheStatus &
  Pick<Evidence, "ageDays" | "homepage"> & {
    /** The homepage was fetched for this check, with whatever result. */
    readonly wasFetched: boolean
  }

/** Looks up age and homepage. Names are registrable domains as A-labels, lower case. */
export type DeepProbe = {
  /** Fresh cached results come without a promise. It never rejects. */
  readonly lookup: (domain: string) => DeepEvidence | Promise<DeepEvidence>
  /** The age that an earlier deep check found, for a check that is not deep; null: it is not in memory. */
  readonly cachedAgeDays: (domain: string) => number | null
  /** Changes whenever the age of any domain arrives in memory. */
  readonly ageVersion: () => number
}

type DeepProbeDeps = {
  readonly ageProbe: AgeProbe
  readonly homepageCache: HomepageCache
  /** DNS is unavailable or the server is under pressure, so that nothing but cached results is used. */
  readonly isUnavailable: () => boolean
  readonly clock: Clock
  readonly setTimer: SetTimer
}

/** The deadline of both lookups together. A homepage may take all of it. */
const DEEP_TIMEOUT_MS = 5000

/** An age in days changes during the day, so it is fresh for an hour at most. */
const AGE_FRESH_MS = 3_600_000

/** Builds a deep probe. Age and homepage are looked up at the same time. */
export function createDeepProbe({ ageProbe, homepageCache, isUnavailable, clock, setTimer }: DeepProbeDeps): DeepProbe {
  return {
    lookup: domain => {
      const age = ageProbe.fresh(domain)
      const homepage = homepageCache.fresh(domain)
      if ((age !== undefined && homepage !== undefined) || isUnavailable())
        return deepEvidence(age ?? AGE_UNAVAILABLE, homepage ?? HOMEPAGE_UNAVAILABLE)
      const deadline = new Deadline(setTimer, DEEP_TIMEOUT_MS)
      const late = { freshUntilMs: clock(), isCached: false }
      return Promise.all([
        age ?? deadline.wait(Promise.resolve(ageProbe.lookup(domain)), { ...late, registration: TIMED_OUT }),
        homepage ??
          deadline.wait(homepageCache.lookup(domain, deadline), { ...late, homepage: TIMED_OUT, wasFetched: true }),
      ])
        .then(([ofAge, ofHomepage]) => deepEvidence(ofAge, ofHomepage))
        .finally(() => deadline.cancel())
    },
    cachedAgeDays: ageProbe.cachedAgeDays,
    ageVersion: ageProbe.ageVersion,
  }

  function deepEvidence(age: AgeProbeResult, homepage: HomepageResult): DeepEvidence {
    return {
      ageDays: toAgeDays(age.registration),
      homepage: homepage.homepage,
      wasFetched: homepage.wasFetched,
      isCached: age.isCached && homepage.isCached,
      freshUntilMs: Math.min(age.freshUntilMs, homepage.freshUntilMs, clock() + AGE_FRESH_MS),
    }
  }

  function toAgeDays(registration: AgeProbeResult["registration"]): Finding<number | null> {
    if (!registration.known) return registration
    return known(registration.value === null ? null : ageInDays(registration.value, clock()))
  }
}

const TIMED_OUT: Finding<never> = unknown("timed_out")
const UNAVAILABLE: Finding<never> = unknown("unavailable")
const NOT_CACHED = { isCached: false, freshUntilMs: 0 }
const AGE_UNAVAILABLE: AgeProbeResult = { ...NOT_CACHED, registration: UNAVAILABLE }
const HOMEPAGE_UNAVAILABLE: HomepageResult = { ...NOT_CACHED, homepage: UNAVAILABLE, wasFetched: false }
const DEEP_UNAVAILABLE: DeepEvidence = { ...NOT_CACHED, ageDays: UNAVAILABLE, homepage: UNAVAILABLE, wasFetched: false }

/** Queries nothing: a deep check is answered like a plain one, with both parts `unavailable`. */
export const OFFLINE_DEEP_PROBE: DeepProbe = {
  lookup: () => DEEP_UNAVAILABLE,
  cachedAgeDays: () => null,
  ageVersion: () => 0,
}
