import { expect, test } from "bun:test"
import { type Finding, known, unknown } from "../../src/base/finding.ts"
import { AGE_PROBE_BOUNDS, createAgeProbe } from "../../src/check/age/age-probe.ts"
import { parseBootstrap } from "../../src/check/age/rdap-bootstrap.ts"
import type { DomainRegistration } from "../../src/check/age/rdap-lookup.ts"
import { createDeepProbe, type DeepEvidence, OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import type { StoredAge, StoredHomepage } from "../../src/check/fact-store.ts"
import { HomepageCache } from "../../src/check/homepage/homepage-cache.ts"
import type { HomepageProbeResult } from "../../src/check/homepage/homepage-probe.ts"
import { createFakeTime, settled } from "../support/time.ts"

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 0, 1)
const UNAVAILABLE = unknown("unavailable")
const LATE = unknown("timed_out")

type Fate = {
  /** Null: it never settles. */
  age: Finding<DomainRegistration | null> | null
  homepage: HomepageProbeResult["homepage"] | null
  isAway: boolean
}

type Shelves = { readonly ages?: Map<string, StoredAge>; readonly homepages?: Map<string, StoredHomepage> }

const shelfOf = <T>(held: Map<string, T> | undefined) =>
  held === undefined
    ? null
    : {
        read: async (domain: string) => held.get(domain) ?? null,
        write: (domain: string, of: T) => void held.set(domain, of),
      }

/** Only `com` has a registry. The test may change the results. */
function asking(facts: Partial<Fate> = {}, shelves: Shelves = {}) {
  const time = createFakeTime(START_MS)
  const outcome: Fate = { age: registered(10), homepage: known("found"), isAway: false, ...facts }
  const queries: string[] = []
  const read = parseBootstrap('{"services":[[["com"],["https://rdap.test.net/"]]]}', false)
  if (read.kind === "refused") throw new Error(read.message)
  const { bootstrap } = read
  const never = Promise.withResolvers<never>().promise
  const { clock, later: setTimer } = time
  const ageProbe = createAgeProbe(
    {
      lookupRegistration: async (_, domain) => {
        queries.push(`age ${domain}`)
        return { registration: outcome.age ?? (await never), wasQueried: true }
      },
      bootstrap: { current: () => bootstrap, ready: async () => bootstrap },
      store: shelfOf(shelves.ages),
      clock,
      onError: () => undefined,
    },
    AGE_PROBE_BOUNDS,
  )
  const probe = async (domain: string): Promise<HomepageProbeResult> => {
    queries.push(`page ${domain}`)
    return {
      homepage: outcome.homepage ?? (await never),
      url: null,
      movedTo: null,
      parkingSignal: null,
      isDowngraded: false,
      wasFetched: true,
    }
  }
  const homepageCache = new HomepageCache({ probe, store: shelfOf(shelves.homepages), clock, onError: () => undefined })
  return {
    ...createDeepProbe({ ageProbe, homepageCache, isUnavailable: () => outcome.isAway, clock, setTimer }),
    time,
    outcome,
    queries,
  }
}

function registered(days: number): Finding<DomainRegistration> {
  return known({ registeredAtMs: START_MS - days * DAY_MS })
}

const isPromise = (facts: DeepEvidence | Promise<DeepEvidence>): boolean => facts instanceof Promise

test("age and homepage are looked up at the same time, and no timer is left", async () => {
  const { lookup, queries, time } = asking()
  expect(await lookup("acme.com")).toEqual({
    ageDays: known(10),
    homepage: known("found"),
    wasFetched: true,
    isCached: false,
    freshUntilMs: START_MS + HOUR_MS,
  })
  expect(queries.toSorted()).toEqual(["age acme.com", "page acme.com"])
  expect(time.waiting()).toBe(0)
})

test("cached evidence comes without a promise, and is fresh for an hour at most", async () => {
  const { lookup, time } = asking()
  await lookup("acme.com")
  const held = {
    ageDays: known(10),
    homepage: known("found"),
    wasFetched: false,
    isCached: true,
    freshUntilMs: START_MS + HOUR_MS,
  }
  expect<unknown>(lookup("acme.com")).toEqual(held)
  await time.tick(DAY_MS - 1)
  expect<unknown>(lookup("acme.com")).toEqual({ ...held, freshUntilMs: START_MS + DAY_MS })
})

test("an age is in whole days", async () => {
  const { lookup, cachedAgeDays, time, outcome } = asking()
  await lookup("acme.com")
  await time.tick(DAY_MS - 1)
  expect([lookup("acme.com"), cachedAgeDays("acme.com")]).toEqual([expect.objectContaining({ ageDays: known(10) }), 10])
  await time.tick(1)
  expect(cachedAgeDays("acme.com")).toBe(11)
  expect(await lookup("acme.com")).toMatchObject({ ageDays: known(11), isCached: false })
  outcome.age = known(null)
  expect(await lookup("untold.com")).toMatchObject({ ageDays: known(null) })
  expect([cachedAgeDays("untold.com"), cachedAgeDays("other.com")]).toEqual([null, null])
})

