import { expect, test } from "bun:test"
import { type MailProvider, providerOfMailHost } from "../../../src/check/mail/mail-providers.ts"
import { lookupHiddenSuites, parseSuiteClues } from "../../../src/check/mail/suite-indicators.ts"
import { type ZoneRecords, zone } from "../../support/zone.ts"

const NOBODY: MailProvider = { key: "nobody", kind: "hosting", operator: null }
const GATEWAY = providerOfMailHost("mxa-001.pphosted.com") ?? NOBODY
const FORWARDER = providerOfMailHost("route1.mx.cloudflare.net") ?? NOBODY
const AMBIGUOUS = providerOfMailHost("inbound-smtp.us-east-1.amazonaws.com") ?? NOBODY

async function behind(provider: MailProvider, records: ZoneRecords, domain = "acme.com") {
  const { ask, requests: queries } = zone(records)
  const result = await lookupHiddenSuites(ask, domain, provider)
  return { entries: result.map(({ operator, entry }) => `${operator} ${entry}`), queries }
}

test("a DKIM key shows suite_a behind a gateway", async () => {
  const entries = ["suite_a dkim:google._domainkey.acme.com"]
  for (const key of ["v=DKIM1; k=rsa; p=MIIB", "p=MIIB", "k=rsa ;\tp = MIIB;"])
    expect((await behind(GATEWAY, { "TXT google._domainkey.acme.com": ["noise", key] })).entries).toEqual(entries)
})

test("a revoked key and the text of a wildcard show nothing", async () => {
  for (const text of ["v=DKIM1; p=", "v=DKIM1; p= ;", "v=spf1 -all", "v=DKIM1", "sp=x", "google"])
    expect((await behind(GATEWAY, { "TXT google._domainkey.acme.com": [text] })).entries).toEqual([])
})

test("the targets of its records show suite_b behind a gateway", async () => {
  const { entries } = await behind(GATEWAY, {
    "CNAME selector1._domainkey.acme.com": ["selector1-acme-com._domainkey.acme.onmicrosoft.com"],
    "CNAME selector2._domainkey.acme.com": ["selector2-acme-com._domainkey.acme.n-v1.dkim.mail.microsoft"],
    "CNAME autodiscover.acme.com": ["autodiscover.outlook.com"],
    "SRV _autodiscover._tcp.acme.com": ["0 0 443 autodiscover.partner.outlook.cn"],
  })
  expect(entries).toEqual([
    "suite_b dkim:selector1-acme-com._domainkey.acme.onmicrosoft.com",
    "suite_b dkim:selector2-acme-com._domainkey.acme.n-v1.dkim.mail.microsoft",
    "suite_b autodiscover:autodiscover.outlook.com",
    "suite_b autodiscover:autodiscover.partner.outlook.cn",
  ])
})

test("a forwarder hides a suite as a gateway does", async () => {
  const { entries } = await behind(FORWARDER, {
    "TXT google._domainkey.acme.com": ["v=DKIM1; k=rsa; p=MIIB"],
    "CNAME autodiscover.acme.com": ["autodiscover.outlook.com"],
  })
  expect(entries).toEqual(["suite_a dkim:google._domainkey.acme.com", "suite_b autodiscover:autodiscover.outlook.com"])
})

test("records that point elsewhere show nothing", async () => {
  for (const target of [
    "selector1._domainkey.acme.net",
    "acme.onmicrosoft.com",
    "selector1-acme-com._domainkey.acme.onmicrosoft.com.evil.com",
    "selector1-acme-com._domainkey.evil.com",
    "selector1-acme-com._domainkey.a.b.onmicrosoft.com",
    "xdkim.mail.microsoft",
  ])
    expect((await behind(GATEWAY, { "CNAME selector1._domainkey.acme.com": [target] })).entries).toEqual([])
  for (const target of ["a.autodiscover.outlook.com", "outlook.com", "autodiscover.outlook.com.evil.com", "."]) {
    expect((await behind(GATEWAY, { "CNAME autodiscover.acme.com": [target] })).entries).toEqual([])
    expect((await behind(GATEWAY, { "SRV _autodiscover._tcp.acme.com": [`0 0 443 ${target}`] })).entries).toEqual([])
  }
})

test("a target that cannot be displayed shows nothing", async () => {
  const of = async (target: string) =>
    (await behind(GATEWAY, { "CNAME selector1._domainkey.acme.com": [target] })).entries.length
  expect(await of("a.dkim.mail.microsoft")).toBe(1)
  for (const odd of ["a\u0000", "\u001b[2j", "ä", "a b"])
    expect([odd, await of(`${odd}.dkim.mail.microsoft`)]).toEqual([odd, 0])
})

test("the autodiscover record of its region shows mailboxes at a mail host that may serve programs", async () => {
  const name = "CNAME autodiscover.acme.com"
  const target = "autodiscover.mail.us-east-1.awsapps.com"
  const { entries, queries } = await behind(AMBIGUOUS, { [name]: [target] })
  expect(entries).toEqual([`other_suite autodiscover:${target}`])
  expect(queries).toEqual([name])
  expect((await behind(AMBIGUOUS, { [name]: ["autodiscover.outlook.com"] })).entries).toEqual([])
  expect((await behind(GATEWAY, { [name]: [target] })).entries).toEqual([])
})

test("clues are queried only for a provider that hides a suite, all at the same time", async () => {
  for (const host of ["aspmx.l.google.com", "mx.zoho.com", "mx1.alias.proton.me", "mail.mailinator.com"])
    expect((await behind(providerOfMailHost(host) ?? NOBODY, {})).queries).toEqual([])
  const { ask, requests: queries } = zone({})
  const result = lookupHiddenSuites(ask, "acme.com", GATEWAY)
  expect(queries.sort()).toEqual([
    "CNAME autodiscover.acme.com",
    "CNAME selector1._domainkey.acme.com",
    "CNAME selector2._domainkey.acme.com",
    "SRV _autodiscover._tcp.acme.com",
    "TXT google._domainkey.acme.com",
  ])
  expect(await result).toEqual([])
})

test("a failed query shows nothing and hides nothing else", async () => {
  const { entries } = await behind(GATEWAY, {
    "TXT google._domainkey.acme.com": "timed_out",
    "CNAME selector1._domainkey.acme.com": "unavailable",
    "CNAME autodiscover.acme.com": ["autodiscover.outlook.com"],
  })
  expect(entries).toEqual(["suite_b autodiscover:autodiscover.outlook.com"])
})

test("a name that would be too long is not queried", async () => {
  const { queries } = await behind(GATEWAY, {}, `${"a.".repeat(115)}acme.com`)
  expect(queries).toEqual([`CNAME autodiscover.${"a.".repeat(115)}acme.com`])
})

test("a malformed table throws", () => {
  const row = "gateway\tsuite_b\tdkim\tCNAME\tselector1\tacme.com"
  expect(parseSuiteClues(row)).toHaveLength(1)
  for (const bad of [
    row.replace("suite_b", "suite_c"),
    row.replace("dkim", "spf"),
    row.replace("CNAME", "A"),
    row.replace("CNAME", "TXT"),
    row.replace("acme.com", "-"),
    row.replace("acme.com", "acme"),
  ])
    expect(() => parseSuiteClues(bad)).toThrow()
})
