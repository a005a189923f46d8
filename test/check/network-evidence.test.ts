import { describe, expect, test } from "bun:test"
import { Deadline } from "../../src/base/concurrency.ts"
import { known, unknown } from "../../src/base/finding.ts"
import { ListContext } from "../../src/check/lookup-context.ts"
import type { MailProbeResult } from "../../src/check/mail/mail-probe.ts"
import { createNetworkProbe, type NetworkQuery } from "../../src/check/network-evidence.ts"
import type { IdentityCloud } from "../../src/check/tenant/identity-endpoint.ts"
import type { TenantProbeResult } from "../../src/check/tenant/tenant-probe.ts"
import { ALL_QUESTIONS, QUESTIONS } from "../../src/check/verdict/evidence-need.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import type { EvidenceKind } from "../../src/contract/metrics.ts"
import { OWN_HOST } from "../support/evidence.ts"
import { createFakeTime, manyTurns, settled } from "../support/time.ts"

const ACME: NetworkQuery = {
  domain: "acme.com",
  organisationalDomain: "acme.com",
  asked: ALL_QUESTIONS,
  isDecisive: true,
  callerId: null,
}
const TENANT = {
  id: "4f1ba8b9-8a5c-4a0c-9a3e-7d8f2b6c1e55",
  region: "EU",
  auth: "managed",
  identityProvider: null,
} as const
const NO_SUITES = { suiteA: [], suiteB: [], otherSuite: null } as const
const BUDGET_MS = 3000
const QUERY_TIMEOUT_MS = 1500

/** Probes whose answers the test triggers, and which count their lookups. */
function system(
  nextTick: (work: () => void) => void = queueMicrotask,
  isSampled: (organisationalDomain: string) => boolean = () => false,
) {
  const time = createFakeTime()
  const queries = { mail: 0, tenant: 0 }
  const asked: number[] = []
  const state = { isUnavailable: false }
  const shift = { ms: 0 }
  const lists = { version: "first" }
  const freshUntilMs = time.clock() + 60_000
  const answers = {
    mail: async (_: Deadline): Promise<MailProbeResult> => ({
      mail: known(OWN_HOST),
      suites: known(NO_SUITES),
      hosts: [],
      isCached: false,
      freshUntilMs,
    }),
    tenant: async (_: IdentityCloud): Promise<TenantProbeResult> => ({
      tenant: known(TENANT),
      isCached: false,
      freshUntilMs,
    }),
  }
  const defects: EvidenceKind[] = []
  const ask = createNetworkProbe({
    probeMail: (query, deadline) => {
      queries.mail++
      asked.push(query.asked)
      return answers.mail(deadline)
    },
    probeTenant: (_, cloud) => {
      queries.tenant++
      return answers.tenant(cloud)
    },
    isUnavailable: () => state.isUnavailable,
    isSampled,
    onDefect: kind => void defects.push(kind),
    clock: () => time.clock() + shift.ms,
    setTimer: time.later,
    timeoutMs: BUDGET_MS,
    nextTick,
    listsVersion: () => lists.version,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
  })
  return { time, queries, asked, state, shift, lists, answers, defects, ask }
}

test("a domain is looked up once while its evidence is fresh, and then it comes from the cache", async () => {
  const { ask, queries, time } = system()
  const first = await ask(ACME)
  expect(first.isCached).toBe(false)
  await time.tick(59_999)
  const again = ask(ACME)
  expect(again).not.toBeInstanceOf(Promise)
  expect(await again).toEqual({ ...first, isCached: true })
  expect(queries).toEqual({ mail: 1, tenant: 1 })
  await time.tick(1)
  await ask(ACME)
  expect(queries).toEqual({ mail: 2, tenant: 2 })
})

test("cached evidence is not used after the clock was set back to before it was gathered", async () => {
  const { ask, queries, time, shift } = system()
  await time.tick(50_000)
  await ask(ACME)
  shift.ms = -10_000
  await ask(ACME)
  expect(queries.mail).toBe(2)
})

test("a tenant is looked up only on request", async () => {
  const { ask, queries } = system()
  const { tenant } = await ask({ ...ACME, asked: QUESTIONS.records })
  expect(tenant).toEqual(unknown("not_asked"))
  expect(queries.tenant).toBe(0)
  expect((await ask(ACME)).tenant).toEqual(known(TENANT))
})

