import { expect, test } from "bun:test"
import fc from "fast-check"
import { createNameMatcher } from "../../../src/check/dns/domain-name.ts"

const patterns = (...all: readonly string[]) => {
  const find = createNameMatcher(all.map(pattern => [pattern, { pattern }]))
  return (name: string) => find(name)?.pattern ?? null
}

test("a bare name matches itself and its subdomains, at label boundaries only", () => {
  const find = patterns("aspmx.l.vendor.com")
  for (const name of ["aspmx.l.vendor.com", "alt1.aspmx.l.vendor.com", "a.b.aspmx.l.vendor.com"])
    expect([name, find(name)]).toEqual([name, "aspmx.l.vendor.com"])
  for (const name of [
    "notaspmx.l.vendor.com",
    "aspmx.l.vendor.com.evil.com",
    "aspmx-l-vendor.com",
    "l.vendor.com",
    "aspmx.l.vendor.com.",
    "aspmx.l.vendor.comm",
    "xaspmx.l.vendor.com",
    "aspmx.l.vendor",
    "com",
    ".",
    "..",
    "",
  ])
    expect([name, find(name)]).toEqual([name, null])
})

test("an exact pattern matches no subdomain", () => {
  const find = patterns("=mx.vendor.com")
  expect(find("mx.vendor.com")).toBe("=mx.vendor.com")
  for (const name of ["a.mx.vendor.com", "vendor.com", "=mx.vendor.com", "xmx.vendor.com"])
    expect(find(name)).toBeNull()
})

test("an expression matches whole names", () => {
  const find = patterns("~^mx\\d\\.vendor\\.com$")
  expect(find("mx1.vendor.com")).toBe("~^mx\\d\\.vendor\\.com$")
  for (const name of [
    "mx12.vendor.com",
    "a.mx1.vendor.com",
    "mx1.vendor.com.evil.com",
    "mx1.vendor.com\n",
    "mx1xvendor.com",
  ])
    expect([name, find(name)]).toEqual([name, null])
})

test("the exact pattern wins, then an expression, then the longest bare name", () => {
  const find = patterns(
    "vendor.com",
    "b.vendor.com",
    "=c.b.vendor.com",
    "~^[cde]\\.b\\.vendor\\.com$",
    "e.b.vendor.com",
  )
  expect(find("c.b.vendor.com")).toBe("=c.b.vendor.com")
  expect(find("d.b.vendor.com")).toBe("~^[cde]\\.b\\.vendor\\.com$")
  expect(find("e.b.vendor.com")).toBe("~^[cde]\\.b\\.vendor\\.com$")
  expect(find("x.e.b.vendor.com")).toBe("e.b.vendor.com")
  expect(find("f.b.vendor.com")).toBe("b.vendor.com")
  expect(find("f.vendor.com")).toBe("vendor.com")
})

test("a malformed or repeated pattern throws", () => {
  for (const pattern of [
    "com",
    "",
    "=",
    ".vendor.com",
    "vendor.com.",
    "Vendor.com",
    "ven dor.com",
    "*.vendor.com",
    "a..b",
  ])
    expect(() => patterns(pattern)).toThrow("is a pattern of names")
  for (const pattern of ["~vendor", "~^vendor", "~vendor$", "~"])
    expect(() => patterns(pattern)).toThrow("matches the whole name")
  expect(() => patterns("~^($")).toThrow()
  expect(() => patterns("vendor.com", "vendor.com")).toThrow("occurs once")
  expect(patterns("vendor.com", "=vendor.com")("vendor.com")).toBe("=vendor.com")
})

test("a name that is too long matches nothing, and no text throws", () => {
  const find = patterns("vendor.com", "~^(ab|hz)\\w*mx\\d+\\.vendor\\.net$")
  const fitting = `${"a.".repeat(121)}vendor.com`
  expect([fitting.length, find(fitting)]).toEqual([252, "vendor.com"])
  expect(find(`aa${fitting}`)).toBeNull()
  fc.assert(fc.property(fc.string({ unit: "binary" }), name => find(name) === null || name.endsWith("vendor.com")))
})
