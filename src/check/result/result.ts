import { jsonMembers } from "../../base/json-members.ts"
import { flattenString, jsonString } from "../../base/text.ts"
import { CATEGORIES } from "../../contract/categories.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Policy, Recommendation } from "../../contract/policies.ts"
import { ACCOUNT_REASONS } from "../../contract/reasons.ts"
import type { CheckResult, CheckResultPart, ReducedResult } from "../../contract/result-schema.ts"
import type { BatchResult } from "../../contract/schemas.ts"
import { type AddressHints, NO_HINTS } from "../address/address-hints.ts"
import { canonicalEmail } from "../address/canonical-email.ts"
import type { Subject } from "../address/subject.ts"
import type { DetectedSuites, Evidence, MailEvidence } from "../verdict/evidence.ts"
import { type Ground, judge, type Verdict } from "../verdict/judge.ts"
import { listsOnlyKey } from "../verdict/lists-only-key.ts"
import { hasTenant, isNewDomain, knownMail, knownTenant, reportedAgeDays } from "../verdict/rules.ts"

/** A verdict with its evidence. It holds nothing from the local part, so that requests for other addresses can share it. */
export type JudgedDomain = {
  /** Null: the text names no domain. */
  readonly domain: string | null
  readonly policy: Policy
  readonly evidence: Evidence
  readonly verdict: Verdict
  /** What it shares with other domains; null: nothing. */
  readonly shared: SharedVerdict | null
  /** What counts for the recommendation; is found out for the first account with rules. */
  grounds?: readonly Ground[]
  /** The same under rules that recommend something else, for the accounts that have them: one for each recommendation at most. */
  ruled?: { [R in Recommendation]?: JudgedDomain }
  /** The members that another server gave. Absent: they are made of evidence and verdict. */
  readonly parts?: ResultParts
  /** Is written with the first result. */
  text?: JudgedText
  /** The same in UTF-8, after its second use. */
  bytes?: JudgedBytes
}

/** Two parts of a result by their members. */
export type ResultParts = {
  readonly verdict: ReturnType<typeof verdictPart>
  readonly evidence: ReturnType<typeof evidencePart>
}

/** The same as JSON members. */
export type JudgedText = { readonly verdict: string; readonly evidence: string }

/** The same in UTF-8. */
export type JudgedBytes = { readonly verdict: Uint8Array; readonly evidence: Uint8Array }

/** Judges the evidence about a Subject under a policy. */
export function judgeDomain({ domain }: Pick<Subject, "domain">, evidence: Evidence, policy: Policy): JudgedDomain {
  const key = listsOnlyKey(evidence, policy)
  if (key === null) return { domain, policy, evidence, verdict: judge(evidence, policy), shared: null }
  const shared = sharedVerdicts.get(key) ?? shareVerdict(key, evidence, policy)
  return { domain, policy, evidence, verdict: shared.verdict, shared }
}

/**
 * The verdict and the members of the result, apart from the domain, of all domains about which the lists say the same and the
 * network nothing: in a list of strangers nearly every domain is new, and a few dozen of these serve all of them.
 */
type SharedVerdict = { readonly verdict: Verdict; readonly text: JudgedText; readonly bytes: JudgedBytes }

/** About 3 kB each. Few occur. */
const SHARED_VERDICTS_MAX = 2_000
const sharedVerdicts = new Map<number, SharedVerdict>()

function shareVerdict(key: number, evidence: Evidence, policy: Policy): SharedVerdict {
  const verdict = judge(evidence, policy)
  const text = textOf(policy, evidence, verdict)
  const shared = { verdict, text, bytes: encodeText(text) }
  if (sharedVerdicts.size >= SHARED_VERDICTS_MAX) sharedVerdicts.clear()
  sharedVerdicts.set(key, shared)
  return shared
}

const textOf = (policy: Policy, evidence: Evidence, verdict: Verdict): JudgedText => ({
  verdict: flattenString(jsonMembers(verdictPart(policy, evidence, verdict))),
  evidence: flattenString(jsonMembers(evidencePart(evidence, verdict))),
})

const encoder = new TextEncoder()

/** The same text in UTF-8. */
export const encodeText = ({ verdict, evidence }: JudgedText): JudgedBytes => ({
  verdict: encoder.encode(verdict),
  evidence: encoder.encode(evidence),
})

/** The outcome of one check, before it is rendered. */
export type CheckOutcome = {
  readonly subject: Subject
  readonly hints: AddressHints
  readonly judged: JudgedDomain
  /** Whole milliseconds from the request to the verdict; 0 for a cached verdict. */
  readonly tookMs: number
  /** A homepage was fetched for it. */
  readonly wasFetched: boolean
}