describe("who needs less", () => {
  const { delivery, suites, records, tenant } = QUESTIONS

  test("has an answer at once where nothing is needed, and mail hosts of a sample are looked up for what they teach", async () => {
    const { ask, asked } = system(queueMicrotask, name => name === "sampled.com")
    const nothing = { ...ACME, asked: 0 }
    for (const organisationalDomain of ["acme.com", "sampled.com"])
      expect(ask({ ...nothing, organisationalDomain })).toMatchObject({ mail: unknown("not_asked"), isCached: false })
    await settled()
    expect(asked).toEqual([delivery])
    ask({ ...nothing, organisationalDomain: "sampled.com" })
    expect(asked).toEqual([delivery])
  })

  test("is not told of a failure that decides nothing, from the cache neither", async () => {
    const { ask, answers, time } = system()
    const failed = { mail: unknown("timed_out"), suites: unknown("timed_out"), hosts: [], isCached: false } as const
    answers.mail = async () => ({ ...failed, freshUntilMs: time.clock() + 1000 })
    for (const isDecisive of [false, true, false]) {
      const { mail } = await ask({ ...ACME, asked: delivery, isDecisive })
      expect(mail).toEqual(isDecisive ? unknown("timed_out") : unknown("not_asked"))
    }
  })

  test("leaves stale evidence of more questions where it is, which replaces a failure", async () => {
    const { ask, answers, asked, time } = system()
    const { mail } = await ask(ACME)
    const found = await answers.mail(new Deadline(() => () => undefined, 1))
    for (let round = 0; round < 2; round++) {
      await time.tick(60_000)
      answers.mail = async () => ({ ...found, freshUntilMs: time.clock() + 60_000 })
      await ask({ ...ACME, asked: delivery })
    }
    const failed = { mail: unknown("timed_out"), suites: unknown("timed_out"), hosts: [], isCached: false } as const
    answers.mail = async () => ({ ...failed, freshUntilMs: time.clock() + 1000 })
    expect(await ask(ACME)).toMatchObject({ mail, isCached: true })
    expect(asked.slice(1)).toEqual([delivery, delivery, ACME.asked])
  })

  test.each([
    [[records | tenant, delivery], [], "a narrow lookup that ends last"],
    [[suites, delivery | tenant], [], "two of which each knows what the other does not"],
    [[delivery | tenant, suites], [], "the same the other way round"],
    [[delivery, suites], [delivery | tenant], "what nobody has asked"],
  ] as const)("%p leaves what others have found in the cache, but %p: %s", async (each, askedAgain) => {
    const { ask, asked, answers } = system()
    const found = await answers.mail(new Deadline(() => () => undefined, 1))
    const ends: (() => void)[] = []
    answers.mail = () => new Promise(resolve => ends.push(() => resolve(found)))
    const pending = each.map(one => ask({ ...ACME, asked: one }))
    await settled()
    for (const end of ends) {
      end()
      await settled()
    }
    await Promise.all(pending)
    asked.length = 0
    answers.mail = async () => found
    for (const one of each) await ask({ ...ACME, asked: one })
    await ask({
      ...ACME,
      asked: delivery | (askedAgain.length > 0 || each.some(one => (one & tenant) !== 0) ? tenant : 0),
    })
    expect(asked).toEqual([...askedAgain])
  })

  test("keeps mail that is known when a wider lookup fails", async () => {
    const { ask, asked, answers, time } = system()
    await ask({ ...ACME, asked: delivery })
    const failed = { mail: unknown("timed_out"), suites: unknown("timed_out"), hosts: [], isCached: false } as const
    answers.mail = async () => ({ ...failed, freshUntilMs: time.clock() + 1000 })
    expect((await ask({ ...ACME, asked: records })).mail.known).toBe(false)
    expect((await ask({ ...ACME, asked: delivery })).mail.known).toBe(true)
    expect(asked).toEqual([delivery, records])
  })
})

test("a tenant that misses the deadline is pending, and the next check looks it up again", async () => {
  const { ask, answers, time } = system()
  const { promise, resolve } = Promise.withResolvers<TenantProbeResult>()
  answers.tenant = () => promise
  const first = ask(ACME)
  await time.tick(BUDGET_MS)
  expect(await first).toMatchObject({ tenant: unknown("pending"), isCached: false })
  resolve({ tenant: known(TENANT), isCached: false, freshUntilMs: time.clock() + 1000 })
  expect((await ask(ACME)).tenant).toEqual(known(TENANT))
})

