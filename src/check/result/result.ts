import { jsonString } from "../../base/text.ts"
import { CATEGORIES } from "../../contract/categories.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Policy } from "../../contract/policies.ts"
import { ACCOUNT_REASONS } from "../../contract/reasons.ts"
import type { CheckResult } from "../../contract/schemas.ts"
import { type AddressHints, NO_HINTS } from "../address/address-hints.ts"
import type { Subject } from "../address/subject.ts"
import type { DetectedSuites, Evidence, MailEvidence, Tenant } from "../verdict/evidence.ts"
import { judge, type Verdict } from "../verdict/judge.ts"
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
  readonly shared: SharedMembers | null
  /** The text of `judgedMembersJson`, after its first use. */
  json?: JudgedJson
  /** The same in UTF-8, after its second use. */
  jsonBytes?: JudgedJsonBytes
}

/** The members of a full result that requests can share, as JSON text: those before the hints, and those after them up to the value of `took_ms`. */
export type JudgedJson = { readonly head: string; readonly tail: string }

/** The same in UTF-8. */
export type JudgedJsonBytes = { readonly head: Uint8Array; readonly tail: Uint8Array }

/** Judges the evidence about a Subject under a policy. */
export function judgeDomain({ domain }: Subject, evidence: Evidence, policy: Policy): JudgedDomain {
  const key = listsOnlyKey(evidence, policy)
  if (key === null) return { domain, policy, evidence, verdict: judge(evidence, policy), shared: null }
  const shared = sharedMembers.get(key) ?? shareMembers(key, evidence, policy)
  return { domain, policy, evidence, verdict: shared.verdict, shared }
}

/**
 * The verdict and the members of the result, apart from the domain, of all domains about which the lists say the same and the
 * network nothing: in a list of strangers nearly every domain is new, and a few dozen of these serve all of them.
 */
type SharedMembers = { readonly verdict: Verdict; readonly json: JudgedJson; readonly bytes: JudgedJsonBytes }

/** About 3 kB each. Few occur. */
const SHARED_MEMBERS_MAX = 2_000
const sharedMembers = new Map<number, SharedMembers>()

function shareMembers(key: number, evidence: Evidence, policy: Policy): SharedMembers {
  const verdict = judge(evidence, policy)
  const json = membersWithoutDomain(policy, evidence, verdict)
  const shared = { verdict, json, bytes: encodeJson(json) }
  if (sharedMembers.size >= SHARED_MEMBERS_MAX) sharedMembers.clear()
  sharedMembers.set(key, shared)
  return shared
}

const encoder = new TextEncoder()

