import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { parseAddressOrDomain } from "../../../src/check/address/parse-subject.ts"
import { hashedAddress, parseEntry, parseStoredEntry } from "../../../src/customers/own-lists/entries.ts"

const hashOf = (normalized: string) => createHash("sha256").update(normalized).digest("hex")
const JANE = `sha256:${hashOf("jane@acme.com")}@acme.com`

const parse = (text: string) => parseEntry(text, parseAddressOrDomain)

describe("an entry that parses", () => {
  test.each([
    ["acme.com", "domain", "acme.com", "acme.com"],
    ["ACME.Com.", "domain", "acme.com", "acme.com"],
    [" \tmail.acme.co.uk\n", "domain", "mail.acme.co.uk", "mail.acme.co.uk"],
    ["bücher.example", "domain", "xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["XN--BCHER-KVA.example", "domain", "xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["acme.internal", "domain", "acme.internal", "acme.internal"],
    ["co.uk", "domain", "co.uk", "co.uk"],
    ["*.acme.com", "subdomains", "acme.com", "*.acme.com"],
    ["  *.ACME.com.  ", "subdomains", "acme.com", "*.acme.com"],
    ["*.Bücher.example", "subdomains", "xn--bcher-kva.example", "*.xn--bcher-kva.example"],
    ["*.zip", "subdomains", "zip", "*.zip"],
    ["jane@acme.com", "address", "acme.com", JANE],
    ["\u00a0Jane@ACME.com\u200b", "address", "acme.com", JANE],
    [" Jane+News@ACME.com ", "address", "acme.com", `sha256:${hashOf("jane+news@acme.com")}@acme.com`],
    ['"jane"@acme.com', "address", "acme.com", JANE],
    [JANE, "address", "acme.com", JANE],
    [` ${JANE} `, "address", "acme.com", JANE],
  ] as const)("%p is kept as its %s", (text, kind, domain, storedText) => {
    expect(parse(text)).toEqual({ kind, domain, storedText })
    expect(parseStoredEntry(storedText)).toEqual({ kind, domain, storedText })
    expect(parse(storedText)).toEqual({ kind, domain, storedText })
  })

  test("an address keeps nothing but the hash of all of it, so that two people of one domain differ", () => {
    expect(hashedAddress("jane@acme.com", "acme.com")).toBe(JANE)
    expect(parse("joan@acme.com")?.storedText).not.toBe(JANE)
    expect(parse("jane@acme.org")?.storedText).toBe(`sha256:${hashOf("jane@acme.org")}@acme.org`)
  })
})

describe("a text that is no entry", () => {
  test.each([
    "",
    "   ",
    "gmail",
    "zip",
    "*",
    "*.",
    "*.*.acme.com",
    "*acme.com",
    "mail.*.com",
    "*. acme.com",
    "*.jane@acme.com",
    "*@acme.com",
    "jane*@acme.com",
    "@acme.com",
    "jane@",
    "jane doe@acme.com",
    "ja\u00a0ne@acme.com",
    "\u2800jane@acme.com",
    "Jane <jane@acme.com>",
    "acme..com",
    "-acme.com",
    "acme.com/path",
    "https://acme.com",
    "acme.com:80",
    "192.0.2.1",
    "*.192.0.2.1",
    "jane@[192.0.2.1]",
    "acme\u0000.com",
    `${"a".repeat(64)}.com`,
    `${"a".repeat(65)}@acme.com`,
    "acme.com other.com",
    JANE.replace("@acme.com", ""),
    JANE.replace("acme.com", "ACME.com"),
    JANE.replace("acme.com", "*.acme.com"),
    JANE.replace("acme.com", "jane@acme.com"),
    JANE.replace("sha256", "SHA256"),
    JANE.slice(0, 70) + JANE.slice(71),
  ])("%p", text => {
    expect(parse(text)).toBeNull()
  })
})