test("a tenant endpoint that always misses the deadline leaves the mail cached for as long as its failure is", async () => {
  const { time, answers, queries, ask } = system()
  const late = Promise.withResolvers<TenantProbeResult>()
  answers.tenant = () => late.promise
  const first = ask(ACME)
  await settled()
  await time.tick(BUDGET_MS + 1)
  expect(await first).toMatchObject({ mail: known(OWN_HOST), tenant: unknown("pending") })
  late.resolve({ tenant: unknown("timed_out"), isCached: false, freshUntilMs: time.clock() + 30_000 })
  await settled()
  expect(await ask(ACME)).toMatchObject({ mail: known(OWN_HOST), tenant: unknown("timed_out") })
  expect(queries).toEqual({ mail: 1, tenant: 1 })
  await time.tick(30_001)
  void ask(ACME)
  await settled()
  expect(queries).toEqual({ mail: 2, tenant: 2 })
})

test("mail that the deadline has cut short is not cached with a late tenant", async () => {
  const { time, answers, queries, ask } = system()
  const late = Promise.withResolvers<TenantProbeResult>()
  answers.tenant = () => late.promise
  answers.mail = async deadline =>
    await deadline.wait(new Promise<never>(() => undefined), {
      ...{ mail: unknown("timed_out"), suites: unknown("timed_out"), hosts: [] },
      ...{ isCached: false, freshUntilMs: time.clock() + 60_000 },
    })
  const first = ask(ACME)
  await settled()
  await time.tick(BUDGET_MS + 1)
  await first
  late.resolve({ tenant: known(TENANT), isCached: false, freshUntilMs: time.clock() + 60_000 })
  await settled()
  void ask(ACME)
  await settled()
  expect(queries).toEqual({ mail: 2, tenant: 2 })
})

test("a defect of ours in what nobody waits for, a late tenant or a sample, is reported and ends nothing", async () => {
  const { time, answers, defects, lists, ask } = system(queueMicrotask, () => true)
  const late = Promise.withResolvers<TenantProbeResult>()
  answers.tenant = () => late.promise
  const first = ask(ACME)
  await settled()
  await time.tick(BUDGET_MS + 1)
  expect((await first).tenant).toEqual(unknown("pending"))
  Object.defineProperty(lists, "version", {
    get: () => {
      throw new Error("a defect")
    },
  })
  late.resolve({ tenant: known(TENANT), isCached: false, freshUntilMs: time.clock() + 60_000 })
  await settled()
  expect(defects).toEqual(["tenant"])
  ask({ ...ACME, asked: 0 })
  await settled()
  expect(defects).toEqual(["tenant", "dns"])
})

test("no timer is left if all lookups end in time", async () => {
  const { ask, time } = system()
  await ask(ACME)
  expect(time.waiting()).toBe(0)
})

test("while DNS is unavailable no tenant is looked up", async () => {
  const { ask, queries, state } = system()
  state.isUnavailable = true
  expect((await ask(ACME)).tenant).toEqual(unknown("not_asked"))
  expect(queries.tenant).toBe(0)
})

test("a failure that is cached for a moment never counts as cached", async () => {
  const { ask, answers, time } = system()
  answers.mail = async () => ({
    mail: unknown("unavailable"),
    suites: unknown("unavailable"),
    hosts: [],
    isCached: false,
    freshUntilMs: time.clock() + 1000,
  })
  await ask({ ...ACME, asked: QUESTIONS.records })
  const held = ask({ ...ACME, asked: QUESTIONS.records })
  expect(held).not.toBeInstanceOf(Promise)
  expect(await held).toMatchObject({ mail: unknown("unavailable"), isCached: false })
})

test("a tenant that the first cloud does not know is looked up in the cloud of the mail hosts", async () => {
  const { ask, answers, queries } = system()
  const clouds: IdentityCloud[] = []
  answers.tenant = async cloud => {
    clouds.push(cloud)
    return { tenant: known(cloud === "cn" ? TENANT : null), isCached: false, freshUntilMs: 9e15 }
  }
  expect((await ask(ACME)).tenant).toEqual(known(null))
  expect(clouds).toEqual(["worldwide"])
  const host = "acme-cn.mail.protection.partner.outlook.cn"
  answers.mail = async () => ({
    mail: known({ ...OWN_HOST, mx: [{ priority: 0, host, provider: "suite_b" }] }),
    suites: known({ suiteA: [], suiteB: [`mx:${host}`], otherSuite: null }),
    hosts: [],
    isCached: false,
    freshUntilMs: 9e15,
  })
  expect((await ask({ ...ACME, domain: "acme.cn" })).tenant).toEqual(known(TENANT))
  expect(clouds).toEqual(["worldwide", "worldwide", "cn"])
  expect(queries.tenant).toBe(3)
})

