import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import {
  MAIL_OPERATORS,
  parseMailProviders,
  providerOfMailHost,
  providerOfSpfDomain,
} from "../../../src/check/mail/mail-providers.ts"
import { ROOT } from "../../architecture/source-files.ts"

/** A matching name for every expression of the table. A new expression needs a name here. */
const MATCHED_BY: Readonly<Record<string, string>> = {
  "~^aspmx[2-5]\\.googlemail\\.com$": "aspmx3.googlemail.com",
  "~^ms\\d+\\.msv1\\.invalid\\.outlook\\.com$": "ms12345678.msv1.invalid.outlook.com",
  "~^inbound-smtp\\.[a-z0-9-]+\\.amazonaws\\.com$": "inbound-smtp.eu-west-1.amazonaws.com",
  "~^(qiye|hz)\\w*mx\\d+\\.mxmail\\.netease\\.com$": "qiye163mx01.mxmail.netease.com",
  "~^mx\\d\\.larksuite\\.com$": "mx1.larksuite.com",
  "~^mx\\d\\.feishu\\.cn$": "mx2.feishu.cn",
  "~^mx\\d\\.ovh\\.net$": "mx4.ovh.net",
  "~^mx\\.(a|b|core|jk)\\.locaweb\\.com\\.br$": "mx.core.locaweb.com.br",
  "~^spf(-us)?\\.tm(es|ems)(-[a-z]+)?\\.trendmicro\\.(com|eu)$": "spf-us.tmes-anz.trendmicro.com",
}

const rows = (await Bun.file(join(ROOT, "data/mail/providers.txt")).text())
  .split("\n")
  .filter(line => line !== "" && !line.startsWith("#"))
  .map(line => line.split("\t"))
  .map(([key = "", kind = "", shows = "", , mx = "", spf = "", grade = ""]) => ({
    key,
    kind,
    shows: shows === "-" ? null : shows,
    mx: mx.split(" ").filter(pattern => pattern !== "-"),
    spf: spf.split(" ").filter(pattern => pattern !== "-"),
    grade,
  }))

/** Names that the pattern matches. */
function namesFor(pattern: string): readonly string[] {
  if (pattern.startsWith("~")) return [MATCHED_BY[pattern] ?? `no example of ${pattern}`]
  return pattern.startsWith("=") ? [pattern.slice(1)] : [pattern, `a.${pattern}`, `a-1.b.${pattern}`]
}

describe("the table of providers", () => {
  test("has every provider once, each with an operator that fits its kind", () => {
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
    const SHOWN_BY_KIND: Readonly<Record<string, readonly (string | null)[]>> = {
      suite: ["suite_a", "suite_b"],
      placeholder: ["suite_b"],
      mailbox: ["other_suite", null],
      gateway: ["gateway"],
      disposable_mx: ["disposable"],
      parking: ["parking"],
      agent: ["agent"],
    }
    for (const { key, kind, shows } of rows)
      expect([key, SHOWN_BY_KIND[kind] ?? [null]]).toEqual([key, expect.arrayContaining([shows])])
    expect(rows.filter(({ grade }) => !/^[ABC]$/.test(grade))).toEqual([])
    expect(new Set(rows.flatMap(({ shows }) => shows ?? []))).toEqual(new Set(MAIL_OPERATORS))
  })

  test("is matched by every pattern: with the row's key, or the suite's for each of its clouds", () => {
    for (const { key, kind, shows, mx, spf } of rows) {
      const expected = { key: kind === "suite" ? shows : key, kind, operator: shows }
      for (const name of mx.flatMap(namesFor))
        expect({ name, ...providerOfMailHost(name) }).toMatchObject({ name, ...expected })
      for (const name of spf.flatMap(namesFor))
        expect({ name, ...providerOfSpfDomain(name) }).toMatchObject({ name, ...expected })
    }
  })

  test("has expressions with escaped dots that match only their names", () => {
    for (const [pattern, name] of Object.entries(MATCHED_BY)) {
      expect(rows.some(({ mx, spf }) => mx.includes(pattern) || spf.includes(pattern))).toBe(true)
      expect(pattern.replaceAll("\\.", "")).not.toContain(".")
      const expression = new RegExp(pattern.slice(1))
      for (const other of [`a.${name}`, `${name}.evil.com`, name.replaceAll(".", "x"), `x${name}`])
        expect([other, expression.test(other)]).toEqual([other, false])
    }
  })
})

