import { expect, test } from "bun:test"
import { DOMAIN_NAME_CHARS_MAX, isDisplayableName, prefixedName } from "../../../src/check/dns/domain-name.ts"

test("a name is displayable if it is printable ASCII and not too long", () => {
  for (const name of ["a", "mx.acme.com", "192.0.2.1", "_x.acme.com", "a\\032b", "<b>.acme.com", "a".repeat(253)])
    expect([name, isDisplayableName(name)]).toEqual([name, true])
  for (const name of ["", " ", "a b", "a\nb", "a\u0000", "a\u007f", "ä.de", "\u202egro.com", "a".repeat(254)])
    expect([name, isDisplayableName(name)]).toEqual([name, false])
})

test("a prefixed name is null if it is too long", () => {
  const room = DOMAIN_NAME_CHARS_MAX - "_dmarc.".length
  expect(prefixedName("_dmarc", "acme.com")).toBe("_dmarc.acme.com")
  expect(prefixedName("_dmarc", "a".repeat(room))).toHaveLength(DOMAIN_NAME_CHARS_MAX)
  expect(prefixedName("_dmarc", "a".repeat(room + 1))).toBeNull()
})