test("mail and tenant are looked up at the same time", async () => {
  const { ask, queries, answers } = system()
  const { promise } = Promise.withResolvers<TenantProbeResult>()
  answers.tenant = () => promise
  answers.mail = () => Promise.withResolvers<MailProbeResult>().promise
  void ask(ACME)
  await settled()
  expect(queries).toEqual({ mail: 1, tenant: 1 })
})

test("evidence that a deadline cut short is not cached for others", async () => {
  const { ask, answers, queries, time } = system()
  const complete = answers.mail
  const cutShort = { ...(await complete(new Deadline(time.later, BUDGET_MS))), suites: unknown("timed_out") }
  answers.mail = deadline => deadline.wait(new Promise(() => undefined), cutShort)
  const late = ask({ ...ACME, asked: QUESTIONS.records })
  await time.tick(BUDGET_MS)
  expect((await late).suites).toEqual(unknown("timed_out"))
  answers.mail = complete
  expect((await ask({ ...ACME, asked: QUESTIONS.records })).suites.known).toBe(true)
  expect(queries.mail).toBe(2)
})

describe("while DNS fails", () => {
  const DAY_MS = 86_400_000
  const ALL = { ...ACME, asked: QUESTIONS.records }
  const FAILED = { mail: unknown("unavailable"), suites: unknown("unavailable"), hosts: [], isCached: false } as const

  /** Evidence that is no longer fresh, of a domain for which every question fails now. */
  async function failing() {
    const all = system()
    const found = await all.ask(ALL)
    await all.time.tick(60_000)
    all.answers.mail = async () => ({ ...FAILED, freshUntilMs: all.time.clock() + 1000 })
    return { ...all, found }
  }

  test("stale evidence replaces the failure, and DNS is asked again after a short while", async () => {
    const { ask, found, queries, time } = await failing()
    expect(await ask(ALL)).toEqual({ ...found, isCached: true, freshUntilMs: time.clock() + 5_000 })
    await time.tick(4_999)
    expect(ask(ALL)).not.toBeInstanceOf(Promise)
    await time.tick(1)
    expect((await ask(ALL)).mail).toEqual(found.mail)
    expect(queries.mail).toBe(3)
  })

  test("stale evidence replaces failures for a day after it was fresh, and using it does not prolong that", async () => {
    const { ask, found, time } = await failing()
    for (let hour = 1; hour < 24; hour++) {
      await time.tick(DAY_MS / 24)
      expect((await ask(ALL)).mail).toEqual(found.mail)
    }
    await time.tick(DAY_MS / 24 - 1)
    expect((await ask(ALL)).mail).toEqual(found.mail)
    await time.tick(1)
    expect((await ask(ALL)).mail).toEqual(unknown("unavailable"))
  })

  test("a new answer replaces stale evidence", async () => {
    const { ask, answers, time } = await failing()
    await ask(ALL)
    const mail = known({ ...OWN_HOST, hasAddress: !OWN_HOST.hasAddress })
    answers.mail = async () => ({ ...FAILED, mail, suites: known(NO_SUITES), freshUntilMs: time.clock() + 60_000 })
    await time.tick(5_000)
    expect(await ask(ALL)).toMatchObject({ mail, isCached: false })
  })

  test("only what failed is replaced: the SPF record with the suites that it shows, or the DMARC policy", async () => {
    const { ask, answers, found, time } = await failing()
    const suites = known({ ...NO_SUITES, suiteA: ["mx:example.com"] })
    const moved = { ...OWN_HOST, hasAddress: !OWN_HOST.hasAddress }
    const tell = async (part: Partial<typeof OWN_HOST>) => {
      answers.mail = async () => ({
        ...{ ...FAILED, mail: known({ ...moved, ...part }), suites },
        freshUntilMs: time.clock() + 1000,
      })
      await time.tick(1000)
      return await ask(ALL)
    }
    const { spf, dmarcPolicy } = OWN_HOST
    expect(await tell({ spf: unknown("timed_out") })).toMatchObject({
      mail: known({ ...moved, spf }),
      suites: found.suites,
    })
    expect(await tell({ dmarcPolicy: unknown("timed_out") })).toMatchObject({
      mail: known({ ...moved, dmarcPolicy }),
      suites,
    })
  })

  test("stale evidence serves those who ask less, and none who ask more", async () => {
    const { ask, answers, time } = system()
    answers.mail = async () => ({
      ...{ mail: known(OWN_HOST), suites: known(NO_SUITES), hosts: [], isCached: false },
      freshUntilMs: time.clock() + 60_000,
    })
    await ask({ ...ALL, asked: QUESTIONS.suites })
    await time.tick(60_000)
    answers.mail = async () => ({ ...FAILED, freshUntilMs: time.clock() + 1000 })
    expect((await ask(ALL)).mail.known).toBe(false)
    await time.tick(1000)
    expect((await ask({ ...ALL, asked: QUESTIONS.delivery })).mail.known).toBe(true)
  })

  test("what was learned of mail hosts holds for the lists of its time alone", async () => {
    const { ask, answers, time, lists } = system()
    const learned = { ...OWN_HOST, operatedBy: "learned_disposable" as const }
    answers.mail = async () => ({
      ...{ mail: known(learned), suites: known(NO_SUITES), hosts: [], isCached: false },
      freshUntilMs: time.clock() + 60_000,
    })
    await ask(ALL)
    await time.tick(60_000)
    answers.mail = async () => ({ ...FAILED, freshUntilMs: time.clock() + 1000 })
    expect((await ask(ALL)).mail).toEqual(known(learned))
    lists.version = "newer"
    expect((await ask(ALL)).mail.known).toBe(false)
  })
})

