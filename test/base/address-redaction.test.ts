import { expect, test } from "bun:test"
import { holdsAddress, redactAddresses, redactLines, urlHoldsAddress } from "../../src/base/address-redaction.ts"

test.each([
  ["write to jane@example.com, please", "write to …@example.com, please"],
  ["jane.doe+news@a.com bob@b.com", "…@a.com …@b.com"],
  ['"jane doe"@example.com', "…@example.com"],
  ["jane (work)@example.com", "…@example.com"],
  ["jane＠example.com jane%40b.com jane&#64;c.com", "…@example.com …@b.com …@c.com"],
  ["jane [at] example [dot] com", "…@example.com"],
  ["jane @ example.com", "…@example.com"],
  ["jane at example dot com", "…@example.com"],
  ["two lines\nof jane@example.com\u202e", "two lines of …@example.com"],
  ["tea @ noon", "tea @ noon"],
])("%j is kept as %j, and stays so", (text, kept) => {
  expect(redactAddresses(text, 100)).toBe(kept)
  expect(redactAddresses(kept, 100)).toBe(kept)
  expect(holdsAddress(text)).toBe(!kept.includes(" @ "))
})

test("a text is cut after its addresses are taken out, and one of which nothing is left is none", () => {
  expect(redactAddresses("a jane@example.com", 4)).toBe("a …@")
  expect(redactAddresses(" \u202e\n", 10)).toBeNull()
})

test("of several lines only those with an address change", () => {
  expect(redactLines("  as  it is\njane@example.com said\n")).toBe("  as  it is\n…@example.com said\n")
})

test("a URL holds an address in any encoding of its at-sign, and a handle is none", () => {
  for (const sign of ["@", "%40", "%2540", "&#64;"])
    expect([sign, urlHoldsAddress(`https://a.com/x?to=jane${sign}b.com`)]).toEqual([sign, true])
  expect(urlHoldsAddress("https://a.com/@team?x=%")).toBe(false)
})
