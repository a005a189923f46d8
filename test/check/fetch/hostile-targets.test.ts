import { expect, test } from "bun:test"
import { BlockList, isIP } from "node:net"
import { Deadline } from "../../../src/base/concurrency.ts"
import { known } from "../../../src/base/finding.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { createGuardedFetch, GUARDED_FETCH_BOUNDS } from "../../../src/check/fetch/guarded-fetch.ts"
import { hostWeb } from "../../support/host-web.ts"
import { createFakeTime } from "../../support/time.ts"
import { zone } from "../../support/zone.ts"
import { HOSTILE_ANSWERS } from "./hostile-answers.ts"
import { OUTSIDE } from "./hostile-case.ts"
import { HOSTILE_NAMES } from "./hostile-names.ts"
import { HOSTILE_URLS } from "./hostile-urls.ts"

const CASES = [...HOSTILE_URLS, ...HOSTILE_NAMES, ...HOSTILE_ANSWERS]

/** The private networks by an independent implementation. Each family has its own list, because one list would match IPv4 as mapped IPv6. */
const FORBIDDEN = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const)
  FORBIDDEN.ipv4.addSubnet(network, bits, "ipv4")
for (const [network, bits] of [
  ["::", 8],
  ["100::", 8],
  ["2001::", 23],
  ["2002::", 16],
  ["4000::", 2],
  ["8000::", 1],
] as const)
  FORBIDDEN.ipv6.addSubnet(network, bits, "ipv6")

/** The only network below `::/8` with public addresses: NAT64. */
const NAT64_OF_OUTSIDE = "64:ff9b::5db8:d822"

const everywhere: CachingResolver = async ({ type }) =>
  known({
    outcome: "records",
    records: type === "A" ? [{ type, address: OUTSIDE }] : [],
    ttlS: 300,
    isCached: false,
    freshUntilMs: 0,
  })

test("there are eighty hostile targets and more, each its own", () => {
  expect(CASES.length).toBeGreaterThanOrEqual(80)
  expect(new Set(CASES.map(({ description }) => description)).size).toBe(CASES.length)
})

for (const { description, url, dns, web = {}, ends, connections = 0 } of CASES) {
  test(`nothing within is reached by ${description}`, async () => {
    const { later: setTimer, waiting } = createFakeTime()
    const { connect, attempts, requests, openCount } = hostWeb(web)
    const resolver = dns === undefined ? everywhere : zone(dns).ask
    const fetch = createGuardedFetch({ resolver, connect, setTimer, userAgent: "mailkind/1.0.0" })
    const deadline = new Deadline(setTimer, 60_000)
    const fetched = await fetch(url, deadline)
    deadline.cancel()
    expect(fetched.known ? fetched.value.status : fetched.cause).toBe(ends)
    if (fetched.known) expect(fetched.value.body.length).toBeLessThanOrEqual(GUARDED_FETCH_BOUNDS.bodyBytesMax)
    expect(attempts).toHaveLength(connections)
    for (const { address, port } of attempts) {
      expect(isIP(address)).not.toBe(0)
      const kind = isIP(address) === 4 ? "ipv4" : "ipv6"
      if (address !== NAT64_OF_OUTSIDE) expect(FORBIDDEN[kind].check(address, kind)).toBe(false)
      expect([80, 443]).toContain(port)
    }
    for (const request of requests) expect(request.match(/^Host: /gm)).toHaveLength(1)
    expect([openCount(), waiting()]).toEqual([0, 0])
  })
}
