import { expect, test } from "bun:test"
import fc from "fast-check"
import {
  type HostObservation,
  hashDomain,
  LEARNED_BOUNDS,
  type LearnedBounds,
  LearnedHosts,
} from "../../../src/check/learned/learned-hosts.ts"

const HOST = "throw-away.com"
const TODAY = 20_000

/** Observes so many listed domains and so many others on a host on `day`. */
function meet(hosts: LearnedHosts, host: string, listed: number, others: number, day = TODAY): void {
  for (let at = 0; at < listed; at++) hosts.observe(host, `listed${at}.${host}`, true, day)
  for (let at = 0; at < others; at++) hosts.observe(host, `other${at}.${host}`, false, day)
}

function learnedFrom(listed: number, others: number, bounds: Partial<LearnedBounds> = {}): boolean {
  const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, ...bounds })
  meet(hosts, HOST, listed, others)
  return hosts.servesDisposable(HOST, TODAY)
}

test("a host is learned from five listed domains on, if they are at least four fifths of all", () => {
  expect(learnedFrom(4, 0)).toBe(false)
  expect(learnedFrom(5, 0)).toBe(true)
  expect(learnedFrom(5, 1)).toBe(true)
  expect(learnedFrom(5, 2)).toBe(false)
  expect(learnedFrom(8, 2)).toBe(true)
  expect(learnedFrom(7, 2)).toBe(false)
  expect(learnedFrom(79, 21, { domainsPerHostMax: 100 })).toBe(false)
  expect(learnedFrom(80, 20, { domainsPerHostMax: 100 })).toBe(true)
})

test("a host that was never observed is not learned", () => {
  expect(new LearnedHosts(LEARNED_BOUNDS).servesDisposable(HOST, TODAY)).toBe(false)
})

test("a domain counts once, however often it is observed", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  for (let time = 0; time < 1000; time++) hosts.observe(HOST, "listed.com", true, TODAY)
  meet(hosts, HOST, 3, 0)
  expect(hosts.servesDisposable(HOST, TODAY)).toBe(false)
  expect(hosts.size).toEqual({ hosts: 1, observations: 4 })
  meet(hosts, HOST, 4, 0)
  expect(hosts.servesDisposable(HOST, TODAY)).toBe(true)
})

test("a domain that was added to or removed from the lists counts by its newest state", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  meet(hosts, HOST, 5, 2)
  hosts.observe(HOST, `other0.${HOST}`, true, TODAY)
  expect(hosts.servesDisposable(HOST, TODAY)).toBe(true)
  hosts.observe(HOST, `other0.${HOST}`, false, TODAY)
  expect(hosts.servesDisposable(HOST, TODAY)).toBe(false)
})

test("a domain counts for the host on which it was last observed, so five listed ones affect one host only", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  const victims = ["one.com", "two.com", "three.com"]
  for (const victim of victims) {
    for (let at = 0; at < 5; at++) hosts.observe(victim, `attack${at}.com`, true, TODAY)
    expect(victims.filter(host => hosts.servesDisposable(host, TODAY))).toEqual([victim])
  }
  expect(hosts.size).toEqual({ hosts: 1, observations: 5 })
})

test("an observation counts for ninety days", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  meet(hosts, HOST, 5, 0)
  expect([89, 90, 91].map(days => hosts.servesDisposable(HOST, TODAY + days))).toEqual([true, true, false])
  hosts.observe(HOST, `listed0.${HOST}`, true, TODAY + 1)
  expect(hosts.servesDisposable(HOST, TODAY + 91)).toBe(false)
  meet(hosts, HOST, 5, 0, TODAY + 1)
  expect([91, 92].map(days => hosts.servesDisposable(HOST, TODAY + days))).toEqual([true, false])
})

test("expired observations of honest and listed domains no longer count", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  meet(hosts, HOST, 0, 5)
  meet(hosts, HOST, 5, 0, TODAY + 1)
  expect([90, 91, 92].map(days => hosts.servesDisposable(HOST, TODAY + days))).toEqual([false, true, false])
})

test("at the limit of hosts the least recently observed one is evicted completely", () => {
  const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, hostsMax: 2 })
  for (const host of ["one.com", "two.com", "one.com", "three.com"]) meet(hosts, host, 5, 0)
  const learned = (): string[] =>
    ["one.com", "two.com", "three.com"].filter(host => hosts.servesDisposable(host, TODAY))
  expect(learned()).toEqual(["one.com", "three.com"])
  expect(hosts.size).toEqual({ hosts: 2, observations: 10 })
  expect(hosts.unwritten(10)).toHaveLength(10)
})

test("at the limit of observations a complete host is evicted, and no share changes", () => {
  const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, observationsMax: 10 })
  for (const host of ["one.com", "two.com"]) meet(hosts, host, 5, 0)
  expect(hosts.size).toEqual({ hosts: 2, observations: 10 })
  hosts.observe("two.com", "sixth.com", true, TODAY)
  expect(hosts.size).toEqual({ hosts: 1, observations: 6 })
  expect(hosts.servesDisposable("two.com", TODAY)).toBe(true)
})

