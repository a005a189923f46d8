import { describe, expect, test } from "bun:test"
import { detectSubjectKind, inputRefusal, parseSubject } from "../../../src/check/address/parse-subject.ts"
import type { Subject, SubjectFault, SubjectKind } from "../../../src/check/address/subject.ts"

const TEST_DOMAIN = "mailkind.test"
const parse = (kind: SubjectKind, sent: string): Subject => parseSubject(kind, sent, TEST_DOMAIN)
const nothing = {
  domain: null,
  wwwHost: null,
  registrable: null,
  localPart: null,
  normalized: null,
  mailbox: null,
  tagged: null,
  hasSubaddress: false,
  isTest: false,
}

test("an address gives a complete Subject", () => {
  expect(parse("email", "  Jane.Doe+News@Mail.ACME.co.uk\n")).toEqual({
    kind: "email",
    sent: "  Jane.Doe+News@Mail.ACME.co.uk\n",
    fault: null,
    domain: "mail.acme.co.uk",
    wwwHost: null,
    registrable: "acme.co.uk",
    localPart: "jane.doe",
    normalized: "jane.doe@mail.acme.co.uk",
    mailbox: "jane.doe@mail.acme.co.uk",
    tagged: "jane.doe+news@mail.acme.co.uk",
    hasSubaddress: true,
    isTest: false,
  })
})

describe("the fast path for an address at a cached host", () => {
  const labels = "a".repeat(60)
  const hosts = ["acme.com", `${labels}.${labels}.${labels}.acme.com`, "mailkind.test", "co.uk", "acme.cmo"]
  const parts =
    'jane|jane.doe|j-d_9|.|.jane|jane.|ja..ne|Jane|jane+x|jänē|jané|ja ne|ja\tne|ja\u0000ne|a@b|@|"ja ne"|"jane"|ja(x)ne|\ud800'
  const locals = ["", ...parts.split("|"), ...[63, 64, 65, 68, 69, 300].map(length => "a".repeat(length))]
  for (const host of hosts) parse("email", `jane@${host}`)

  test.each(hosts)("gives the same Subject as the complete parser: %s", host => {
    for (const local of locals) {
      const text = `${local}@${host}`
      const withCare = `\t${text}`
      expect({ ...parse("email", withCare), sent: text }).toEqual(parse("email", text))
    }
  })
})

test("a domain and a URL have a domain and no local part", () => {
  const expected = { ...nothing, fault: null, domain: "shop.acme.com", registrable: "acme.com" }
  expect(parse("domain", "Shop.Acme.com.")).toEqual({ ...expected, kind: "domain", sent: "Shop.Acme.com." })
  const sent = " https://www.shop.acme.com:443/x?y=a@b.org#z "
  expect(parse("url", sent)).toEqual({ ...expected, wwwHost: "www.shop.acme.com", kind: "url", sent })
})

test("a URL keeps its whole host beside the domain where a leading www. was dropped, and only there", () => {
  const wwwHostOf = (url: string) => parse("url", url).wwwHost
  expect(wwwHostOf("WWW.Acme.com.")).toBe("www.acme.com")
  expect(wwwHostOf("http://www.www.acme.com/")).toBe("www.www.acme.com")
  expect(wwwHostOf("http://www.bücher.example:80")).toBe("www.xn--bcher-kva.example")
  for (const url of ["acme.com", "http://www.com", "http://wwww.acme.com", "http://www2.acme.com", "http://?"])
    expect(wwwHostOf(url)).toBeNull()
})

test("www. is kept in a domain and in an address", () => {
  expect(parse("domain", "www.acme.com").domain).toBe("www.acme.com")
  expect(parse("email", "jane@www.acme.com").domain).toBe("www.acme.com")
})

test("a bare host is a valid URL, and a URL is not a valid domain", () => {
  expect(parse("url", "acme.com")).toMatchObject({ fault: null, domain: "acme.com" })
  for (const text of ["https://acme.com", "acme.com/x", "acme.com:80", "jane@acme.com", "@acme.com", "acme.com?x"]) {
    expect(parse("domain", text)).toEqual({ ...nothing, kind: "domain", sent: text, fault: "invalid_syntax" })
  }
})

