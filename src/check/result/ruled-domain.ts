import type { AccountRule, AccountRules } from "../../contract/account-rules.ts"
import type { Recommendation } from "../../contract/policies.ts"
import { recommendationGrounds, severity } from "../verdict/judge.ts"
import { type JudgedDomain, judgeDomain } from "./result.ts"

/** The verdict as the rules of an account have it: the same object if they change nothing. */
export function ruledDomain(judged: JudgedDomain, rules: AccountRules): JudgedDomain {
  const ruling = rulingOf(judged, rules)
  if (ruling === null || ruling.recommendation === judged.verdict.recommendation) return judged
  return ruledAs(judged, ruling.recommendation)
}

/** It holds nothing of the account's rules but the recommendation, so that accounts with other rules can share it. */
function ruledAs(judged: JudgedDomain, recommendation: Recommendation): JudgedDomain {
  const { domain, evidence, policy } = judged
  judged.ruled ??= {}
  judged.ruled[recommendation] ??= judgeDomain({ domain }, { ...evidence, ruledAs: recommendation }, policy)
  return judged.ruled[recommendation]
}

/** What the rules of an account recommend. */
type Ruling = {
  readonly recommendation: Recommendation
  /** The rule that recommends it; null: the policy does, once rules have replaced what it says elsewhere. */
  readonly rule: AccountRule | null
}

/** What the rules recommend for a verdict, as `RECOMMENDATION_ORDER` says; null: none of them speaks. */
export function rulingOf(judged: JudgedDomain, rules: AccountRules): Ruling | null {
  if (!maySpeak(judged, rules)) return null
  judged.grounds ??= recommendationGrounds(judged.evidence, judged.policy)
  let recommendation: Recommendation = "allow"
  for (const { rule, recommendation: byPolicy } of judged.grounds) {
    const next = (rule === null ? undefined : rules[rule]) ?? byPolicy
    if (severity(next) > severity(recommendation)) recommendation = next
  }
  const deciding = judged.grounds.find(({ rule }) => rule !== null && rules[rule] === recommendation)
  return { recommendation, rule: deciding?.rule ?? null }
}

/** Whether a rule is about the verdict, and nothing stands above it. A test address has a fixed verdict. */
function maySpeak({ evidence, verdict }: JudgedDomain, rules: AccountRules): boolean {
  if (evidence.blockedBy !== null || evidence.isAllowed || evidence.subject.isTest) return false
  if (verdict.category === "invalid") return false
  const byName: { readonly [name: string]: Recommendation | undefined } = rules
  if (byName[verdict.category] !== undefined) return true
  for (const reason of verdict.reasons) if (byName[reason] !== undefined) return true
  return false
}