test("of a host with many domains the same ones are kept, whatever the order", () => {
  const domains = fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { maxLength: 60 })
  fc.assert(
    fc.property(domains, fc.integer({ min: 1, max: 12 }), (numbers, domainsPerHostMax) => {
      const keptOf = (order: readonly number[]): number[] => {
        const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, domainsPerHostMax })
        for (const number of order) hosts.observe(HOST, `d${number}.com`, false, TODAY)
        return hosts
          .unwritten(1000)
          .map(sighting => sighting.domainHash)
          .toSorted((a, b) => a - b)
      }
      const smallest = numbers.map(number => hashDomain(`d${number}.com`)).toSorted((a, b) => a - b)
      expect(keptOf(numbers)).toEqual(smallest.slice(0, domainsPerHostMax))
      expect(keptOf(numbers.toReversed())).toEqual(keptOf(numbers))
    }),
  )
})

test("a host with many domains is judged by a fair sample of them", () => {
  const judged = (share: number): boolean => learnedFrom(2000 * share, 2000 * (1 - share))
  expect([0.6, 0.95].map(judged)).toEqual([false, true])
})

test("in a full host an expired domain makes room for any other", () => {
  const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, domainsPerHostMax: 5 })
  meet(hosts, HOST, 5, 0)
  meet(hosts, HOST, 0, 200, TODAY + 91)
  expect(hosts.size).toEqual({ hosts: 1, observations: 5 })
  meet(hosts, HOST, 200, 0, TODAY + 182)
  expect(hosts.servesDisposable(HOST, TODAY + 182)).toBe(true)
})

test("no sequence of observations breaks a bound or puts a domain on two hosts", () => {
  const meeting = fc.tuple(fc.nat(6), fc.nat(30), fc.boolean(), fc.nat(200))
  fc.assert(
    fc.property(fc.array(meeting, { maxLength: 200 }), meetings => {
      const bounds = { hostsMax: 4, observationsMax: 12, domainsPerHostMax: 5 }
      const hosts = new LearnedHosts(bounds)
      for (const [host, domain, isListed, day] of meetings) {
        hosts.observe(`h${host}.com`, `d${domain}.com`, isListed, day)
        const { hosts: hostCount, observations } = hosts.size
        const kept = hosts.unwritten(1000)
        expect(hostCount).toBeLessThanOrEqual(bounds.hostsMax)
        expect(observations).toBeLessThanOrEqual(bounds.observationsMax)
        // Nothing was written, so every observation is unwritten, once for each domain.
        expect(kept).toHaveLength(observations)
        expect(new Set(kept.map(each => each.domainHash)).size).toBe(observations)
        const byHost = Map.groupBy(kept, each => each.host)
        expect(byHost.size).toBe(hostCount)
        for (const each of byHost.values()) expect(each.length).toBeLessThanOrEqual(bounds.domainsPerHostMax)
      }
    }),
  )
})

test("an observation is written again only after a change", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  meet(hosts, HOST, 3, 0)
  const first = hosts.unwritten(2)
  expect(first).toHaveLength(2)
  hosts.markWritten(first)
  hosts.markWritten(hosts.unwritten(10))
  meet(hosts, HOST, 3, 0)
  expect(hosts.unwritten(10)).toEqual([])
  meet(hosts, HOST, 1, 0, TODAY + 1)
  expect(hosts.unwritten(10).map(sighting => sighting.seenOn)).toEqual([TODAY + 1])
})

test("an observation that changes during a write is written again", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  hosts.observe(HOST, "acme.com", false, TODAY)
  const writing = hosts.unwritten(10)
  hosts.observe(HOST, "acme.com", true, TODAY)
  hosts.markWritten(writing)
  expect(hosts.unwritten(10)).toMatchObject([{ isListed: true }])
})

test("stored observations are loaded, unless they are expired or this process has a newer one", () => {
  const stored = (domain: string, seenOn: number, isListed = true): HostObservation => ({
    domainHash: hashDomain(domain),
    host: HOST,
    isListed,
    seenOn,
  })
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  hosts.observe(HOST, "one.com", true, TODAY)
  const rows = ["two.com", "three.com", "four.com"].map(domain => stored(domain, TODAY))
  hosts.load([stored("one.com", TODAY - 1, false), ...rows, stored("five.com", TODAY - 91)], TODAY)
  expect(hosts.size.observations).toBe(4)
  expect(hosts.servesDisposable(HOST, TODAY)).toBe(false)
  hosts.load([stored("five.com", TODAY - 90)], TODAY)
  expect(hosts.servesDisposable(HOST, TODAY)).toBe(true)
  expect(hosts.unwritten(10)).toEqual([stored("one.com", TODAY)])
})

test("the hash of a domain is the same in every version", () => {
  // The first 13 of the 16 hexadecimal digits of xxHash64, of which the document of xxHash has the one of the empty text.
  expect(hashDomain("")).toBe(0xef46db3751d8e)
  expect(hashDomain("example.com")).toBe(712739754121891)
})
