import { expect, test } from "bun:test"
import { known, unknown } from "../../../src/base/finding.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { createPublicFetch } from "../../../src/check/fetch/public-address.ts"
import { outcomeOf } from "../../support/outcome-of.ts"

/** A public fetch over names with these addresses, and the URL of every request. */
function guarded(addresses: Record<string, readonly string[] | "unavailable">) {
  const queries: string[] = []
  const ask: CachingResolver = async ({ name, type }) => {
    const own = addresses[name] ?? []
    if (own === "unavailable") return unknown("unavailable")
    const records = own
      .filter(address => address.includes(":") === (type === "AAAA"))
      .map(address => ({ type: type === "AAAA" ? ("AAAA" as const) : ("A" as const), address }))
    return known({ outcome: "records", records, ttlS: 60, isCached: false, freshUntilMs: 0 })
  }
  const web = createPublicFetch(ask, async url => {
    queries.push(url)
    return new Response("{}")
  })
  const fetched = (url: string) =>
    outcomeOf(web(url, { signal: new AbortController().signal, headers: {} }).then(() => url))
  return { queries, fetched }
}

test("only a name whose addresses are all public is fetched", async () => {
  const { queries, fetched } = guarded({
    "rdap.test.net": ["8.8.8.8", "2001:4860:4860::8888"],
    "inside.test.net": ["10.0.0.1"],
    "both.test.net": ["8.8.8.8", "169.254.169.254"],
    "mapped.test.net": ["::ffff:127.0.0.1"],
    "away.test.net": "unavailable",
  })
  for (const name of ["inside", "both", "mapped", "away", "nowhere"])
    expect(await fetched(`https://${name}.test.net/`)).toThrow()
  expect(queries).toEqual([])
  expect((await fetched("https://rdap.test.net./domain/acme.com"))()).toBe("https://rdap.test.net./domain/acme.com")
  expect(queries).toHaveLength(1)
})

test("only https is fetched", async () => {
  const { fetched } = guarded({ "rdap.test.net": ["8.8.8.8"] })
  expect(await fetched("http://rdap.test.net/")).toThrow("https")
})
