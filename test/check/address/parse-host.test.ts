import { expect, test } from "bun:test"
import { domainToASCII } from "node:url"
import { parseHost } from "../../../src/check/address/parse-host.ts"

const label = (bytes: number) => "a".repeat(bytes)
/** A name of `octets` bytes: labels of 63, then the rest. */
const name = (bytes: number) => `${[63, 63, 63].map(label).join(".")}.${label(bytes - 192)}`

test("a host becomes A-labels in lower case, by UTS 46 without transitional mappings", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["acme.com", "acme.com"],
    ["ACME.Com", "acme.com"],
    ["a", "a"],
    ["a-b.c-d.com", "a-b.c-d.com"],
    ["1.com", "1.com"],
    ["123-456.de", "123-456.de"],
    ["aa--bb.de", "aa--bb.de"],
    ["r3---sn-x.example.com", "r3---sn-x.example.com"],
    ["1.2.3.4.com", "1.2.3.4.com"],
    ["foo.0xg", "foo.0xg"],
    ["foo.0x7f", "foo.0x7f"],
    ["a.1b", "a.1b"],
    ["faß.de", "xn--fa-hia.de"],
    ["FAẞ.de", "xn--fa-hia.de"],
    ["fass.de", "fass.de"],
    ["βόλος.gr", "xn--nxasmm1c.gr"],
    ["ΒΌΛΟΣ.gr", "xn--nxasmq6b.gr"],
    ["büßchen.de", "xn--bchen-lqa6r.de"],
    ["bu\u0308ßchen.de", "xn--bchen-lqa6r.de"],
    ["BÜCHER.de", "xn--bcher-kva.de"],
    ["XN--BCHER-KVA.DE", "xn--bcher-kva.de"],
    ["xn--fa-hia.de", "xn--fa-hia.de"],
    ["ＸＮ－－FA-HIA.de", "xn--fa-hia.de"],
    ["aéb--c.de", "xn--ab--c-bsa.de"],
    ["中国", "xn--fiqs8s"],
    ["日本。jp", "xn--wgv71a.jp"],
    ["日本．co．jp", "xn--wgv71a.co.jp"],
    ["acme｡com", "acme.com"],
    ["ｅｘａｍｐｌｅ.com", "example.com"],
    ["\u212a.com", "k.com"],
    ["Ⅷ.com", "viii.com"],
    ["a\u00adb.de", "ab.de"],
    ["a\u200bb.de", "ab.de"],
    ["İ.de", "xn--i-9bb.de"],
    ["💩.la", "xn--ls8h.la"],
    ["אבג.com", "xn--4dbcd.com"],
    ["क्‍ष.com", "xn--11b2ezcw70k.com"],
    ["аррӏе.com", "xn--80ak6aa92e.com"],
  ]
  for (const [text, expected] of cases)
    expect([text, parseHost(text, false)]).toEqual([text, { name: expected, fault: null }])
})

test("a text with a character or a label that names cannot have is not a host", () => {
  for (const text of [
    ...["", ".", "..", ".com", "a..com", "com..", "-a.com", "a-.com", "a.-b", "a.b-", "-", "a.-.b"],
    ...[
      "a_b.com",
      "_.com",
      "x.a_b.co.uk",
      "a_b.github.io",
      "mail.a_",
      "xn--_b-9ia.acme.com",
      "é_b.acme.com",
      "_-.acme.com",
      "a b.com",
      "a,com",
      "a/b.com",
      "a:80",
      "a?b.com",
      "a#b.com",
      "a@b.com",
      "a%62.com",
    ],
    ...["é%61.com", "％41.de", "é／b.de", "é＠b.de", "é：80", "é＿b.de", "é/b.de", "é?b", "é#b", "é b.de", "é\\b.de"],
    ...[
      "a!b.com",
      "a$b.com",
      "a*b.com",
      "*.acme.com",
      "a'b.com",
      "a(b).com",
      "<acme.com>",
      '"acme.com"',
      "a;b.com",
      "a~b.com",
    ],
    ...[
      "xn--",
      "xn--.com",
      "xn--a.de",
      "xn--abc.de",
      "xn--zzzzz--a.de",
      "xn--example-.com",
      "xn--99zz.de",
      "xn--a-ecp.ru",
    ],
    ...["xn--_b-9ia.de", "xn--é.de", "xn--1ug.com", "é-.de", "-é.de", "ab--é.de", "xn----9fa.de", "xn----bga.de"],
    ...["אa.com", "0אב.com", "é\u200c.com", "a\u200db.de", "\u0300a.com", "\u0378.com", "\ue000.com", "\ufffd.com"],
    ...["é..de", "é.．com", "\u00ad.de", "\u00ad", "\u200b", "c℀d.com", "a⒈com", "ﷺ.com", "a\u2024b.com"],
    ...["\ud800.com", "é\udc00.de", "é\u2028.de", "é\u00a0b.de", "[acme.com]", "[]", "[::1", "::1]", "fe80::1%eth0"],
  ]) {
    expect([text, parseHost(text, true)]).toEqual([text, { name: null, fault: "invalid_syntax" }])
  }
})

