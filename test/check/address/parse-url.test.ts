import { expect, test } from "bun:test"
import { parseUrl } from "../../../src/check/address/parse-host.ts"

const namesOf = (texts: readonly string[]) => texts.map(text => [text, parseUrl(text).name])
const faultsOf = (texts: readonly string[]) => texts.map(text => [text, parseUrl(text).fault])
const each = (texts: readonly string[], expected: string | null) => texts.map(text => [text, expected])

test("the host is parsed from a web address with or without scheme, port, path, query and fragment", () => {
  const texts = [
    ...[
      "https://acme.com",
      "http://acme.com",
      "HTTPS://ACME.COM",
      "https://acme.com/",
      "https://acme.com/a/b",
      "acme.com",
    ],
    ...[
      "acme.com/",
      "acme.com/x",
      "acme.com:8080",
      "acme.com:8080/x",
      "acme.com?q=1",
      "acme.com#top",
      "https://acme.com?q=1",
    ],
    ...[
      "https://acme.com#a",
      "https://acme.com:443/x",
      "https://acme.com:/x",
      "https://acme.com:",
      "https://acme.com./x",
    ],
    ...["https://acme.com:0", "https://acme.com:65535", "https://acme.com:00080/", "https://acme.com/?q=jane@beta.org"],
    ...[
      "https://acme.com/jane@beta.org",
      "https://acme.com#@beta.org",
      "acme.com/@jane",
      "https://acme.com/a:b",
      "acme.com/http://beta.org",
    ],
    ...[
      "https://acme.com/%20%zz",
      "https://acme.com/büro?ü#é",
      'https://acme.com/?q={"a":[1|2]}',
      "https://ａｃｍｅ.com/",
      "acme。com/x",
    ],
  ]
  expect(namesOf(texts)).toEqual(each(texts, "acme.com"))
})

test("one leading www. is removed if the rest contains a dot", () => {
  expect(
    namesOf([
      "www.acme.com",
      "https://WWW.acme.com/",
      "www.www.com",
      "www.www.acme.com",
      "www.com",
      "www.ck",
      "www.co.uk",
      "wwwacme.com",
      "www2.acme.com",
      "ｗｗｗ.acme.com",
      "www.faß.de",
      "www",
    ]),
  ).toEqual([
    ["www.acme.com", "acme.com"],
    ["https://WWW.acme.com/", "acme.com"],
    ["www.www.com", "www.com"],
    ["www.www.acme.com", "www.acme.com"],
    ["www.com", "www.com"],
    ["www.ck", "www.ck"],
    ["www.co.uk", "co.uk"],
    ["wwwacme.com", "wwwacme.com"],
    ["www2.acme.com", "www2.acme.com"],
    ["ｗｗｗ.acme.com", "acme.com"],
    ["www.faß.de", "xn--fa-hia.de"],
    ["www", "www"],
  ])
})

test("other schemes, user info, bad ports and broken hosts are not web addresses", () => {
  const texts = [
    ...[
      "ftp://acme.com",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "data:,x",
      "mailto:jane@acme.com",
      "ws://acme.com",
      "xhttp://acme.com",
    ],
    ...[
      "http:/acme.com",
      "http:acme.com",
      "https:",
      "http://",
      "https:///acme.com",
      "//acme.com",
      "/acme.com",
      "://acme.com",
      "?acme.com",
    ],
    ...[
      "https://jane@acme.com",
      "https://jane:secret@acme.com/",
      "jane@acme.com/x",
      "https://@acme.com",
      "https://acme.com@beta.org",
    ],
    ...[
      "https://jane:@acme.com",
      "https://:@acme.com",
      "https://jane:80@acme.com",
      "https://acme.com:80@beta.org",
      "https://é＠acme.com",
    ],
    ...[
      "acme.com:",
      "acme.com:/x",
      "https://acme.com:65536",
      "https://acme.com:-1",
      "https://acme.com:8x",
      "https://acme.com:80:80",
    ],
    ...["https://acme.com:99999999999999999999", "https://acme.com:８０", "https://:80", ":80"],
    ...[
      "https://ex%61mple.com",
      "https://acme.com%2f",
      "https://acme%00.com",
      "https://a_b.com",
      "https://acme..com",
      "https://.acme.com",
    ],
    ...[
      "https://acme.com\\@beta.org",
      "https://acme.com/\\x",
      "\\\\acme.com",
      "https:\\\\acme.com",
      "https://ac me.com",
      "https://acme.com/a b",
    ],
    ...[
      "https://[::1",
      "https://::1",
      "https://[::1]x",
      "https://[::1]:x",
      "https://[acme.com]",
      "https://[]",
      "https://[fe80::1%25eth0]",
    ],
    ...["https://acme.com/\ud800", "https://\udc00.com", "https://acme.123", "https://xn--a.de"],
  ]
  expect(faultsOf(texts)).toEqual(each(texts, "invalid_syntax"))
  expect(namesOf(texts)).toEqual(each(texts, null))
})

test("an IP address as host is ip_literal, however it is spelled", () => {
  const texts = [
    ...[
      "http://192.0.2.1",
      "192.0.2.1/x",
      "http://192.0.2.1:8080/",
      "http://127.1",
      "http://0x7f.1/",
      "http://2130706433/",
      "http://0177.0.0.1",
    ],
    ...[
      "http://[::1]",
      "http://[2001:db8::1]:80/x",
      "[::1]/",
      "http://[::ffff:192.0.2.1]",
      "http://１２７.0.0.1",
      "http://192.0.2.1./",
    ],
  ]
  expect(faultsOf(texts)).toEqual(each(texts, "ip_literal"))
})

test("a web address has at most 2048 characters, and its host at most 253 bytes", () => {
  const path = (length: number) => `acme.com/${"a".repeat(length - 9)}`
  expect(parseUrl(path(2048)).fault).toBeNull()
  expect(parseUrl(path(2049)).fault).toBe("too_long")
  const host = `${"a".repeat(60)}.`.repeat(4)
  expect(parseUrl(`https://www.${host}${"b".repeat(5)}/x`).name).toHaveLength(249)
  expect(parseUrl(`https://${host}${"b".repeat(9)}/x`).fault).toBeNull()
  expect(parseUrl(`https://${host}${"b".repeat(10)}/x`).fault).toBe("too_long")
})
