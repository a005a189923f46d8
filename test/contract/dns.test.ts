import { describe, expect, test } from "bun:test"
import { PROBE_INTERVAL_MS } from "../../src/check/dns/resolver/circuit-breaker.ts"
import { createTestCheck, inTime, packetsPass, serving } from "../support/test-check.ts"

const ACME = {
  "MX granite-acme.com": ["10 mx.granite-acme.com"],
  "A granite-acme.com": ["192.0.2.1"],
  "TXT granite-acme.com": ["v=spf1 mx -all"],
  "TXT _dmarc.granite-acme.com": ["v=DMARC1; p=reject"],
} as const
const CANARIES = { "A canary-one.com": ["192.0.2.10"], "A canary-two.com": ["192.0.2.11"] } as const
const WITH_CANARIES = { canaries: "canary-one.com,canary-two.com" }
const INPUT = "jane@granite-acme.com"
const TENANT = "4f1ba8b9-8a5c-4a0c-9a3e-7d8f2b6c1e55"

const WHOLE = {
  category: "business",
  confidence: 0.85,
  degraded: false,
  reasons: ["mx_found", "dmarc_enforced"],
  mail: {
    has_mx: true,
    provider: null,
    mx: [{ priority: 10, host: "mx.granite-acme.com", provider: null }],
    spf: "v=spf1 mx -all",
    dmarc_policy: "reject",
  },
}

describe("a server that answers", () => {
  test("is asked for nothing but the domain, and once", async () => {
    const server = await serving(ACME)
    const { ask } = createTestCheck([server])
    expect(await ask(INPUT)).toMatchObject({ ...WHOLE, cached: false })
    expect(await ask("john@granite-acme.com")).toMatchObject({ ...WHOLE, cached: true })
    expect(server.sendRequest().toSorted()).toEqual([
      "A granite-acme.com",
      "A mx.granite-acme.com",
      "MX granite-acme.com",
      "TXT _dmarc.granite-acme.com",
      "TXT granite-acme.com",
    ])
  })

  test.each([
    "upper_case",
    "case_changed",
    "duplicate",
    "poison",
    "backwards",
    "ttl_zero",
    "ttl_top_bit",
    { udp: "truncated" },
  ] as const)("is understood in spite of %j", async fault => {
    const server = await serving(ACME)
    server.fault("*", fault)
    expect(await createTestCheck([server]).ask(INPUT)).toMatchObject(WHOLE)
  })

  test("may hold hundreds of records of each type: those that count are found behind all others", async () => {
    const many = (count: number, text: (at: number) => string) => Array.from({ length: count }, (_, at) => text(at))
    const server = await serving({
      ...ACME,
      "MX granite-acme.com": [...many(499, at => `${at + 2} mx${at}.granite-acme.com`), "1 aspmx.l.google.com"],
      "TXT granite-acme.com": [...many(300, at => `verification-of-a-service=${at}`), "v=spf1 mx -all"],
      "TXT _dmarc.granite-acme.com": [...many(300, at => `no policy ${at}`), "v=DMARC1; p=reject"],
    })
    const { mail, reasons } = await createTestCheck([server]).ask(INPUT)
    expect(mail).toMatchObject({ provider: "suite_a", spf: "v=spf1 mx -all", dmarc_policy: "reject" })
    expect(mail.mx.map(({ priority }) => priority)).toEqual(many(20, at => `${at + 1}`).map(Number))
    expect(reasons).not.toContain("spf_missing")
  })

  test("may hold a text that takes TCP to tell, and an SPF record beside it", async () => {
    const server = await serving({ ...ACME, "TXT granite-acme.com": ["v=spf1 mx -all", "x".repeat(60_000)] })
    expect(await createTestCheck([server]).ask(INPUT)).toMatchObject(WHOLE)
    expect(server.heard.some(({ way }) => way === "tcp")).toBe(true)
  })
})