test("labels left of the registrable domain may have underscores, in a host that is not that of an email", () => {
  for (const text of [
    "_dmarc.acme.com",
    "A_b.Acme.co.uk",
    "_a._b_.acme.com",
    "a_b.x.acme.github.io",
    "a_b.münchen.de.",
  ]) {
    expect([text, parseHost(text, true).fault, parseHost(text, false).fault]).toEqual([text, null, "invalid_syntax"])
  }
  expect(parseHost("A_b.Acme.co.uk", true).name).toBe("a_b.acme.co.uk")
})

test("a name with a character that is drawn as nothing is no host, in letters and as an A-label", () => {
  for (const blank of ["\u2800", "\u{13441}", "\u{13442}", "\u{16fe4}", "\u{1d159}"]) {
    const label = `ac${blank}me`
    for (const text of [`${label}.com`, `${domainToASCII(label)}.com`])
      expect([text, parseHost(text, false).fault]).toEqual([text, "invalid_syntax"])
  }
})

test("every spelling of an IP address is an IP address", () => {
  for (const text of [
    ...["192.0.2.1", "127.1", "0x7f.1", "0X7F.1", "2130706433", "0177.1", "１２７.0.0.1", "127。0。0。1", "127.0.0.１"],
    ...["::1", "[::1]", "2001:db8::1", "[2001:db8::1]"],
  ]) {
    expect([text, parseHost(text, true)]).toEqual([text, { name: null, fault: "ip_literal" }])
  }
  expect(parseHost("192.0.2.1.", true)).toEqual({ name: null, fault: "ip_literal" })
})

test("a name whose last label is all digits is invalid", () => {
  for (const text of ["acme.123", "256.256.256.256", "1.2.3.4.5", "1.2.3.08", "é.1"]) {
    expect([text, parseHost(text, true)]).toEqual([text, { name: null, fault: "invalid_syntax" }])
  }
})

test("one trailing dot is dropped where it is allowed, and is a fault elsewhere", () => {
  for (const text of ["acme.com.", "acme.com。", "ＡＣＭＥ.com．"]) {
    expect(parseHost(text, true)).toEqual({ name: "acme.com", fault: null })
    expect(parseHost(text, false).fault).toBe("invalid_syntax")
  }
  expect(parseHost("acme.com..", true).fault).toBe("invalid_syntax")
  expect(parseHost("é.de..", true).fault).toBe("invalid_syntax")
})

test("a label has at most 63 bytes", () => {
  expect(parseHost(`${label(63)}.com`, false).fault).toBeNull()
  expect(parseHost(`${label(64)}.com`, false).fault).toBe("invalid_syntax")
  expect(parseHost(`a.${label(64)}`, false).fault).toBe("invalid_syntax")
  expect(parseHost(`${"é".repeat(57)}.de`, false).fault).toBeNull()
  expect(parseHost(`${"é".repeat(58)}.de`, false).fault).toBe("invalid_syntax")
})

test("a name has at most 253 bytes as A-labels, without the trailing dot", () => {
  expect(name(253)).toHaveLength(253)
  expect(parseHost(name(253), false).fault).toBeNull()
  expect(parseHost(`${name(253)}.`, true).fault).toBeNull()
  expect(parseHost(name(254), false).fault).toBe("too_long")
  expect(parseHost(`${name(254)}.`, true).fault).toBe("too_long")
  const wide = `${"é".repeat(50)}.`.repeat(4)
  expect(parseHost(`${wide}${label(25)}`, false).name).toHaveLength(253)
  expect(parseHost(`${wide}${label(26)}`, false).fault).toBe("too_long")
  expect(parseHost(`${wide}${"é".repeat(50)}.de`, false).fault).toBe("too_long")
})

test("a text that is too long is too_long, whatever it contains", () => {
  for (const text of ["_".repeat(254), "é_".repeat(200), label(254), `xn--${label(260)}`, "日".repeat(1_000_000)]) {
    expect(parseHost(text, true)).toEqual({ name: null, fault: "too_long" })
  }
  expect(parseHost("_".repeat(253), true).fault).toBe("invalid_syntax")
})
