import { expect, test } from "bun:test"
import { Deadline } from "../../../src/base/concurrency.ts"
import { known, unknown } from "../../../src/base/finding.ts"
import type { StoredHomepage } from "../../../src/check/fact-store.ts"
import { HomepageCache } from "../../../src/check/homepage/homepage-cache.ts"
import type { HomepageProbeResult } from "../../../src/check/homepage/homepage-probe.ts"
import { createFakeTime, settled } from "../../support/time.ts"

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 1)
const UNDER_WAY_MAX = 64

const looked = (
  homepage: HomepageProbeResult["homepage"],
  more: Partial<HomepageProbeResult> = {},
): HomepageProbeResult => ({
  homepage,
  url: null,
  movedTo: null,
  parkingSignal: null,
  isDowngraded: false,
  wasFetched: true,
  ...more,
})
const FOUND = looked(known("found"))

type Wanted = {
  readonly shelf?: Map<string, StoredHomepage> | null
  /** Reading the store fails. */
  readonly isBroken?: boolean
}

/** A cache over a probe whose results the test may change, with a long deadline. */
function holding(
  outcome: HomepageProbeResult | Promise<HomepageProbeResult>,
  { shelf = new Map(), isBroken = false }: Wanted = {},
) {
  const time = createFakeTime(START_MS)
  const outcomes = { next: outcome }
  const queries: { domain: string; deadline: Deadline }[] = []
  const failures: unknown[] = []
  const homepages = new HomepageCache({
    probe: async (domain, deadline) => {
      queries.push({ domain, deadline })
      return await outcomes.next
    },
    store: shelf && {
      read: async domain => {
        if (isBroken) throw new Error("the disk failed")
        return shelf.get(domain) ?? null
      },
      write: (domain, result) => void shelf.set(domain, result),
    },
    clock: time.clock,
    onError: error => failures.push(error),
  })
  const deadline = new Deadline(time.later, 60_000)
  const ask = (domain: string, within = deadline) => homepages.lookup(domain, within)
  return { homepages, ask, time, outcomes, queries, failures, shelf }
}

for (const shelf of [new Map<string, StoredHomepage>(), null])
  test(`${shelf === null ? "without" : "with"} a shelf, a page is looked at once a day and held until then`, async () => {
    const { homepages, ask, queries, time } = holding(FOUND, { shelf })
    expect(homepages.fresh("acme.com")).toBeUndefined()
    const freshUntilMs = START_MS + DAY_MS
    expect(await ask("acme.com")).toEqual({ homepage: known("found"), isCached: false, wasFetched: true, freshUntilMs })
    await time.tick(DAY_MS - 1)
    expect(homepages.fresh("acme.com")).toEqual({
      homepage: known("found"),
      isCached: true,
      wasFetched: false,
      freshUntilMs,
    })
    await time.tick(1)
    expect(homepages.fresh("acme.com")).toBeUndefined()
    expect(await ask("acme.com")).toEqual({
      homepage: known("found"),
      isCached: false,
      wasFetched: true,
      freshUntilMs: freshUntilMs + DAY_MS,
    })
    expect(queries.map(({ domain }) => domain)).toEqual(["acme.com", "acme.com"])
  })

test("a failure is cached for half a minute, never counts as cached, and is not stored", async () => {
  for (const cause of ["unavailable", "timed_out"] as const) {
    const { homepages, ask, time, outcomes, shelf } = holding(looked(unknown(cause)))
    const failed = { homepage: unknown(cause), isCached: false, wasFetched: true, freshUntilMs: START_MS + 30_000 }
    expect(await ask("acme.com")).toEqual(failed)
    outcomes.next = FOUND
    await time.tick(29_999)
    expect(homepages.fresh("acme.com")).toEqual({ ...failed, wasFetched: false })
    await time.tick(1)
    expect(homepages.fresh("acme.com")).toBeUndefined()
    expect(shelf?.size).toBe(0)
    expect(await ask("acme.com")).toMatchObject({ homepage: known("found"), isCached: false })
  }
})

test("the store gets the state of the homepage, and the domain or the signal that is the evidence", async () => {
  const parkingSignal = { key: "sedo", kind: "marketplace" } as const
  const { ask, outcomes, shelf } = holding(looked(known("parked"), { movedTo: "sedo.com", parkingSignal }))
  await ask("moved.com")
  outcomes.next = looked(known("parked"), { parkingSignal, url: "https://marked.com/?jane@acme.com" })
  await ask("marked.com")
  outcomes.next = looked(known("none"))
  await ask("none.com")
  expect([...(shelf ?? [])]).toEqual([
    ["moved.com", { state: "parked", evidence: "sedo.com", checkedAtMs: START_MS }],
    ["marked.com", { state: "parked", evidence: "sedo", checkedAtMs: START_MS }],
    ["none.com", { state: "none", evidence: null, checkedAtMs: START_MS }],
  ])
})

