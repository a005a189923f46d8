import { expect, test } from "bun:test"
import { MAIL_HOSTS_MAX, parseMailHosts } from "../../../src/check/mail/mail-hosts.ts"

const SUITE_A = "aspmx.l.google.com"
const SUITE_B = "acme-com.mail.protection.outlook.com"
const GATEWAY = "mxa-001.pphosted.com"
const PLACEHOLDER = "ms1.msv1.invalid.outlook.com"
const DISPOSABLE = "mail.mailinator.com"

const hosts = (...records: readonly (readonly [preference: number, exchange: string])[]) =>
  parseMailHosts(records.map(([preference, exchange]) => ({ type: "MX", preference, exchange })))

test("hosts are listed by preference, then by name, each once at its better preference", () => {
  expect(hosts([20, "b.acme.com"], [10, "c.acme.com"], [20, "a.acme.com"], [5, "b.acme.com"]).mx).toEqual([
    { priority: 5, host: "b.acme.com", provider: null },
    { priority: 10, host: "c.acme.com", provider: null },
    { priority: 20, host: "a.acme.com", provider: null },
  ])
})

test("a domain without MX records has no mail host", () => {
  expect(hosts()).toEqual({
    mx: [],
    isNullMx: false,
    hasNoHost: false,
    acceptsMail: false,
    accepting: [],
    provider: null,
    operatedBy: null,
    indicators: [],
  })
  expect(parseMailHosts([{ type: "CNAME", target: "mx.acme.com" }]).mx).toEqual([])
})

test("a null MX counts alone, and is ignored among hosts", () => {
  expect(hosts([0, ""])).toMatchObject({ mx: [], isNullMx: true, acceptsMail: false })
  expect(hosts([0, ""], [10, ""])).toMatchObject({ mx: [], isNullMx: true })
  expect(hosts([0, ""], [10, "mx.acme.com"])).toMatchObject({
    mx: [{ priority: 10, host: "mx.acme.com", provider: null }],
    isNullMx: false,
    acceptsMail: true,
  })
  expect(hosts([0, ""], [10, PLACEHOLDER])).toMatchObject({ isNullMx: false, acceptsMail: false })
})

test("the provider of the most preferred host counts, and of equal hosts a known one", () => {
  expect(hosts([10, SUITE_A], [20, SUITE_B])).toMatchObject({ provider: { key: "suite_a" }, operatedBy: "suite_a" })
  expect(hosts([20, SUITE_A], [10, SUITE_B])).toMatchObject({ provider: { key: "suite_b" }, operatedBy: "suite_b" })
  expect(hosts([10, "a.acme.com"], [10, SUITE_B])).toMatchObject({
    provider: { key: "suite_b" },
    operatedBy: "suite_b",
  })
  expect(hosts([10, "a.acme.com"], [11, SUITE_B])).toMatchObject({ provider: null, operatedBy: null })
  expect(hosts([10, GATEWAY], [20, SUITE_A])).toMatchObject({ provider: { key: "proofpoint" }, operatedBy: "gateway" })
})

test("a placeholder is listed and shows its suite, but accepts no mail", () => {
  expect(hosts([0, PLACEHOLDER])).toEqual({
    mx: [{ priority: 0, host: PLACEHOLDER, provider: "suite_b_placeholder" }],
    isNullMx: false,
    hasNoHost: false,
    acceptsMail: false,
    accepting: [],
    provider: null,
    operatedBy: null,
    indicators: [{ operator: "suite_b", entry: `mx:${PLACEHOLDER}` }],
  })
  expect(hosts([0, PLACEHOLDER], [10, SUITE_A])).toMatchObject({ acceptsMail: true, operatedBy: "suite_a" })
  expect(hosts([0, PLACEHOLDER], [10, "mx.acme.com"])).toMatchObject({
    acceptsMail: true,
    provider: null,
    operatedBy: null,
  })
})

test("one disposable host makes the mail disposable, and leaves the provider as it is", () => {
  expect(hosts([10, SUITE_A], [90, DISPOSABLE])).toMatchObject({
    provider: { key: "suite_a" },
    operatedBy: "disposable",
  })
  expect(hosts([10, "mx.acme.com"], [90, DISPOSABLE])).toMatchObject({ provider: null, operatedBy: "disposable" })
})