/** Whatever goes wrong with every answer: the verdict rests on lists, within the budget, and never says `invalid`. */
const WRONG = [
  "silent",
  "servfail",
  "refused",
  "refused_header",
  "garbage",
  "garbage_body",
  "empty",
  "wrong_id",
  "wrong_question",
  "wrong_question_type",
  "no_question",
  "echo",
  "other_port",
  "held",
  "truncated",
  { udp: "truncated", tcp: "cut" },
  { udp: "truncated", tcp: "closed" },
  { udp: "truncated", tcp: "silent" },
  "cname_loop",
  "cname_chain",
  "compression_loop",
  "name_of_255_labels",
  "rdlength_long",
  "counts_lie",
  "header_cut",
  "body_cut",
] as const

describe("a server that goes wrong", () => {
  test.each(WRONG)("degrades the verdict, within the budget, and no more: %j", async fault => {
    const server = await serving(ACME)
    server.fault("*", fault)
    const { ask, time } = createTestCheck([server])
    const { value, tookMs } = await inTime(time, ask(INPUT))
    expect(value).toMatchObject({
      category: "unknown",
      confidence: 0.2,
      recommendation: "review",
      degraded: true,
      reasons: ["no_evidence", "dns_unavailable"],
    })
    expect(tookMs).toBeLessThanOrEqual(3000)
  })

  test.each(["silent", "servfail", "refused", "garbage_body", "wrong_id"] as const)(
    "is passed over for one that answers: %s",
    async fault => {
      const [first, second] = [await serving(ACME), await serving(ACME)]
      first.fault("*", fault)
      const { ask, time } = createTestCheck([first, second])
      const { value, tookMs } = await inTime(time, ask(INPUT))
      expect(value).toMatchObject(WHOLE)
      expect(tookMs).toBeLessThanOrEqual(1000)
    },
  )

  test("is passed over at once from then on", async () => {
    const [dead, alive] = [
      await serving(ACME),
      await serving({ ...ACME, "MX granite-next.com": ["10 mx.granite-next.com"] }),
    ]
    dead.fault("*", "silent")
    const { ask, time } = createTestCheck([dead, alive])
    await inTime(time, ask(INPUT))
    const before = time.stopwatch()
    expect(await ask("jane@granite-next.com")).toMatchObject({ category: "business", degraded: false })
    expect(time.stopwatch()).toBe(before)
  })

  test("with one record costs that record alone", async () => {
    const server = await serving(ACME)
    server.fault("TXT granite-acme.com", "servfail")
    const result = await createTestCheck([server]).ask(INPUT)
    expect(result).toMatchObject({ category: "business", degraded: false, mail: { spf: null, dmarc_policy: "reject" } })
    expect(result.reasons).not.toContain("spf_missing")
  })
})

describe("the parents of a domain", () => {
  const dmarcQuestions = (requests: readonly string[]) => requests.filter(request => request.includes("_dmarc."))
  const mailOf = (domain: string) => ({
    [`MX ${domain}`]: ["10 mx.granite-acme.com"],
    [`TXT ${domain}`]: ["v=spf1 mx -all"],
  })
  const DEEP = `${"a.".repeat(114)}granite-acme.com`

  test("are asked for a DMARC policy, eight names with its own at most, however long it is", async () => {
    const server = await serving({ ...ACME, ...mailOf(DEEP) })
    const { ask } = createTestCheck([server])
    expect(await ask(`jane@${DEEP}`)).toMatchObject({ degraded: false, mail: { dmarc_policy: "reject" } })
    expect(dmarcQuestions(server.sendRequest()).toSorted((one, other) => other.length - one.length)).toEqual([
      `TXT _dmarc.${DEEP}`,
      ...[5, 4, 3, 2, 1, 0].map(labels => `TXT _dmarc.${"a.".repeat(labels)}granite-acme.com`),
      "TXT _dmarc.com",
    ])
  })

  test("are asked once for all domains below them, beside what they are asked for themselves", async () => {
    const domains = ["granite-one.com", "granite-two.com", "eu.granite-one.com", "us.granite-one.com"]
    const server = await serving(Object.assign({}, ...domains.map(mailOf)))
    const { ask } = createTestCheck([server])
    for (const domain of domains) expect((await ask(`jane@${domain}`)).reasons).toContain("dmarc_missing")
    expect(dmarcQuestions(server.sendRequest())).toEqual([
      ...["TXT _dmarc.granite-one.com", "TXT _dmarc.com"],
      "TXT _dmarc.granite-two.com",
      ...["TXT _dmarc.eu.granite-one.com", "TXT _dmarc.granite-one.com"],
      "TXT _dmarc.us.granite-one.com",
    ])
  })

  test("that get no answer leave the DMARC policy open, and nothing else", async () => {
    const { "TXT _dmarc.granite-acme.com": _, ...withoutPolicy } = ACME
    const server = await serving(withoutPolicy)
    server.fault("TXT _dmarc.com", "servfail")
    const { ask } = createTestCheck([server])
    const result = await ask(INPUT)
    expect(result).toMatchObject({ ...WHOLE, reasons: ["mx_found"], mail: { ...WHOLE.mail, dmarc_policy: null } })
    expect(await ask(INPUT)).toMatchObject({ cached: true, reasons: ["mx_found"] })
  })
})

