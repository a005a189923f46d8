import { expect, test } from "bun:test"
import { parseEmail } from "../../../src/check/address/parse-email.ts"

const LOCAL_64 = "a".repeat(64)
/** An address of `octets` bytes. */
const address = (bytes: number, local = "jane") => {
  const host = `${"b".repeat(63)}.${"c".repeat(63)}.`
  const rest = bytes - local.length - 1 - host.length - 4
  return `${local}@${host}${"d".repeat(Math.min(rest, 63))}${rest > 63 ? `.${"e".repeat(rest - 64)}` : ""}.com`
}

test("the last @ separates local part and domain, and a quoted local part may contain others", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["jane@acme.com", "jane", "acme.com"],
    ["Jane.Doe@ACME.com", "jane.doe", "acme.com"],
    ['"a@b"@acme.com', '"a@b"', "acme.com"],
    ['"a\\"@\\"b"@acme.com', '"a\\"@\\"b"', "acme.com"],
    ["jürgen@büßchen.de", "jürgen", "xn--bchen-lqa6r.de"],
    ["用户@例え.jp", "用户", "xn--r8jz45g.jp"],
    ["jane@acme。com", "jane", "acme.com"],
    ["jane@ａｃｍｅ．ｃｏｍ", "jane", "acme.com"],
    ["jane@a", "jane", "a"],
  ]
  for (const [text, local, domain] of cases) {
    const { localPart, host, fault } = parseEmail(text)
    expect([text, localPart?.text, host.name, fault]).toEqual([text, local, domain, null])
  }
})

test("display names, comments, obsolete forms and broken parts are invalid_syntax", () => {
  for (const text of [
    ...[
      "jane",
      "@",
      "@acme.com",
      "jane@",
      "jane@@acme.com",
      "jane@acme@beta.org",
      "jane doe@acme.com",
      "jane@ac me.com",
    ],
    ...[
      "Jane <jane@acme.com>",
      "<jane@acme.com>",
      '"Jane" <jane@acme.com>',
      "jane@acme.com (Jane)",
      "(x)jane@acme.com",
    ],
    ...[
      "jane(x)@acme.com",
      "jane@(x)acme.com",
      "jane @acme.com",
      "jane@ acme.com",
      "jane . doe@acme.com",
      '"a".b@acme.com',
    ],
    ...["jane@acme.com,joe@acme.com", "jane@acme.com;", "mailto:jane@acme.com", "@a,@b:jane@acme.com", "a@acme.com."],
    ...[
      "jane@acme.com。",
      "jane@.acme.com",
      "jane@acme..com",
      "jane@-acme.com",
      "jane@acme-.com",
      "jane@a_b.com",
      "jane@acme.com/x",
    ],
    ...[
      "jane@acme.com:25",
      "jane@acme.123",
      "jane@xn--a.de",
      "jane@e%78.com",
      '"jane@acme.com',
      'jane"@acme.com',
      "jane＠acme.com",
    ],
    ...[
      "jane@[192.0.2.256]",
      "jane@[::1]",
      "jane@[IPv6:x]",
      "jane@[acme.com]",
      "jane@[]",
      "jane@[192.0.2.1",
      "jane@[192.0.2.1].com",
    ],
    ...[
      "\ud800@acme.com",
      "jane@\ud800.com",
      ".jane@acme.com",
      "jane.@acme.com",
      "ja..ne@acme.com",
      "jane@acme.com@",
      "jane@[IPv6:fe80::1%1]",
    ],
  ]) {
    expect([text, parseEmail(text).fault]).toEqual([text, "invalid_syntax"])
  }
})

test("an IP address as domain is ip_literal, in brackets or bare", () => {
  for (const domain of ["[192.0.2.1]", "[IPv6:2001:db8::1]", "[ipv6:::1]", "192.0.2.1", "127.1", "0x7f.1", "::1"]) {
    const { fault, host, localPart } = parseEmail(`jane@${domain}`)
    expect([domain, fault, host.name, localPart?.text]).toEqual([domain, "ip_literal", null, "jane"])
  }
})

test("a domain is parsed even if the local part is invalid", () => {
  for (const text of ["@acme.com", "jane doe@acme.com", "jane@@acme.com", `${LOCAL_64}a@acme.com`]) {
    expect(parseEmail(text)).toMatchObject({ host: { name: "acme.com" }, localPart: null })
  }
})

test("a local part has at most 64 bytes as sent, quotes included", () => {
  expect(parseEmail(`${LOCAL_64}@acme.com`).fault).toBeNull()
  expect(parseEmail(`${LOCAL_64}a@acme.com`).fault).toBe("too_long")
  expect(parseEmail(`${"é".repeat(32)}@acme.com`).fault).toBeNull()
  expect(parseEmail(`${"é".repeat(32)}a@acme.com`).fault).toBe("too_long")
  expect(parseEmail(`"${"a".repeat(62)}"@acme.com`).fault).toBeNull()
  expect(parseEmail(`"${"a".repeat(63)}"@acme.com`).fault).toBe("too_long")
  expect(parseEmail(`jane+${"a".repeat(59)}@acme.com`).fault).toBeNull()
  expect(parseEmail(`jane+${"a".repeat(60)}@acme.com`).fault).toBe("too_long")
})

test("an address has at most 254 bytes in UTF-8", () => {
  expect(address(254)).toHaveLength(254)
  expect(parseEmail(address(254)).fault).toBeNull()
  expect(parseEmail(address(255)).fault).toBe("too_long")
  expect(parseEmail(address(253, "é")).fault).toBeNull()
  expect(parseEmail(address(254, "é")).fault).toBe("too_long")
  expect(parseEmail(`a@${"b.".repeat(126)}c`).fault).toBe("too_long")
})

test("an address that is too long is too_long, whatever else is wrong", () => {
  for (const text of [
    "a".repeat(255),
    "@".repeat(255),
    `${LOCAL_64} @acme.com`,
    `${LOCAL_64}a@[192.0.2.1]`,
    "\ud800".repeat(90),
  ]) {
    expect(parseEmail(text).fault).toBe("too_long")
  }
})

test("a domain of more than 253 bytes as A-labels is too long, even if the address is not", () => {
  // 224 bytes of UTF-8, but 265 of A-labels: each label takes `xn--` and more.
  const domain = `${"ü.".repeat(30)}${"é.".repeat(10)}de`
  expect(Buffer.byteLength(domain)).toBeLessThan(254)
  expect(parseEmail(`a@${domain}`).fault).toBe("too_long")
})
