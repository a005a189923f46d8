import { expect, test } from "bun:test"
import fc from "fast-check"
import { parseSpfLookups, SPF_CHARS_MAX, selectSpfRecord } from "../../../src/check/mail/spf.ts"

const domains = (record: string) => parseSpfLookups(`v=spf1 ${record}`).map(({ domain }) => domain)

test("the record is the one text that is v=spf1, alone or before white space", () => {
  expect(selectSpfRecord(["x", "v=spf1 mx -all", "y"])).toBe("v=spf1 mx -all")
  expect(selectSpfRecord(["v=spf1"])).toBe("v=spf1")
  expect(selectSpfRecord(["V=SPF1 -all"])).toBe("V=SPF1 -all")
  expect(selectSpfRecord(["v=spf1\tmx\t-all"])).toBe("v=spf1\tmx\t-all")
  for (const text of [
    "",
    "v=spf10 -all",
    "v=spf1;-all",
    " v=spf1 -all",
    "v=spf1\u00a0-all",
    "v=spf1\u000b-all",
    "v=spf1\u2003-all",
    "v=spf2.0/mfrom -all",
    "v = spf1 x",
  ])
    expect([text, selectSpfRecord([text])]).toEqual([text, null])
})

test("with none or several there is no record, also if one of several is malformed", () => {
  expect(selectSpfRecord([])).toBeNull()
  expect(selectSpfRecord(["v=spf1 -all", "v=spf1 -all"])).toBeNull()
  expect(selectSpfRecord(["v=spf1 -all", "v=spf1 ä"])).toBeNull()
})

test("a record with other characters than printable ASCII and HTAB is none", () => {
  for (const odd of ["\u0000", "\u0007", "\n", "\u000b", "\u00a0", "\u2003", "\u007f", "ä", "\ufffd", "\u202e"])
    expect(selectSpfRecord([`v=spf1 mx ${odd} -all`])).toBeNull()
  expect(selectSpfRecord(["v=spf1 ~ !\"#$%&'()*+,-./:;<=>?@[]^_`{|}"])).not.toBeNull()
})

test("a long record is cut between two terms", () => {
  const fitting = `v=spf1 ${"x".repeat(SPF_CHARS_MAX - 7)}`
  expect(selectSpfRecord([fitting])).toBe(fitting)
  expect(selectSpfRecord([`${fitting}x`])).toBe("v=spf1")
  expect(selectSpfRecord([`${fitting} -all`])).toBe(fitting)
  const terms = `v=spf1 ${"include:spf.acme.com ".repeat(3000)}-all`
  const cut = selectSpfRecord([terms]) ?? ""
  expect(cut.length).toBeLessThanOrEqual(SPF_CHARS_MAX)
  expect(terms.startsWith(`${cut} `)).toBe(true)
  expect(cut.endsWith("include:spf.acme.com")).toBe(true)
})

test("terms that cost a lookup are returned in order, with their domains", () => {
  expect(domains("\tinclude:a.com \tinclude:b.com\t")).toEqual(["a.com", "b.com"])
  expect(domains("a mx ptr ip4:192.0.2.0/24 ip6::: include:a.com exists:%{i}.b.com -all exp=c.com")).toEqual([
    null,
    null,
    null,
    "a.com",
    null,
  ])
  expect(domains("+a:x.com -mx/24 ?a/24//64 ~include:A.Com. MX:x.com INCLUDE:b.com")).toEqual([
    null,
    null,
    null,
    "a.com",
    null,
    "b.com",
  ])
  expect(domains("  include:a.com   include:b.com  ")).toEqual(["a.com", "b.com"])
})

test("terms that do not parse cost nothing", () => {
  expect(
    domains("include: include a: mx: exists: exists ax include=a.com x:include:a.com ++a ip4 =a.com all:x"),
  ).toEqual([])
  expect(parseSpfLookups("v=spf1")).toEqual([])
})

test("redirect comes last, if it occurs once and there is no all", () => {
  expect(domains("redirect=r.com include:a.com")).toEqual(["a.com", "r.com"])
  expect(domains("Redirect=R.com.")).toEqual(["r.com"])
  expect(domains("redirect=r.com ~all")).toEqual([])
  expect(domains("ALL redirect=r.com")).toEqual([])
  expect(domains("redirect=r.com redirect=s.com include:a.com")).toEqual(["a.com"])
  expect(domains("include:all.com redirect=r.com")).toEqual(["all.com", "r.com"])
})

test("a domain may have macros, and a term without a valid domain counts without one", () => {
  for (const domain of ["%{ir}.%{v}._spf.%{d2}", "%{d1r+-}.a.com", "%%x.a.com", "a%_b.com", "_spf.a.com"])
    expect(domains(`include:${domain}`)).toEqual([domain])
  for (const odd of ["%{x}.a.com", "%a.com", "<b>.com", "a/b.com", "a:b.com", "a@b.com", "a,b.com", "a".repeat(254)])
    expect([odd, domains(`include:${odd}`)]).toEqual([odd, [null]])
  expect(domains(`include:${"a".repeat(253)}.`)).toEqual(["a".repeat(253)])
})

test("no text makes it throw, and no record is longer than its bound", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 4000 }), text => {
      const record = selectSpfRecord([`v=spf1 ${text}`])
      if (record !== null) parseSpfLookups(record)
      return record === null || record.length <= SPF_CHARS_MAX
    }),
  )
})