/** The same text in UTF-8. */
export const encodeJson = ({ head, tail }: JudgedJson): JudgedJsonBytes => ({
  head: encoder.encode(head),
  tail: encoder.encode(tail),
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
export const fullResult = (outcome: CheckOutcome, requestId: string): CheckResult =>
  JSON.parse(fullResultJson(outcome, requestId)) // `fullResultJson` writes this type

/**
 * The result for a secret key as JSON text. `requestId` must need no escaping. The members that do not depend on the local
 * part are serialized once for each verdict: under load this halves the time of the whole check.
 */
export const fullResultJson = (outcome: CheckOutcome, requestId: string): string =>
  `{${resultMembersJson(outcome, outcome.tookMs, requestId)}}`

/** The same without braces, for an object with other members. */
export function resultMembersJson(
  { subject, hints, judged }: Omit<CheckOutcome, "tookMs">,
  tookMs: number,
  requestId: string,
): string {
  const { head, tail } = judgedMembersJson(judged)
  return `${inputMembersJson(subject)}${head}${hintsJson(hints)}${tail}${tookMs},"request_id":"${requestId}"`
}

/** The members that depend on the input, up to `normalized_email`. */
function inputMembersJson({ kind, sent, normalized }: Subject): string {
  const sentJson = jsonString(sent)
  // Most addresses are sent in their normalized form.
  const normalizedJson = normalized === sent ? sentJson : jsonString(normalized)
  const email = kind === "email" ? sentJson : kind === "url" ? `null,"url":${sentJson}` : "null"
  return `"email":${email},"normalized_email":${normalizedJson}`
}

/** The members that do not depend on the local part, as JSON text. */
export function judgedMembersJson(judged: JudgedDomain): JudgedJson {
  const { domain, policy, evidence, verdict, shared } = judged
  if (judged.json !== undefined) return judged.json
  const { head, tail } = shared?.json ?? membersWithoutDomain(policy, evidence, verdict)
  judged.json = { head: `,"domain":${jsonString(domain)}${head}`, tail }
  return judged.json
}

/** Every flag of a result is derived here from evidence and verdict. */
function membersWithoutDomain(policy: Policy, evidence: Evidence, verdict: Verdict): JudgedJson {
  const { subject, hints, listMatch, suggestion } = evidence
  const mail = knownMail(evidence)
  const isDisposable =
    listMatch.has("disposable") || mail?.operatedBy === "disposable" || mail?.operatedBy === "learned_disposable"
  return {
    head: `,"is_business":${CATEGORIES[verdict.category].isBusiness},"category":"${verdict.category}","confidence":${verdict.confidence},"recommendation":"${verdict.recommendation}","policy":"${policy}","is_free_provider":${listMatch.has("personal")},"is_disposable":${isDisposable},"is_relay":${listMatch.has("relay")},"is_role_account":${hints.isRole}`,
    tail: `,"is_blocked":${evidence.blockedBy !== null},"is_new_domain":${isNewDomain(evidence)},"is_lookalike":${evidence.lookalikeOf !== null},"has_subaddress":${subject.hasSubaddress},"did_you_mean":${jsonString(suggestion)},"mail":${mailJson(mail)},"workspace":${workspaceJson(evidence)},"integrations":{"suite_a_ready":${mail?.operatedBy === "suite_a"},"suite_b_ready":${hasTenant(evidence)}},"domain_age_days":${reportedAgeDays(evidence)},"reasons":["${verdict.reasons.join('","')}"],"degraded":${verdict.isDegraded},"cached":${evidence.isCached},"took_ms":`,
  }
}

/** The members for what the local part suggests. */
export const hintsJson = (hints: AddressHints): string =>
  hints === NO_HINTS ? NO_HINTS_JSON : `,"shared_inbox":${sharedInboxJson(hints)},"group":${groupJson(hints)}`

/** The name is the only evidence, so the confidence is 0.3. */
const sharedInboxJson = ({ sharedInbox }: AddressHints): string => hintJson(sharedInbox === null ? 0 : 0.3, sharedInbox)

/** An address at a group service is a group for certain; of any other address the name is the only evidence. */
const groupJson = ({ group, groupService }: AddressHints): string =>
  groupService === null ? hintJson(group === null ? 0 : 0.3, group) : hintJson(1, groupService)

const hintJson = (confidence: number, match: string | null): string =>
  `{"confidence":${confidence},"match":${jsonString(match)}}`

/** The members of an address without hints. */
export const NO_HINTS_JSON = `,"shared_inbox":${sharedInboxJson(NO_HINTS)},"group":${groupJson(NO_HINTS)}`

/**
 * The result for a publishable key, as JSON text: the verdict and little of the evidence. `suite_b_mail` is null if the mail
 * lookup failed.
 */
export function reducedResultJson({ hints, judged: { evidence, verdict } }: CheckOutcome): string {
  const { suites, suggestion } = evidence
  const mail = knownMail(evidence)
  const detected = suites.known ? suites.value : NO_SUITES
  const hasSuiteB = detected.suiteB.length > 0 || knownTenant(evidence) !== null
  const reasons = verdict.reasons.filter(reason => !ACCOUNT_REASONS.has(reason)).slice(0, LIMITS.publishableReasonsMax)
  return `{"category":"${verdict.category}","is_business":${CATEGORIES[verdict.category].isBusiness},"recommendation":"${verdict.recommendation}","confidence":${verdict.confidence},"did_you_mean":${jsonString(suggestion)}${hintsJson(hints)},"reasons":${JSON.stringify(reasons)},"workspace":{"suite_a":${detected.suiteA.length > 0},"suite_b":${hasSuiteB},"suite_b_mail":${mail === null ? null : mail.operatedBy === "suite_b"}}}`
}

const NO_SUITES: DetectedSuites = { suiteA: [], suiteB: [], otherSuite: null }

function mailJson(mail: MailEvidence | null): string {
  return mail === null ? NO_MAIL_JSON : JSON.stringify(mailBlock(mail))
}

const NO_MAIL_JSON = JSON.stringify({
  has_mx: null,
  provider: null,
  mx: [],
  spf: null,
  dmarc_policy: null,
} satisfies CheckResult["mail"])

function mailBlock(mail: MailEvidence): CheckResult["mail"] {
  const mx = mail.mx.map(({ priority, host, provider }) => ({ priority, host, provider }))
  return {
    has_mx: mail.delivery === "mx",
    provider: mail.provider,
    mx,
    spf: mail.spf.known ? mail.spf.value : null,
    dmarc_policy: mail.dmarcPolicy.known ? mail.dmarcPolicy.value : null,
  }
}

function workspaceJson(evidence: Evidence): string {
  const suites = evidence.suites.known ? evidence.suites.value : NO_SUITES
  const tenant = knownTenant(evidence)
  const isPending = !evidence.tenant.known && evidence.tenant.cause === "pending"
  const isEmpty = tenant === null && suites.suiteA.length + suites.suiteB.length === 0 && suites.otherSuite === null
  return isEmpty && !isPending ? NO_WORKSPACE_JSON : JSON.stringify(workspaceBlock(suites, tenant, isPending))
}

function workspaceBlock(suites: DetectedSuites, tenant: Tenant | null, isPending: boolean): CheckResult["workspace"] {
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
    pending: isPending,
  }
}

const NO_WORKSPACE_JSON = JSON.stringify(workspaceBlock(NO_SUITES, null, false))
