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

test("names come out in lower case, as A-labels, without a trailing dot", () => {
  expect(nameOf(" Example.COM. ")).toBe("example.com")
  expect(nameOf("müll.email")).toBe("xn--mll-hoa.email")
  expect(nameOf("straße.de")).toBe("xn--strae-oqa.de")
  expect(nameOf("xn--mll-hoa.email")).toBe("xn--mll-hoa.email")
})

test("what is no host name is malformed", () => {
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

test("63 characters of label and 253 of name are the most", () => {
  expect(nameOf(`${"a".repeat(63)}.com`)).toBe(`${"a".repeat(63)}.com`)
  expect(nameOf(`${"a".repeat(64)}.com`)).toBe("malformed")
  const longest = `${"a.".repeat(124)}b.com`
  expect(longest).toHaveLength(253)
  expect(nameOf(longest)).toBe(longest)
  expect(nameOf(`c${longest}`)).toBe("malformed")
})

test("a top-level domain that does not exist is told apart from a malformed name", () => {
  expect(nameOf("0815.ry")).toBe("unknown_tld")
  expect(nameOf("hotmail.con")).toBe("unknown_tld")
})

test("a star is a label of a suffix pattern, but never all of it nor its end", () => {
  expect(normalizePattern("CI.*.*.us")).toEqual({ kind: "name", name: "ci.*.*.us" })
  expect(normalizePattern("gov.uk")).toEqual({ kind: "name", name: "gov.uk" })
  for (const text of ["*", "gov.*", "a*.us", "*us"]) expect(normalizePattern(text).kind).toBe("dropped")
})

test("public suffixes are known by both sections of the list", () => {
  expect(["com", "edu.pl", "com.ar", "my.id", "github.io"].every(isPublicSuffix)).toBe(true)
  expect(["gmail.com", "pw.edu.pl", "a.github.io"].some(isPublicSuffix)).toBe(false)
})

test("parents go down to the registrable domain", () => {
  expect(registrableDomain("a.b.acme.co.uk")).toBe("acme.co.uk")
  expect(registrableDomain("co.uk")).toBe("co.uk")
  expect(parentDomains("a.b.acme.co.uk", "acme.co.uk")).toEqual(["b.acme.co.uk", "acme.co.uk"])
  expect(parentDomains("acme.co.uk", "acme.co.uk")).toEqual([])
})
