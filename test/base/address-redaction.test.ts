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
  ["x @ corp . com", "…@corp . com"],
  ["ask jane . doe @ mail . corp . com", "ask …@mail . corp . com"],
  ["jane .doe@ corp. com", "…@corp. com"],
  ["a=40corp.com b=3D40corp=2Ecom", "…@corp.com …@corp=2Ecom"],
  ["jane=40corp (dot) example", "…@corp.example"],
  ["jane=40corp dot example", "…@corp.example"],
  ["jane ( %40 ) corp.example or ada [&#64;] corp.example", "…@corp.example or …@corp.example"],
  ["a&#64corp.com b%u0040corp.com c&commat;corp.com", "…@corp.com …@corp.com …@corp.com"],
  ["jane (@) corp &#46; com", "…@corp &#46; com"],
  ["jane \u200b@\u00ad corp.com", "…@corp.com"],
  ["tea @ noon", "tea @ noon"],
  ["tea @ noon. Then cake @ four", "tea @ noon. Then cake @ four"],
])("%j is kept as %j, and stays so", (text, kept) => {
  expect(redactAddresses(text, 100)).toBe(kept)
  expect(redactAddresses(kept, 100)).toBe(kept)
  expect(holdsAddress(text)).toBe(!kept.includes(" @ "))
})

test("the number 40, and an end of a sentence, are no sign of an address", () => {
  for (const text of ["n=40 of 400", "rate=400.5 and =40.", "50%25 off", "Bye . @ me", "a & b; c"])
    expect([text, redactAddresses(text, 100)]).toEqual([text, text])
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
