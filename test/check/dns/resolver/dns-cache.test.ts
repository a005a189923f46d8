import { describe, expect, test } from "bun:test"
import { type Finding, known, unknown } from "../../../../src/base/finding.ts"
import type { DnsAnswer, DnsQuestion } from "../../../../src/check/dns/dns-types.ts"
import {
  DNS_CACHE_BOUNDS,
  DnsCache,
  estimateEntryBytes,
  FAILURE_TTL_MS,
  LATE_MS,
  STALE_TTL_MS,
  STALE_WINDOW_S,
  TTL_MAX_S,
  TTL_MIN_S,
} from "../../../../src/check/dns/resolver/dns-cache.ts"
import { stoppedClock } from "../../../support/clock.ts"
import { cachedResolver } from "./guarded-resolver.ts"
import { heldResolver, SOME } from "./manual-resolver.ts"
import { resolverSuite } from "./resolver.suite.ts"

const QUESTION: DnsQuestion = { name: "a.example", type: "TXT" }
const answer = (ttlS: number, text = "one"): DnsAnswer => ({
  outcome: "records",
  records: [{ type: "TXT", text }],
  ttlS,
})

resolverSuite("a caching resolver", resolver => {
  const { resolver: ask } = cachedResolver(resolver, stoppedClock())
  return async question => {
    const finding = await ask(question)
    if (!finding.known) return finding
    const { isCached: _, freshUntilMs: __, ...plain } = finding.value
    return known(plain)
  }
})

/** A cache over a resolver that returns `world.says` and counts its questions. */
function system(description: Finding<DnsAnswer>, bounds = DNS_CACHE_BOUNDS) {
  const clock = stoppedClock()
  const startMs = clock()
  const system = { description, askedCount: 0 }
  const { resolver: ask, stats } = cachedResolver(
    async () => {
      system.askedCount++
      return system.description
    },
    clock,
    bounds,
  )
  return {
    system,
    clock,
    startMs,
    held: stats,
    ask: () => ask(QUESTION),
    askFor: (name: string) => ask({ name, type: "TXT" }),
  }
}

describe("a cached answer", () => {
  test("is returned with its cache status", async () => {
    const { ask, system: server, startMs } = system(known(answer(300)))
    const freshUntilMs = startMs + 300_000
    expect(await ask()).toEqual(known({ ...answer(300), isCached: false, freshUntilMs }))
    expect(await ask()).toEqual(known({ ...answer(300), isCached: true, freshUntilMs }))
    expect(server.askedCount).toBe(1)
  })

  test("is queried again when its TTL ends, and not a millisecond earlier", async () => {
    const { ask, clock, system: server } = system(known(answer(300)))
    await ask()
    clock.tick(299_999)
    expect(await ask()).toMatchObject({ value: { isCached: true } })
    server.description = known(answer(300, "two"))
    clock.tick(1)
    expect(await ask()).toMatchObject({ value: { isCached: false, records: [{ text: "two" }] } })
    expect(server.askedCount).toBe(2)
  })

  test("is fresh within the bounds of a TTL, with records or without", async () => {
    const cases: readonly [number, number][] = [
      [0, TTL_MIN_S],
      [TTL_MIN_S - 1, TTL_MIN_S],
      [TTL_MIN_S, TTL_MIN_S],
      [TTL_MIN_S + 1, TTL_MIN_S + 1],
      [TTL_MAX_S, TTL_MAX_S],
      [TTL_MAX_S + 1, TTL_MAX_S],
      [2 ** 31 - 1, TTL_MAX_S],
    ]
    for (const outcome of ["records", "no_data", "no_name"] as const)
      for (const [ttlS, holdsS] of cases) {
        const { ask, startMs } = system(known({ outcome, records: [], ttlS }))
        expect(await ask()).toMatchObject({ value: { outcome, ttlS, freshUntilMs: startMs + holdsS * 1000 } })
      }
  })

  test("is queried again if the clock was set back by more than any TTL", async () => {
    const { ask, clock, system: server } = system(known(answer(TTL_MAX_S)))
    await ask()
    clock.tick(-1)
    await ask()
    expect(server.askedCount).toBe(2)
  })

  test("belongs to one name and one type", async () => {
    const queries: string[] = []
    const { resolver: ask } = cachedResolver(async ({ name, type }) => {
      queries.push(`${type} ${name}`)
      return known(answer(300))
    }, stoppedClock())
    for (const type of ["TXT", "MX"] as const) for (const name of ["a.example", "b.example"]) await ask({ name, type })
    expect(queries).toHaveLength(4)
  })
})

