import { expect, test } from "bun:test"
import fc from "fast-check"
import { parseSubject } from "../../../src/check/address/parse-subject.ts"
import { normalizeAccountEmail } from "../../../src/customers/accounts/account-email.ts"

test("one mailbox has one form: lower case, NFC, A-labels, no white space around it", () => {
  expect(normalizeAccountEmail(" Jane.Doe+x@Example.COM\n")).toBe("jane.doe+x@example.com")
  expect(normalizeAccountEmail("a@bücher.de")).toBe("a@xn--bcher-kva.de")
  expect(normalizeAccountEmail("a@BU\u0308CHER.de")).toBe("a@xn--bcher-kva.de")
  expect(normalizeAccountEmail("JU\u0308RGEN@example.com")).toBe("jürgen@example.com")
})

test("single labels are addresses of the operator's own network", () => {
  expect(normalizeAccountEmail("owner@localhost")).toBe("owner@localhost")
})

for (const text of [
  "",
  "@",
  "a",
  "a@",
  "@b.com",
  "a@b@c.com",
  "a b@c.com",
  ".a@b.com",
  "a.@b.com",
  "a..b@c.com",
  '"a b"@c.com',
  "Jane <jane@example.com>",
  "a@b..com",
  "a@.b.com",
  "a@b.com.",
  "a@-b.com",
  "a@b-.com",
  "a@b_c.com",
  "a@127.0.0.1",
  "a@[127.0.0.1]",
  "a@0x7f.1",
  "a@ex%61mple.com",
  "a@b.com/x",
  "a@b.com:25",
  "a\0@b.com",
  "a@b.com\0",
  "a\r\nBcc: x@b.com",
  "a\u202Eb@c.com",
  "a\u200Bb@c.com",
  "a\uD800@c.com",
  "boss\uFE0F@acme.com",
  "boss\u00A0@acme.com",
  "\u0301boss@acme.com",
  "boss\u2800@acme.com",
  "boss\uE000@acme.com",
  "boss@ac\u2800me.com",
])
  test(`${JSON.stringify(text)} is no account's email`, () => expect(normalizeAccountEmail(text)).toBeNull())

test("lengths hold in octets: 64 for the local part, 63 for a label, 254 for all", () => {
  expect(normalizeAccountEmail(`${"a".repeat(64)}@b.com`)).not.toBeNull()
  expect(normalizeAccountEmail(`${"a".repeat(65)}@b.com`)).toBeNull()
  expect(normalizeAccountEmail(`${"é".repeat(32)}@b.com`)).not.toBeNull()
  expect(normalizeAccountEmail(`${"é".repeat(33)}@b.com`)).toBeNull()
  expect(normalizeAccountEmail(`a@${"b".repeat(63)}.com`)).not.toBeNull()
  expect(normalizeAccountEmail(`a@${"b".repeat(64)}.com`)).toBeNull()
  const domain = `${`${"b".repeat(60)}.`.repeat(4)}com`
  expect(normalizeAccountEmail(`${"a".repeat(253 - domain.length)}@${domain}`)).toHaveLength(254)
  expect(normalizeAccountEmail(`${"a".repeat(254 - domain.length)}@${domain}`)).toBeNull()
  expect(normalizeAccountEmail(`a@${"b.".repeat(1_000_000)}com`)).toBeNull()
})

test("the syntax is that of checks: what an account can have checks as the same address", () => {
  const pieces = ["a", "É", "İ", "+x", ".", "\u0301", "\u00a0", "\u2800", "\ue000", "\ufe0f", "用", "💩", "!", '"', " "]
  const local = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }).map(parts => parts.join(""))
  const host = fc.constantFrom(
    "acme.com",
    "BÜCHER.de",
    "xn--a.de",
    "ab--é.de",
    "a.b.co.uk",
    "0x7f.1",
    "é.1",
    "localhost",
  )
  fc.assert(
    fc.property(local, host, fc.constantFrom("", "\u00a0", " "), (name, domain, space) => {
      const text = `${space}${name}@${domain}${space}`
      const form = normalizeAccountEmail(text)
      const { tagged, mailbox, fault } = parseSubject("email", text, "")
      const isSyntax = mailbox !== null && fault !== "invalid_syntax" && fault !== "too_long"
      // A quoted local part is no account's.
      const checked = isSyntax && !name.includes('"') && !/(^|\.)\.|\.$/.test(name) ? (tagged ?? mailbox) : null
      expect([text, form]).toEqual([text, checked])
    }),
    { numRuns: 3000 },
  )
})

test("a form is its own form, and no text makes it throw", () => {
  const near = fc.tuple(fc.string({ unit: "grapheme", maxLength: 20 }), fc.domain()).map(parts => parts.join("@"))
  fc.assert(
    fc.property(fc.oneof(fc.emailAddress(), near, fc.string({ unit: "binary" })), text => {
      const form = normalizeAccountEmail(text)
      if (form !== null) expect(normalizeAccountEmail(form)).toBe(form)
    }),
    { numRuns: 2000 },
  )
})
