import { expect, test } from "bun:test"
import { known, unknown } from "../../src/base/finding.ts"
import { HOUR_MS } from "../../src/base/time.ts"
import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import { type CategoryCorrections, createCheck, NO_CORRECTIONS, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { type DeepProbe, OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import type { NetworkEvidence } from "../../src/check/evidence-defects.ts"
import type { NetworkQuery } from "../../src/check/network-evidence.ts"
import { fullResult } from "../../src/check/result/result.ts"
import { ALL_QUESTIONS, areAsked, QUESTIONS } from "../../src/check/verdict/evidence-need.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { lists } from "../support/app.ts"
import { OWN_HOST } from "../support/evidence.ts"

const TENANT = {
  id: "4f1ba8b9-8a5c-4a0c-9a3e-7d8f2b6c1e55",
  region: "EU",
  auth: "managed",
  identityProvider: null,
} as const

const TOLD: NetworkEvidence = {
  mail: known(OWN_HOST),
  suites: known({ suiteA: [], suiteB: [], otherSuite: null }),
  tenant: known(TENANT),
  isCached: false,
  freshUntilMs: 60_000,
}

/** What a probe may do that has a defect. */
const DEFECTS: readonly (() => never | Promise<never>)[] = [
  () => {
    throw new TypeError("of jane@acme.com")
  },
  () => Promise.reject(new TypeError("of jane@acme.com")),
]

/** A check over the real lists and a network probe that returns `told`, with a clock that the test sets. */
function system(
  facts: NetworkEvidence = TOLD,
  deepProbe: DeepProbe = OFFLINE_DEEP_PROBE,
  corrections: CategoryCorrections = NO_CORRECTIONS,
  verdictsMax?: number,
) {
  const state = { facts, now: 0 }
  const queries: NetworkQuery[] = []
  const check = createCheck({
    activeLists: () => lists,
    networkProbe: one => {
      queries.push(one)
      return Promise.resolve(state.facts)
    },
    deepProbe,
    corrections,
    ...(verdictsMax !== undefined && { verdictsMax }),
    clock: () => state.now,
    stopwatch: () => state.now,
  })
  const ask = async (
    input: string,
    options: {
      readonly workspace?: boolean
      readonly deep?: boolean
      readonly isOperatorAllowed?: boolean
      readonly callerId?: string
    } = {},
  ): Promise<CheckResult> => {
    const subject = parseSubject(detectSubjectKind(input), input, "mailkind.test")
    const {
      workspace: includeTenant = true,
      deep: isDeep = false,
      isOperatorAllowed = false,
      callerId = null,
    } = options
    const ownListMatch = { ...NO_OWN_LIST_MATCH, isOperatorAllowed }
    return fullResult(await check({ subject, policy: "b2b", isDeep, includeTenant, callerId, ownListMatch }), "req_1")
  }
  return { ask, queries, state }
}

test("DNS decides if no list does", async () => {
  const { ask } = system()
  expect(await ask("jane@harbor-works-check.com")).toMatchObject({
    category: "business",
    confidence: 0.85,
    degraded: false,
    mail: { has_mx: true, spf: "v=spf1 mx -all", dmarc_policy: "none" },
    integrations: { suite_a_ready: false, suite_b_ready: true },
    workspace: { suite_b: { detected: true, tenant_id: TENANT.id, evidence: [`tenant:${TENANT.id}`] }, pending: false },
  })
})

test("a domain is a relay by its mail host only if that decides and the operator's allow list does not name it", async () => {
  const { ask } = system({ ...TOLD, mail: known({ ...OWN_HOST, operatedBy: "alias" }) })
  const told = async (input: string, isOperatorAllowed: boolean) => {
    const { category, is_relay: isRelay, reasons } = await ask(input, { isOperatorAllowed })
    return [category, isRelay, reasons[0]]
  }
  expect([
    await told("jane@harbor-works-alias.com", false),
    await told("jane@harbor-works-alias.com", true),
    await told("jane@mit.edu", false),
    await told("jane@duck.com", false),
    await told("jane@duck.com", true),
  ]).toEqual([
    ["relay", true, "relay_mx"],
    ["business", false, "mx_found"],
    ["education", false, "education_suffix"],
    ["relay", true, "relay_domain"],
    ["business", false, "mx_found"],
  ])
})

test("without workspace no tenant is looked up, and its fields are null", async () => {
  const { ask, queries } = system({ ...TOLD, tenant: unknown("not_asked") })
  const { workspace } = await ask("jane@harbor-works-plain.com", { workspace: false })
  expect(queries.map(({ asked }) => areAsked(asked, QUESTIONS.tenant))).toEqual([false])
  expect(workspace).toMatchObject({ suite_b: { tenant_id: null, tenant_region: null, auth: null }, pending: false })
})

test("without workspace a test address shows no tenant either", async () => {
  const { ask } = system()
  expect((await ask("suite-b@mailkind.test")).workspace.suite_b.tenant_id).not.toBeNull()
  expect((await ask("suite-b@mailkind.test", { workspace: false })).workspace.suite_b.tenant_id).toBeNull()
})

test.each([["jane@gmail.com"], ["jane@mailinator.com"], ["jane@duck.com"]])(
  "nobody's tenant is looked up at a consumer, throw-away or relay domain: %s",
  async input => {
    const { ask, queries } = system()
    await ask(input)
    expect(queries.map(({ asked }) => areAsked(asked, QUESTIONS.tenant))).toEqual([false])
  },
)

test.each([["jane@@acme.com"], ["jane@co.uk"], ["jane@[192.0.2.1]"], ["server.local"], ["business@mailkind.test"]])(
  "nobody outside is asked about %s",
  async input => {
    const { ask, queries } = system()
    const { degraded } = await ask(input)
    expect(queries).toEqual([])
    expect(degraded).toBe(false)
  },
)

test("a subdomain is looked up with its organisational domain", async () => {
  const { ask, queries } = system()
  await ask("jane@mail.harbor-works.co.uk")
  expect(queries).toEqual([
    {
      domain: "mail.harbor-works.co.uk",
      organisationalDomain: "harbor-works.co.uk",
      asked: ALL_QUESTIONS,
      isDecisive: true,
      callerId: null,
    },
  ])
})

test("a cached verdict is not used after the clock was set back to before it was cached", async () => {
  const { ask, queries, state } = system({ ...TOLD, isCached: true, freshUntilMs: 4_000_000 })
  const input = "jane@harbor-works-clock.com"
  state.now = 3_600_000
  for (let time = 0; time < 3; time++) await ask(input)
  const before = queries.length
  await ask(input)
  expect(queries).toHaveLength(before)
  state.now = 60_000
  await ask(input)
  expect(queries).toHaveLength(before + 1)
})

test("a further kind of request is cached once one of the cached ones is stale", async () => {
  const { ask, queries, state } = system({ ...TOLD, isCached: true })
  const domain = "harbor-works-fifth.com"
  const emails = ["jane", "jane+x", "info", "no-reply"].map(localPart => `${localPart}@${domain}`)
  const kinds = [...emails, domain, `https://${domain}/`]
  for (const input of kinds) for (let time = 0; time < 3; time++) await ask(input)
  const askFurther = async () => {
    const before = queries.length
    for (let time = 0; time < 3; time++) await ask(domain, { workspace: false })
    return queries.length - before
  }
  expect(await askFurther()).toBe(3)
  state.now = 60_000
  state.facts = { ...TOLD, isCached: true, freshUntilMs: 120_000 }
  expect(await askFurther()).toBe(1)
})

test("the tenant of a listed domain is looked up where the operator's allow list or a correction takes it off the lists", async () => {
  for (const [domain, correction, isOperatorAllowed, includeTenant] of [
    ["mailinator.com", null, false, false],
    ["mailinator.com", null, true, true],
    ["mailinator.com", "business", false, true],
    ["mailinator.com", "relay", true, false],
    ["gmail.com", null, true, false],
    ["gmail.com", "education", false, true],
    ["harbor-works-check.com", "personal", false, false],
    ["harbor-works-check.com", null, false, true],
  ] as const) {
    const { ask, queries } = system(TOLD, OFFLINE_DEEP_PROBE, { of: () => correction, version: 1 })
    await ask(`jane@${domain}`, { isOperatorAllowed })
    expect(queries.map(query => [query.domain, areAsked(query.asked, QUESTIONS.tenant)])).toEqual([
      [domain, includeTenant],
    ])
  }
})

test("a verdict from cached evidence is cached, and judged again only when it is stale", async () => {
  const { ask, queries, state } = system()
  const input = "jane@harbor-works-settled.com"
  expect((await ask(input)).cached).toBe(false)
  state.facts = { ...TOLD, isCached: true }
  expect((await ask(input)).cached).toBe(true)
  expect((await ask(input)).cached).toBe(true)
  expect(queries).toHaveLength(2)
  state.now = 60_000
  state.facts = { ...TOLD, freshUntilMs: 120_000 }
  expect((await ask(input)).cached).toBe(false)
  expect(queries).toHaveLength(3)
})

test("so many verdicts are cached as their bound says, of all domains together, and the first is dropped for another", async () => {
  const { ask, queries } = system({ ...TOLD, isCached: true }, OFFLINE_DEEP_PROBE, NO_CORRECTIONS, 3)
  const askedNow = async (domain: string, workspace: boolean): Promise<boolean> => {
    const before = queries.length
    await ask(domain, { workspace })
    return queries.length > before
  }
  const [first, second] = ["harbor-works-first.com", "harbor-works-second.com"]
  for (const domain of [first, second]) await ask(domain)
  for (const domain of [first, second]) for (const workspace of [true, false]) await ask(domain, { workspace })
  expect(await askedNow(second, true)).toBe(false)
  expect(await askedNow(second, false)).toBe(false)
  expect(await askedNow(first, false)).toBe(false)
  expect(await askedNow(first, true)).toBe(true)
  expect(await askedNow(first, false)).toBe(true)
})

test("a check that caches no verdicts leaves those of another check of the same domain where they are", async () => {
  const cached = system({ ...TOLD, isCached: true })
  const uncached = system({ ...TOLD, isCached: true }, OFFLINE_DEEP_PROBE, NO_CORRECTIONS, 0)
  const input = "jane@harbor-works-uncached.com"
  for (const { ask } of [cached, cached, cached, uncached, uncached, cached]) await ask(input)
  expect([cached.queries.length, uncached.queries.length]).toEqual([2, 2])
})

test("the kinds of request for one domain are cached separately", async () => {
  const { ask, queries } = system({ ...TOLD, isCached: true })
  for (const input of ["jane@harbor-works-kinds.com", "harbor-works-kinds.com", "https://harbor-works-kinds.com/x"]) {
    for (const workspace of [true, false]) for (let time = 0; time < 2; time++) await ask(input, { workspace })
  }
  expect((await ask("jane@harbor-works-kinds.com", { workspace: false })).email).toBe("jane@harbor-works-kinds.com")
  expect(queries.length).toBeGreaterThanOrEqual(6)
})

test("a failure is cached as long as it is fresh and no longer", async () => {
  const away: NetworkEvidence = {
    ...TOLD,
    mail: unknown("unavailable"),
    suites: unknown("unavailable"),
    freshUntilMs: 1000,
  }
  const { ask, queries, state } = system(away)
  const input = "jane@harbor-works-away.com"
  for (let time = 0; time < 4; time++) expect((await ask(input)).degraded).toBe(true)
  expect(queries).toHaveLength(2)
  state.now = 1000
  state.facts = TOLD
  expect(await ask(input)).toMatchObject({ degraded: false, category: "business" })
})

test("the lookups of a deep check are those of its caller, and without one of the operator", async () => {
  const callers: (string | null | undefined)[] = []
  const lookup: DeepProbe["lookup"] = (domain, callerId) => {
    callers.push(callerId)
    return OFFLINE_DEEP_PROBE.lookup(domain)
  }
  const { ask } = system(TOLD, { ...OFFLINE_DEEP_PROBE, lookup })
  await ask("jane@harbor-works-caller.com", { deep: true, callerId: "acc_1" })
  await ask("jane@harbor-works-operator.com", { deep: true })
  expect(callers).toEqual(["acc_1", null])
})

test("a deep check reports that age and homepage were unavailable", async () => {
  const { ask } = system()
  const { reasons, domain_age_days: age } = await ask("jane@harbor-works-deep.com", { deep: true })
  expect(reasons).toContain("deep_unavailable")
  expect(age).toBeNull()
  expect((await ask("jane@harbor-works-deep.com")).reasons).not.toContain("deep_unavailable")
})

test("plain checks use an age as soon as it is in memory, however it came there, also after their verdict was cached", async () => {
  const held: { age: number | null; version: number } = { age: null, version: 0 }
  const deep: DeepProbe = {
    lookup: () => {
      throw new Error("no check here is deep")
    },
    cachedAgeDays: () => held.age,
    ageVersion: () => held.version,
  }
  const { ask, queries } = system({ ...TOLD, isCached: true }, deep)
  const plain = async () => (await ask("jane@aged-works-check.com")).is_new_domain
  for (let times = 0; times < 3; times++) expect(await plain()).toBe(false)
  for (const [age, isNew] of [
    [3, true],
    [30, false],
    [null, false],
    [4, true],
  ] as const) {
    held.age = age
    held.version++
    for (let times = 0; times < 3; times++) expect(await plain()).toBe(isNew)
  }
  // The age of another domain does not make a new look-up necessary.
  held.version++
  const before = queries.length
  expect(await ask("jane@aged-works-check.com")).toMatchObject({ is_new_domain: true, cached: true })
  expect(queries).toHaveLength(before)
})

test.each(DEFECTS)(
  "a defect in a probe is a verdict without its evidence, which is reported and not cached",
  async fail => {
    const reported: string[] = []
    const state = { isBroken: true }
    const check = createCheck({
      activeLists: () => lists,
      networkProbe: () => (state.isBroken ? fail() : TOLD),
      deepProbe: { ...OFFLINE_DEEP_PROBE, lookup: fail, cachedAgeDays: fail as () => never },
      onDefect: kind => void reported.push(kind),
      corrections: NO_CORRECTIONS,
      clock: () => 0,
      stopwatch: () => 0,
    })
    const ask = async (isDeep: boolean) => {
      const subject = parseSubject("email", "jane@defect-works.com", "mailkind.test")
      const outcome = await check({
        subject,
        policy: "b2b",
        isDeep,
        includeTenant: true,
        ownListMatch: NO_OWN_LIST_MATCH,
      })
      return fullResult(outcome, "req_1")
    }
    for (let times = 0; times < 3; times++)
      expect(await ask(true)).toMatchObject({
        degraded: true,
        cached: false,
        reasons: ["no_evidence", "dns_unavailable", "deep_unavailable"],
      })
    expect(reported).toEqual(["dns", "deep", "dns", "deep", "dns", "deep"])
    state.isBroken = false
    expect(await ask(true)).toMatchObject({ degraded: false, category: "business" })
  },
)

test("a verdict for which nothing was asked is cached for as long as an answer of DNS at most", async () => {
  const nothing = { ...TOLD, mail: unknown("not_asked"), suites: unknown("not_asked"), tenant: unknown("not_asked") }
  const { ask, queries, state } = system({ ...nothing, freshUntilMs: Number.POSITIVE_INFINITY } as NetworkEvidence)
  const askAt = async (now: number): Promise<number> => {
    state.now = now
    await ask("jane@granite-harbor.com")
    return queries.length
  }
  expect([await askAt(0), await askAt(0), await askAt(1)]).toEqual([1, 2, 2])
  expect([await askAt(HOUR_MS - 1), await askAt(HOUR_MS)]).toEqual([2, 3])
})
