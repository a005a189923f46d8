import { expect, test } from "bun:test"
import fc from "fast-check"
import { LIMITS } from "../../../src/contract/limits.ts"
import { parseTermsUrl } from "../../../src/customers/terms/terms.ts"

for (const [text, url] of [
  ["https://example.com/terms", "https://example.com/terms"],
  ["http://localhost:8080/terms?v=2#top", "http://localhost:8080/terms?v=2#top"],
  ["HTTPS://Example.COM:443", "https://example.com/"],
  ["https://bücher.de/AGB/Übersicht", "https://xn--bcher-kva.de/AGB/%C3%9Cbersicht"],
  ['https://example.com/<a>"b"', "https://example.com/%3Ca%3E%22b%22"],
  ["https://example.com/a/../b", "https://example.com/b"],
] as const)
  test(`${text} is the address ${url}`, () => expect(parseTermsUrl(text)).toBe(url))

for (const text of [
  "",
  "terms",
  "/terms",
  "example.com/terms",
  "//example.com/terms",
  "https:example.com",
  "https:/example.com",
  "https:\\\\example.com\\terms",
  "https://",
  "https:///terms",
  "https://exa mple.com/",
  "https://example.com/a b",
  " https://example.com/",
  "https://example.com/\r\nSet-Cookie: a=b",
  "https://example.com/\tx",
  "https://example.com/\u202Ex",
  "https://example.com/\uD800",
  "https://user@example.com/",
  "https://user:pass@example.com/",
  "https://:pass@example.com/",
  "https://example.com:99999/",
  "ftp://example.com/terms",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "mailto:a@example.com",
  "data:text/html,x",
])
  test(`${JSON.stringify(text)} is no address of terms`, () => expect(parseTermsUrl(text)).toBeNull())

test("an address has a longest length, as it is sent and as it is written", () => {
  const longest = `https://example.com/${"a".repeat(LIMITS.urlLengthMax - 20)}`
  expect(parseTermsUrl(longest)).toBe(longest)
  expect(parseTermsUrl(`${longest}a`)).toBeNull()
  expect(parseTermsUrl(`https://example.com/${"ü".repeat(LIMITS.urlLengthMax / 6)}`)).toBeNull()
})

test("an address is its own address, of printable ASCII without what ends it in a header", () => {
  const near = fc.string({ unit: "binary", maxLength: 30 }).map(text => `https://example.com/${text}`)
  const query = fc.string({ unit: "grapheme", maxLength: 30 }).map(text => `https://example.com/?${text}`)
  fc.assert(
    fc.property(fc.oneof(near, query, fc.webUrl({ withFragments: true }), fc.string({ unit: "binary" })), text => {
      const url = parseTermsUrl(text)
      if (url === null) return
      expect(url).toMatch(/^https?:\/\/[!#-;=?-~]+$/)
      expect(parseTermsUrl(url)).toBe(url)
    }),
    { numRuns: 3000 },
  )
})
