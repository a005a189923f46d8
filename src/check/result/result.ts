import { CATEGORIES } from "../../contract/categories.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Policy } from "../../contract/policies.ts"
import type { CheckResult, ReducedResult } from "../../contract/schemas.ts"
import type { AddressHints } from "../address/address-hints.ts"
import type { Subject } from "../address/subject.ts"
import type { DetectedSuites, Evidence, MailEvidence, Tenant } from "../verdict/evidence.ts"
import { judge, type Verdict } from "../verdict/judge.ts"
import { hasTenant, isNewDomain, knownMail, knownTenant, reportedAgeDays } from "../verdict/rules.ts"

/** A verdict with its evidence. It holds nothing from the local part, so that requests for other addresses can share it. */
export type JudgedDomain = {
  /** Null: the text names no domain. */
  readonly domain: string | null
  readonly policy: Policy
  readonly evidence: Evidence
  readonly verdict: Verdict
  /** The text of `judgedMembersJson`, after its first use. */
  json?: string
  /** The same in UTF-8, after its first use. */
  jsonBytes?: Uint8Array
}

/** Judges the evidence about a Subject under a policy. */
export const judgeDomain = ({ domain }: Subject, evidence: Evidence, policy: Policy): JudgedDomain => ({
  domain,
  policy,
  evidence,
  verdict: judge(evidence, policy),
})

/** The outcome of one check, before it is rendered. */
export type CheckOutcome = {
  readonly subject: Subject
  readonly judged: JudgedDomain
  /** Whole milliseconds from the request to the verdict; 0 for a cached verdict. */
  readonly tookMs: number
  /** A homepage was fetched for it. */
  readonly wasFetched: boolean
}

/** The result for a secret key. Every flag is derived here from evidence and verdict. */
export function fullResult({ subject, judged, tookMs }: CheckOutcome, requestId: string): CheckResult {
  return {
    email: subject.kind === "email" ? subject.sent : null,
    ...(subject.kind === "url" ? { url: subject.sent } : {}),
    normalized_email: subject.normalized,
    ...judgedMembers(judged),
    took_ms: tookMs,
    request_id: requestId,
  }
}

/**
 * The result for a secret key as JSON text. `requestId` must need no escaping. The members that do not depend on the local
 * part are serialized once for each verdict: under load this halves the time of the whole check.
 */
export function fullResultJson({ subject, judged, tookMs }: CheckOutcome, requestId: string): string {
  judged.json ??= judgedMembersJson(judged)
  return `${inputMembersJson(subject)}${judged.json}${tookMs},"request_id":"${requestId}"}`
}

/** The members that depend on the input, up to `normalized_email`. */
function inputMembersJson({ kind, sent, normalized }: Subject): string {
  const sentJson = jsonString(sent)
  // Most addresses are sent in their normalized form.
  const normalizedJson = normalized === sent ? sentJson : jsonString(normalized)
  const email = kind === "email" ? sentJson : kind === "url" ? `null,"url":${sentJson}` : "null"
  return `{"email":${email},"normalized_email":${normalizedJson}`
}

/** The members that do not depend on the local part, as JSON text: from `domain` up to the value of `took_ms`. */
export const judgedMembersJson = (judged: JudgedDomain): string =>
  `,${JSON.stringify(judgedMembers(judged)).slice(1, -1)},"took_ms":`

/**
 * The result for a publishable key, as JSON text: the verdict and little of the evidence. `suite_b_mail` is null if the mail
 * lookup failed.
 */
export function reducedResultJson({ judged: { evidence, verdict } }: CheckOutcome): string {
  const { suites, suggestion, hints } = evidence
  const mail = knownMail(evidence)
  const detected = suites.known ? suites.value : NO_SUITES
  return JSON.stringify({
    category: verdict.category,
    is_business: CATEGORIES[verdict.category].isBusiness,
    recommendation: verdict.recommendation,
    confidence: verdict.confidence,
    did_you_mean: suggestion,
    shared_inbox: sharedInbox(hints),
    group: group(hints),
    reasons: verdict.reasons.slice(0, LIMITS.publishableReasonsMax),
    workspace: {
      suite_a: detected.suiteA.length > 0,
      suite_b: detected.suiteB.length > 0 || knownTenant(evidence) !== null,
      suite_b_mail: mail === null ? null : mail.operatedBy === "suite_b",
    },
  } satisfies ReducedResult)
}

/** Printable ASCII without `"` and `\`, which needs no escaping in JSON. */
const JSON_SAFE = /^[ !#-[\]-~]*$/

function jsonString(text: string | null): string {
  if (text === null) return "null"
  return JSON_SAFE.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** The members of a full result that do not depend on the local part. */
function judgedMembers({ domain, policy, evidence, verdict }: JudgedDomain) {
  const { subject, hints, listMatch } = evidence
  const mail = knownMail(evidence)
  const suites = evidence.suites.known ? evidence.suites.value : NO_SUITES
  const tenant = knownTenant(evidence)
  return {
    domain,
    is_business: CATEGORIES[verdict.category].isBusiness,
    category: verdict.category,
    confidence: verdict.confidence,
    recommendation: verdict.recommendation,
    policy,
    is_free_provider: listMatch.has("personal"),
    is_disposable:
      listMatch.has("disposable") || mail?.operatedBy === "disposable" || mail?.operatedBy === "learned_disposable",
    is_relay: listMatch.has("relay"),
    is_role_account: hints.isRole,
    shared_inbox: sharedInbox(hints),
    group: group(hints),
    is_blocked: evidence.blockedBy !== null,
    is_new_domain: isNewDomain(evidence),
    is_lookalike: evidence.lookalikeOf !== null,
    has_subaddress: subject.hasSubaddress,
    did_you_mean: evidence.suggestion,
    mail: mailBlock(mail),
    workspace: workspaceBlock(suites, tenant, evidence),
    integrations: { suite_a_ready: mail?.operatedBy === "suite_a", suite_b_ready: hasTenant(evidence) },
    domain_age_days: reportedAgeDays(evidence),
    reasons: [...verdict.reasons],
    degraded: verdict.isDegraded,
    cached: evidence.isCached,
  } satisfies Partial<CheckResult>
}

const NO_SUITES: DetectedSuites = { suiteA: [], suiteB: [], otherSuite: null }

/** The name is the only evidence, so the confidence is 0.3. */
const sharedInbox = (hints: AddressHints): CheckResult["shared_inbox"] =>
  hints.sharedInbox === null ? { confidence: 0, match: null } : { confidence: 0.3, match: hints.sharedInbox }

/** An address at a group service is a group for certain; of any other address the name is the only evidence. */
function group(hints: AddressHints): CheckResult["group"] {
  if (hints.groupService !== null) return { confidence: 1, match: hints.groupService }
  return hints.group === null ? { confidence: 0, match: null } : { confidence: 0.3, match: hints.group }
}

function mailBlock(mail: MailEvidence | null): CheckResult["mail"] {
  if (mail === null) return { has_mx: null, provider: null, mx: [], spf: null, dmarc_policy: null }
  const mx = mail.mx.map(({ priority, host, provider }) => ({ priority, host, provider }))
  return {
    has_mx: mail.delivery === "mx",
    provider: mail.provider,
    mx,
    spf: mail.spf.known ? mail.spf.value : null,
    dmarc_policy: mail.dmarcPolicy.known ? mail.dmarcPolicy.value : null,
  }
}

function workspaceBlock(suites: DetectedSuites, tenant: Tenant | null, evidence: Evidence): CheckResult["workspace"] {
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