const LOOKUPS_PER_CALLER_MAX = LIMITS.lookupsPerCallerMax

describe("the lookups of one caller", () => {
  const queryOf = (callerId: string | null, index: number): NetworkQuery => ({
    ...ACME,
    domain: `d${index}.com`,
    asked: QUESTIONS.records,
    callerId,
  })

  test("wait for their turn beyond a number at the same time, and no other caller waits", async () => {
    const { ask, answers, queries, time } = system()
    const { promise, resolve } = Promise.withResolvers<MailProbeResult>()
    const answer = await answers.mail(new Deadline(time.later, BUDGET_MS))
    answers.mail = () => promise
    const all = Array.from({ length: LOOKUPS_PER_CALLER_MAX + 10 }, (_, index) => ask(queryOf("busy", index)))
    await manyTurns()
    expect(queries.mail).toBe(LOOKUPS_PER_CALLER_MAX)
    for (const callerId of ["other", null]) void ask(queryOf(callerId, 1))
    await manyTurns()
    expect(queries.mail).toBe(LOOKUPS_PER_CALLER_MAX + 2)
    resolve(answer)
    expect((await Promise.all(all)).every(({ mail }) => mail.known)).toBe(true)
  })

  test("do not wait for those of names for which nobody waits, however many a list has, and further ones follow", async () => {
    const { ask, answers, asked } = system(queueMicrotask, () => true)
    const answer = await answers.mail(new Deadline(() => () => undefined, 1))
    const ends: (() => void)[] = []
    answers.mail = () => new Promise(resolve => ends.push(() => resolve(answer)))
    for (let index = 0; index < 1000; index++) void ask({ ...queryOf("busy", index), asked: 0 })
    void ask(queryOf("busy", 1000))
    await manyTurns()
    expect(asked).toContain(QUESTIONS.records)
    const askedBefore = asked.length
    for (const end of ends.splice(0)) end()
    await manyTurns()
    void ask({ ...queryOf("busy", 1001), asked: 0 })
    await manyTurns()
    expect(asked).toHaveLength(askedBefore + 1)
  })

  test("start a few in each turn of the event loop, and no other caller waits for them", async () => {
    const turns: (() => void)[] = []
    const { ask, queries } = system(work => void turns.push(work))
    for (let index = 0; index < 20; index++) void ask(queryOf("busy", index))
    await settled()
    const first = queries.mail
    expect(first).toBeLessThan(10)
    void ask(queryOf("other", 50))
    await settled()
    expect(queries.mail).toBe(first + 1)
    for (const work of turns.splice(0)) work()
    await settled()
    expect(queries.mail).toBe(2 * first + 1)
  })

  test("are without an answer if their turn does not come before the deadline, and are not cached then", async () => {
    const { ask, answers, queries, time } = system()
    answers.mail = () => new Promise(() => undefined)
    for (let index = 0; index < LOOKUPS_PER_CALLER_MAX; index++) void ask(queryOf("busy", index))
    const late = ask(queryOf("busy", LOOKUPS_PER_CALLER_MAX))
    await time.tick(BUDGET_MS)
    expect(await late).toMatchObject({ mail: unknown("timed_out"), isCached: false })
    expect(queries.mail).toBe(LOOKUPS_PER_CALLER_MAX)
  })

  test("that were given up hold their turns while their questions are in flight", async () => {
    const { ask, answers, queries, time } = system()
    const tooLate = {
      mail: unknown("timed_out"),
      suites: unknown("timed_out"),
      hosts: [],
      isCached: false,
      freshUntilMs: 0,
    }
    answers.mail = deadline => deadline.wait(new Promise(() => undefined), tooLate)
    const askAll = (stem: string) => {
      for (let index = 0; index < LOOKUPS_PER_CALLER_MAX; index++)
        void ask({ ...queryOf("busy", index), domain: `${stem}${index}.com` })
    }
    askAll("first")
    await time.tick(10)
    askAll("second")
    await time.tick(BUDGET_MS + QUERY_TIMEOUT_MS - 11)
    expect(queries.mail).toBe(LOOKUPS_PER_CALLER_MAX)
    askAll("third")
    await time.tick(11)
    expect(queries.mail).toBe(2 * LOOKUPS_PER_CALLER_MAX)
  })
})

