import { expect, test } from "bun:test"
import fc from "fast-check"
import { isAllowedOrigin, parseOrigin } from "../../../src/customers/keys/origins.ts"

for (const [text, origin] of [
  ["https://Example.com:443/", "https://example.com"],
  ["HTTPS://EXAMPLE.COM", "https://example.com"],
  ["http://example.com:80", "http://example.com"],
  ["http://example.com:443", "http://example.com:443"],
  ["https://example.com:80", "https://example.com:80"],
  ["https://example.com:08443", "https://example.com:8443"],
  ["https://bücher.de", "https://xn--bcher-kva.de"],
  ["http://localhost:3000", "http://localhost:3000"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  ["http://[::1]:3000/", "http://[::1]:3000"],
  ["http://[0:0::1]", "http://[::1]"],
] as const)
  test(`${text} is the origin ${origin}`, () => expect(parseOrigin(text)).toBe(origin))

for (const text of [
  "",
  "null",
  "*",
  "https://*",
  "https://*.example.com",
  "example.com",
  "//example.com",
  "https://",
  "https:///",
  "https:example.com",
  "https:/example.com",
  "https:\\\\example.com",
  "https://example.com/path",
  "https://example.com//",
  "https://example.com?",
  "https://example.com/?x=1",
  "https://example.com#",
  "https://user@example.com",
  "https://user:pass@example.com",
  "https://@example.com",
  "https://ex%61mple.com",
  "https://example.com:99999",
  "https://example.com:x",
  "https://example.com:443:443",
  "https://exa mple.com",
  "https://example.com ",
  " https://example.com",
  "https://exa\nmple.com",
  "https://exa\tmple.com",
  "https://example.com\0",
  "https://a.com,https://b.com",
  "https://a.com;b",
  "https://⑴",
  "ftp://example.com",
  "file:///etc/passwd",
  "data:text/html,x",
  "javascript:alert(1)",
  "chrome-extension://abcdef",
  `https://${"a".repeat(300)}.com`,
])
  test(`${JSON.stringify(text)} is no origin that a key can allow`, () => expect(parseOrigin(text)).toBeNull())

test("an origin parses to itself, contains no space, and no text makes parsing throw", () => {
  const near = fc.string({ unit: "binary", maxLength: 20 }).map(text => `https://${text}`)
  fc.assert(
    fc.property(fc.oneof(fc.webUrl({ withFragments: false }), near, fc.string({ unit: "binary" })), text => {
      const origin = parseOrigin(text)
      if (origin === null) return
      expect(parseOrigin(origin)).toBe(origin)
      expect(origin).not.toContain(" ")
    }),
    { numRuns: 2000 },
  )
})

test("a header is allowed when its scheme, host and port are", () => {
  const origins = ["https://example.com", "http://localhost:3000"]
  expect(isAllowedOrigin(origins, "https://example.com")).toBe(true)
  expect(isAllowedOrigin(origins, "https://example.com:443")).toBe(true)
  for (const header of [
    null,
    "",
    "null",
    "http://example.com",
    "https://example.com:8443",
    "https://www.example.com",
    "https://example.com.evil.com",
    "https://evilexample.com",
    "http://localhost",
    "https://example.com, http://localhost:3000",
  ])
    expect(isAllowedOrigin(origins, header)).toBe(false)
  expect(isAllowedOrigin([], "https://example.com")).toBe(false)
})
