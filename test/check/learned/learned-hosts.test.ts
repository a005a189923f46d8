import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { isSharedAddress, networkOf, parseSharedNetworks } from "../../../src/check/learned/address-network.ts"
import { candidateHosts } from "../../../src/check/learned/candidate-hosts.ts"
import {
  type HostObservation,
  hashDomain,
  LEARNED_BOUNDS,
  type LearnedBounds,
  LearnedHosts,
} from "../../../src/check/learned/learned-hosts.ts"
import { mailHostKey } from "../../../src/check/learned/mail-host-key.ts"

const HOST = "throw-away.com"
const TODAY = 20_000

/** Observes a domain on a host whose address is not known. */
const see = (hosts: LearnedHosts, host: string, domain: string, isListed: boolean, day: number): void =>
  hosts.observe(domain, { host, addresses: [] }, isListed, day)

/** Whether a domain that was never seen would be found on the host. */
const serves = (hosts: LearnedHosts, host: string, day = TODAY): boolean =>
  hosts.servesDisposable("judged.com", { host, addresses: [] }, day)

/** Observes so many listed domains and so many others on a host on `day`. */
function meet(hosts: LearnedHosts, host: string, listed: number, others: number, day = TODAY): void {
  for (let at = 0; at < listed; at++) see(hosts, host, `listed${at}.${host}`, true, day)
  for (let at = 0; at < others; at++) see(hosts, host, `other${at}.${host}`, false, day)
}

function learnedFrom(listed: number, others: number, bounds: Partial<LearnedBounds> = {}): boolean {
  const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, ...bounds })
  meet(hosts, HOST, listed, others)
  return serves(hosts, HOST)
}

test("a host is learned from five listed domains on, if they are at least nineteen of twenty", () => {
  expect(learnedFrom(4, 0)).toBe(false)
  expect(learnedFrom(5, 0)).toBe(true)
  expect(learnedFrom(5, 1)).toBe(false)
  expect(learnedFrom(18, 1)).toBe(false)
  expect(learnedFrom(19, 1)).toBe(true)
  expect(learnedFrom(94, 6, { domainsPerPlaceMax: 100 })).toBe(false)
  expect(learnedFrom(95, 5, { domainsPerPlaceMax: 100 })).toBe(true)
})

test("a host that was never observed is not learned", () => {
  expect(serves(new LearnedHosts(LEARNED_BOUNDS), HOST)).toBe(false)
})

test("a domain counts once, however often it is observed", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  for (let time = 0; time < 1000; time++) see(hosts, HOST, "listed.com", true, TODAY)
  meet(hosts, HOST, 3, 0)
  expect(serves(hosts, HOST)).toBe(false)
  expect(hosts.size).toEqual({ places: 1, observations: 4 })
  meet(hosts, HOST, 4, 0)
  expect(serves(hosts, HOST)).toBe(true)
})

test("a domain that was added to or removed from the lists counts by its newest state", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  meet(hosts, HOST, 5, 1)
  see(hosts, HOST, `other0.${HOST}`, true, TODAY)
  expect(serves(hosts, HOST)).toBe(true)
  see(hosts, HOST, `other0.${HOST}`, false, TODAY)
  expect(serves(hosts, HOST)).toBe(false)
})

test("a domain that is listed after it was seen counts as listed for where and when it was seen, at one address alone", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  const places = { host: HOST, addresses: ["45.1.2.1", "45.7.7.7"] }
  const names = Array.from({ length: 5 }, (_, at) => `late${at}.com`)
  for (const name of names) hosts.observe(name, places, false, TODAY)
  hosts.markWritten(hosts.unwritten(10))
  for (const name of names.slice(1)) hosts.markListed(hashDomain(name), TODAY + 9)
  expect(serves(hosts, HOST, TODAY + 9)).toBe(false)
  expect(names.map(name => hosts.isUnlisted(hashDomain(name)))).toEqual([true, false, false, false, false])
  for (const name of [...names, "never-seen.com"]) hosts.markListed(hashDomain(name), TODAY + 9)
  const servesAt = (address: string): boolean =>
    hosts.servesDisposable("judged.com", { host: null, addresses: [address] }, TODAY + 9)
  expect([serves(hosts, HOST, TODAY + 9), servesAt("45.1.2.1"), servesAt("45.7.7.7")]).toEqual([true, true, false])
  expect([90, 91].map(days => serves(hosts, HOST, TODAY + days))).toEqual([true, false])
  expect(hosts.unwritten(10).map(({ isListed, seenOn }) => [isListed, seenOn])).toEqual(names.map(() => [true, TODAY]))
})

