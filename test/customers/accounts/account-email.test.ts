import { expect, test } from "bun:test"
import fc from "fast-check"
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
