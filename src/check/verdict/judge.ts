import { assert } from "../../base/errors.ts"
import { ACCOUNT_RULES, type AccountRule, RULE_OF_FLOOR } from "../../contract/account-rules.ts"
import type { Category } from "../../contract/categories.ts"
import {
  DOUBTFUL_BELOW,
  POLICIES,
  type Policy,
  RECOMMENDATION_FLOORS,
  RECOMMENDATIONS,
  type Recommendation,
  type RecommendationFloor,
  WEAK_EVIDENCE,
  type WeakEvidence,
} from "../../contract/policies.ts"
import {
  DEGRADED,
  LEARNED_MAIL_HOST_CONFIDENCE,
  MISSING_NAME_CONFIDENCE,
  OPEN_SUFFIX_CONFIDENCE,
  PARKED_CONFIDENCE,
  REASONS,
  type Reason,
  SINGLE_WITNESS_CONFIDENCE,
} from "../../contract/reasons.ts"
import type { Evidence } from "./evidence.ts"
import {
  isDegraded,
  isMissing,
  isNewDomain,
  isReachable,
  isUnderOpenSuffix,
  knownMail,
  matchingReasons,
} from "./rules.ts"

/** The verdict about a Subject. */
export type Verdict = {
  readonly category: Category
  /** 0 to 1, at most three decimals. */
  readonly confidence: number
  readonly recommendation: Recommendation
  /** `likely_typo` if a household name was mistyped, the decisive reason, those that raised the recommendation, then all others. */
  readonly reasons: readonly Reason[]
  readonly isDegraded: boolean
}

/**
 * Judges the evidence under a policy. It is pure: the same evidence and policy always give the same verdict. The first reason
 * in order of precedence that decides a category is decisive.
 */
export function judge(evidence: Evidence, policy: Policy): Verdict {
  const decided = decide(evidence)
  const { matching, decisive, category, confidence, isDegraded: degraded } = decided
  const { recommendation, raisedBy } = recommend(evidence, policy, decided)
  const isAsked = decisive !== "test_address" && isHouseholdSlip(evidence, category)
  const asked: readonly Reason[] = isAsked ? ["likely_typo"] : []
  const first = [...new Set([...asked, decisive, ...raisedBy])]
  // `no_evidence` always matches, and is worth telling only if it decides.
  const rest = matching.filter(reason => !first.includes(reason) && reason !== "no_evidence")
  return { category, confidence, recommendation, reasons: [...first, ...rest], isDegraded: degraded }
}

/** A verdict before a policy. */
type DecidedVerdict = {
  /** The reasons that match, in order of precedence. */
  readonly matching: readonly Reason[]
  readonly decisive: Reason
  /** The reason whose confidence and weakness the verdict has: the decisive one, but for some test addresses. */
  readonly basis: Reason
  readonly category: Category
  readonly confidence: number
  readonly isDegraded: boolean
}

function decide(evidence: Evidence): DecidedVerdict {
  const matching = matchingReasons(evidence)
  const decisive = matching.find(reason => decidedCategory(reason, evidence) !== null)
  assert(decisive !== undefined, "no_evidence always decides")
  const category = decidedCategory(decisive, evidence) ?? "unknown"
  const degraded = isDegraded(evidence)
  // A test address of a weak listing is as sure as such a listing.
  const basis = decisive === "test_address" && matching.includes("weak_listing") ? "weak_listing" : decisive
  const confidence = verdictConfidence(basis, category, degraded, evidence)
  return { matching, decisive, basis, category, confidence, isDegraded: degraded }
}

/** The category that a matching reason decides; null: it decides none. */
function decidedCategory(reason: Reason, evidence: Evidence): Category | null {
  if (reason === "test_address") return evidence.testCategory ?? REASONS.test_address.decides
  if (reason === "corrected") return evidence.correction
  if (reason === "name_pattern") return evidence.namePattern
  if (reason === "free_subdomain" && !isReachable(evidence) && !isUnasked(evidence.mail)) return null
  return REASONS[reason].decides
}

/** Whether somebody who can be asked meant a household name. An address that can get no mail stays refused. */
const isHouseholdSlip = (evidence: Evidence, category: Category): boolean =>
  evidence.isHouseholdSlip && category !== "invalid"

/** Nobody asked: what the lists say stands alone. */
const isUnasked = (finding: Evidence["mail"]): boolean => !finding.known && finding.cause === "not_asked"

function verdictConfidence(decisive: Reason, category: Category, degraded: boolean, evidence: Evidence): number {
  if (degraded && (decisive === "known_organisation" || decisive === "no_evidence")) return DEGRADED[decisive]
  const confidence = undegradedConfidence(decisive, category, evidence)
  return degraded ? Math.round(confidence * DEGRADED.factor * 1000) / 1000 : confidence
}

function undegradedConfidence(decisive: Reason, category: Category, evidence: Evidence): number {
  if (category === "business" && evidence.homepage.known && evidence.homepage.value === "parked")
    return PARKED_CONFIDENCE
  if (decisive === "disposable_mx" && knownMail(evidence)?.operatedBy === "learned_disposable")
    return LEARNED_MAIL_HOST_CONFIDENCE
  if (decisive === "disposable_domain" && evidence.listMatch.strength !== "strong") return SINGLE_WITNESS_CONFIDENCE
  if (isSuffixAlone(decisive) && isMissing(evidence)) return MISSING_NAME_CONFIDENCE
  if (decisive === "education_suffix" && isUnderOpenSuffix(evidence)) return OPEN_SUFFIX_CONFIDENCE
  if (decisive === "test_address") return TEST_ADDRESS_CONFIDENCE[category]
  return REASONS[decisive].confidence
}