test("a domain counts for the host on which it was last observed, so five listed ones affect one host only", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  const victims = ["one.com", "two.com", "three.com"]
  for (const victim of victims) {
    for (let at = 0; at < 5; at++) see(hosts, victim, `attack${at}.com`, true, TODAY)
    expect(victims.filter(host => serves(hosts, host, TODAY))).toEqual([victim])
  }
  expect(hosts.size).toEqual({ places: 1, observations: 5 })
})

test("an observation counts for ninety days", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  meet(hosts, HOST, 5, 0)
  expect([89, 90, 91].map(days => serves(hosts, HOST, TODAY + days))).toEqual([true, true, false])
  see(hosts, HOST, `listed0.${HOST}`, true, TODAY + 1)
  expect(serves(hosts, HOST, TODAY + 91)).toBe(false)
  meet(hosts, HOST, 5, 0, TODAY + 1)
  expect([91, 92].map(days => serves(hosts, HOST, TODAY + days))).toEqual([true, false])
})

test("expired observations of honest and listed domains no longer count", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  meet(hosts, HOST, 0, 5)
  meet(hosts, HOST, 5, 0, TODAY + 1)
  expect([90, 91, 92].map(days => serves(hosts, HOST, TODAY + days))).toEqual([false, true, false])
})

test("at the limit of hosts the least recently observed one is evicted completely", () => {
  const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, placesMax: 2 })
  for (const host of ["one.com", "two.com", "one.com", "three.com"]) meet(hosts, host, 5, 0)
  const learned = (): string[] => ["one.com", "two.com", "three.com"].filter(host => serves(hosts, host, TODAY))
  expect(learned()).toEqual(["one.com", "three.com"])
  expect(hosts.size).toEqual({ places: 2, observations: 10 })
  expect(hosts.unwritten(10)).toHaveLength(10)
})

test("at the limit of observations a complete host is evicted, and no share changes", () => {
  const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, observationsMax: 10 })
  for (const host of ["one.com", "two.com"]) meet(hosts, host, 5, 0)
  expect(hosts.size).toEqual({ places: 2, observations: 10 })
  see(hosts, "two.com", "sixth.com", true, TODAY)
  expect(hosts.size).toEqual({ places: 1, observations: 6 })
  expect(serves(hosts, "two.com", TODAY)).toBe(true)
})

test("of a host with many domains the same ones are kept, whatever the order", () => {
  const domains = fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { maxLength: 60 })
  fc.assert(
    fc.property(domains, fc.integer({ min: 1, max: 12 }), (numbers, domainsPerPlaceMax) => {
      const keptOf = (order: readonly number[]): number[] => {
        const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, domainsPerPlaceMax })
        for (const number of order) see(hosts, HOST, `d${number}.com`, false, TODAY)
        return hosts
          .unwritten(1000)
          .map(sighting => sighting.domainHash)
          .toSorted((a, b) => a - b)
      }
      const smallest = numbers.map(number => hashDomain(`d${number}.com`)).toSorted((a, b) => a - b)
      expect(keptOf(numbers)).toEqual(smallest.slice(0, domainsPerPlaceMax))
      expect(keptOf(numbers.toReversed())).toEqual(keptOf(numbers))
    }),
  )
})

test("a host with many domains is judged by a fair sample of them", () => {
  const judged = (share: number): boolean => learnedFrom(2000 * share, 2000 * (1 - share))
  expect([0.8, 0.99].map(judged)).toEqual([false, true])
})

test("in a full host an expired domain makes room for any other", () => {
  const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, domainsPerPlaceMax: 5 })
  meet(hosts, HOST, 5, 0)
  meet(hosts, HOST, 0, 200, TODAY + 91)
  expect(hosts.size).toEqual({ places: 1, observations: 5 })
  meet(hosts, HOST, 200, 0, TODAY + 182)
  expect(serves(hosts, HOST, TODAY + 182)).toBe(true)
})

