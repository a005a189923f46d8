import { expect, test } from "bun:test"
import {
  isPublicSuffix,
  normalizeName,
  normalizePattern,
  parentDomains,
  registrableDomain,
} from "../../../../src/check/lists/sources/normalized-name.ts"

const nameOf = (text: string) => {
  const found = normalizeName(text)
  return found.kind === "name" ? found.name : found.rule
}

test("names are normalized to A-labels in lower case, without a trailing dot", () => {
  expect(nameOf(" Example.COM. ")).toBe("example.com")
  expect(nameOf("müll.email")).toBe("xn--mll-hoa.email")
  expect(nameOf("straße.de")).toBe("xn--strae-oqa.de")
  expect(nameOf("xn--mll-hoa.email")).toBe("xn--mll-hoa.email")
})

test("a text that is not a host name is malformed", () => {
  const texts = [
    "",
    ".",
    "a b.com",
    "a_b.com",
    "-a.com",
    "a-.com",
    "a..com",
    "a@b.com",
    "1.2.3.4",
    "[::1]",
    "http://a.com",
    "a.com:80",
    "xn--a.com",
  ]
  for (const text of texts) expect([text, nameOf(text)]).toEqual([text, "malformed"])
})

test("a label has at most 63 characters and a name at most 253", () => {
  expect(nameOf(`${"a".repeat(63)}.com`)).toBe(`${"a".repeat(63)}.com`)
  expect(nameOf(`${"a".repeat(64)}.com`)).toBe("malformed")
  const longest = `${"a.".repeat(124)}b.com`
  expect(longest).toHaveLength(253)
  expect(nameOf(longest)).toBe(longest)
  expect(nameOf(`c${longest}`)).toBe("malformed")
})

test("a name with an unknown top-level domain is not malformed, but unknown_tld", () => {
  expect(nameOf("0815.ry")).toBe("unknown_tld")
  expect(nameOf("hotmail.con")).toBe("unknown_tld")
})

test("a star can be a label of a suffix pattern, but not the last one", () => {
  expect(normalizePattern("CI.*.*.us")).toEqual({ kind: "name", name: "ci.*.*.us" })
  expect(normalizePattern("gov.uk")).toEqual({ kind: "name", name: "gov.uk" })
  for (const text of ["*", "gov.*", "a*.us", "*us"]) expect(normalizePattern(text).kind).toBe("dropped")
})

test("public suffixes are recognised by both sections of the list", () => {
  expect(["com", "edu.pl", "com.ar", "my.id", "github.io"].every(isPublicSuffix)).toBe(true)
  expect(["gmail.com", "pw.edu.pl", "a.github.io"].some(isPublicSuffix)).toBe(false)
})

test("parents go down to the registrable domain", () => {
  expect(registrableDomain("a.b.acme.co.uk")).toBe("acme.co.uk")
  expect(registrableDomain("co.uk")).toBe("co.uk")
  expect(parentDomains("a.b.acme.co.uk", "acme.co.uk")).toEqual(["b.acme.co.uk", "acme.co.uk"])
  expect(parentDomains("acme.co.uk", "acme.co.uk")).toEqual([])
})
