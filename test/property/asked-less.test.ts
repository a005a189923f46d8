import { expect, setDefaultTimeout, test } from "bun:test"
import { type Finding, known, unknown } from "../../src/base/finding.ts"
import { parseSubject } from "../../src/check/address/parse-subject.ts"
import type { Subject } from "../../src/check/address/subject.ts"
import { createCheck, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import type { DnsAnswer, DnsQuestion, DnsRecord } from "../../src/check/dns/dns-types.ts"
import { LEARNED_BOUNDS, LearnedHosts } from "../../src/check/learned/learned-hosts.ts"
import { createLearningProbe } from "../../src/check/learned/learning-probe.ts"
import { ListMatch } from "../../src/check/lists/list-match.ts"
import { SET_BITS, SET_NAMES, STRENGTH_BITS } from "../../src/check/lists/sets.ts"
import { createMailProbe } from "../../src/check/mail/mail-probe.ts"
import { createNetworkProbe } from "../../src/check/network-evidence.ts"
import { fullResult } from "../../src/check/result/result.ts"
import type { TenantProbeResult } from "../../src/check/tenant/tenant-probe.ts"
import { ALL_PARTS, ANSWER_PARTS, type AnswerPart, verdictParts } from "../../src/check/verdict/evidence-need.ts"
import { CATEGORY_NAMES, type Category } from "../../src/contract/categories.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { POLICY_NAMES } from "../../src/contract/policies.ts"
import { REASONS, type Reason } from "../../src/contract/reasons.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { Dice } from "../fuzz/dice.ts"
import { lists } from "../support/app.ts"
import { createFakeTime } from "../support/time.ts"
import { asking, written } from "../support/zone.ts"

/** So many in `verify`; `DOMAINS=200000 bun test test/property/asked-less.test.ts` makes more. */
const DOMAINS = Number(process.env["DOMAINS"] ?? 4000)
setDefaultTimeout(60_000 + 20 * DOMAINS)
const SEED = 1
const TTL_S = 300
const DAY = 20_000
const LEARNED_HOST = "mx.thrown-away-mail.net"

const HOSTS = [
  ...["aspmx.l.google.com", "acme-com.mail.protection.outlook.com", "ms1.msv1.invalid.outlook.com", "mx.own-mail.org"],
  ...["mxa-001.pphosted.com", "inbound-smtp.eu-west-1.amazonaws.com", "mx.cloudflare.net", "mail.mailinator.com"],
  ...["mx1.improvmx.com", "localhost", "203.0.113.9", "", LEARNED_HOST, LEARNED_HOST, "mx2.own-mail.org"],
] as const
const ADDRESSES = ["198.51.99.25", "198.51.99.26", "127.0.0.1", "10.0.0.1", "116.202.9.167"] as const
const TEXTS = [
  ...["v=spf1 include:_spf.google.com -all", "v=spf1 include:spf.protection.outlook.com ~all", "v=spf1 -all", "hello"],
  "v=spf1 include:a.spf.org include:b.spf.org include:c.spf.org include:d.spf.org include:e.spf.org -all",
] as const

/** What a domain is asked with, and its world, which the number makes. */
function caseOf(number: number) {
  const dice = new Dice(SEED, number)
  const domain = `works${number}.${dice.pick(["com", "org", "io"])}`
  const [kind, text] = dice.pick([
    ["email", `jane@${domain}`],
    ["email", `info+tag@${domain}`],
    ["domain", domain],
  ])
  const strength = dice.pick(["weak", "single", "strong"] as const)
  const listed = dice.once(3) ? [] : dice.times(dice.once(4) ? 2 : 1, () => dice.below(SET_NAMES.length))
  const sets = listed.map(at => SET_NAMES[at] ?? "relay")
  const mask = sets.reduce((bits, set) => bits | SET_BITS[set], 0)
  const match = new ListMatch(sets.includes("disposable") ? mask | STRENGTH_BITS[strength] : mask, domain, 0)
  const subject = parseSubject(kind as "email" | "domain", text, "mailkind.test")
  return {
    ...{ domain, match, subject },
    namePattern: dice.pick([null, null, "education", "government"] as const),
    correction: dice.once(8) ? (CATEGORY_NAMES[dice.below(CATEGORY_NAMES.length)] ?? null) : null,
    ageDays: dice.once(8) ? dice.pick([3, 4000]) : null,
    policy: POLICY_NAMES[dice.below(POLICY_NAMES.length)] ?? "b2b",
    includeTenant: !dice.once(4),
    parts: dice.once(4) ? verdictParts(subject) : dice.below(ALL_PARTS),
    isDenied: dice.once(8),
    areFaultsLikely: dice.once(3),
  }
}

type Case = ReturnType<typeof caseOf>

/** What fails of a question, which depends on the case and its name alone. */
const faultOf = ({ domain, areFaultsLikely }: Case, asked: string): Finding<never> | null => {
  const dice = new Dice(SEED + 1, Bun.hash.crc32(`${domain} ${asked}`))
  return dice.once(areFaultsLikely ? 3 : 40) ? unknown(dice.pick(["timed_out", "unavailable"])) : null
}

function answerTo({ domain, isDenied }: Case, { name, type }: DnsQuestion): DnsAnswer {
  const dice = new Dice(SEED + 2, Bun.hash.crc32(`${domain} ${type} ${name}`))
  const isOwn = name === domain
  // A broken server denies a name for some types only.
  if (isOwn && isDenied && !dice.once(6)) return { outcome: "no_name", records: [], ttlS: TTL_S }
  if (dice.once(isOwn ? 3 : 4)) return { outcome: dice.pick(["no_data", "no_name"]), records: [], ttlS: TTL_S }
  const records = dice.times(type === "TXT" ? 1 : 1 + dice.below(3), () => recordOf(dice, name, type))
  return { outcome: "records", records: records.flat(), ttlS: TTL_S }
}

function recordOf(dice: Dice, name: string, type: DnsQuestion["type"]): DnsRecord[] {
  if (type === "MX") return [{ type, preference: dice.pick([0, 10, 10]), exchange: dice.pick(HOSTS) }]
  if (type === "A") return [{ type, address: name === LEARNED_HOST ? ADDRESSES[0] : dice.pick(ADDRESSES) }]
  if (type === "AAAA") return [{ type, address: dice.pick(["2a01:4f8::1", "fe80::1"]) }]
  if (type === "CNAME")
    return [{ type, target: dice.pick(["autodiscover.outlook.com", "autodiscover.mail.eu-west-1.awsapps.com"]) }]
  if (type !== "TXT") return []
  if (name.startsWith("_dmarc.")) return [{ type, text: dice.pick(["v=DMARC1; p=reject", "v=DMARC1; p=none"]) }]
  return [{ type, text: name.includes("._domainkey.") ? "v=DKIM1; p=MIIB" : dice.pick(TEXTS) }]
}

const TENANT = { id: "72f988bf-86f1-41af-91ab-2d7cd011db47", region: "EU", auth: null, identityProvider: null }

/** Checks in the world of a case, where questions that `mayFail` fail as the case says. */
function world(one: Case, mayFail: (asked: string) => boolean) {
  const { domain, match, namePattern, correction, ageDays } = one
  const time = createFakeTime(DAY * 86_400_000)
  const asked: string[] = []
  const failing = (question: string): Finding<never> | null => {
    asked.push(question)
    return mayFail(question) ? faultOf(one, question) : null
  }
  const learnedHosts = new LearnedHosts(LEARNED_BOUNDS)
  for (let at = 0; at < 8; at++)
    learnedHosts.observe(`thrown${at}.com`, { host: "thrown-away-mail.net", addresses: [] }, true, DAY)
  const matchLists = (name: string, registrable: string): ListMatch =>
    name === domain ? match : lists.pack.match(name, registrable)
  const resolver = async (question: DnsQuestion) =>
    failing(written(question)) ??
    known({ ...answerTo(one, question), isCached: false, freshUntilMs: time.clock() + TTL_S * 1000 })
  const needsSuiteProof = () => match.strength === "weak"
  const mail = createLearningProbe(createMailProbe({ ask: asking(resolver), clock: time.clock, needsSuiteProof }), {
    ...{ learnedHosts, matchLists, clock: time.clock },
  })
  const networkProbe = createNetworkProbe({
    probeMail: query => mail(query.domain, query.organisationalDomain, NO_DEADLINE, query.asked),
    probeTenant: async (): Promise<TenantProbeResult> => ({
      tenant: failing("tenant") ?? known(new Dice(SEED + 3, Bun.hash.crc32(domain)).once(2) ? TENANT : null),
      ...{ isCached: false, freshUntilMs: time.clock() + TTL_S * 1000 },
    }),
    isUnavailable: () => false,
    ...{ clock: time.clock, setTimer: time.later, nextTick: queueMicrotask },
    ...{ timeoutMs: 3000, queryTimeoutMs: 1500 },
  })
  const lookup = { listMatch: match, suggestion: null, isHouseholdSlip: false, lookalikeOf: null, namePattern }
  const check = createCheck({
    activeLists: () => ({ ...lists, lookupDomain: () => ({ ...lookup, seenBefore: false, cachedVerdicts: null }) }),
    networkProbe,
    deepProbe: { ...OFFLINE_DEEP_PROBE, cachedAgeDays: () => ageDays },
    corrections: { of: () => correction, version: 0 },
    clock: time.clock,
    stopwatch: time.stopwatch,
  })
  const { policy, includeTenant } = one
  const ask = async (subject: Subject, parts: number): Promise<CheckResult> => {
    const request = { subject, policy, includeTenant, parts, isDeep: false, ownListMatch: NO_OWN_LIST_MATCH }
    return fullResult(await check(request), "req_1")
  }
  return { ask, asked }
}

const NO_DEADLINE = new (await import("../../src/base/concurrency.ts")).Deadline(() => () => undefined, 60_000)

/** The reasons of a whole answer that are missing in one that asked less; null: the others are not the same, in the same order. */
function missingReasons(whole: readonly Reason[], less: readonly Reason[]): readonly Reason[] | null {
  const missing = whole.filter(reason => !less.includes(reason))
  return Bun.deepEquals(
    whole.filter(reason => less.includes(reason)),
    [...less],
  )
    ? missing
    : null
}

const isOfBody = (category: string): boolean => category === "education" || category === "government"

/** What is wrong with an answer that asked less; null: nothing. `whole` had the same failures, and `undisturbed` none. */
async function wrongWith(
  one: Case,
  less: CheckResult,
  whole: CheckResult,
  undisturbed: () => Promise<CheckResult>,
): Promise<string | null> {
  // What the lists decide is not degraded, though a whole answer is.
  const isOfLists = whole.degraded && !less.degraded
  const verdict = isOfLists ? await undisturbed() : whole
  return wrongVerdict(verdict, less) ?? wrongReasons(whole, less) ?? wrongMembers(one, whole, less)
}

function wrongVerdict(whole: CheckResult, less: CheckResult): string | null {
  for (const member of ["category", "confidence", "recommendation", "degraded"] as const)
    if (whole[member] !== less[member]) return `${member} ${whole[member]} became ${less[member]}`
  return null
}

function wrongReasons(whole: CheckResult, less: CheckResult): string | null {
  const missing = missingReasons(whole.reasons, less.reasons)
  if (missing === null || whole.reasons[0] !== less.reasons[0]) return `${whole.reasons} became ${less.reasons}`
  // What decides or raises a recommendation is there: these only tell of the mail.
  const decisive = missing.find(
    reason => REASONS[reason].group !== "mail" && reason !== "agent_mailbox" && reason !== "name_pattern",
  )
  if (decisive !== undefined) return `${decisive} is missing in ${less.reasons}`
  if (missing.includes("domain_not_found") && isOfBody(whole.category)) return "domain_not_found is missing"
  return null
}

/** The members that a part asks for, by its name. */
const MEMBERS = {
  mailbox: ["canonical_email"],
  disposableHosts: ["is_disposable"],
} as const satisfies { readonly [P in AnswerPart]?: readonly (keyof CheckResult)[] }

/** Members that no part may change. */
const SHARED_MEMBERS = [
  "is_business",
  "is_free_provider",
  "is_relay",
  "is_role_account",
  "is_blocked",
  "is_new_domain",
  "did_you_mean",
] as const

function wrongMembers({ parts }: Case, whole: CheckResult, less: CheckResult): string | null {
  const told = Object.entries(MEMBERS).flatMap(([part, members]) =>
    (parts & ANSWER_PARTS[part as AnswerPart]) === 0 ? [] : members,
  )
  const wrong = [...SHARED_MEMBERS, ...told].find(member => whole[member] !== less[member])
  return wrong === undefined ? null : `${wrong} ${whole[wrong]} became ${less[wrong]}`
}

test("a check that asks less has the category, confidence, recommendation and decisive reasons of one that asks everything, whatever of its questions fails", async () => {
  const wrong: string[] = []
  const reached = new Set<Category | Reason>()
  let [wholeCount, lessCount, questionsMax] = [0, 0, 0]
  for (let number = 0; number < DOMAINS && wrong.length < 5; number++) {
    const one = caseOf(number)
    const reduced = world(one, () => true)
    const less = await reduced.ask(one.subject, one.parts)
    // What only the whole check asks has an answer: a failure of it is no evidence.
    const full = world(one, asked => reduced.asked.includes(asked))
    const whole = await full.ask(one.subject, ALL_PARTS)
    const undisturbed = () => world(one, () => false).ask(one.subject, ALL_PARTS)
    const fault = await wrongWith(one, less, whole, undisturbed)
    if (fault !== null) wrong.push(`${number} ${one.domain}, parts ${one.parts}, sets ${one.match.sets}: ${fault}`)
    reached.add(less.category).add(less.reasons[0] ?? "no_evidence")
    questionsMax = Math.max(questionsMax, ...[full, reduced].map(({ asked }) => dnsCount(asked)))
    wholeCount += full.asked.length
    lessCount += reduced.asked.length
  }
  expect(wrong).toEqual([])
  expect(questionsMax).toBeLessThanOrEqual(LIMITS.dnsQuestionsPerCheckMax)
  expect(lessCount).toBeLessThan(wholeCount)
  const decided: readonly Reason[] = [
    ...(["corrected", "listing_contradicted", "weak_listing", "disposable_domain", "relay_domain"] as const),
    ...(["education_domain", "government_suffix", "free_provider", "agent_mailbox", "domain_not_found"] as const),
    ...(["null_mx", "no_mail_host", "disposable_mx", "suite_a_mail", "suite_b_mail", "other_suite_mail"] as const),
    ...(["security_gateway", "known_organisation", "name_pattern", "free_subdomain", "forwarded_mail"] as const),
    ...(["mx_found", "implicit_mx", "resolves", "no_evidence"] as const),
  ]
  expect(decided.filter(reason => !reached.has(reason))).toEqual([])
})

/** The questions of DNS but for those about the DMARC records of parents, which have a bound of their own. */
const dnsCount = (asked: readonly string[]): number =>
  asked.filter(question => question !== "tenant" && !/^TXT _dmarc\.\w+$/.test(question)).length

/** What tells of the run and not of the domain. */
const UNLIKE = { cached: null, took_ms: null }

test("an answer that asks less is the same whatever others have asked about the domain before, and what they asked is not asked again for the rest", async () => {
  const wrong: string[] = []
  for (let number = 0; number < DOMAINS / 4 && wrong.length < 5; number++) {
    const one = caseOf(number)
    const alone = await world(one, () => false).ask(one.subject, one.parts)
    const after = world(one, () => false)
    await after.ask(one.subject, ALL_PARTS)
    const before = after.asked.length
    const less = await after.ask(one.subject, one.parts)
    if (!Bun.deepEquals({ ...alone, ...UNLIKE }, { ...less, ...UNLIKE }))
      wrong.push(`${number} ${one.domain}: ${JSON.stringify(alone)} became ${JSON.stringify(less)}`)
    if (after.asked.length > before) wrong.push(`${number} ${one.domain} was asked about again`)
  }
  expect(wrong).toEqual([])
})
