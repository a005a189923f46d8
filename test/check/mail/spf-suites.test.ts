import { expect, test } from "bun:test"
import { lookupSpfSuites } from "../../../src/check/mail/spf.ts"
import { type ZoneRecords, zone } from "../../support/zone.ts"

const SPF_OF_A = { operator: "suite_a", entry: "spf:_spf.google.com" } as const
const SPF_OF_B = { operator: "suite_b", entry: "spf:spf.protection.outlook.com" } as const

/** The indicators if acme.com has the record, and the queries. */
async function search(record: string, records: ZoneRecords = {}) {
  const { ask, requests: queries } = zone(records)
  return { found: await lookupSpfSuites(ask, "acme.com", `v=spf1 ${record}`), queries }
}

test("the suites that a record names are found without a query", async () => {
  expect(await search("include:_spf.google.com Include:SPF.protection.outlook.com. ~all")).toEqual({
    found: [SPF_OF_A, SPF_OF_B],
    queries: [],
  })
  expect(await search("redirect=_spf.google.com")).toEqual({ found: [SPF_OF_A], queries: [] })
  expect(await search("redirect=_spf.google.com -all")).toEqual({ found: [], queries: [] })
})

test("the domain of another provider shows no suite, and is not queried", async () => {
  expect(await search("include:sendgrid.net include:spf.messagelabs.com -all")).toEqual({ found: [], queries: [] })
})

test("a hoster's domain shows no suite, though the hoster's own record names both for all its customers", async () => {
  const records = {
    "TXT websitewelcome.com": ["v=spf1 include:_spf.google.com include:spf.protection.outlook.com -all"],
  }
  expect(await search("include:websitewelcome.com -all", records)).toEqual({ found: [], queries: [] })
  const { found } = await search("include:websitewelcome.com include:spf.protection.outlook.com -all", records)
  expect(found).toEqual([SPF_OF_B])
  expect(
    (await search("include:unknownhoster.com", { "TXT unknownhoster.com": records["TXT websitewelcome.com"] })).found,
  ).toEqual([SPF_OF_A, SPF_OF_B])
})

test("names that only look like a suite's are queried like any other", async () => {
  const { found: result, queries } = await search(
    "include:_spf.google.com.evil.com include:x_spf.google.com include:google.com",
  )
  expect(result).toEqual([])
  expect(queries).toEqual(["TXT _spf.google.com.evil.com", "TXT x_spf.google.com", "TXT google.com"])
})

test("records that are included or redirected to are followed, level by level", async () => {
  const { found: result, queries } = await search("include:a.com include:b.com redirect=c.com", {
    "TXT a.com": ["noise", "v=spf1 include:d.com -all"],
    "TXT b.com": ["v=spf1 include:spf.protection.outlook.com -all"],
    "TXT c.com": ["v=spf1 redirect=e.com"],
    "TXT d.com": ["v=spf1 include:_spf.google.com ?all"],
    "TXT e.com": ["v=spf1 -all"],
  })
  expect(result).toEqual([SPF_OF_B, SPF_OF_A])
  expect(queries).toEqual(["TXT a.com", "TXT b.com", "TXT c.com", "TXT d.com", "TXT e.com"])
})

test("a name with macros is matched as written, and never queried", async () => {
  const macro = "%{i}._spf.google.com"
  expect(await search(`include:${macro} include:%{d}.acme.net exists:%{i}.x.com`)).toEqual({
    found: [{ operator: "suite_a", entry: `spf:${macro}` }],
    queries: [],
  })
})

test("a name that DNS cannot hold is never queried", async () => {
  const odd = ["localhost", "a..com", `${"a".repeat(64)}.com`, "a.com..", ".com", "a.b_c"]
  expect((await search(odd.map(name => `include:${name}`).join(" "))).queries).toEqual([])
})

test("a loop ends, and each name is queried once", async () => {
  const { queries } = await search("include:a.com include:a.com include:acme.com", {
    "TXT a.com": ["v=spf1 include:b.com include:acme.com -all"],
    "TXT b.com": ["v=spf1 include:a.com redirect=b.com"],
  })
  expect(queries).toEqual(["TXT a.com", "TXT b.com"])
})

test("terms up to the tenth that costs a lookup are read, in all records together", async () => {
  const ten = "a mx ptr exists:x.com a:y.com mx:y.com a a a"
  expect((await search(`${ten} include:_spf.google.com`)).found).toEqual([SPF_OF_A])
  expect((await search(`${ten} a include:_spf.google.com`)).found).toEqual([])
  const chain: ZoneRecords = {}
  for (let at = 1; at < 20; at++) chain[`TXT c${at}.com`] = [`v=spf1 include:c${at + 1}.com -all`]
  expect((await search("include:c1.com", chain)).queries).toHaveLength(10)
  chain["TXT c9.com"] = ["v=spf1 include:_spf.google.com -all"]
  expect((await search("include:c1.com", chain)).found).toEqual([SPF_OF_A])
  chain["TXT c9.com"] = ["v=spf1 ip4:192.0.2.1 a include:_spf.google.com -all"]
  expect((await search("include:c1.com", chain)).found).toEqual([])
})

test("an attack by includes costs ten queries", async () => {
  const bomb = (from: number): string =>
    Array.from({ length: 100 }, (_, at) => `include:n${from * 100 + at}.com`).join(" ")
  const records: ZoneRecords = {}
  for (let at = 0; at < 200; at++) records[`TXT n${at}.com`] = [`v=spf1 ${bomb(at + 1)}`]
  expect((await search(bomb(0), records)).queries).toHaveLength(10)
})

test("a third name without a record ends the search, and earlier indicators stand", async () => {
  const records: ZoneRecords = {
    "TXT v1.com": "no_name",
    "TXT v2.com": "no_data",
    "TXT v3.com": "no_name",
    "TXT a.com": ["v=spf1 include:b.com -all"],
    "TXT b.com": ["v=spf1 include:_spf.google.com -all"],
  }
  expect((await search("include:v1.com include:v2.com include:a.com", records)).found).toEqual([SPF_OF_A])
  expect((await search("include:v1.com include:v2.com include:v3.com include:a.com", records)).found).toEqual([])
  expect(
    (
      await search(
        "include:spf.protection.outlook.com include:a.com include:v1.com include:v2.com include:v3.com",
        records,
      )
    ).found,
  ).toEqual([SPF_OF_B])
})

test("a failed query ends only its branch, and a name without an SPF record adds nothing", async () => {
  const { found: result } = await search(
    "include:dead.com include:sick.com include:none.com include:two.com include:a.com",
    {
      "TXT dead.com": "timed_out",
      "TXT sick.com": "unavailable",
      "TXT none.com": ["hello"],
      "TXT two.com": ["v=spf1 include:spf.protection.outlook.com", "v=spf1 -all"],
      "TXT a.com": ["v=spf1 include:_spf.google.com -all"],
    },
  )
  expect(result).toEqual([SPF_OF_A])
})