test("hosting and senders operate nothing; forwarders, alias services and personal mailboxes are operators of their own", () => {
  for (const [host, operator] of [
    ["route1.mx.cloudflare.net", "forwarder"],
    ["eforward1.registrar-servers.com", "forwarder"],
    ["redirect.ovh.net", "forwarder"],
    ["mx1.simplelogin.co", "alias"],
    ["mx01.mail.icloud.com", "personal"],
    ["mx00.mail.com", "personal"],
    ["mx1.bluehost.com", null],
    ["mx00.t-online.de", null],
    ["mxa.mailgun.org", null],
    ["inbound-smtp.us-east-1.amazonaws.com", null],
  ] as const) {
    const { provider, operatedBy } = hosts([10, host])
    expect([host, provider === null, operatedBy]).toEqual([host, false, operator])
  }
  expect(hosts([10, "mx.zoho.com"])).toMatchObject({ provider: { key: "zoho" }, operatedBy: "other_suite" })
})

test("every host of a suite is an indicator, the first or not", () => {
  expect(hosts([1, "mx.acme.com"], [2, SUITE_B], [3, SUITE_A], [4, `alt1.${SUITE_A}`]).indicators).toEqual([
    { operator: "suite_b", entry: `mx:${SUITE_B}` },
    { operator: "suite_a", entry: `mx:${SUITE_A}` },
    { operator: "suite_a", entry: `mx:alt1.${SUITE_A}` },
  ])
  expect(hosts([1, "gmail-smtp-in.l.google.com"]).indicators).toEqual([])
})

test("the most preferred hosts are read, up to a bound", () => {
  const many = Array.from({ length: 1000 }, (_, at) => [at, `mx${at}.acme.com`] as const)
  const last = many.slice(0, MAIL_HOSTS_MAX - 1)
  expect(hosts(...many.toReversed()).mx.map(({ priority }) => priority)).toEqual([...Array(MAIL_HOSTS_MAX).keys()])
  expect(hosts(...last, [1000, DISPOSABLE]).operatedBy).toBe("disposable")
  // Hosts that do not answer may stand before the one that takes the mail.
  expect(hosts(...many, [2000, DISPOSABLE]).operatedBy).toBe("disposable")
})

const HOST_NAMES = ["mx.acme.com", "mx_1.acme.com", "_mx.acme.com", "4.acme.com", "acme", "localhost", "xn--mx-eka.de"]
const LONG_NAMES = [`${"a".repeat(63)}.com`, `${"a.".repeat(126)}c`]
const NO_HOST_NAMES = [
  ...["<mail.x.org>", '"mail.x.org"', "mail.x.org;", "mail.x.org,", "https://mail.x.org", "imap:q.org", "a::b.org"],
  ...[
    "[203.0.115.9]",
    "[2a01:4f8::1]",
    "2a01:4f8::1",
    "::1",
    "fe80::1%eth0",
    "203.0.115.999",
    "203.0.115",
    "010.1.2.3",
  ],
  ...[
    "mail host",
    "a b.com",
    "a\u0000.com",
    "mäx.de",
    "\u001b[2j",
    "a..com",
    ".",
    ".com",
    "%",
    "*.x.org",
    "a@b.org",
    "10",
  ],
  ...["-mx.acme.com", "mx-.acme.com", "mx.acme.com.", `${"a".repeat(64)}.com`, `${"a.".repeat(126)}co`],
]

test("a target is a host by RFC 1123, with underscores, or an IPv4 address: no other is listed", () => {
  for (const host of [...HOST_NAMES, ...LONG_NAMES, "203.0.115.9"])
    expect(hosts([10, host])).toMatchObject({ mx: [{ host, provider: null }], acceptsMail: true, hasNoHost: false })
  for (const host of NO_HOST_NAMES) {
    expect(hosts([10, host])).toMatchObject({ mx: [], isNullMx: false, hasNoHost: true, acceptsMail: false })
    expect(hosts([0, ""], [10, host])).toMatchObject({ isNullMx: false, hasNoHost: true })
    expect(hosts([10, host], [20, "mx.acme.com"])).toMatchObject({ mx: [{ priority: 20 }], hasNoHost: false })
    expect(hosts([10, host], [20, PLACEHOLDER])).toMatchObject({ hasNoHost: false, acceptsMail: false })
  }
  expect(parseMailHosts([{ type: "MX", preference: 10, exchange: null }])).toMatchObject({ mx: [], hasNoHost: true })
})
