import { type CheckOutcome, fullResult } from "../../check/result/result.ts"
import { rulingOf } from "../../check/result/ruled-domain.ts"
import type { AccountRule, AccountRules } from "../../contract/account-rules.ts"
import type { SiteContext } from "./site-context.ts"
import type { DisplayedVerdict } from "./ui/verdict/reason-words.ts"

/** The outcome of a check as pages display it. `rules`: those of the account for which it was checked. */
export const displayedVerdict = (
  { isDnsOff }: Pick<SiteContext, "isDnsOff">,
  outcome: CheckOutcome,
  requestId: string,
  rules?: AccountRules,
): DisplayedVerdict => ({
  result: fullResult(outcome, requestId),
  imitates: outcome.judged.evidence.lookalikeOf,
  isDnsOff,
  rule: decidingRule(outcome, rules),
})

const decidingRule = ({ judged }: CheckOutcome, rules: AccountRules | undefined): AccountRule | undefined =>
  rules === undefined || judged.evidence.ruledAs === null ? undefined : (rulingOf(judged, rules)?.rule ?? undefined)
