import { expect, test } from "bun:test"
import { BlockList, isIP } from "node:net"
import { Deadline } from "../../../src/base/concurrency.ts"
import { known } from "../../../src/base/finding.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { createGuardedFetch, GUARDED_FETCH_BOUNDS } from "../../../src/check/fetch/guarded-fetch.ts"
import { hostWeb, httpAnswer } from "../../support/host-web.ts"
import { createFakeTime } from "../../support/time.ts"
import { zone } from "../../support/zone.ts"
import { HOSTILE_ANSWERS } from "./hostile-answers.ts"
import { type HostileCase, OUTSIDE } from "./hostile-case.ts"
import { HOSTILE_NAMES } from "./hostile-names.ts"

const page = httpAnswer("<p>here")
const web = { [`${OUTSIDE}:80`]: page, [`${OUTSIDE}:443`]: page }

const refused = (ends: HostileCase["ends"], rows: Readonly<Record<string, string>>): readonly HostileCase[] =>
  Object.entries(rows).map(([description, url]) => ({ description, url, web, ends }))

/** URLs that are refused without a query. The resolver has a public address for every name. */
const HOSTILE_URLS: readonly HostileCase[] = [
  ...refused("ip_host", {
    "a decimal IPv4 address": "http://127.0.0.1/",
    "a public IPv4 address": "http://93.184.216.34/",
    "IPv4 as one number": "http://2130706433/",
    "IPv4 as one hexadecimal number": "http://0x7f000001/",
    "IPv4 as one octal number": "http://017700000001/",
    "IPv4 in octal parts": "http://0177.0.0.01/",
    "IPv4 in hexadecimal parts": "http://0x7f.0x0.0x0.0x1/",
    "IPv4 of two parts": "http://127.1/",
    "IPv4 of three parts": "http://127.0.1/",
    "IPv4 of mixed parts": "http://0x7f.1/",
    "IPv4 with zeros before it": "http://127.000.000.001/",
    "zero, which is this host": "http://0/",
    "zero in hexadecimal, without a digit": "http://0x/",
    "IPv4 with a trailing dot": "http://127.0.0.1./",
    "IPv4 in wide digits": "http://１２７.０.０.１/",
    "IPv4 in digits within circles": "http://①②⑦.⓪.⓪.①/",
    "IPv4 with ideographic dots": "http://127。0。0。1/",
    "IPv4 with halfwidth dots": "http://169｡254｡169｡254/",
    "IPv4 in percent signs": "http://%31%32%37.%30.0.1/",
    "the metadata address": "http://169.254.169.254/latest/meta-data/",
    "the metadata address as a number": "http://2852039166/",
    "IPv6 loopback": "http://[::1]/",
    "IPv6 zero": "http://[::]/",
    "mapped IPv4 with dots": "http://[::ffff:127.0.0.1]/",
    "mapped IPv4 in hexadecimal": "http://[::ffff:7f00:1]/",
    "compatible IPv4": "http://[::127.0.0.1]/",
    "link-local IPv6": "http://[fe80::1]/",
    "unique local IPv6": "http://[fd00:ec2::254]/",
    "NAT64 of a private address": "http://[64:ff9b::10.0.0.1]/",
    "a private IPv4 address by https": "https://10.0.0.1/",
    "a tab within an address": "http://127.\t0.0.1/",
    "a user name that looks like the host": "http:\\\\127.0.0.1\\@acme.com/",
  }),
  ...refused("has_credentials", {
    "a user name": "http://admin@acme.com/",
    "a user name and a password": "http://admin:secret@acme.com/",
    "a password alone": "http://:secret@acme.com/",
    "a host before the real one": "http://acme.com@localhost/",
    "a host and a port before the real one": "https://acme.com:443@10.0.0.1/",
    "two at signs": "http://a@acme.com@127.0.0.1/",
    "a slash in percent signs before the at sign": "http://acme.com%2f@127.0.0.1/",
    "a backslash in percent signs before the at sign": "http://acme.com%5c@169.254.169.254/",
  }),
  ...refused("bad_port", {
    "the port of a mail server": "http://acme.com:25/",
    "the port of a database": "http://acme.com:6379/",
    "port 8080": "http://acme.com:8080/",
    "port 0": "http://acme.com:0/",
    "the last port": "https://acme.com:65535/",
    "port 22 by https": "https://acme.com:22/",
  }),
  ...refused("bad_scheme", {
    "a file": "file:///etc/passwd",
    FTP: "ftp://acme.com/",
    gopher: "gopher://acme.com:80/_GET",
    "a data URL": "data:text/html,hello",
    "a script": "javascript:alert(1)",
    "a blob": "blob:https://acme.com/1",
    "a WebSocket": "ws://acme.com/",
  }),
  ...refused("bad_host", {
    localhost: "http://localhost/",
    "localhost with a trailing dot": "http://localhost./",
    "localhost in wide letters": "http://ｌｏｃａｌｈｏｓｔ/",
    "localhost in capitals": "HTTP://LOCALHOST/",
    "a name of one label": "http://intranet/",
    "an empty label": "http://acme..com/",
    "an empty first label": "http://.acme.com/",
    "two trailing dots": "http://acme.com../",
    "a label that is too long": `http://${"a".repeat(64)}.com/`,
    "a name that is too long": `http://${"abcdefghi.".repeat(25)}acme/`,
    "a name with characters of URLs": "http://acme!.com/",
    "a name with a quote": "http://ac'me.com/",
  }),
  ...refused("bad_url", {
    "no URL": "acme.com",
    nothing: "",
    "a host with a space": "http://acme .com/",
    "a host with NUL": "http://acme.com\0.evil.com/",
    "a host with NUL in percent signs": "http://acme%00.com/",
    "IPv4 beyond its range": "http://256.1.1.1/",
    "a port beyond its range": "http://acme.com:65536/",
    "IPv6 with a zone": "http://[fe80::1%25eth0]/",
    "an unclosed bracket": "http://[::1/",
    "no host": "http:///",
    "a URL that is too long": `http://acme.com/${"a".repeat(2049)}`,
  }),
]

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
