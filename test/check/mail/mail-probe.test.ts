import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Deadline } from "../../../src/base/concurrency.ts"
import { type Finding, known, unknown } from "../../../src/base/finding.ts"
import type { CachedDnsAnswer, CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { DMARC_QUESTIONS_MAX } from "../../../src/check/mail/dmarc.ts"
import { createMailProbe } from "../../../src/check/mail/mail-probe.ts"
import { FOREIGN_QUESTIONS_MAX, QUESTIONS_MAX } from "../../../src/check/mail/question-budget.ts"
import { ALL_QUESTIONS, QUESTIONS } from "../../../src/check/verdict/evidence-need.ts"
import { createFakeTime, settled } from "../../support/time.ts"
import { asking, written, type ZoneRecords, zone } from "../../support/zone.ts"

const WITHIN_MS = 1000
const DEAD_NAMES = "A acme.com|TXT acme.com|MX acme.com".split("|")

const SUITE_A = "aspmx.l.google.com"
const SUITE_B = "acme-com.mail.protection.outlook.com"
const PLACEHOLDER = "ms1.msv1.invalid.outlook.com"
const GATEWAY = "mxa-001.pphosted.com"

/** The result for acme.com, and the queries. */
async function probe(records: ZoneRecords, domain = "acme.com", organisational = domain) {
  const { clock, later: setTimer } = createFakeTime()
  const { ask: resolver, requests: queries } = zone(records)
  const result = await createMailProbe({ ask: asking(resolver), clock })(
    domain,
    organisational,
    new Deadline(setTimer, WITHIN_MS),
  )
  return { ...result, queries }
}

/** The parts of the result, which must be known. */
async function facts(records: ZoneRecords) {
  const { mail, suites } = await probe(records)
  if (!mail.known || !suites.known) throw new Error("the case leaves mail unknown")
  return { ...mail.value, suites: suites.value }
}

const NO_SUITES = { suiteA: [], suiteB: [], otherSuite: null }

describe("questions", () => {
  test("for the own records are sent at the same time", () => {
    const { ask: resolver, requests: queries } = zone({})
    const { clock, later: setTimer } = createFakeTime()
    void createMailProbe({ ask: asking(resolver), clock })(
      "mail.acme.com",
      "acme.com",
      new Deadline(setTimer, WITHIN_MS),
    )
    expect(queries.toSorted()).toEqual([
      "A mail.acme.com",
      "MX mail.acme.com",
      "TXT _dmarc.acme.com",
      "TXT _dmarc.mail.acme.com",
      "TXT mail.acme.com",
    ])
  })

  test("for names at and below the domain are asked as questions that nobody else has", async () => {
    const records = {
      "MX mail.acme.com": ["10 mx.mail.acme.com", "20 mx.acme.com"],
      "TXT mail.acme.com": ["v=spf1 -all"],
    }
    const [once, shared] = [zone(records), zone(records)]
    const { clock, later: setTimer } = createFakeTime()
    const deadline = new Deadline(setTimer, WITHIN_MS)
    await createMailProbe({ ask: asking(shared.ask), askOnce: asking(once.ask), clock })(
      "mail.acme.com",
      "acme.com",
      deadline,
    )
    const areBelow = (requests: readonly string[]) => requests.map(request => request.endsWith("mail.acme.com"))
    expect(once.requests.length).toBeGreaterThan(3)
    expect(new Set(areBelow(once.requests))).toEqual(new Set([true]))
    expect(new Set(areBelow(shared.requests))).toEqual(new Set([false]))
  })

  test("are four for a domain without linked records, and one more for the address of its mail host", async () => {
    const records = { "TXT acme.com": ["v=spf1 mx -all"], "TXT _dmarc.acme.com": ["v=DMARC1; p=none"] }
    const { queries } = await probe({ ...records, "MX acme.com": [`1 ${SUITE_A}`] })
    expect(queries).toHaveLength(4)
    const own = await probe({ ...records, "MX acme.com": ["10 mx.acme.com"] })
    expect(own.queries).toEqual([...queries, "A mx.acme.com"])
  })

  test("are one more for each parent if the domain has no DMARC record", async () => {
    const { queries } = await probe({ "MX acme.com": [`1 ${SUITE_A}`], "TXT acme.com": ["v=spf1 mx -all"] })
    expect([queries.length, queries.at(-1)]).toEqual([5, "TXT _dmarc.com"])
  })

  test("for AAAA are sent where no mail host is named, and read where no IPv4 address is public", async () => {
    const asks = async (records: ZoneRecords) => (await probe(records)).queries.includes("AAAA acme.com")
    expect(await asks({ "MX acme.com": ["10 mx.acme.com"] })).toBe(false)
    expect(await asks({ "MX acme.com": ["0 ."] })).toBe(false)
    expect(await asks({ "MX acme.com": "unavailable" })).toBe(false)
    expect(await asks({ "TXT acme.com": ["v=spf1 -all"] })).toBe(true)
    expect(await asks({ "MX acme.com": [`10 ${PLACEHOLDER}`] })).toBe(true)
    expect(await asks({ "MX acme.com": "no_data", "A acme.com": "timed_out" })).toBe(true)
    const { mail } = await probe({ "A acme.com": ["198.51.99.1"], "AAAA acme.com": "timed_out" })
    expect(mail).toMatchObject({ known: true, value: { delivery: "implicit" } })
  })

  test("for A and AAAA are under way at the same time where there is no mail host, whatever else is asked", async () => {
    for (const asked of [QUESTIONS.delivery, QUESTIONS.suites, ALL_QUESTIONS]) {
      const { clock, later: setTimer } = createFakeTime()
      const { ask } = zone({ "TXT acme.com": ["hello"] })
      const waiting = new Map<string, () => void>()
      const resolver: CachingResolver = question => {
        if (question.type !== "A" && question.type !== "AAAA") return ask(question)
        return new Promise(resolve => waiting.set(question.type, () => resolve(ask(question))))
      }
      const found = createMailProbe({ ask: asking(resolver), clock })(
        "acme.com",
        "acme.com",
        new Deadline(setTimer, 1000),
        asked,
      )
      await settled()
      expect([asked, [...waiting.keys()].toSorted()]).toEqual([asked, ["A", "AAAA"]])
      for (const answer of waiting.values()) answer()
      expect((await found).mail).toMatchObject({ known: true, value: { delivery: "none" } })
    }
  })

  test("about mail hosts are the same whatever else is asked: three that no mail reaches are found beside a long SPF record", async () => {
    const includes = ["a.spf.org", "b.spf.org", "c.spf.org", "d.spf.org"]
    const hosts = ["mx1.acme.com", "mx2.acme.com", "mx3.acme.com"]
    const records: ZoneRecords = {
      "MX acme.com": hosts.map((host, at) => `${at} ${host}`),
      "TXT acme.com": [`v=spf1 ${includes.map(name => `include:${name}`).join(" ")} -all`],
      ...Object.fromEntries(hosts.map(host => [`A ${host}`, ["10.0.0.1"]])),
      ...Object.fromEntries(includes.map(name => [`TXT ${name}`, ["v=spf1 include:more.org -all"]])),
    }
    for (const asked of [QUESTIONS.delivery, QUESTIONS.suites, ALL_QUESTIONS]) {
      const { clock, later: setTimer } = createFakeTime()
      const { ask: resolver, requests } = zone(records)
      const deadline = new Deadline(setTimer, WITHIN_MS)
      const { mail } = await createMailProbe({ ask: asking(resolver), clock })("acme.com", "acme.com", deadline, asked)
      expect(mail).toMatchObject({ known: true, value: { isUnreachable: true } })
      expect(requests.filter(each => each !== "TXT _dmarc.com").length).toBeLessThanOrEqual(QUESTIONS_MAX)
    }
  })

  test("are bounded for a hostile domain", async () => {
    const many = Array.from({ length: 1000 }, (_, at) => at)
    const { queries, mail, suites } = await probe({
      "MX acme.com": [`0 ${GATEWAY}`, ...many.map(at => `${at} mx${at}.acme.com`)],
      "TXT acme.com": [`v=spf1 ${many.map(at => `include:s${at}.acme.com`).join(" ")}`],
      "TXT _dmarc.acme.com": [`v=DMARC1; ${"p=none;".repeat(9000)}`],
      ...Object.fromEntries(many.map(at => [`TXT s${at}.acme.com`, ["v=spf1 include:acme.com"]])),
    })
    expect(queries.length).toBeGreaterThan(QUESTIONS_MAX / 2)
    expect(queries.length).toBeLessThanOrEqual(QUESTIONS_MAX)
    expect(mail).toMatchObject({ known: true, value: { operatedBy: "gateway", dmarcPolicy: known(null) } })
    expect(mail.known && mail.value.mx.length).toBe(20)
    expect(suites).toEqual(known(NO_SUITES))
  })
})

describe("whatever records a domain has", () => {
  const own = fc.nat(40).map(at => `s${at}.acme.com`)
  const foreign = fc.nat(40).map(at => `s${at}.org${at % 7}.net`)
  const name = fc.oneof(own, foreign)
  const term = fc.oneof(
    name.map(target => `include:${target}`),
    name.map(target => `redirect=${target}`),
    fc.constantFrom("a", "mx", "ptr", "-all", "exists:%{i}.acme.com", "include:_spf.google.com"),
  )
  const spf = fc.array(term, { maxLength: 30 }).map(terms => [`v=spf1 ${terms.join(" ")}`])
  const records = fc.record({
    mx: fc.constantFrom(`0 ${GATEWAY}`, "0 mx.acme.com", `0 ${PLACEHOLDER}`, "0 .", null),
    spf,
    dmarc: fc.constantFrom(["v=DMARC1; p=none"], "timed_out" as const, "no_data" as const),
    linked: fc.dictionary(name, fc.oneof(spf, fc.constantFrom("timed_out" as const, "no_name" as const)), {
      maxKeys: 80,
    }),
    domain: fc.constantFrom("acme.com", "mail.acme.com", `${"a.".repeat(100)}acme.com`),
  })

  test("a check asks a bounded number of questions, and few about the names of others", async () => {
    await fc.assert(
      fc.asyncProperty(records, async ({ mx, spf: ofDomain, dmarc, linked, domain }) => {
        const { queries } = await probe(
          {
            [`MX ${domain}`]: mx === null ? "no_data" : [mx],
            [`TXT ${domain}`]: ofDomain,
            [`TXT _dmarc.${domain}`]: dmarc,
            ...Object.fromEntries(Object.entries(linked).map(([target, text]) => [`TXT ${target}`, text])),
          },
          domain,
          "acme.com",
        )
        const parents = queries.filter(query => query.includes("_dmarc.") && query !== `TXT _dmarc.${domain}`)
        expect(parents.length).toBeLessThan(DMARC_QUESTIONS_MAX)
        expect(queries.length - parents.length).toBeLessThanOrEqual(QUESTIONS_MAX)
        const foreignCount = queries.filter(query => !/acme\.com$| _dmarc\.com$/.test(query)).length
        expect(foreignCount).toBeLessThanOrEqual(FOREIGN_QUESTIONS_MAX)
      }),
      { numRuns: 500 },
    )
  })

  test("the clues behind a gateway are asked about before an SPF record leads anywhere", async () => {
    const includes = Array.from({ length: 10 }, (_, at) => `include:s${at}.acme.com`).join(" ")
    const { suites } = await probe({
      "MX acme.com": [`0 ${GATEWAY}`],
      "TXT acme.com": [`v=spf1 ${includes} -all`],
      "TXT google._domainkey.acme.com": ["v=DKIM1; p=MIIB"],
    })
    expect(suites).toMatchObject({ known: true, value: { suiteA: ["dkim:google._domainkey.acme.com"] } })
  })

  test("questions that were not asked do not shorten how long the result is fresh", async () => {
    const text = (includes: number) => [
      `v=spf1 ${Array.from({ length: includes }, (_, at) => `include:s${at}.net`).join(" ")} -all`,
    ]
    const [few, many] = [await probe({ "TXT acme.com": text(4) }), await probe({ "TXT acme.com": text(10) })]
    expect(many.freshUntilMs).toBe(few.freshUntilMs)
    expect(many.queries.filter(query => query.endsWith(".net"))).toHaveLength(FOREIGN_QUESTIONS_MAX)
  })
})

describe("the name", () => {
  test("does not exist when every answer denies it", async () => {
    const denied = await facts(Object.fromEntries(DEAD_NAMES.map(name => [name, "no_name" as const])))
    expect(denied).toMatchObject({ exists: false, delivery: "none", hasAddress: false, mx: [], spf: known(null) })
    const { mail } = await probe({ "* acme.com": "no_name", "TXT acme.com": "timed_out" })
    expect(mail).toMatchObject({ known: true, value: { exists: false, spf: unknown("timed_out") } })
  })

  test("exists when any answer knows it, even if others deny it", async () => {
    for (const alive of DEAD_NAMES) {
      const records = Object.fromEntries(
        DEAD_NAMES.map(name => [name, name === alive ? "no_data" : "no_name"] as const),
      )
      expect([alive, (await facts(records)).exists]).toEqual([alive, true])
    }
    const broken = await facts({
      "MX acme.com": ["10 mx.acme.com"],
      "A acme.com": "no_name",
      "AAAA acme.com": "no_name",
    })
    expect(broken).toMatchObject({ exists: true, delivery: "mx" })
  })
})

describe("how mail reaches a domain", () => {
  test("by its hosts, its address, or not at all", async () => {
    const a = { "A acme.com": ["198.51.99.1"] }
    const aaaa = { "AAAA acme.com": ["2a01:4f8::1"] }
    expect(await facts({ "MX acme.com": ["10 mx.acme.com"] })).toMatchObject({ delivery: "mx", hasAddress: false })
    expect(await facts({ ...a, "MX acme.com": ["10 mx.acme.com"] })).toMatchObject({ delivery: "mx", hasAddress: true })
    expect(await facts(a)).toMatchObject({ delivery: "implicit", hasAddress: true })
    expect(await facts(aaaa)).toMatchObject({ delivery: "implicit", hasAddress: true })
    expect(await facts({ "TXT acme.com": ["x"] })).toMatchObject({ exists: true, delivery: "none", hasAddress: false })
    expect(await facts({ ...a, "MX acme.com": ["0 ."] })).toMatchObject({
      delivery: "null_mx",
      hasAddress: true,
      mx: [],
    })
    expect(await facts({ "MX acme.com": ["0 .", "10 mx.acme.com"] })).toMatchObject({ delivery: "mx" })
  })

  test("a placeholder is listed, shows its suite, and does not count as a host", async () => {
    const records = { "MX acme.com": [`0 ${PLACEHOLDER}`] }
    const mx = [{ priority: 0, host: PLACEHOLDER, provider: "suite_b_placeholder" }]
    const suites = { suiteA: [], suiteB: [`mx:${PLACEHOLDER}`], otherSuite: null }
    expect(await facts(records)).toMatchObject({
      exists: true,
      delivery: "none",
      mx,
      provider: null,
      operatedBy: null,
      suites,
    })
    expect(await facts({ ...records, "A acme.com": ["198.51.99.1"] })).toMatchObject({
      delivery: "implicit",
      mx,
      suites,
    })
    expect(await facts({ "MX acme.com": [`0 ${PLACEHOLDER}`, `10 ${SUITE_A}`] })).toMatchObject({
      delivery: "mx",
      provider: "suite_a",
      operatedBy: "suite_a",
      suites: { suiteA: [`mx:${SUITE_A}`], suiteB: [`mx:${PLACEHOLDER}`] },
    })
  })
})

describe("mail is known", () => {
  const ANSWERED = { "MX acme.com": "no_data", "TXT acme.com": ["v=spf1 -all"] } as const

  test("not without the MX records, and then suites are not known either", async () => {
    for (const cause of ["timed_out", "unavailable"] as const) {
      const { mail, suites } = await probe({ "MX acme.com": cause, "A acme.com": ["198.51.99.1"] })
      expect([mail, suites]).toEqual([unknown(cause), unknown(cause)])
    }
  })

  test("with hosts or a null MX, whatever the outcome of the other queries", async () => {
    const failed = { "A acme.com": "timed_out", "AAAA acme.com": "unavailable", "TXT acme.com": "timed_out" } as const
    const all = { ...failed, "TXT _dmarc.acme.com": "unavailable" } as const
    expect((await probe({ ...all, "MX acme.com": ["10 mx.acme.com"] })).mail).toMatchObject({
      known: true,
      value: { delivery: "mx", hasAddress: false, spf: unknown("timed_out"), dmarcPolicy: unknown("unavailable") },
    })
    expect((await probe({ ...all, "MX acme.com": ["0 ."] })).mail).toMatchObject({
      known: true,
      value: { delivery: "null_mx" },
    })
  })

  test("without hosts, if there is a public address or both address queries are answered", async () => {
    const mailWith = async (records: ZoneRecords) => (await probe({ ...ANSWERED, ...records })).mail
    expect(await mailWith({ "A acme.com": ["198.51.99.1"], "AAAA acme.com": "timed_out" })).toMatchObject({
      known: true,
    })
    expect(await mailWith({ "AAAA acme.com": ["2a01:4f8::1"], "A acme.com": "timed_out" })).toMatchObject({
      known: true,
    })
    expect(await mailWith({ "AAAA acme.com": "timed_out" })).toEqual(unknown("timed_out"))
    expect(await mailWith({ "A acme.com": "unavailable" })).toEqual(unknown("unavailable"))
    expect(await mailWith({})).toMatchObject({ known: true, value: { delivery: "none" } })
    expect(await mailWith({ "MX acme.com": [`0 ${PLACEHOLDER}`], "A acme.com": "timed_out" })).toEqual(
      unknown("timed_out"),
    )
  })
})

describe("the operator of the mail", () => {
  test("is shown by the hosts, with the indicators of each suite", async () => {
    expect(
      await facts({ "MX acme.com": [`1 ${SUITE_A}`], "TXT acme.com": ["v=spf1 include:_spf.google.com ~all"] }),
    ).toMatchObject({
      provider: "suite_a",
      operatedBy: "suite_a",
      suites: { suiteA: [`mx:${SUITE_A}`, "spf:_spf.google.com"], suiteB: [], otherSuite: null },
    })
    expect(await facts({ "MX acme.com": [`0 ${SUITE_B}`] })).toMatchObject({
      provider: "suite_b",
      operatedBy: "suite_b",
      suites: { suiteA: [], suiteB: [`mx:${SUITE_B}`], otherSuite: null },
    })
    expect(await facts({ "MX acme.com": ["10 mx.zoho.eu"] })).toMatchObject({
      provider: "zoho",
      operatedBy: "other_suite",
      suites: { suiteA: [], suiteB: [], otherSuite: "zoho" },
    })
    expect(await facts({ "MX acme.com": ["10 mail.mailinator.com"] })).toMatchObject({
      provider: "mailinator",
      operatedBy: "disposable",
      suites: NO_SUITES,
    })
    expect(await facts({ "MX acme.com": ["10 mx01.mail.icloud.com"] })).toMatchObject({
      provider: "icloud",
      operatedBy: "personal",
      suites: NO_SUITES,
    })
  })

  test("a suite that only the SPF record names is an indicator, also through its includes", async () => {
    const { suites, operatedBy } = await facts({
      "MX acme.com": ["10 mx.acme.com"],
      "TXT acme.com": ["google-site-verification=x", "v=spf1 include:spf.acme.net -all"],
      "TXT spf.acme.net": ["v=spf1 include:_spf.google.com include:spf.protection.outlook.com -all"],
    })
    expect(operatedBy).toBeNull()
    expect(suites).toEqual({
      suiteA: ["spf:_spf.google.com"],
      suiteB: ["spf:spf.protection.outlook.com"],
      otherSuite: null,
    })
  })

  test("a consumer or group host of the vendor disqualifies its SPF record", async () => {
    for (const [host, operatedBy, record] of [
      ["gmail-smtp-in.l.google.com", "personal", "redirect=_spf.google.com"],
      ["gmr-smtp-in.l.google.com", "forwarder", "include:_spf.google.com ~all"],
      ["olc.protection.outlook.com", "personal", "include:spf.protection.outlook.com include:spf.acme.net ~all"],
    ] as const) {
      const { suites, queries, mail } = await probe({
        "MX acme.com": [`5 ${host}`],
        "TXT acme.com": [`v=spf1 ${record}`],
      })
      expect([suites, queries.length]).toEqual([known(NO_SUITES), 5])
      expect(mail).toMatchObject({ value: { operatedBy, spf: known(`v=spf1 ${record}`) } })
    }
  })

  test("is proven by the DKIM keys for the suite that the MX names, which only a domain in need of proof is asked for", async () => {
    const records: ZoneRecords = {
      "TXT google._domainkey.acme.com": ["v=DKIM1; p=MIIB"],
      "CNAME selector2._domainkey.acme.com": ["selector2-acme-com._domainkey.acme.onmicrosoft.com"],
    }
    const shown = async (host: string, needed: string) => {
      const { clock, later: setTimer } = createFakeTime()
      const { ask: resolver } = zone({ ...records, "MX acme.com": [`1 ${host}`] })
      const needsSuiteProof = (...names: readonly string[]) => names.join() === needed
      const deadline = new Deadline(setTimer, WITHIN_MS)
      const { suites } = await createMailProbe({ ask: asking(resolver), clock, needsSuiteProof })(
        "acme.com",
        "acme.com",
        deadline,
      )
      return suites.known ? [...suites.value.suiteA, ...suites.value.suiteB] : []
    }
    expect(await shown(SUITE_A, "acme.com,acme.com")).toEqual([`mx:${SUITE_A}`, "dkim:google._domainkey.acme.com"])
    expect(await shown(SUITE_B, "acme.com,acme.com")).toEqual([
      `mx:${SUITE_B}`,
      "dkim:selector2-acme-com._domainkey.acme.onmicrosoft.com",
    ])
    expect(await shown(SUITE_A, "")).toEqual([`mx:${SUITE_A}`])
    expect(await shown("mx.acme.com", "acme.com,acme.com")).toEqual([])
  })

  test("stays the gateway in front of the suites that it hides, whose indicators are ordered by kind", async () => {
    const result = await facts({
      "MX acme.com": [`10 ${GATEWAY}`, `90 ${SUITE_B}`],
      "TXT acme.com": ["v=spf1 include:spf.protection.outlook.com include:spf.protection.outlook.com. -all"],
      "CNAME autodiscover.acme.com": ["autodiscover.outlook.com"],
      "SRV _autodiscover._tcp.acme.com": ["0 0 443 autodiscover.outlook.com"],
      "CNAME selector1._domainkey.acme.com": ["selector1-acme-com._domainkey.acme.onmicrosoft.com"],
      "TXT google._domainkey.acme.com": ["v=DKIM1; p=MIIB"],
    })
    expect(result).toMatchObject({ provider: "proofpoint", operatedBy: "gateway" })
    expect(result.suites).toEqual({
      suiteA: ["dkim:google._domainkey.acme.com"],
      suiteB: [
        `mx:${SUITE_B}`,
        "spf:spf.protection.outlook.com",
        "dkim:selector1-acme-com._domainkey.acme.onmicrosoft.com",
        "autodiscover:autodiscover.outlook.com",
      ],
      otherSuite: null,
    })
  })

  test("is a suite if its host may serve programs and autodiscover shows mailboxes", async () => {
    const records = { "MX acme.com": ["10 inbound-smtp.us-east-1.amazonaws.com"] }
    expect(await facts(records)).toMatchObject({ provider: "amazon_workmail_ses", operatedBy: null, suites: NO_SUITES })
    expect(
      await facts({ ...records, "CNAME autodiscover.acme.com": ["autodiscover.mail.us-east-1.awsapps.com"] }),
    ).toMatchObject({
      operatedBy: "other_suite",
      suites: { suiteA: [], suiteB: [], otherSuite: "amazon_workmail_ses" },
    })
  })

  test("is not searched behind a gateway next to a disposable host", async () => {
    const { queries, mail } = await probe({ "MX acme.com": [`10 ${GATEWAY}`, "20 mail.mailinator.com"] })
    expect(queries).toHaveLength(5)
    expect(mail).toMatchObject({ value: { provider: "proofpoint", operatedBy: "disposable" } })
  })
})

describe("policies", () => {
  test("the SPF record and the organisational domain's policy are returned", async () => {
    const { mail } = await probe(
      {
        "MX mail.acme.com": ["10 mx.acme.com"],
        "TXT mail.acme.com": ["v=spf1 mx -all"],
        "TXT _dmarc.acme.com": ["v=DMARC1; p=none; sp=reject"],
      },
      "mail.acme.com",
      "acme.com",
    )
    expect(mail).toMatchObject({ value: { spf: known("v=spf1 mx -all"), dmarcPolicy: known("reject") } })
  })

  test("a long name without DMARC leaves its records as many questions as any other", async () => {
    const clue = (domain: string): ZoneRecords => ({
      [`MX ${domain}`]: [`0 ${GATEWAY}`],
      [`TXT ${domain}`]: [`v=spf1 ${Array.from({ length: 10 }, (_, at) => `include:s${at}.acme.com`).join(" ")} -all`],
    })
    const linked = async (domain: string) =>
      (await probe(clue(domain), domain, "acme.com")).queries.filter(query => !query.includes("_dmarc.")).length
    expect(await linked(`${"a.".repeat(100)}acme.com`)).toBe(await linked("acme.com"))
  })

  test("the policy for names that do not exist holds if every answer denies the name", async () => {
    const above = { "TXT _dmarc.acme.com": ["v=DMARC1; p=none; sp=quarantine; np=reject"] }
    const held = async (records: ZoneRecords) => {
      const { mail } = await probe({ ...above, ...records }, "mail.acme.com", "acme.com")
      return mail.known ? [mail.value.exists, mail.value.dmarcPolicy] : mail
    }
    expect(await held({})).toEqual([false, known("reject")])
    expect(await held({ "A mail.acme.com": ["198.51.99.1"] })).toEqual([true, known("quarantine")])
    expect(await held({ "TXT mail.acme.com": "no_data" })).toEqual([true, known("quarantine")])
    // There are only names below it: it exists.
    expect(await held({ "A www.mail.acme.com": ["198.51.99.1"] })).toEqual([true, known("quarantine")])
    expect(await held({ "AAAA mail.acme.com": ["2001:db8::1"], "TXT mail.acme.com": "timed_out" })).toEqual([
      true,
      known("quarantine"),
    ])
    const denied = { "* mail.acme.com": "no_name", "TXT mail.acme.com": "timed_out" } as const
    expect(await held(denied)).toEqual([false, known("reject")])
  })

  test("a top-level domain without a reply leaves only the DMARC policy unknown", async () => {
    const { mail, freshUntilMs } = await probe({ "MX acme.com": ["10 mx.acme.com"], "TXT _dmarc.com": "timed_out" })
    expect(mail).toMatchObject({ known: true, value: { delivery: "mx", dmarcPolicy: unknown("timed_out") } })
    const dead = await probe({ "MX acme.com": ["10 mx.acme.com"], "TXT _dmarc.acme.com": "timed_out" })
    expect(freshUntilMs - dead.freshUntilMs).toBe(4000)
  })

  test("a text with control characters is no record", async () => {
    const { spf, suites } = await facts({
      "MX acme.com": ["10 mx.acme.com"],
      "TXT acme.com": ["v=spf1 \u001b[2J include:_spf.google.com"],
    })
    expect([spf, suites]).toEqual([known(null), NO_SUITES])
  })
})

test("whatever the records hold, mail is known and all its texts are displayable", async () => {
  const text = fc.string({ unit: "binary", maxLength: 300 })
  const under = (name: string) => text.map(label => `${label}.${name}`)
  await fc.assert(
    fc.asyncProperty(
      text,
      text,
      under("pphosted.com"),
      under("_spf.google.com"),
      under("dkim.mail.microsoft"),
      async (...texts) => {
        const [exchange, policy, gateway, include, target] = texts
        const queries: string[] = []
        const records: Readonly<Record<string, CachedDnsAnswer["records"]>> = {
          MX: [exchange, gateway, "mxa.pphosted.com"].map(each => ({ type: "MX", preference: 0, exchange: each })),
          TXT: [
            { type: "TXT", text: `v=spf1 include:${include} ${exchange}` },
            { type: "TXT", text: `v=DMARC1;${policy}` },
          ],
          CNAME: [{ type: "CNAME", target }],
        }
        const resolver: CachingResolver = async question => {
          queries.push(question.name)
          const held = { isCached: false, freshUntilMs: 0, ttlS: 0, outcome: "records" } as const
          return known({ ...held, records: records[question.type] ?? [] })
        }
        const { clock, later: setTimer } = createFakeTime()
        const deadline = new Deadline(setTimer, WITHIN_MS)
        const { mail, suites } = await createMailProbe({ ask: asking(resolver), clock })(
          "acme.com",
          "acme.com",
          deadline,
        )
        expect(
          suites.known &&
            [...suites.value.suiteA, ...suites.value.suiteB].every(entry => /^[a-z]+:[!-~]{1,253}$/.test(entry)),
        ).toBe(true)
        expect(mail.known && mail.value.mx.every(({ host }) => /^[!-~]{1,253}$/.test(host))).toBe(true)
        expect(queries.every(name => /^[a-z0-9._-]{1,253}$/.test(name))).toBe(true)
      },
    ),
  )
})

describe("time", () => {
  test("a query without a reply costs the deadline and nothing else", async () => {
    const time = createFakeTime()
    const { ask: resolver } = halting(question => question === "A acme.com")
    const result = createMailProbe({ ask: asking(resolver), clock: time.clock })(
      "acme.com",
      "acme.com",
      new Deadline(time.later, WITHIN_MS),
    )
    await time.tick(WITHIN_MS)
    expect((await result).mail).toMatchObject({ known: true, value: { delivery: "mx", hasAddress: false } })
  })

  const RECORDS: ZoneRecords = {
    "MX acme.com": [`10 ${GATEWAY}`],
    "A acme.com": ["198.51.99.1"],
    "TXT acme.com": ["v=spf1 include:_spf.google.com include:slow.com -all"],
    "TXT slow.com": ["v=spf1 include:spf.protection.outlook.com -all"],
  }
  const { ask: atOnce } = zone(RECORDS)

  /** Answers `slow` questions when the test wants, and the others at once. */
  function halting(slow: (question: string) => boolean) {
    const gate = Promise.withResolvers<void>()
    const ask: CachingResolver = async question => {
      if (slow(written(question))) await gate.promise
      return atOnce(question)
    }
    return { ask, open: gate.resolve }
  }

  test("linked queries may take until the deadline, and the other records stand", async () => {
    const time = createFakeTime()
    const { ask: resolver } = halting(question => question === "TXT slow.com")
    const result: Awaited<ReturnType<ReturnType<typeof createMailProbe>>>[] = []
    const check = createMailProbe({ ask: asking(resolver), clock: time.clock })
    void check("acme.com", "acme.com", new Deadline(time.later, WITHIN_MS)).then(each => result.push(each))
    await time.tick(WITHIN_MS - 1)
    expect(result).toEqual([])
    await time.tick(1)
    expect(result).toMatchObject([
      { mail: { known: true }, suites: known({ suiteA: ["spf:_spf.google.com"], suiteB: [], otherSuite: null }) },
    ])
    expect(result[0]).toMatchObject({ isCached: false, freshUntilMs: time.clock() + 5000 })
    expect(time.waiting()).toBe(0)
  })

  test("linked queries do not wait for queries that they do not need", async () => {
    const { ask, open } = halting(question => /^(A|AAAA|TXT _dmarc\.)/.test(question))
    const seen: string[] = []
    const counted: CachingResolver = question => {
      seen.push(written(question))
      return ask(question)
    }
    const time = createFakeTime()
    const deadline = new Deadline(time.later, WITHIN_MS)
    const result = createMailProbe({ ask: asking(counted), clock: time.clock })("acme.com", "acme.com", deadline)
    await time.tick(0)
    expect(seen).toContain("TXT slow.com")
    expect(seen).toContain("CNAME autodiscover.acme.com")
    open()
    expect((await result).suites).toEqual(
      known({ suiteA: ["spf:_spf.google.com"], suiteB: ["spf:spf.protection.outlook.com"], otherSuite: null }),
    )
  })

  test("the result is cached if each answer was, and fresh as long as the first of them", async () => {
    const time = createFakeTime()
    const answering =
      (of: (question: string) => Partial<CachedDnsAnswer> | null): CachingResolver =>
      async question => {
        const answer: Finding<CachedDnsAnswer> = await atOnce(question)
        const change = of(written(question))
        return answer.known && change !== null ? known({ ...answer.value, ...change }) : unknown("unavailable")
      }
    const fresh = async (of: (question: string) => Partial<CachedDnsAnswer> | null) => {
      const probing = createMailProbe({ ask: asking(answering(of)), clock: time.clock })
      const { isCached, freshUntilMs } = await probing("acme.com", "acme.com", new Deadline(time.later, WITHIN_MS))
      return [isCached, freshUntilMs - time.clock()]
    }
    const until = (ms: number) => ({ isCached: true, freshUntilMs: time.clock() + ms })
    expect(await fresh(() => until(60_000))).toEqual([true, 60_000])
    expect(await fresh(name => until(name === "TXT slow.com" ? 5000 : 60_000))).toEqual([true, 5000])
    expect(await fresh(name => ({ ...until(60_000), isCached: name !== "TXT slow.com" }))).toEqual([false, 60_000])
    expect(await fresh(name => (name === "A acme.com" ? null : until(60_000)))).toEqual([false, 1000])
    expect(await fresh(name => (name === "TXT slow.com" ? null : until(60_000)))).toEqual([false, 5000])
    expect(await fresh(() => null)).toEqual([false, 1000])
  })
})
