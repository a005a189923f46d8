import { expect, test } from "bun:test"
import fc from "fast-check"
import type { Fetch } from "../../../src/base/fetch.ts"
import { known, unknown } from "../../../src/base/finding.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { DOWNLOAD_BOUNDS, download } from "../../../src/check/fetch/download.ts"
import { createFakeTime } from "../../support/time.ts"

const LIST = "a.example\n"

/** Names and their addresses. */
const NAMES: Readonly<Record<string, readonly string[] | "timed_out">> = {
  "lists.example.com": ["8.8.8.8"],
  "mirror.example.com": ["2001:4860:4860::8888"],
  "intranet.example.com": ["10.0.0.1"],
  "mixed.example.com": ["8.8.8.8", "192.168.0.1"],
  "metadata.example.com": ["169.254.169.254"],
  "local.example.com": ["::1"],
  "silent.example.com": "timed_out",
}

/** Resolves the names above; any other does not exist. */
const resolver: CachingResolver = async ({ name, type }) => {
  const addresses = NAMES[name] ?? []
  if (addresses === "timed_out") return unknown("timed_out")
  const records = addresses.flatMap(address =>
    address.includes(":") === (type === "AAAA") ? [{ type: type === "AAAA" ? "AAAA" : "A", address } as const] : [],
  )
  return known({
    outcome: records.length > 0 ? "records" : "no_data",
    records,
    ttlS: 60,
    isCached: false,
    freshUntilMs: 0,
  })
}

/** The result of a download whose server redirects along these URLs, and the URLs that were requested. */
async function redirected(urls: readonly string[], own: CachingResolver | null = resolver) {
  const requested: string[] = []
  const fetchUrl: Fetch = async url => {
    requested.push(url)
    const next = urls[requested.length]
    return next === undefined ? new Response(LIST) : new Response(null, { status: 302, headers: { location: next } })
  }
  const deps = { fetchUrl, setTimer: createFakeTime().later, userAgent: "test", resolver: own }
  const { kind } = await download(deps, urls[0] ?? "", null, DOWNLOAD_BOUNDS)
  return { kind, requested }
}

const PUBLIC = ["https://lists.example.com/", "https://mirror.example.com/", "https://8.8.4.4/"]
const PRIVATE = [
  "https://intranet.example.com/",
  "https://mixed.example.com/",
  "https://metadata.example.com/",
  "https://local.example.com/",
  "https://10.0.0.1/",
  "https://192.168.1.1:8443/",
  "https://169.254.169.254/latest/meta-data/",
  "https://100.64.0.1/",
  "https://0x7f000001/",
  "https://[::1]/",
  "https://[fd00::1]/",
  "https://[::ffff:10.0.0.1]/",
  "https://localhost/",
  "https://localhost./",
  "https://lists.localhost/",
  "https://intranet/",
  "http://127.0.0.1/",
]
const UNKNOWN = ["https://silent.example.com/", "https://nowhere.example.com/"]

test("a redirect of a public server is followed to public servers only, at any step", async () => {
  for (const from of PUBLIC) {
    for (const to of PUBLIC) expect([from, to, (await redirected([from, to])).kind]).toEqual([from, to, "taken"])
    for (const to of [...PRIVATE, ...UNKNOWN])
      for (const way of [[from], [from, "https://mirror.example.com/x"]]) {
        const { kind, requested } = await redirected([...way, to])
        expect([to, kind, requested]).toEqual([to, "failed", way])
      }
  }
})

test("an operator's server in a private network may redirect within it, and out of it", async () => {
  for (const from of ["https://intranet.example.com/", "https://10.0.0.1/", "https://intranet/", "http://127.0.0.1/"])
    for (const to of ["https://metadata.example.com/", "https://10.0.0.2/", ...PUBLIC])
      expect([from, to, (await redirected([from, to])).kind]).toEqual([from, to, "taken"])
})

test("a server whose redirects stay with it needs no look-up", async () => {
  const asked: string[] = []
  const asking: CachingResolver = async ({ name }) => {
    asked.push(name)
    return unknown("unavailable")
  }
  expect((await redirected(["https://lists.example.com/", "https://lists.example.com/x"], asking)).kind).toBe("taken")
  expect(asked).toEqual([])
})

test("without DNS only the addresses and names in the URLs are judged", async () => {
  const [from = ""] = PUBLIC
  expect((await redirected([from, "https://unheard-of.example.com/"], null)).kind).toBe("taken")
  for (const to of PRIVATE.filter(url => !url.includes("example.com")))
    expect([to, (await redirected([from, to], null)).kind]).toEqual([to, "failed"])
})

test("no private or loopback address in a URL is ever a target for a public server", async () => {
  const octet = fc.nat(255)
  const address = fc.oneof(
    fc.tuple(fc.constantFrom(10, 127, 0), octet, octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
  )
  const spelling = fc.constantFrom<(parts: readonly number[]) => string>(
    parts => parts.join("."),
    parts => String(parts.reduce((sum, part) => sum * 256 + part, 0)),
    parts => parts.map(part => `0${part.toString(8)}`).join("."),
    parts => `[::ffff:${parts.join(".")}]`,
  )
  await fc.assert(
    fc.asyncProperty(address, spelling, async (parts, spell) => {
      const urls = ["https://lists.example.com/", `https://${spell(parts)}/`]
      for (const own of [resolver, null]) {
        const { kind, requested } = await redirected(urls, own)
        expect([kind, requested]).toEqual(["failed", urls.slice(0, 1)])
      }
    }),
  )
})
