import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { parse } from "tldts"
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
  "~^mx\\d\\.ovh\\.net$": "mx4.ovh.net",
  "~^spf(-us)?\\.tm(es|ems)(-[a-z]+)?\\.trendmicro\\.(com|eu)$": "spf-us.tmes-anz.trendmicro.com",
  "~^(dd|w)[0-9a-f]+\\.kasserver\\.com$": "w0123456.kasserver.com",
  "~^(vip)?(163|126|188|yeah)mx\\d*\\.mxmail\\.netease\\.com$": "126mx01.mxmail.netease.com",
  "~^(www|dedi|mail|mx)\\d*\\.your-server\\.de$": "www386.your-server.de",
  "~^[a-z]{2}-ip4-mx-vip\\d\\.prodigy\\.net$": "al-ip4-mx-vip1.prodigy.net",
  "~^feedback-smtp\\.[a-z0-9-]+\\.amazonses\\.com$": "feedback-smtp.eu-west-1.amazonses.com",
  "~^mail\\d\\.no-ip\\.com$": "mail1.no-ip.com",
  "~^mailforward\\d+\\.cloudns\\.net$": "mailforward21.cloudns.net",
  "~^mw-\\d+\\.cafe24\\.com$": "mw-002.cafe24.com",
  "~^mx?\\d\\.feishu\\.cn$": "m1.feishu.cn",
  "~^mx\\d[a-z]\\d\\.comcast\\.net$": "mx2h1.comcast.net",
  "~^mx\\d\\.jimdo\\.com$": "mx1.jimdo.com",
  "~^mxdm(-[a-z0-9-]+)?\\.aliyun\\.com$": "mxdm-ap-southeast-1.aliyun.com",
  "~^mx\\d?\\.otenet\\.gr$": "mx4.otenet.gr",
  "~^park\\d+\\.gkg\\.net$": "park01.gkg.net",
  "~^parking(master)?\\d*\\.kv\\.de$": "parkingmaster1.kv.de",
  "~^recv[a-z0-9-]*\\.erinn\\.biz$": "recv300.erinn.biz",
  "~^smtpz\\d\\.laposte\\.net$": "smtpz4.laposte.net",
  "~^www\\d+\\.sakura\\.ne\\.jp$": "www1234.sakura.ne.jp",
  "~^eforward\\d+\\.name-services\\.com$": "eforward3.name-services.com",
  "~^mx[12]\\.hostinger\\.(ae|ar|co|com|cz|de|dk|ee|es|fi|fr|gr|hr|hu|in|it|jp|kr|lt|lv|mx|my|nl|no|ph|pk|pl|pt|ro|ru|se|sk|vn)$":
    "mx1.hostinger.in",
  "~^mx[12]\\.hostinger\\.(co\\.id|co\\.il|co\\.uk|com\\.ar|com\\.br|com\\.hk|com\\.tr|com\\.ua|in\\.th|web\\.tr)$":
    "mx2.hostinger.co.uk",
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

/** What a row without an operator of its own shows, by its kind. */
const SHOWN_BY_KIND_ALONE: Readonly<Record<string, string>> = {
  consumer: "personal",
  forwarder: "forwarder",
  relay: "alias",
}

const operatorOf = ({ kind, shows }: { readonly kind: string; readonly shows: string | null }): string | null =>
  shows ?? SHOWN_BY_KIND_ALONE[kind] ?? null

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
      mailbox: ["other_suite", "personal", null],
      group: ["forwarder"],
      gateway: ["gateway"],
      disposable_mx: ["disposable"],
      parking: ["parking"],
      agent: ["agent"],
    }
    for (const { key, kind, shows } of rows)
      expect([key, SHOWN_BY_KIND[kind] ?? [null]]).toEqual([key, expect.arrayContaining([shows])])
    expect(rows.filter(({ grade }) => !/^[ABC]$/.test(grade))).toEqual([])
    expect(new Set(rows.flatMap(row => operatorOf(row) ?? []))).toEqual(new Set(MAIL_OPERATORS))
  })

  test("is matched by every pattern: with the row's key, or the suite's for each of its clouds", () => {
    for (const { key, kind, shows, mx, spf } of rows) {
      const expected = { key: kind === "suite" ? shows : key, kind, operator: operatorOf({ kind, shows }) }
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

test("a bare or exact pattern is a host name under a top-level domain that exists, and a bare one is no public suffix", () => {
  for (const { key, mx, spf } of rows)
    for (const pattern of [...mx, ...spf].filter(each => !each.startsWith("~"))) {
      const name = pattern.replace(/^=/, "")
      const { domain, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true })
      expect([key, pattern, name.split(".").every(label => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label))]).toEqual([
        ...[key, pattern, true],
      ])
      expect([key, pattern, domain !== null && (isIcann === true || isPrivate === true)]).toEqual([key, pattern, true])
    }
})

test("a row takes hosts below another's bare pattern where it is written here, and nowhere else", () => {
  const bareOf = new Map(rows.flatMap(({ key, mx }) => mx.filter(p => /^[a-z0-9]/.test(p)).map(p => [p, key] as const)))
  const parentsOf = (name: string): string[] => name.split(".").map((_, at) => name.split(".").slice(at).join("."))
  const overlaps = rows.flatMap(({ key, mx }) =>
    mx.flatMap(pattern =>
      parentsOf(namesFor(pattern)[0] ?? "").flatMap(parent => {
        const other = bareOf.get(parent)
        return other === undefined || other === key ? [] : [`${other}: ${parent}, ${key}: ${pattern}`]
      }),
    ),
  )
  expect(overlaps.sort()).toEqual([...OVERLAPS])
})

/** Whose host below whose pattern belongs to another row. */
const OVERLAPS: readonly string[] = [
  "cyren_expurgate: ctmail.com, networksolutions: webcom.ctmail.com",
  "dynadot: dynadot.com, dynadot_parking: =parkmail.dynadot.com",
  "open_xchange: oxcs.net, networksolutions: netsol.xion.oxcs.net",
  "ru_center: nic.ru, ru_center_parking: =nomail.nic.ru",
  "yahoo: yahoodns.net, yahoo_business: =mx-biz.mail.am0.yahoodns.net",
]

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
    operator: "personal",
  })
  expect(providerOfMailHost("gmr-smtp-in.l.google.com")).toMatchObject({ key: "google_groups", operator: "forwarder" })
  expect(providerOfMailHost("hotmail-com.olc.protection.outlook.com")).toMatchObject({
    key: "outlook_consumer",
    operator: "personal",
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
