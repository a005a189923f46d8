import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type Finding, known, unknown } from "../../src/base/finding.ts"
import { AGE_PROBE_BOUNDS, createAgeProbe } from "../../src/check/age/age-probe.ts"
import { parseBootstrap } from "../../src/check/age/rdap-bootstrap.ts"
import type { DomainRegistration } from "../../src/check/age/rdap-lookup.ts"
import { createDeepProbe, OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import type { DeepEvidence } from "../../src/check/evidence-defects.ts"
import type { StoredAge, StoredHomepage } from "../../src/check/fact-store.ts"
import { HomepageCache } from "../../src/check/homepage/homepage-cache.ts"
import type { HomepageProbeResult } from "../../src/check/homepage/homepage-probe.ts"
import { LIMITS } from "../../src/contract/limits.ts"
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
  isUnavailable: boolean
  /** What each query waits for before its result. */
  delay: (query: string) => Promise<void>
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
  const outcome: Fate = {
    age: registered(10),
    homepage: known("found"),
    isUnavailable: false,
    delay: async () => undefined,
    ...facts,
  }
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
        await outcome.delay(`age ${domain}`)
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
    await outcome.delay(`page ${domain}`)
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
    ...createDeepProbe({ ageProbe, homepageCache, isUnavailable: () => outcome.isUnavailable, clock, setTimer }),
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
  outcome.isUnavailable = true
  const unanswered = {
    ageDays: UNAVAILABLE,
    homepage: UNAVAILABLE,
    wasFetched: false,
    isCached: false,
    freshUntilMs: 0,
  }
  expect(lookup("acme.com")).toEqual(unanswered)
  expect(queries).toEqual([])
  outcome.isUnavailable = false
  await lookup("acme.com")
  outcome.isUnavailable = true
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
  outcome.isUnavailable = true
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

describe("the lookups of one caller", () => {
  const callerMax = LIMITS.deepLookupsPerCallerMax
  const names = (stem: string, count: number) => Array.from({ length: count }, (_, index) => `${stem}${index}.com`)
  const never = new Promise<void>(() => undefined)

  test("wait for their turn beyond a number at the same time, and no other caller waits", async () => {
    const { lookup, queries, outcome } = asking()
    const gate = Promise.withResolvers<void>()
    outcome.delay = () => gate.promise
    const all = names("busy", 10 * callerMax).map(domain => lookup(domain, "busy"))
    await settled()
    expect(queries).toHaveLength(2 * callerMax)
    const others = names("other", callerMax).map(domain => lookup(domain, "other"))
    await settled()
    expect(queries).toHaveLength(4 * callerMax)
    gate.resolve()
    for (const evidence of await Promise.all([...all, ...others])) expect(evidence).toMatchObject({ wasFetched: true })
  })

  test("are not limited if the caller is the operator", async () => {
    const { lookup, queries } = asking({ age: null, homepage: null })
    for (const domain of names("absent", callerMax + 1)) void lookup(domain)
    for (const domain of names("null", callerMax + 1)) void lookup(domain, null)
    await settled()
    expect(queries).toHaveLength(4 * (callerMax + 1))
  })

  test("time out if their turn does not come, have then fetched nothing, and keep the part that is cached", async () => {
    const ages = new Map([["half.com", { registeredAtMs: START_MS - 5 * DAY_MS, checkedAtMs: START_MS }]])
    const { lookup, queries, time, outcome } = asking({ homepage: UNAVAILABLE }, { ages })
    await lookup("half.com")
    await time.tick(30_000)
    outcome.delay = () => never
    for (const domain of names("busy", callerMax)) void lookup(domain, "busy")
    const late = ["late.com", "half.com"].map(domain => lookup(domain, "busy"))
    await settled()
    const before = queries.length
    await time.tick(5000)
    const unasked = { homepage: LATE, wasFetched: false, isCached: false }
    expect(await Promise.all(late)).toEqual([
      expect.objectContaining({ ...unasked, ageDays: LATE }),
      expect.objectContaining({ ...unasked, ageDays: known(5) }),
    ])
    expect([queries.length, time.waiting()]).toEqual([before, 0])
  })

  test("need no turn for cached evidence, and query nothing that another lookup has found while they waited", async () => {
    const { lookup, queries, outcome } = asking()
    await lookup("acme.com")
    const gate = Promise.withResolvers<void>()
    outcome.delay = () => gate.promise
    for (const domain of names("busy", callerMax)) void lookup(domain, "busy")
    expect(isPromise(lookup("acme.com", "busy"))).toBe(false)
    const waiting = lookup("found.com", "busy")
    outcome.delay = async () => undefined
    await lookup("found.com", "other")
    const before = queries.length
    gate.resolve()
    expect(await waiting).toMatchObject({ ageDays: known(10), homepage: known("found"), wasFetched: false })
    expect(queries).toHaveLength(before)
  })

  /** How a query of a property ends. */
  const ending = fc.record({ ms: fc.nat(15_000), isFailure: fc.boolean() })
  const lookups = fc.array(
    fc.record({ caller: fc.constantFrom("a", "b"), startMs: fc.nat(3000), age: ending, page: ending }),
    { minLength: 1, maxLength: 60, size: "max" },
  )

  test("never exceed the number, abandoned ones included, and every turn is given back however they end", async () => {
    await fc.assert(
      fc.asyncProperty(lookups, async plans => {
        const { lookup, queries, time, outcome } = asking()
        let runningMax = 0
        const running: Record<string, string[]> = { a: [], b: [] }
        outcome.delay = async query => {
          const [part, index, caller] = query.split(/[ .-]/) as ["age" | "page", string, string]
          const queriesOfCaller = running[caller] ?? []
          queriesOfCaller.push(query)
          runningMax = Math.max(runningMax, new Set(queriesOfCaller.map(other => other.split(" ")[1])).size)
          const { ms, isFailure } = plans[Number(index)]?.[part] ?? { ms: 0, isFailure: false }
          await new Promise<void>(resolve => void time.later(ms, resolve))
          queriesOfCaller.splice(queriesOfCaller.indexOf(query), 1)
          if (isFailure) throw new Error("a defect")
        }
        const start = (domain: string, caller: string) =>
          void Promise.resolve(lookup(domain, caller)).catch(() => undefined)
        for (const [index, { caller, startMs }] of plans.entries())
          time.later(startMs, () => start(`${index}-${caller}.com`, caller))
        await time.tick(60_000)
        expect(runningMax).toBeLessThanOrEqual(callerMax)
        expect([running, time.waiting()]).toEqual([{ a: [], b: [] }, 0])
        outcome.delay = () => never
        const before = queries.length
        for (const caller of ["a", "b"]) for (const domain of names(`${caller}-`, callerMax)) start(domain, caller)
        await settled()
        expect(queries).toHaveLength(before + 4 * callerMax)
      }),
      { numRuns: 40 },
    )
  })
})
