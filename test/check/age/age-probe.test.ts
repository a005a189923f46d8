import { expect, test } from "bun:test"
import { known, unknown } from "../../../src/base/finding.ts"
import { AGE_PROBE_BOUNDS, ageInDays, type BootstrapSource, createAgeProbe } from "../../../src/check/age/age-probe.ts"
import { parseBootstrap } from "../../../src/check/age/rdap-bootstrap.ts"
import type { RdapLookupResult } from "../../../src/check/age/rdap-lookup.ts"
import type { StoredAge } from "../../../src/check/fact-store.ts"
import { createFakeTime } from "../../support/time.ts"

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const START_MS = Date.UTC(2026, 0, 1)
const REGISTERED = { registeredAtMs: START_MS - 10 * DAY_MS }

const facts = (value: { registeredAtMs: number } | null): RdapLookupResult => ({
  registration: known(value),
  wasQueried: true,
})
const FAILED: RdapLookupResult = { registration: unknown("unavailable"), wasQueried: true }
const NOT_ASKED: RdapLookupResult = { registration: unknown("unavailable"), wasQueried: false }

const read = parseBootstrap('{"services":[[["com"],["https://rdap.test.net/"]]]}', false)
if (read.kind === "refused") throw new Error(read.message)
const there: BootstrapSource = { current: () => read.bootstrap, ready: async () => read.bootstrap }

type Wanted = {
  readonly bounds?: { readonly underWayMax?: number; readonly entriesMax?: number }
  readonly bootstrap?: BootstrapSource
  /** Null: there is no store. */
  readonly shelf?: Map<string, StoredAge> | null
  /** Reading the store fails. */
  readonly isBroken?: boolean
}

/** A probe over lookups whose outcome the test may change. */
function probing(outcome: RdapLookupResult | Promise<RdapLookupResult>, wanted: Wanted = {}) {
  const { bounds = {}, bootstrap = there, shelf = new Map(), isBroken = false } = wanted
  const time = createFakeTime(START_MS)
  const queries: string[] = []
  const failures: unknown[] = []
  const outcomes = { next: outcome }
  const probe = createAgeProbe(
    {
      lookupRegistration: async (base, domain) => {
        queries.push(`${base}${domain}`)
        return await outcomes.next
      },
      bootstrap,
      store: shelf && {
        read: async domain => {
          if (isBroken) throw new Error("the disk failed")
          return shelf.get(domain) ?? null
        },
        write: (domain, result) => void shelf.set(domain, result),
      },
      clock: time.clock,
      onError: error => failures.push(error),
    },
    {
      ...AGE_PROBE_BOUNDS,
      inFlightMax: bounds.underWayMax ?? AGE_PROBE_BOUNDS.inFlightMax,
      cache: { ...AGE_PROBE_BOUNDS.cache, entriesMax: bounds.entriesMax ?? AGE_PROBE_BOUNDS.cache.entriesMax },
    },
  )
  return { ...probe, time, queries, outcomes, shelf, failures }
}

for (const shelf of ["with a shelf", "without one"])
  test(`${shelf}, a registration is held for 30 days and given at once, and asked for again after that`, async () => {
    const { lookup, queries, time } = probing(facts(REGISTERED), { shelf: shelf === "with a shelf" ? new Map() : null })
    const freshUntilMs = START_MS + 30 * DAY_MS
    expect(await lookup("acme.com")).toEqual({ registration: known(REGISTERED), isCached: false, freshUntilMs })
    for (const days of [29, 1]) {
      await time.tick(days * DAY_MS - 1)
      expect(lookup("acme.com")).toEqual({ registration: known(REGISTERED), isCached: true, freshUntilMs })
      await time.tick(days === 29 ? 1 : 0)
    }
    expect(queries).toEqual(["https://rdap.test.net/acme.com"])
    await time.tick(1)
    expect(await lookup("acme.com")).toMatchObject({ isCached: false, freshUntilMs: freshUntilMs + 30 * DAY_MS })
    expect(queries).toHaveLength(2)
  })