test("only the missing part is looked up", async () => {
  const { lookup, queries, time } = asking()
  await lookup("acme.com")
  await time.tick(DAY_MS)
  expect(isPromise(lookup("acme.com"))).toBe(true)
  await settled()
  expect(queries.toSorted()).toEqual(["age acme.com", "page acme.com", "page acme.com"])
  const failing = asking({ age: UNAVAILABLE })
  expect(await failing.lookup("acme.com")).toMatchObject({ ageDays: UNAVAILABLE, homepage: known("found") })
  await failing.time.tick(30_000)
  failing.outcome.age = registered(3)
  expect(await failing.lookup("acme.com")).toMatchObject({ ageDays: known(3), isCached: false })
  expect(failing.queries.toSorted()).toEqual(["age acme.com", "age acme.com", "page acme.com"])
})

test("a silent part times out after five seconds, and the other counts", async () => {
  for (const [silent, facts] of [
    [{ age: null }, { ageDays: LATE, homepage: known("found") }],
    [{ homepage: null }, { ageDays: known(10), homepage: LATE }],
    [
      { age: null, homepage: null },
      { ageDays: LATE, homepage: LATE },
    ],
  ] as const) {
    const { lookup, time } = asking(silent)
    let answer: DeepEvidence | null = null
    void Promise.resolve(lookup("acme.com")).then(result => {
      answer = result
    })
    await time.tick(4999)
    expect(answer).toBeNull()
    await time.tick(1)
    expect<unknown>(answer).toMatchObject({ ...facts, isCached: false })
    expect(time.waiting()).toBe(0)
  }
})

test("many lookups of one domain query its registry and its website once", async () => {
  const { lookup, queries, time } = asking()
  const facts = await Promise.all(Array.from({ length: 50 }, () => lookup("acme.com")))
  for (const one of facts) expect(one).toMatchObject({ ageDays: known(10), homepage: known("found") })
  expect(queries.toSorted()).toEqual(["age acme.com", "page acme.com"])
  expect(time.waiting()).toBe(0)
})

test("a domain whose registry is not known has no age, and a homepage all the same", async () => {
  const { lookup, queries } = asking()
  expect(await lookup("acme.zz")).toMatchObject({ ageDays: known(null), homepage: known("found") })
  expect(queries).toEqual(["page acme.zz"])
  expect(lookup("acme.zz")).toMatchObject({ ageDays: known(null), isCached: true })
})

test("while DNS is unavailable nothing is queried, and cached evidence is used", async () => {
  const { lookup, queries, time, outcome } = asking()
  outcome.isAway = true
  const unanswered = {
    ageDays: UNAVAILABLE,
    homepage: UNAVAILABLE,
    wasFetched: false,
    isCached: false,
    freshUntilMs: 0,
  }
  expect(lookup("acme.com")).toEqual(unanswered)
  expect(queries).toEqual([])
  outcome.isAway = false
  await lookup("acme.com")
  outcome.isAway = true
  expect(lookup("acme.com")).toMatchObject({ ageDays: known(10), homepage: known("found"), isCached: true })
  await time.tick(DAY_MS)
  // A plain check would use the age too.
  expect(lookup("acme.com")).toEqual({
    ageDays: known(11),
    homepage: UNAVAILABLE,
    wasFetched: false,
    isCached: false,
    freshUntilMs: 0,
  })
  expect(queries).toHaveLength(2)
})

test("while DNS is unavailable a cached homepage does not cause a registry query", async () => {
  const shelf: StoredHomepage = { state: "parked", evidence: null, checkedAtMs: START_MS }
  const { lookup, queries, time, outcome } = asking({ age: UNAVAILABLE }, { homepages: new Map([["acme.com", shelf]]) })
  await lookup("acme.com")
  await time.tick(30_000)
  outcome.isAway = true
  expect(lookup("acme.com")).toMatchObject({ ageDays: UNAVAILABLE, homepage: known("parked"), isCached: false })
  await settled()
  expect(queries).toEqual(["age acme.com"])
})

test("evidence that other processes stored counts as cached, without a query", async () => {
  const ages = new Map([["acme.com", { registeredAtMs: START_MS - 5 * DAY_MS, checkedAtMs: START_MS - DAY_MS }]])
  const page: StoredHomepage = { state: "none", evidence: null, checkedAtMs: START_MS - HOUR_MS }
  const { lookup, queries, cachedAgeDays } = asking({}, { ages, homepages: new Map([["acme.com", page]]) })
  expect(cachedAgeDays("acme.com")).toBeNull()
  expect(await lookup("acme.com")).toEqual({
    ageDays: known(5),
    homepage: known("none"),
    wasFetched: false,
    isCached: true,
    freshUntilMs: START_MS + HOUR_MS,
  })
  expect([cachedAgeDays("acme.com"), queries]).toEqual([5, []])
})

test("the offline probe answers at once", () => {
  expect(OFFLINE_DEEP_PROBE.lookup("acme.com")).toMatchObject({
    ageDays: UNAVAILABLE,
    homepage: UNAVAILABLE,
    isCached: false,
  })
  expect(OFFLINE_DEEP_PROBE.cachedAgeDays("acme.com")).toBeNull()
})