test("an answer that is asked for once is not cached, but taken from the cache if it is there; a failure is cached", async () => {
  const state = { description: known(answer(300)) as Finding<DnsAnswer>, askedCount: 0 }
  const { resolver, resolverOnce, stats } = cachedResolver(async () => {
    state.askedCount++
    return state.description
  }, stoppedClock())
  const first = await resolverOnce(QUESTION)
  expect(await resolverOnce(QUESTION)).toEqual(first)
  expect([state.askedCount, stats().entries]).toEqual([2, 0])
  expect(await resolver(QUESTION)).toEqual(first)
  expect(await resolverOnce(QUESTION)).toMatchObject({ value: { isCached: true } })
  expect([state.askedCount, stats().entries]).toEqual([3, 1])
  state.description = unknown("timed_out")
  for (let time = 0; time < 2; time++) await resolverOnce({ ...QUESTION, name: "b.example" })
  expect(state.askedCount).toBe(4)
})

test("an answer that is asked for once is cached if it is late, for who asks again when the first one has given up", async () => {
  const { resolver, open, give } = heldResolver()
  const clock = stoppedClock()
  const { resolverOnce, stats } = cachedResolver(resolver, clock)
  for (const [ms, entries] of [
    [LATE_MS - 1, 0],
    [LATE_MS, 1],
  ] as const) {
    const asked = resolverOnce({ name: "a.example", type: "A" })
    clock.tick(ms)
    await give(SOME)
    expect(await asked).toMatchObject({ value: { isCached: false } })
    expect(stats().entries).toBe(entries)
  }
  expect(await resolverOnce({ name: "a.example", type: "A" })).toMatchObject({ value: { isCached: true } })
  expect(open()).toEqual([])
})

describe("while the resolver fails", () => {
  test("a stale answer replaces the failure, and is queried again after a short while", async () => {
    for (const cause of ["timed_out", "unavailable"] as const) {
      const { ask, clock, system: server } = system(known(answer(300)))
      await ask()
      clock.tick(300_000)
      server.description = unknown(cause)
      const stale = known({ ...answer(300), isCached: true, freshUntilMs: clock() + STALE_TTL_MS })
      expect(await ask()).toEqual(stale)
      clock.tick(STALE_TTL_MS - 1)
      expect(await ask()).toEqual(stale)
      expect(server.askedCount).toBe(2)
      clock.tick(1)
      server.description = known(answer(300, "two"))
      expect(await ask()).toMatchObject({ value: { isCached: false, records: [{ text: "two" }] } })
    }
  })

  test("a stale answer replaces a failure for a day after it was fresh, and no longer", async () => {
    const { ask, clock, system: server, startMs } = system(known(answer(300)))
    await ask()
    server.description = unknown("timed_out")
    clock.tick(300_000 + STALE_WINDOW_S * 1000 - 1)
    const endMs = startMs + 300_000 + STALE_WINDOW_S * 1000
    expect(await ask()).toMatchObject({ value: { isCached: true, freshUntilMs: endMs } })
    clock.tick(1)
    expect(await ask()).toEqual(unknown("timed_out"))
  })

  test("replacing a failure does not prolong a stale answer", async () => {
    const { ask, clock, system: server } = system(known(answer(300)))
    await ask()
    server.description = unknown("timed_out")
    for (let hour = 0; hour < 24; hour++) {
      clock.tick(3_600_000)
      expect(await ask()).toMatchObject({ known: true })
    }
    clock.tick(300_000)
    expect(await ask()).toEqual(unknown("timed_out"))
  })

  test("a stale negative answer replaces a failure too", async () => {
    const { ask, clock, system: server } = system(known({ outcome: "no_name", records: [], ttlS: 300 }))
    await ask()
    clock.tick(300_000)
    server.description = unknown("unavailable")
    expect(await ask()).toMatchObject({ value: { outcome: "no_name", isCached: true } })
  })

  test("the failure itself is cached for a moment, with its cause", async () => {
    for (const cause of ["timed_out", "unavailable"] as const) {
      const { ask, clock, system: server } = system(unknown(cause))
      await ask()
      clock.tick(FAILURE_TTL_MS - 1)
      expect(await ask()).toEqual(unknown(cause))
      expect(server.askedCount).toBe(1)
      clock.tick(1)
      server.description = known(answer(300))
      expect(await ask()).toMatchObject({ known: true, value: { isCached: false } })
    }
  })
})