/** Whether the ending of the name gave the category, and no list that names its holder. */
const isSuffixAlone = (decisive: Reason): boolean => decisive === "government_suffix" || decisive === "education_suffix"

/** A test address has the confidence of the usual reason for its category. */
const TEST_ADDRESS_CONFIDENCE: { readonly [C in Category]: number } = {
  business: REASONS.suite_a_mail.confidence,
  personal: REASONS.free_provider.confidence,
  disposable: REASONS.disposable_domain.confidence,
  relay: REASONS.relay_domain.confidence,
  education: REASONS.education_domain.confidence,
  government: REASONS.government_domain.confidence,
  invalid: REASONS.no_mail_host.confidence,
  unknown: REASONS.no_evidence.confidence,
}

/** Why the recommendation is not that of the category; null: it is. */
function weakEvidenceOf({ basis: decisive, category }: DecidedVerdict, evidence: Evidence): WeakEvidence | null {
  if (category === "disposable" && isHouseholdSlip(evidence, category)) return "household_slip"
  if (decisive === "listing_contradicted" || decisive === "weak_listing") return decisive
  if (decisive === "forwarded_mail" || decisive === "personal_hosting") return "personal_mail_host"
  const isLearned = decisive === "disposable_mx" && knownMail(evidence)?.operatedBy === "learned_disposable"
  return isLearned ? "learned_mail_host" : null
}

/** When a finding raises the recommendation. */
const RAISE_RULES: { readonly [R in RecommendationFloor]: (evidence: Evidence, decided: DecidedVerdict) => boolean } = {
  blocked: e => e.blockedBy !== null,
  lookalike: e => e.lookalikeOf !== null,
  typo: e => e.suggestion !== null,
  household_slip: (e, { category }) => isHouseholdSlip(e, category),
  new_domain: isNewDomain,
  role: e => e.hints.isRole,
  doubtful: (_, { category, confidence }) => category === "business" && confidence < DOUBTFUL_BELOW,
  open_suffix: (e, { basis }) => basis === "education_suffix" && isUnderOpenSuffix(e),
  missing_name: (e, { category }) => (category === "education" || category === "government") && isMissing(e),
  degraded: (_, { category, isDegraded: degraded }) => degraded && (category === "business" || category === "unknown"),
}

const RAISE_ENTRIES = Object.entries(RAISE_RULES) as [RecommendationFloor, (typeof RAISE_RULES)[RecommendationFloor]][]

/** How strict a recommendation is. */
export const severity = (recommendation: Recommendation): number => RECOMMENDATIONS.indexOf(recommendation)

function recommend(
  evidence: Evidence,
  policy: Policy,
  decided: DecidedVerdict,
): { readonly recommendation: Recommendation; readonly raisedBy: readonly Reason[] } {
  const base = policyBase(evidence, policy, decided)
  const hasFault = decided.category === "invalid" && evidence.subject.fault !== null
  if (evidence.isAllowed && evidence.blockedBy !== "operator" && !hasFault) {
    return { recommendation: "allow", raisedBy: ["allowlisted"] }
  }
  if (evidence.ruledAs !== null) return { recommendation: evidence.ruledAs, raisedBy: ["account_rule"] }
  const raisedTo = RAISE_ENTRIES.filter(
    ([raise, holds]) => severity(RECOMMENDATION_FLOORS[raise][policy]) > severity(base) && holds(evidence, decided),
  )
    .map(([raise]) => ({ reason: RECOMMENDATION_FLOORS[raise].reason, least: RECOMMENDATION_FLOORS[raise][policy] }))
    .sort((one, other) => severity(other.least) - severity(one.least))
  return { recommendation: raisedTo[0]?.least ?? base, raisedBy: raisedTo.map(({ reason }) => reason) }
}

/** What the policy says about the category. */
function policyBase(evidence: Evidence, policy: Policy, decided: DecidedVerdict): Recommendation {
  const weakness = weakEvidenceOf(decided, evidence)
  return weakness === null ? POLICIES[policy][decided.category] : WEAK_EVIDENCE[weakness][policy]
}

/** One thing that counts for a recommendation. */
export type Ground = {
  /** The rule of an account that stands above the policy here; null: none. */
  readonly rule: AccountRule | null
  /** What the policy says. */
  readonly recommendation: Recommendation
}

/** All that counts for the recommendation under a policy, which is the strictest of them. Own lists are not among them. */
export function recommendationGrounds(evidence: Evidence, policy: Policy): readonly Ground[] {
  const decided = decide(evidence)
  const { matching, decisive, category } = decided
  const categoryRule = isAccountRule(decisive) ? decisive : isAccountRule(category) ? category : null
  const floors = RAISE_ENTRIES.filter(([, holds]) => holds(evidence, decided)).map(([floor]): Ground => {
    const rule = RULE_OF_FLOOR[floor]
    return { rule: rule === "category" ? categoryRule : rule, recommendation: RECOMMENDATION_FLOORS[floor][policy] }
  })
  // A policy says nothing about some of the reasons that have a rule.
  const others = matching.filter(isAccountRule).map((rule): Ground => ({ rule, recommendation: "allow" }))
  return [{ rule: categoryRule, recommendation: policyBase(evidence, policy, decided) }, ...floors, ...others]
}

const isAccountRule = <N extends Category | Reason>(name: N): name is N & AccountRule =>
  Object.hasOwn(ACCOUNT_RULES, name)