describe("a resolver that denies every name", () => {
  test("is not believed when it denies the canaries too", async () => {
    const server = await serving({})
    const { ask, isDnsUnavailable } = createTestCheck([server], WITH_CANARIES)
    expect(await ask("jane@gmail.com")).toMatchObject({ category: "personal", degraded: true })
    expect(await ask("jane@some-company.com")).toMatchObject({ category: "unknown", degraded: true })
    expect(isDnsUnavailable()).toBe(true)
  })

  test("is believed in its denials when it knows a canary", async () => {
    const server = await serving(CANARIES)
    const { ask, isDnsUnavailable } = createTestCheck([server], WITH_CANARIES)
    expect(await ask("jane@granite-gone.com")).toMatchObject({
      category: "invalid",
      confidence: 0.98,
      reasons: ["domain_not_found"],
      degraded: false,
    })
    expect(isDnsUnavailable()).toBe(false)
  })

  test("is believed again when it comes to know them", async () => {
    const server = await serving({})
    const { ask, time, isDnsUnavailable } = createTestCheck([server], WITH_CANARIES)
    await ask(INPUT)
    server.serve({ ...ACME, ...CANARIES })
    await time.tick(5000)
    await packetsPass()
    expect(isDnsUnavailable()).toBe(false)
    expect(await ask(INPUT)).toMatchObject(WHOLE)
  })
})