/** The result for a secret key. */
export const fullResult = (outcome: CheckOutcome, requestId: string): CheckResult => {
  const { subject, hints, judged } = outcome
  return {
    ...inputPart(subject, judged.domain),
    ...mailboxPart(subject, judged),
    ...verdictPart(judged.policy, judged.evidence, judged.verdict),
    ...hintsPart(hints),
    ...evidencePart(judged.evidence, judged.verdict),
    ...runPart(outcome, requestId),
  }
}

/** The same as JSON. */
export const fullResultJson = (outcome: CheckOutcome, requestId: string): string =>
  `{${resultMembers(outcome, runPart(outcome, requestId))}}`

/**
 * The members of a result with those of `run`, without braces. What does not depend on the local part is written once for each verdict:
 * under load this halves the time of the whole check.
 */
export function resultMembers(
  { subject, hints, judged }: Pick<CheckOutcome, "subject" | "hints" | "judged">,
  run: CheckResultPart<"run">,
): string {
  const { verdict, evidence } = judgedText(judged)
  const asked = inputMembers(subject, judged.domain)
  const ran = `"cached":${run.cached},"took_ms":${run.took_ms},"request_id":${jsonString(run.request_id)}`
  return `${asked},${mailboxMembers(subject, judged)},${verdict},${hintMembers(hints)},${evidence},${ran}`
}

/** The parts of a result that a verdict and its evidence give. */
export const partsOf = ({ policy, evidence, verdict, parts }: JudgedDomain): ResultParts =>
  parts ?? { verdict: verdictPart(policy, evidence, verdict), evidence: evidencePart(evidence, verdict) }

/** The results of a batch, each with the batch's request id. All checks ran at the same time, so the batch took as long as its longest. */
export const batchResult = (outcomes: readonly CheckOutcome[], requestId: string): BatchResult => ({
  results: outcomes.map((outcome, index) => ({ ...fullResult(outcome, requestId), ...itemPart(outcome, index) })),
  ...batchPart(outcomes, requestId),
})

/** The members of a verdict and of its evidence, written once. */
export function judgedText(judged: JudgedDomain): JudgedText {
  judged.text ??= judged.shared?.text ?? textOf(judged.policy, judged.evidence, judged.verdict)
  return judged.text
}

/** What a result of a batch has besides those of a check: which item it is for, and the item itself if no domain was found in it. */
export const itemPart = (
  { subject: { sent, domain } }: CheckOutcome,
  index: number,
): Omit<BatchResult["results"][number], keyof CheckResult> => (domain === null ? { index, input: sent } : { index })

/** What a batch has besides its results. */
export const batchPart = (outcomes: readonly CheckOutcome[], requestId: string): Omit<BatchResult, "results"> => ({
  took_ms: outcomes.reduce((most, { tookMs }) => Math.max(most, tookMs), 0),
  request_id: requestId,
})

/** The members that tell of the run. */
export const runPart = ({ judged, tookMs }: CheckOutcome, requestId: string): CheckResultPart<"run"> => ({
  cached: judged.evidence.isCached,
  took_ms: tookMs,
  request_id: requestId,
})

/** The members that the input gives, and the domain that was found in it. */
export const inputPart = ({ kind, sent, normalized }: Subject, domain: string | null): CheckResultPart<"input"> =>
  kind === "url"
    ? { email: null, url: sent, normalized_email: normalized, domain }
    : { email: kind === "email" ? sent : null, normalized_email: normalized, domain }

/** The same as JSON, in a third of the time. */
export function inputMembers({ kind, sent, normalized }: Subject, domain: string | null): string {
  const normal = jsonString(normalized)
  const asSent = sent === normalized ? normal : jsonString(sent)
  const asked = kind === "url" ? `"email":null,"url":${asSent}` : `"email":${kind === "email" ? asSent : "null"}`
  return `${asked},"normalized_email":${normal},"domain":${jsonString(domain)}`
}

/**
 * The mailbox behind the address. It depends on the address and, at a domain of one's own, on who runs its mail; a verdict that is `invalid` has
 * none. Publishable keys do not get it: a visitor's page compares no accounts.
 */
export const mailboxPart = (subject: Subject, judged: JudgedDomain): CheckResultPart<"mailbox"> => ({
  canonical_email: judged.verdict.category === "invalid" ? null : canonicalEmail(subject, mailOperatorOf(judged)),
})

/** The same as JSON, in a third of the time. */
const mailboxMembers = (subject: Subject, judged: JudgedDomain): string =>
  `"canonical_email":${jsonString(mailboxPart(subject, judged).canonical_email)}`

/** The key of the suite or provider that runs the mail of a domain; null: it is not known. */
export const mailOperatorOf = ({ evidence }: JudgedDomain): string | null => knownMail(evidence)?.operatedBy ?? null

