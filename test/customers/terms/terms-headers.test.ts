import { expect, test } from "bun:test"
import fc from "fast-check"
import { termsHeaders } from "../../../src/customers/terms/terms-cache.ts"

const url = "https://example.com/terms"
const endsAtMs = Date.UTC(2026, 2, 31, 12, 30, 15, 999)

test("terms that are accepted are not spoken of", () => {
  expect(termsHeaders({ kind: "accepted" })).toEqual({})
})

test("during the notice an answer warns, names the version and the end, and links to the terms", () => {
  expect(termsHeaders({ kind: "grace", version: "2026-03", url, endsAtMs })).toEqual({
    Warning: '299 mailkind "The terms have changed. Version 2026-03 must be accepted before 2026-03-31T12:30:15Z."',
    Link: '<https://example.com/terms>; rel="terms-of-service"',
  })
})

test("after the notice a refusal links to the terms and warns of nothing any more", () => {
  expect(termsHeaders({ kind: "not_accepted", version: "2026-03", url, sinceMs: endsAtMs })).toEqual({
    Link: '<https://example.com/terms>; rel="terms-of-service"',
  })
})

test("what a URI may hold is written as it is, and no more", () => {
  const linked = (address: string) => termsHeaders({ kind: "grace", version: "1", url: address, endsAtMs })["Link"]
  const allowed = "https://user@[::1]:80/a-b._~%20!$&'()*+,;=/@?q=1&r=/?#f"
  expect(linked(allowed)).toBe(`<${allowed}>; rel="terms-of-service"`)
  expect(linked('https://x/|^{`}"<>\\ \r\nü\uD800')).toBe(
    '<https://x/%7C%5E%7B%60%7D%22%3C%3E%5C%20%0D%0A%C3%BC%EF%BF%BD>; rel="terms-of-service"',
  )
})

test("no address breaks out of its header", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), text => {
      const { Link = "" } = termsHeaders({ kind: "not_accepted", version: "1", url: text, sinceMs: 0 })
      expect(Link).toMatch(/^<[!#-;=?-~]*>; rel="terms-of-service"$/)
      expect(new Headers({ Link }).get("link")).toBe(Link)
    }),
    { numRuns: 2000 },
  )
})