test("of several faults the first is reported: too long, syntax, IP address, suffix", () => {
  const long = "a".repeat(65)
  const cases: readonly (readonly [string, SubjectFault])[] = [
    [`${long}..@[192.0.2.1]`, "too_long"],
    [`${long}@co.uk`, "too_long"],
    ["a..b@[192.0.2.1]", "invalid_syntax"],
    ["a..b@co.uk", "invalid_syntax"],
    ["jane@[192.0.2.1]", "ip_literal"],
    ["jane@co.uk", "public_suffix"],
    ["jane@com", "public_suffix"],
    ["jane@acme.cmo", "unknown_tld"],
    ["jane@server.local", "reserved_tld"],
    ["jane@localhost", "reserved_tld"],
  ]
  for (const [text, fault] of cases) expect([text, parse("email", text).fault]).toEqual([text, fault])
})

test("faults of the suffix apply to domains and URLs as well", () => {
  const cases: readonly (readonly [string, string, SubjectFault | null])[] = [
    ["co.uk", "co.uk", "public_suffix"],
    ["localhost:3000", "localhost", "reserved_tld"],
    ["https://www.gov.uk/", "gov.uk", "public_suffix"],
    ["https://acme.cmo", "acme.cmo", "unknown_tld"],
    ["https://公司.cn", "xn--55qx5d.cn", "public_suffix"],
    ["https://a.onion/x", "a.onion", "reserved_tld"],
    ["https://jane.github.io", "jane.github.io", null],
    ["https://github.io", "github.io", null],
    ["https://intranet/", "intranet", "public_suffix"],
  ]
  for (const [text, domain, fault] of cases) expect([text, parse("url", text)]).toMatchObject([text, { domain, fault }])
})

test("an address keeps its normalized form if only the suffix of its domain is a fault", () => {
  for (const [domain, registrable] of [
    ["co.uk", "co.uk"],
    ["acme.cmo", "acme.cmo"],
    ["a.b.local", "b.local"],
  ] as const) {
    const expected = { domain, registrable, localPart: "jane", normalized: `jane@${domain}`, hasSubaddress: true }
    expect(parse("email", `Jane+x@${domain}`)).toMatchObject(expected)
  }
})

test("an address that is too long, invalid, or at an IP address has no normalized form", () => {
  for (const text of [
    `${"a".repeat(65)}@acme.com`,
    "a b@acme.com",
    "jane@[192.0.2.1]",
    "jane@127.0.0.1",
    "jane@",
    "jane",
    "jane@a_b.com",
  ]) {
    expect([text, parse("email", text)]).toMatchObject([text, { localPart: null, normalized: null }])
  }
})

test("a domain is set wherever one can be parsed, and an IP address is not a domain", () => {
  expect(parse("email", "a b@Mail.acme.com")).toMatchObject({ domain: "mail.acme.com", registrable: "acme.com" })
  expect(parse("email", `${"a".repeat(65)}@acme.com`)).toMatchObject({ domain: "acme.com", registrable: "acme.com" })
  for (const [kind, text] of [
    ["email", "jane@[192.0.2.1]"],
    ["domain", "127.0.0.1"],
    ["url", "http://[::1]/"],
  ] as const) {
    expect(parse(kind, text)).toMatchObject({ fault: "ip_literal", domain: null, registrable: null })
  }
})

test("a text with a control character is not parsed at all", () => {
  for (const [kind, text] of [
    ["email", "jane\u0000@acme.com"],
    ["email", "jane@acme.com\n."],
    ["email", '"a\tb"@acme.com'],
    ["email", "\u0085jane@acme.com"],
    ["email", "jane@acme.com\v"],
    ["domain", "ac\u007fme.com"],
    ["domain", "acme.com\0"],
    ["url", "https://acme.com/a\tb"],
    ["url", "https://ac\nme.com/"],
    ["url", "https://acme.com/\u009f"],
  ] as const) {
    expect(parse(kind, text)).toEqual({ ...nothing, kind, sent: text, fault: "invalid_syntax" })
    expect(inputRefusal(parse(kind, text))).toBe("control_character")
  }
})