test("no sequence of observations breaks a bound or puts a domain on two hosts", () => {
  const meeting = fc.tuple(fc.nat(6), fc.nat(30), fc.boolean(), fc.nat(200))
  fc.assert(
    fc.property(fc.array(meeting, { maxLength: 200 }), meetings => {
      const bounds = { placesMax: 4, observationsMax: 12, domainsPerPlaceMax: 5 }
      const hosts = new LearnedHosts(bounds)
      for (const [host, domain, isListed, day] of meetings) {
        see(hosts, `h${host}.com`, `d${domain}.com`, isListed, day)
        const { places: placeCount, observations } = hosts.size
        const kept = hosts.unwritten(1000)
        expect(placeCount).toBeLessThanOrEqual(bounds.placesMax)
        expect(observations).toBeLessThanOrEqual(bounds.observationsMax)
        // Nothing was written, so every observation is unwritten, once for each domain.
        expect(kept).toHaveLength(observations)
        expect(new Set(kept.map(each => each.domainHash)).size).toBe(observations)
        const byHost = Map.groupBy(kept, each => each.host)
        expect(byHost.size).toBe(placeCount)
        for (const each of byHost.values()) expect(each.length).toBeLessThanOrEqual(bounds.domainsPerPlaceMax)
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
  see(hosts, HOST, "acme.com", false, TODAY)
  const writing = hosts.unwritten(10)
  see(hosts, HOST, "acme.com", true, TODAY)
  hosts.markWritten(writing)
  expect(hosts.unwritten(10)).toMatchObject([{ isListed: true }])
})

test("stored observations are loaded, unless they are expired or this process has a newer one", () => {
  const stored = (domain: string, seenOn: number, isListed = true): HostObservation => ({
    domainHash: hashDomain(domain),
    host: HOST,
    addresses: [],
    isListed,
    seenOn,
  })
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  see(hosts, HOST, "one.com", true, TODAY)
  const rows = ["two.com", "three.com", "four.com"].map(domain => stored(domain, TODAY))
  hosts.load([stored("one.com", TODAY - 1, false), ...rows, stored("five.com", TODAY - 91)], TODAY)
  expect(hosts.size.observations).toBe(4)
  expect(serves(hosts, HOST)).toBe(false)
  hosts.load([stored("five.com", TODAY - 90)], TODAY)
  expect(serves(hosts, HOST)).toBe(true)
  expect(hosts.unwritten(10)).toMatchObject([stored("one.com", TODAY)])
})

describe("a network", () => {
  const IN_NETWORK = ["45.1.2.1", "45.1.2.2", "45.1.2.3"]
  const at = (address: string) => ({ host: null, addresses: [address] })
  /** So many listed domains at each of these addresses. */
  const fill = (hosts: LearnedHosts, addresses: readonly string[], listed = 5): void => {
    for (const address of addresses)
      for (let index = 0; index < listed; index++)
        hosts.observe(`listed${index}-at-${address}`, at(address), true, TODAY)
  }
  const servesAt = (hosts: LearnedHosts, address: string, domain = "judged.com", day = TODAY): boolean =>
    hosts.servesDisposable(domain, at(address), day)

  test("is learned when three of its addresses are, and no honest domain was seen in it", () => {
    const hosts = new LearnedHosts(LEARNED_BOUNDS)
    fill(hosts, IN_NETWORK.slice(0, 2))
    expect(servesAt(hosts, "45.1.2.99")).toBe(false)
    fill(hosts, ["45.1.2.3"], 4)
    expect(servesAt(hosts, "45.1.2.99")).toBe(false)
    fill(hosts, ["45.1.2.3"], 5)
    expect([servesAt(hosts, "45.1.2.99"), servesAt(hosts, "45.1.3.99")]).toEqual([true, false])
    hosts.observe("judged.com", at("45.1.2.99"), false, TODAY)
    expect([servesAt(hosts, "45.1.2.99"), servesAt(hosts, "45.1.2.99", "other.com")]).toEqual([true, false])
    expect(servesAt(hosts, "45.1.2.1", "other.com")).toBe(true)
  })

  test("is not learned for ninety days after an honest domain was seen in it, even one that was left out", () => {
    const hosts = new LearnedHosts({ ...LEARNED_BOUNDS, domainsPerPlaceMax: 5 })
    fill(hosts, IN_NETWORK)
    const listed = Array.from({ length: 5 }, (_, index) => hashDomain(`listed${index}-at-45.1.2.1`))
    const honest = Array.from({ length: 50 }, (_, index) => `h${index}.com`).filter(
      domain => hashDomain(domain) > Math.max(...listed),
    )
    expect(honest.length).toBeGreaterThan(0)
    hosts.observe(honest[0] ?? "", at("45.1.2.1"), false, TODAY)
    expect([servesAt(hosts, "45.1.2.1"), servesAt(hosts, "45.1.2.99")]).toEqual([true, false])
    fill(hosts, IN_NETWORK)
    expect(servesAt(hosts, "45.1.2.99")).toBe(false)
  })

  test("counts the asker's own observation as its own for ninety days, and an honest domain beside it never", () => {
    const hosts = new LearnedHosts(LEARNED_BOUNDS)
    hosts.observe("judged.com", at("45.1.2.99"), false, TODAY - 90)
    hosts.observe("honest.com", at("45.1.2.98"), false, TODAY - 90)
    fill(hosts, IN_NETWORK)
    expect([servesAt(hosts, "45.1.2.7"), servesAt(hosts, "45.1.2.7", "judged.com", TODAY + 1)]).toEqual([false, true])
    hosts.observe("honest.com", at("45.1.2.99"), false, TODAY)
    expect(servesAt(hosts, "45.1.2.7", "honest.com", TODAY)).toBe(false)
    expect(servesAt(hosts, "45.1.2.7", "honest.com", TODAY + 1)).toBe(true)
    expect(servesAt(hosts, "45.1.2.7", "judged.com", TODAY + 1)).toBe(false)
  })

  test("of IPv6 addresses is their /64", () => {
    const hosts = new LearnedHosts(LEARNED_BOUNDS)
    fill(hosts, ["2a01:4f8:1:2::1", "2a01:4f8:1:2::2", "2a01:4f8:1:2:3::"])
    expect(servesAt(hosts, "2a01:4f8:1:2:ffff::9")).toBe(true)
    expect(servesAt(hosts, "2a01:4f8:1:3::1")).toBe(false)
    expect(networkOf("2a01:4f8::1")).toBe(networkOf("2a01:4f8:0:0:9::"))
  })
})

test("a listed domain counts at one address, an honest one at all of its own", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  const places = { host: null, addresses: ["45.1.2.1", "45.7.7.7"] }
  for (let at = 0; at < 19; at++) hosts.observe(`listed${at}.com`, places, true, TODAY)
  const servesAt = (...addresses: readonly string[]): boolean =>
    hosts.servesDisposable("judged.com", { host: null, addresses }, TODAY)
  expect([servesAt("45.1.2.1"), servesAt("45.7.7.7"), servesAt("45.7.7.7", "45.1.2.1")]).toEqual([true, false, true])
  hosts.observe("honest.com", { host: null, addresses: ["45.7.7.7", "45.1.2.1"] }, false, TODAY)
  hosts.observe("friend.com", { host: null, addresses: ["45.7.7.7", "45.1.2.1"] }, false, TODAY)
  expect(servesAt("45.1.2.1")).toBe(false)
})

test("a domain that was at a place before it was learned counts against it for itself too, one that came later does not", () => {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  const place = { host: HOST, addresses: [] }
  see(hosts, HOST, "early.com", false, TODAY)
  meet(hosts, HOST, 5, 0)
  expect(hosts.servesDisposable("early.com", place, TODAY)).toBe(false)
  see(hosts, HOST, "early.com", false, TODAY + 1)
  expect(hosts.servesDisposable("early.com", place, TODAY + 1)).toBe(false)
  see(hosts, "other.com", "early.com", false, TODAY + 1)
  see(hosts, HOST, "late.com", false, TODAY + 1)
  see(hosts, HOST, "late.com", false, TODAY + 2)
  expect(hosts.servesDisposable("late.com", place, TODAY + 2)).toBe(true)
  expect(hosts.servesDisposable("third.com", place, TODAY + 2)).toBe(false)
})

test("a candidate is learned from two listed domains on, with sixty taken as seen", () => {
  const learnedWith = (listed: number, others: number): boolean => {
    const hosts = new LearnedHosts(LEARNED_BOUNDS, new Set([HOST]))
    meet(hosts, HOST, listed, others)
    return serves(hosts, HOST)
  }
  expect([learnedWith(1, 0), learnedWith(2, 0), learnedWith(2, 3), learnedWith(2, 4)]).toEqual([
    ...[false, true, true, false],
  ])
})

test("the candidates of this version are hosts", () => {
  expect(candidateHosts().size).toBeGreaterThan(0)
  expect([...candidateHosts()].every(key => mailHostKey(key) === key)).toBe(true)
})

test("shared networks are written by their first address and once, or the table is refused", () => {
  expect(parseSharedNetworks("45.0.0.0/8\ta\n2a01:4f8::/32\tb\n")).toHaveLength(2)
  for (const rows of ["45.0.0.1/8\ta\n", "45.0.0.0\ta\n", "45.0.0.0/8\ta\n45.0.0.0/8\tb\n", "host.com\ta\n"])
    expect(() => parseSharedNetworks(rows)).toThrow()
  expect(["142.250.1.27", "172.67.1.1", "2a01:111:f403::1"].map(isSharedAddress)).toEqual([true, true, true])
  expect(["78.47.124.133", "2a01:4f8::1"].map(isSharedAddress)).toEqual([false, false])
  // The networks after those of these filters are not known to be theirs.
  expect(["148.163.159.9", "148.163.160.9", "170.10.135.9", "170.10.136.9"].map(isSharedAddress)).toEqual([
    true,
    false,
    true,
    false,
  ])
})

test("the hash of a domain is the same in every version", () => {
  // The first 13 of the 16 hexadecimal digits of xxHash64, of which the document of xxHash has the one of the empty text.
  expect(hashDomain("")).toBe(0xef46db3751d8e)
  expect(hashDomain("example.com")).toBe(712739754121891)
})