test("names that only look like a provider's host have no provider", () => {
  for (const host of [
    "aspmx.l.google.com.evil.com",
    "notaspmx.l.google.com",
    "aspmx-l-google.com",
    "l.google.com",
    "google.com",
    "smtp.google.com.evil.com",
    "a.smtp.google.com",
    "mail.protection.outlook.com.evil.com",
    "xmail.protection.outlook.com",
    "protection.outlook.com",
    "ms1.msv1.invalid.outlook.com.evil.com",
    "msx.msv1.invalid.outlook.com",
    "evilmailinator.com",
    "a.emailfake.com",
    "microsoft",
    "192.0.2.1",
    "",
  ])
    expect([host, providerOfMailHost(host)]).toEqual([host, null])
})

test("consumers, group services and placeholders of the suites' vendors are distinguished from the suites", () => {
  expect(providerOfMailHost("alt1.gmail-smtp-in.l.google.com")).toMatchObject({
    key: "gmail",
    kind: "consumer",
    operator: null,
  })
  expect(providerOfMailHost("gmr-smtp-in.l.google.com")).toMatchObject({ key: "google_groups", operator: null })
  expect(providerOfMailHost("hotmail-com.olc.protection.outlook.com")).toMatchObject({
    key: "outlook_consumer",
    operator: null,
  })
  expect(providerOfMailHost("ms1.msv1.invalid.outlook.com")).toMatchObject({
    key: "suite_b_placeholder",
    kind: "placeholder",
  })
  expect(providerOfMailHost("acme-com.o-v1.mx.microsoft")).toMatchObject({ key: "suite_b", operator: "suite_b" })
})

test("every cloud of a suite has the suite's key", () => {
  for (const host of [
    "acme-com.mail.protection.outlook.com",
    "acme-com.mail.protection.office365.us",
    "acme-com.mail.protection.partner.outlook.cn",
  ])
    expect(providerOfMailHost(host)).toEqual({ key: "suite_b", kind: "suite", operator: "suite_b" })
  expect(providerOfSpfDomain("spf.protection.partner.outlook.cn")?.key).toBe("suite_b")
})

test("mail hosts and SPF domains are separate, and a filter of outgoing mail has no mail host", () => {
  expect(providerOfMailHost("_spf.google.com")).toBeNull()
  expect(providerOfSpfDomain("aspmx.l.google.com")).toBeNull()
  expect(providerOfMailHost("spf.mta.hdems.com")).toBeNull()
  expect(providerOfSpfDomain("spf.mta.hdems.com")).toMatchObject({ key: "hennge", kind: "gateway_out", operator: null })
})

test("a consumer or placeholder pattern wins over a suite's, and over no other", () => {
  const { byHost } = parseMailProviders(
    [
      "tenants\tsuite\tsuite_b\tN\t=a.vendor.com b.vendor.com\t-\tA",
      "persons\tconsumer\t-\tN\tvendor.com\t-\tA",
      "unused\tplaceholder\tsuite_b\tN\t~^ms\\d\\.b\\.vendor\\.com$\t-\tA",
      "small\tmailbox\tother_suite\tN\t=biz.vendor.com\t-\tA",
    ].join("\n"),
  )
  expect(byHost("a.vendor.com")?.key).toBe("persons")
  expect(byHost("x.b.vendor.com")?.key).toBe("persons")
  expect(byHost("ms1.b.vendor.com")?.key).toBe("unused")
  expect(byHost("biz.vendor.com")?.key).toBe("small")
})

test("a malformed table throws", () => {
  const row = "acme\tmailbox\tother_suite\tAcme\tacme.com\t-\tA"
  expect(parseMailProviders(row).byHost("mx.acme.com")).toEqual({
    key: "acme",
    kind: "mailbox",
    operator: "other_suite",
  })
  for (const bad of [
    `${row}\n${row}`,
    `${row}\n${row.replace("acme", "other")}`,
    `${row}\n${row.replace("acme.com", "other.com")}`,
    row.replace("mailbox", "postbox"),
    row.replace("other_suite", "suite_c"),
    row.replace("acme.com", "acme"),
    row.replace("\tA", ""),
  ])
    expect(() => parseMailProviders(bad)).toThrow()
})