test("the test domain and its subdomains are tests and have no fault of the suffix", () => {
  for (const domain of ["mailkind.test", "a.mailkind.test", "a.b.mailkind.test"]) {
    expect(parse("email", `Business+x@${domain.toUpperCase()}`)).toMatchObject({
      ...{
        fault: null,
        domain,
        isTest: true,
        localPart: "business",
        hasSubaddress: true,
        registrable: "mailkind.test",
      },
    })
    expect(parse("domain", domain)).toMatchObject({ fault: null, isTest: true })
    expect(parse("url", `https://${domain}/`)).toMatchObject({ fault: null, isTest: true })
  }
  for (const domain of ["xmailkind.test", "mailkind.test.com", "test", "a.test", "mailkind.tests"]) {
    expect([domain, parse("email", `business@${domain}`).isTest]).toEqual([domain, false])
  }
})

test("only a Subject without a fault is a test", () => {
  for (const text of ["a b@mailkind.test", "@mailkind.test", `${"a".repeat(65)}@mailkind.test`, "a@mailkind.test."]) {
    expect(parse("email", text).isTest).toBe(false)
  }
})

test("any domain can be the test domain", () => {
  expect(parseSubject("email", "a@try.acme.com", "acme.com")).toMatchObject({ fault: null, isTest: true })
  expect(parseSubject("email", "a@b.test", "test")).toMatchObject({ fault: null, isTest: true })
  expect(parseSubject("email", "a@mailkind.test", "acme.com")).toMatchObject({ fault: "reserved_tld", isTest: false })
})

test("a single check is refused if it is empty, contains a control character or is too long", () => {
  for (const kind of ["email", "domain", "url"] as const) {
    for (const sent of ["", " ", "\t\r\n "]) expect(inputRefusal(parse(kind, sent))).toBe("empty")
    expect(inputRefusal(parse(kind, "a\u0001b"))).toBe("control_character")
    expect(inputRefusal(parse(kind, "a".repeat(3000)))).toBe("too_long")
    expect(inputRefusal(parse(kind, "a b"))).toBeNull()
  }
  expect(inputRefusal(parse("email", " jane@acme.com "))).toBeNull()
  expect(inputRefusal(parse("email", `${"a".repeat(64)}@acme.com`))).toBeNull()
  expect(inputRefusal(parse("email", `${"a".repeat(65)}@acme.com`))).toBe("too_long")
  expect(inputRefusal(parse("domain", `${"a".repeat(64)}.com`))).toBeNull()
  expect(inputRefusal(parse("email", "jane@co.uk"))).toBeNull()
})

test("a batch item of white space is invalid_syntax", () => {
  expect(parse("domain", " \n")).toEqual({ ...nothing, kind: "domain", sent: " \n", fault: "invalid_syntax" })
})

test("a batch item with an @ is an address, another one with a slash a URL, and the rest are domains", () => {
  const cases: readonly (readonly [string, SubjectKind])[] = [
    ["jane@acme.com", "email"],
    ["https://acme.com/?q=a@b.org", "email"],
    ["https://jane@acme.com", "email"],
    ["mailto:jane@acme.com", "email"],
    ["@", "email"],
    ["https://acme.com", "url"],
    ["HTTP://acme.com", "url"],
    ["ftp://acme.com", "url"],
    ["acme.com/x", "url"],
    ["acme.com/", "url"],
    ["//acme.com", "url"],
    ["/", "url"],
    ["acme.com", "domain"],
    ["acme.com:8080", "domain"],
    ["acme.com?q=1", "domain"],
    ["mailto:jane", "domain"],
    ["acme", "domain"],
    ["jane＠acme.com", "domain"],
    ["", "domain"],
  ]
  for (const [item, kind] of cases) expect([item, detectSubjectKind(item)]).toEqual([item, kind])
})