test("a stored homepage is used until a day after its probe, and counts as cached", async () => {
  const shelf = new Map([
    ["young.com", { state: "parked", evidence: null, checkedAtMs: START_MS - DAY_MS + 1 }],
    ["old.com", { state: "parked", evidence: null, checkedAtMs: START_MS - DAY_MS }],
  ] as const)
  const { homepages, ask, queries, time } = holding(FOUND, { shelf: new Map(shelf) })
  const stored = { homepage: known("parked"), isCached: true, wasFetched: false, freshUntilMs: START_MS + 1 }
  expect<unknown>(await ask("young.com")).toEqual(stored)
  expect<unknown>(homepages.fresh("young.com")).toEqual(stored)
  expect(await ask("old.com")).toMatchObject({ homepage: known("found"), isCached: false })
  await time.tick(1)
  expect(homepages.fresh("young.com")).toBeUndefined()
  expect(queries.map(({ domain }) => domain)).toEqual(["old.com"])
})

test("a stored homepage from a clock ahead of ours is not fresh for longer than a day", async () => {
  const ahead = { state: "none", evidence: null, checkedAtMs: START_MS + DAY_MS / 2 } as const
  const { ask } = holding(FOUND, { shelf: new Map([["acme.com", ahead]]) })
  expect(await ask("acme.com")).toEqual({
    homepage: known("none"),
    isCached: true,
    wasFetched: false,
    freshUntilMs: START_MS + DAY_MS,
  })
})

test("a store that fails is reported, and the homepage is probed", async () => {
  const { ask, failures } = holding(FOUND, { isBroken: true })
  expect(await ask("acme.com")).toMatchObject({ homepage: known("found"), isCached: false })
  expect(failures).toEqual([new Error("the disk failed")])
})

test("all concurrent callers share one probe, within the deadline of the first", async () => {
  const { promise, resolve } = Promise.withResolvers<HomepageProbeResult>()
  const { ask, queries, time } = holding(promise)
  const [first, second] = [new Deadline(time.later, 5000), new Deadline(time.later, 5000)]
  const facts = [ask("acme.com", first), ask("acme.com", second), ask("acme.com", second)]
  await settled()
  expect(queries).toEqual([{ domain: "acme.com", deadline: first }])
  resolve(FOUND)
  for (const one of await Promise.all(facts)) expect(one).toMatchObject({ homepage: known("found"), isCached: false })
})

test("a bounded number of probes is in flight: one more is unavailable at once, which is not cached", async () => {
  const { promise, resolve } = Promise.withResolvers<HomepageProbeResult>()
  const { homepages, ask, queries } = holding(promise)
  const names = Array.from({ length: UNDER_WAY_MAX }, (_, at) => `acme-${at}.com`)
  const facts = names.map(name => ask(name))
  const tooMany = { homepage: unknown("unavailable"), isCached: false, wasFetched: false, freshUntilMs: 0 }
  expect(await ask("beyond.com")).toEqual(tooMany)
  expect(homepages.fresh("beyond.com")).toBeUndefined()
  // A domain whose probe is in flight takes no second place.
  facts.push(ask("acme-0.com"))
  await settled()
  expect(queries).toHaveLength(UNDER_WAY_MAX)
  resolve(FOUND)
  await Promise.all(facts)
  expect(await ask("beyond.com")).toMatchObject({ homepage: known("found") })
})

test("a caller whose deadline is later than that of a running lookup gets a lookup of its own", async () => {
  const late = Promise.withResolvers<HomepageProbeResult>()
  const { ask, outcomes, queries, time } = holding(late.promise)
  const first = ask("slow.com", new Deadline(time.later, 1000))
  const [second, third] = [ask("slow.com"), ask("slow.com")]
  await settled()
  outcomes.next = FOUND
  late.resolve(looked(unknown("timed_out")))
  expect((await first).homepage).toEqual(unknown("timed_out"))
  expect([(await second).homepage, (await third).homepage]).toEqual([known("found"), known("found")])
  expect(queries).toHaveLength(2)
})
