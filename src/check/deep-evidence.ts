import { Deadline, inTime, KeyedSemaphore, type Release } from "../base/concurrency.ts"
import { type Finding, known, unknown } from "../base/finding.ts"
import type { Clock, SetTimer } from "../base/outside-world.ts"
import { LIMITS } from "../contract/limits.ts"
import { type AgeProbe, type AgeProbeResult, ageInDays } from "./age/age-probe.ts"
import { DEEP_UNAVAILABLE, type DeepEvidence, IGNORE_DEFECTS, type OnDefect, readEvidence } from "./evidence-defects.ts"
import type { HomepageCache, HomepageResult } from "./homepage/homepage-cache.ts"

/** Looks up age and homepage. Names are registrable domains as A-labels, lower case. */
export type DeepProbe = {
  /**
   * Fresh cached results come without a promise. A defect in reading one part makes that part `unavailable`. A caller, which is an account or the network of a visitor,
   * has a bounded number of lookups at the same time, and further ones wait for their turn until their deadline. A null or
   * absent caller is the operator, whose lookups are not limited.
   */
  readonly lookup: (domain: string, callerId?: string | null) => DeepEvidence | Promise<DeepEvidence>
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
  /** Absent: defects are not reported. */
  readonly onDefect?: OnDefect
  readonly clock: Clock
  readonly setTimer: SetTimer
}

/** The deadline of both lookups together. A homepage may take all of it. */
const DEEP_TIMEOUT_MS = 5000

/** An age in days changes during the day, so it is fresh for an hour at most. */
const AGE_FRESH_MS = 3_600_000

/** How many more lookups of a caller wait for their turn until their deadline. */
const LOOKUPS_WAITING_MAX = 10_000

/** Builds a deep probe. Each caller has a bounded number of lookups at the same time. */
export function createDeepProbe(deps: DeepProbeDeps): DeepProbe {
  const { ageProbe, setTimer } = deps
  const { withoutQuery, withoutTurn, query } = createDeepQuery(deps)
  const slots = new KeyedSemaphore<string>(LIMITS.deepLookupsPerCallerMax, LOOKUPS_WAITING_MAX)

  const queryInTurn = async (domain: string, callerId: string, deadline: Deadline): Promise<DeepEvidence> => {
    const release = await inTime(slots.acquire(callerId), deadline)
    if (release === null) return withoutTurn(domain)
    // Another lookup may have found the evidence while this one waited.
    const available = withoutQuery(domain)
    if (available === null) return query(domain, deadline, release)
    release()
    return available
  }
  return {
    lookup: (domain, callerId = null) => {
      const available = withoutQuery(domain)
      if (available !== null) return available
      const deadline = new Deadline(setTimer, DEEP_TIMEOUT_MS)
      const evidence = callerId === null ? query(domain, deadline) : queryInTurn(domain, callerId, deadline)
      return evidence.finally(() => deadline.cancel())
    },
    cachedAgeDays: ageProbe.cachedAgeDays,
    ageVersion: ageProbe.ageVersion,
  }
}

type DeepQuery = {
  /** The evidence if both parts are in memory, or if nothing may be queried; null: a query is needed. */
  readonly withoutQuery: (domain: string) => DeepEvidence | null
  /** The evidence of a lookup that did not get its turn: what is in memory. */
  readonly withoutTurn: (domain: string) => DeepEvidence
  /** Settles within the deadline. `release` is called when both lookups have ended, which may be later. */
  readonly query: (domain: string, deadline: Deadline, release?: Release) => Promise<DeepEvidence>
}

/** Builds the query of one domain. Age and homepage are looked up at the same time. */
function createDeepQuery({
  ageProbe,
  homepageCache,
  isUnavailable,
  onDefect = IGNORE_DEFECTS,
  clock,
}: DeepProbeDeps): DeepQuery {
  const lookupHomepage = (domain: string, deadline: Deadline) =>
    homepageCache.fresh(domain) ?? homepageCache.lookup(domain, deadline)
  return {
    withoutQuery: domain => {
      const age = ageProbe.fresh(domain)
      const homepage = homepageCache.fresh(domain)
      if ((age === undefined || homepage === undefined) && !isUnavailable()) return null
      return deepEvidence(age ?? AGE_UNAVAILABLE, homepage ?? HOMEPAGE_UNAVAILABLE)
    },
    withoutTurn: domain =>
      deepEvidence(ageProbe.fresh(domain) ?? AGE_LATE, homepageCache.fresh(domain) ?? HOMEPAGE_NOT_STARTED),
    query: (domain, deadline, release) => {
      const age = readEvidence("deep", onDefect, AGE_UNAVAILABLE, ageProbe.lookup, domain, null)
      const homepage = readEvidence("deep", onDefect, HOMEPAGE_UNAVAILABLE, lookupHomepage, domain, deadline)
      if (release !== undefined) void Promise.allSettled([age, homepage]).then(release)
      const late = { freshUntilMs: clock(), isCached: false }
      return Promise.all([
        age instanceof Promise ? deadline.wait(age, { ...late, registration: TIMED_OUT }) : age,
        homepage instanceof Promise
          ? deadline.wait(homepage, { ...late, homepage: TIMED_OUT, wasFetched: true })
          : homepage,
      ]).then(([ofAge, ofHomepage]) => deepEvidence(ofAge, ofHomepage))
    },
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
/** For a lookup that did not get its turn, because its caller has too many others. */
const AGE_LATE: AgeProbeResult = { ...NOT_CACHED, registration: TIMED_OUT }
const HOMEPAGE_NOT_STARTED: HomepageResult = { ...NOT_CACHED, homepage: TIMED_OUT, wasFetched: false }

/** Queries nothing: a deep check is answered like a plain one, with both parts `unavailable`. */
export const OFFLINE_DEEP_PROBE: DeepProbe = {
  lookup: () => DEEP_UNAVAILABLE,
  cachedAgeDays: () => null,
  ageVersion: () => 0,
}