/** Every flag of a result is derived here and in `evidencePart`, from evidence and verdict. */
function verdictPart(policy: Policy, evidence: Evidence, verdict: Verdict): CheckResultPart<"verdict"> {
  const { hints, listMatch } = evidence
  const operatedBy = knownMail(evidence)?.operatedBy
  return {
    is_business: CATEGORIES[verdict.category].isBusiness,
    category: verdict.category,
    confidence: verdict.confidence,
    recommendation: verdict.recommendation,
    policy,
    is_free_provider: listMatch.has("personal"),
    is_disposable: listMatch.has("disposable") || operatedBy === "disposable" || operatedBy === "learned_disposable",
    is_relay: listMatch.has("relay") || verdict.reasons[0] === "relay_mx",
    is_role_account: hints.isRole,
  }
}

function evidencePart(evidence: Evidence, verdict: Verdict): CheckResultPart<"evidence"> {
  const mail = knownMail(evidence)
  return {
    is_blocked: evidence.blockedBy !== null,
    is_new_domain: isNewDomain(evidence),
    is_lookalike: evidence.lookalikeOf !== null,
    has_subaddress: evidence.subject.hasSubaddress,
    did_you_mean: evidence.suggestion,
    mail: mailBlock(mail),
    workspace: workspaceBlock(evidence),
    integrations: { suite_a_ready: mail?.operatedBy === "suite_a", suite_b_ready: hasTenant(evidence) },
    domain_age_days: reportedAgeDays(evidence),
    reasons: [...verdict.reasons],
    degraded: verdict.isDegraded,
  }
}

/** The members for what the local part suggests. An address at a group service is a group for certain; of any other address the name is the only evidence. */
const hintsPart = ({ sharedInbox, group, groupService }: AddressHints): CheckResultPart<"hints"> => ({
  shared_inbox: nameHint(sharedInbox),
  group: groupService === null ? nameHint(group) : { confidence: 1, match: groupService },
})

/** The name is the only evidence, so the confidence is 0.3. */
const nameHint = (match: string | null): CheckResultPart<"hints">["group"] => ({
  confidence: match === null ? 0 : 0.3,
  match,
})

/** The members for what the local part suggests, as JSON. */
export const hintMembers = (hints: AddressHints): string =>
  hints === NO_HINTS ? NO_HINT_MEMBERS : jsonMembers(hintsPart(hints))

const NO_HINT_MEMBERS = jsonMembers(hintsPart(NO_HINTS))

/**
 * The result for a publishable key: the verdict and little of the evidence. `suite_b_mail` is null if the mail lookup failed.
 */
export function reducedResult({ hints, judged: { evidence, verdict } }: CheckOutcome): ReducedResult {
  const { suites, suggestion } = evidence
  const mail = knownMail(evidence)
  const detected = suites.known ? suites.value : NO_SUITES
  return {
    category: verdict.category,
    is_business: CATEGORIES[verdict.category].isBusiness,
    recommendation: verdict.recommendation,
    confidence: verdict.confidence,
    did_you_mean: suggestion,
    ...hintsPart(hints),
    reasons: verdict.reasons.filter(reason => !ACCOUNT_REASONS.has(reason)).slice(0, LIMITS.publishableReasonsMax),
    workspace: {
      suite_a: detected.suiteA.length > 0,
      suite_b: detected.suiteB.length > 0 || knownTenant(evidence) !== null,
      suite_b_mail: mail === null ? null : mail.operatedBy === "suite_b",
    },
  }
}

const NO_SUITES: DetectedSuites = { suiteA: [], suiteB: [], otherSuite: null }

function mailBlock(mail: MailEvidence | null): CheckResult["mail"] {
  if (mail === null) return { has_mx: null, provider: null, mx: [], spf: null, dmarc_policy: null }
  return {
    has_mx: mail.delivery === "mx",
    provider: mail.provider,
    mx: mail.mx.map(({ priority, host, provider }) => ({ priority, host, provider })),
    spf: mail.spf.known ? mail.spf.value : null,
    dmarc_policy: mail.dmarcPolicy.known ? mail.dmarcPolicy.value : null,
  }
}

function workspaceBlock(evidence: Evidence): CheckResult["workspace"] {
  const suites = evidence.suites.known ? evidence.suites.value : NO_SUITES
  const tenant = knownTenant(evidence)
  return {
    suite_a: { detected: suites.suiteA.length > 0, evidence: [...suites.suiteA] },
    suite_b: {
      detected: suites.suiteB.length > 0 || tenant !== null,
      tenant_id: tenant?.id ?? null,
      tenant_region: tenant?.region ?? null,
      auth: tenant?.auth ?? null,
      identity_provider: tenant?.identityProvider ?? null,
      evidence: tenant === null ? [...suites.suiteB] : [...suites.suiteB, `tenant:${tenant.id}`],
    },
    other_suite: suites.otherSuite,
    pending: !evidence.tenant.known && evidence.tenant.cause === "pending",
  }
}