describe("the checks of a list", () => {
  test("go on without evidence where a lookup failed by a defect of ours, and ask again", async () => {
    const { ask, answers, defects, time } = system()
    const context = new ListContext(time.clock())
    const whole = answers.mail
    answers.mail = () => Promise.reject(new Error("a defect"))
    expect((await ask(ACME, context)).mail).toEqual(unknown("unavailable"))
    expect(defects).toEqual(["dns"])
    answers.mail = whole
    expect((await ask(ACME, context)).mail.known).toBe(true)
  })

  test("look a domain up once, however long ago that was, and ask anew for others once it is no longer fresh", async () => {
    const { ask, queries, time } = system()
    const context = new ListContext(time.clock())
    const [first, joined] = [ask(ACME, context), ask(ACME, context)]
    expect(await joined).toBe(await first)
    await time.tick(1_000_000)
    const again = ask(ACME, context)
    expect(again).not.toBeInstanceOf(Promise)
    expect(await again).toEqual({ ...(await first), isCached: true })
    expect(queries).toEqual({ mail: 1, tenant: 1 })
    await ask(ACME, new ListContext(time.clock()))
    expect(queries).toEqual({ mail: 2, tenant: 2 })
    // Lists displace nothing that others have cached, and others do not use what lists have.
    await ask(ACME)
    expect(queries).toEqual({ mail: 3, tenant: 3 })
    expect(time.waiting()).toBe(0)
  })

  test("ask nothing again for a list that repeats while its answers are fresh", async () => {
    const { ask, queries, time } = system()
    await ask(ACME, new ListContext(time.clock()))
    await time.tick(59_999)
    const again = ask(ACME, new ListContext(time.clock()))
    expect(again).not.toBeInstanceOf(Promise)
    expect(queries).toEqual({ mail: 1, tenant: 1 })
  })

  test("use what others have found and what is still fresh", async () => {
    const { ask, queries, time } = system()
    await ask(ACME)
    await ask(ACME, new ListContext(time.clock()))
    expect(queries).toEqual({ mail: 1, tenant: 1 })
  })

  test("look a domain up again when a part of the answer was missing", async () => {
    const parts = [
      { mail: unknown("timed_out") },
      { mail: known({ ...OWN_HOST, spf: unknown("timed_out") }) },
      { mail: known({ ...OWN_HOST, dmarcPolicy: unknown("unavailable") }) },
      { suites: unknown("timed_out") },
    ] as const
    for (const part of parts) {
      const { ask, queries, answers, time } = system()
      const whole = answers.mail
      answers.mail = async deadline => ({ ...(await whole(deadline)), ...part })
      const context = new ListContext(time.clock())
      await ask(ACME, context)
      answers.mail = whole
      await ask(ACME, context)
      await ask(ACME, context)
      expect([part, queries.mail]).toEqual([part, 2])
    }
  })

  test("ask for a tenant when one is wanted after one was not", async () => {
    const { ask, queries, time } = system()
    const context = new ListContext(time.clock())
    const without = { ...ACME, asked: QUESTIONS.records }
    for (const query of [without, ACME, without, ACME]) await ask(query, context)
    expect(queries).toEqual({ mail: 2, tenant: 1 })
  })
})