describe("servers that are all dead", () => {
  test("cost two checks their budget, the next ones nothing, and are found again when they return", async () => {
    const server = await serving(ACME)
    await server.pause()
    const quiet = await serving(ACME)
    quiet.fault("*", "silent")
    const { ask, time, isDnsUnavailable } = createTestCheck([server, quiet])
    for (const input of [INPUT, "jane@granite-next.com"]) {
      const { value, tookMs } = await inTime(time, ask(input))
      expect(value).toMatchObject({ degraded: true, category: "unknown" })
      expect(tookMs).toBeLessThanOrEqual(3000)
    }
    expect(isDnsUnavailable()).toBe(true)
    const before = time.stopwatch()
    for (let at = 0; at < 100; at++) {
      expect(await ask(`jane@granite-dead${at}.com`)).toMatchObject({ degraded: true, took_ms: 0 })
    }
    expect(time.stopwatch()).toBe(before)
    quiet.fault("*", null)
    const { promise: tenSecondsLater, resolve } = Promise.withResolvers<void>()
    time.later(10_000, resolve)
    await inTime(time, tenSecondsLater)
    expect(isDnsUnavailable()).toBe(false)
    expect(await ask(INPUT)).toMatchObject(WHOLE)
  })

  test("are logged once when they fail and once when they answer, with the number of domains without evidence", async () => {
    const server = await serving(ACME)
    const { ask, time, isDnsUnavailable, logged } = createTestCheck([server])
    await ask(INPUT)
    expect(logged).toEqual([])
    server.fault("*", "silent")
    for (let at = 0; at < 2; at++) await inTime(time, ask(`jane@granite-silent${at}.com`))
    expect(isDnsUnavailable()).toBe(true)
    for (let at = 0; at < 5; at++) await ask(`jane@granite-away${at}.com`)
    server.fault("*", null)
    const { promise: tenSecondsLater, resolve } = Promise.withResolvers<void>()
    time.later(10_000, resolve)
    await inTime(time, tenSecondsLater)
    const lines = logged.map(line => JSON.parse(line))
    expect(lines).toEqual([
      expect.objectContaining({ level: "warn", msg: "DNS does not answer", fault: "dns_silent" }),
      expect.objectContaining({
        level: "info",
        msg: "DNS answers again",
        failed_tasks: 5,
        lasted_s: expect.any(Number),
      }),
    ])
    expect(logged.join()).not.toMatch(/granite|jane/)
  })

  test.each([
    ["deny every name", "dns_denying", WITH_CANARIES, null],
    ["answer every question with a failure", "dns_failing", {}, "servfail"],
  ] as const)("are logged with their fault when they %s", async (_, fault, options, fails) => {
    const server = await serving({})
    server.fault("*", fails)
    const { ask, time, logged } = createTestCheck([server], options)
    for (let at = 0; at < 30; at++) {
      await inTime(time, ask(`jane@granite-wrong${at}.com`))
      if (at === 10) await time.tick(PROBE_INTERVAL_MS)
    }
    expect(logged.map(line => JSON.parse(line).fault)).toEqual([fault])
  })

  test.each([
    [22, { ...WHOLE, cached: true }],
    [26, { category: "unknown", degraded: true }],
  ])("leave what was known in use for a day: after %d hours", async (hours, expected) => {
    const server = await serving(ACME)
    const { ask, time } = createTestCheck([server])
    await ask(INPUT)
    await time.tick(hours * 3_600_000)
    server.fault("*", "silent")
    expect((await inTime(time, ask(INPUT))).value).toMatchObject(expected)
  })
})

describe("the tenant of a domain", () => {
  const identity = { "granite-acme.com": { tenant: TENANT, region: "EU", realm: "Managed" } } as const

  test("is looked up beside DNS, without the caller's local part, and held for a day", async () => {
    const server = await serving(ACME)
    const { ask, identityRequests, time } = createTestCheck([server], { identity })
    const { workspace, integrations, reasons } = await ask(INPUT)
    expect(workspace).toEqual({
      suite_a: { detected: false, evidence: [] },
      suite_b: {
        detected: true,
        tenant_id: TENANT,
        tenant_region: "EU",
        auth: "managed",
        identity_provider: null,
        evidence: [`tenant:${TENANT}`],
      },
      other_suite: null,
      pending: false,
    })
    expect(integrations).toEqual({ suite_a_ready: false, suite_b_ready: true })
    expect(reasons).toContain("suite_b_tenant")
    expect(identityRequests.join(" ")).not.toContain("jane")
    await time.tick(3_700_000)
    await ask(INPUT)
    expect(identityRequests).toHaveLength(2)
  })

  test("is not looked up without workspace", async () => {
    const { ask, identityRequests } = createTestCheck([await serving(ACME)], { identity })
    expect((await ask(INPUT, false)).workspace.suite_b).toMatchObject({ detected: false, tenant_id: null })
    expect(identityRequests).toEqual([])
  })

  test("is pending when the budget ends first, and the verdict does not suffer", async () => {
    const { ask, time } = createTestCheck([await serving(ACME)], { identity: { "granite-acme.com": "hangs" } })
    const { value, tookMs } = await inTime(time, ask(INPUT))
    expect(value).toMatchObject({ ...WHOLE, workspace: { pending: true }, cached: false })
    expect(tookMs).toBeLessThanOrEqual(3100)
  })
})

test("nobody is asked where the servers are `off`, and every verdict says so", async () => {
  const { ask, isDnsUnavailable, identityRequests } = createTestCheck([], { identity: {} })
  expect(await ask("jane@gmail.com")).toMatchObject({ category: "personal", degraded: true })
  expect(isDnsUnavailable()).toBe(true)
  expect(identityRequests).toEqual([])
})