test("that a registry does not know the age is cached for an hour", async () => {
  const { lookup, queries, time, outcomes } = probing(facts(null))
  expect(await lookup("acme.com")).toMatchObject({ registration: known(null), isCached: false })
  outcomes.next = facts(REGISTERED)
  await time.tick(59 * MINUTE_MS)
  expect(lookup("acme.com")).toMatchObject({ registration: known(null), isCached: true })
  await time.tick(MINUTE_MS - 1)
  expect(lookup("acme.com")).toMatchObject({ registration: known(null) })
  expect(queries).toHaveLength(1)
  await time.tick(1)
  expect(await lookup("acme.com")).toMatchObject({ registration: known(REGISTERED) })
  await time.tick(MINUTE_MS)
  expect(lookup("acme.com")).toMatchObject({ registration: known(REGISTERED), isCached: true })
})

test("a failure is cached for half a minute, never counts as cached, and is not stored", async () => {
  const { lookup, queries, time, outcomes, shelf } = probing(FAILED)
  const failed = { registration: unknown("unavailable"), isCached: false, freshUntilMs: START_MS + 30_000 }
  expect(await lookup("acme.com")).toEqual(failed)
  await time.tick(29_999)
  expect(lookup("acme.com")).toEqual(failed)
  expect(queries).toHaveLength(1)
  expect(shelf?.size).toBe(0)
  outcomes.next = facts(REGISTERED)
  await time.tick(1)
  expect(await lookup("acme.com")).toMatchObject({ registration: known(REGISTERED) })
})

test("a lookup that was not sent because of its registry's limiter is not cached", async () => {
  const { lookup, outcomes } = probing(NOT_ASKED)
  expect(await lookup("acme.com")).toEqual({
    registration: unknown("unavailable"),
    isCached: false,
    freshUntilMs: START_MS,
  })
  outcomes.next = facts(REGISTERED)
  expect(await lookup("acme.com")).toMatchObject({ registration: known(REGISTERED) })
})

test("without a known server nothing is queried, and that is no failure", async () => {
  const { lookup, queries, shelf } = probing(FAILED)
  const none = { registration: known(null), isCached: true, freshUntilMs: START_MS + HOUR_MS }
  expect(lookup("acme.de")).toEqual(none)
  expect([queries, shelf?.size]).toEqual([[], 0])
})

test("a lookup waits for the first bootstrap, and is unavailable without one", async () => {
  const { promise, resolve } = Promise.withResolvers<typeof read.bootstrap | null>()
  const { lookup } = probing(facts(REGISTERED), { bootstrap: { current: () => null, ready: () => promise } })
  const [com, de] = [lookup("acme.com"), lookup("acme.de")]
  resolve(read.bootstrap)
  expect(await com).toMatchObject({ registration: known(REGISTERED) })
  expect(await de).toMatchObject({ registration: known(null), isCached: true })
  const never = probing(facts(REGISTERED), { bootstrap: { current: () => null, ready: async () => null } })
  expect(await never.lookup("acme.com")).toMatchObject({ registration: unknown("unavailable"), isCached: false })
  expect(never.queries).toEqual([])
})

test("all callers share one promise while a domain is looked up", async () => {
  const { lookup, queries } = probing(facts(REGISTERED))
  const first = lookup("acme.com")
  expect(lookup("acme.com")).toBe(first)
  await first
  expect(queries).toHaveLength(1)
})

test("a bounded number of lookups is in flight, and one more is unavailable", async () => {
  const { promise, resolve } = Promise.withResolvers<RdapLookupResult>()
  const { lookup, queries, time } = probing(promise, { bounds: { underWayMax: 2 } })
  const both = [lookup("a.com"), lookup("b.com")]
  expect(lookup("c.com")).toEqual({ registration: unknown("unavailable"), isCached: false, freshUntilMs: START_MS })
  await time.tick(0)
  resolve(facts(null))
  await Promise.all(both)
  expect(queries).toHaveLength(2)
  expect(await lookup("c.com")).toMatchObject({ registration: known(null) })
})