describe("the cache is bounded", () => {
  test("by the number of entries: the least recently used is evicted first", async () => {
    const { askFor, held, system: server } = system(known(answer(300)), { ...DNS_CACHE_BOUNDS, entriesMax: 100 })
    for (let at = 0; at < 100; at++) await askFor(`${at}`)
    await askFor("0")
    for (let at = 100; at < 199; at++) await askFor(`${at}`)
    expect(held().entries).toBe(100)
    server.askedCount = 0
    await askFor("0")
    expect(server.askedCount).toBe(0)
    await askFor("1")
    expect(server.askedCount).toBe(1)
  })

  test("by bytes", async () => {
    const bounds = { entriesMax: 1_000_000, bytesMax: 1_048_576, answerBytesMax: 65_536 }
    const { askFor, held } = system(known(answer(300, "x".repeat(10_000))), bounds)
    for (let at = 0; at < 1000; at++) await askFor(`${at}.example`)
    expect(held().bytes).toBeLessThanOrEqual(bounds.bytesMax)
    expect(held().bytes).toBeGreaterThan(bounds.bytesMax - 11_000)
    expect(held().entries).toBeLessThan(105)
  })

  test("for each answer: one that is too large is returned but not cached", async () => {
    const fits = answer(300, "x".repeat(10_000))
    const answerBytesMax = estimateEntryBytes("TXT a.example", fits.records)
    for (const [text, askedCount] of [
      ["x".repeat(10_000), 1],
      ["x".repeat(10_001), 2],
    ] as const) {
      const { ask, system: server } = system(known(answer(300, text)), { ...DNS_CACHE_BOUNDS, answerBytesMax })
      await ask()
      expect(await ask()).toMatchObject({ value: { records: [{ text }] } })
      expect(server.askedCount).toBe(askedCount)
    }
  })

  test("failures count too", async () => {
    const { askFor, held } = system(unknown("timed_out"), { ...DNS_CACHE_BOUNDS, entriesMax: 100 })
    for (let at = 0; at < 1000; at++) await askFor(`${at}`)
    expect(held().entries).toBe(100)
  })
})

test("a text beyond Latin-1 counts two bytes a character, and every record counts", () => {
  const bytes = (...texts: string[]) =>
    estimateEntryBytes(
      "TXT a",
      texts.map(text => ({ type: "TXT", text })),
    )
  expect(bytes("é".repeat(100)) - bytes("")).toBe(100)
  expect(bytes("\ufffd".repeat(100)) - bytes("")).toBe(200)
  expect(bytes("", "") - bytes("")).toBe(bytes("") - bytes())
})

describe("equal questions in flight", () => {
  test("are sent once", async () => {
    const { resolver, open, give } = heldResolver()
    const { resolver: ask } = cachedResolver(resolver, stoppedClock())
    const all = Array.from({ length: 1000 }, () => ask({ name: "a.example", type: "A" }))
    expect(open()).toEqual(["A a.example"])
    await give(SOME)
    const [first, ...others] = await Promise.all(all)
    expect(first).toMatchObject(SOME)
    for (const other of others) expect(other).toEqual(first as NonNullable<typeof first>)
  })

  test("are those of one name and one type", () => {
    const { resolver, open } = heldResolver()
    const { resolver: ask } = cachedResolver(resolver, stoppedClock())
    void ask({ name: "a.example", type: "A" })
    void ask({ name: "a.example", type: "AAAA" })
    void ask({ name: "b.example", type: "A" })
    expect(open()).toEqual(["A a.example", "AAAA a.example", "A b.example"])
  })

  test("are sent again once the failure is no longer cached", async () => {
    const { resolver, open, give } = heldResolver()
    const clock = stoppedClock()
    const { resolver: ask } = cachedResolver(resolver, clock)
    for (const finding of [unknown("timed_out"), SOME]) {
      const asked = ask({ name: "a.example", type: "A" })
      expect(open()).toHaveLength(1)
      await give(finding)
      expect(await asked).toMatchObject(finding)
      clock.tick(FAILURE_TTL_MS)
    }
  })

  test("are sent again after a defect that kept the first from being sent", () => {
    const cache = new DnsCache(stoppedClock())
    for (let count = 0; count < 2; count++)
      expect(() =>
        cache.ask(
          QUESTION,
          () => {
            throw new Error("a defect")
          },
          () => undefined,
        ),
      ).toThrow("a defect")
  })
})