test("the cache has a bounded number of domains", async () => {
  const { lookup, queries } = probing(facts(REGISTERED), { bounds: { entriesMax: 2 }, shelf: null })
  for (const domain of ["a.com", "b.com", "c.com", "c.com", "b.com", "a.com"]) await lookup(domain)
  expect(queries.map(url => url.slice(-5))).toEqual(["a.com", "b.com", "c.com", "a.com"])
})

test("a result is stored, and a stored one is fresh by the time of its query", async () => {
  const shelf = new Map<string, StoredAge>()
  await probing(facts(REGISTERED), { shelf }).lookup("acme.com")
  await probing(facts(null), { shelf }).lookup("none.com")
  expect([...shelf]).toEqual([
    ["acme.com", { ...REGISTERED, checkedAtMs: START_MS }],
    ["none.com", { registeredAtMs: null, checkedAtMs: START_MS }],
  ])
  const other = probing(FAILED, { shelf })
  await other.time.tick(HOUR_MS - 1)
  expect(await other.lookup("none.com")).toEqual({
    registration: known(null),
    isCached: true,
    freshUntilMs: START_MS + HOUR_MS,
  })
  await other.time.tick(1)
  expect(await other.lookup("none.com")).toMatchObject({ registration: unknown("unavailable") })
  await other.time.tick(30 * DAY_MS - HOUR_MS - 1)
  expect(await other.lookup("acme.com")).toEqual({
    registration: known(REGISTERED),
    isCached: true,
    freshUntilMs: START_MS + 30 * DAY_MS,
  })
  await other.time.tick(1)
  expect(await other.lookup("acme.com")).toMatchObject({ registration: unknown("unavailable") })
})

test("a stored result from a clock ahead of ours is not fresh for longer", async () => {
  const shelf = new Map([["acme.com", { ...REGISTERED, checkedAtMs: START_MS + 365 * DAY_MS }]])
  const { lookup } = probing(FAILED, { shelf })
  expect(await lookup("acme.com")).toMatchObject({ isCached: true, freshUntilMs: START_MS + 30 * DAY_MS })
})

test("a store that fails is reported, and the registry is queried", async () => {
  const { lookup, failures } = probing(facts(REGISTERED), { isBroken: true })
  expect(await lookup("acme.com")).toMatchObject({ registration: known(REGISTERED), isCached: false })
  expect(failures).toHaveLength(1)
})

test("the cached age is in whole days now, without waiting, as long as it is fresh", async () => {
  const { lookup, cachedAgeDays, time, queries } = probing(facts({ registeredAtMs: START_MS - 29 * DAY_MS - 1 }))
  expect(cachedAgeDays("acme.com")).toBeNull()
  expect(queries).toEqual([])
  await lookup("acme.com")
  expect(cachedAgeDays("acme.com")).toBe(29)
  await time.tick(DAY_MS - 2)
  expect(cachedAgeDays("acme.com")).toBe(29)
  await time.tick(1)
  expect(cachedAgeDays("acme.com")).toBe(30)
  await time.tick(29 * DAY_MS)
  expect(cachedAgeDays("acme.com")).toBe(59)
  await time.tick(1)
  expect(cachedAgeDays("acme.com")).toBeNull()
})

test("there is no cached age if the registry does not know it, the lookup failed, or there was none", async () => {
  const untold = probing(facts(null))
  await untold.lookup("acme.com")
  expect([
    untold.cachedAgeDays("acme.com"),
    untold.cachedAgeDays("acme.de"),
    untold.cachedAgeDays("other.com"),
  ]).toEqual([null, null, null])
  const failed = probing(FAILED)
  await failed.lookup("acme.com")
  expect(failed.cachedAgeDays("acme.com")).toBeNull()
})

test("a registration in the future is zero days old", () => {
  expect(ageInDays({ registeredAtMs: START_MS + 1 }, START_MS)).toBe(0)
  expect(ageInDays({ registeredAtMs: START_MS }, START_MS)).toBe(0)
  expect(ageInDays({ registeredAtMs: START_MS }, START_MS + DAY_MS - 1)).toBe(0)
  expect(ageInDays({ registeredAtMs: START_MS }, START_MS + DAY_MS)).toBe(1)
  expect(ageInDays({ registeredAtMs: START_MS }, START_MS + 31 * DAY_MS)).toBe(31)
})
