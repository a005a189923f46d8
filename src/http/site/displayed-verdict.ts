import { type CheckOutcome, fullResult } from "../../check/result/result.ts"
import type { SiteContext } from "./site-context.ts"
import type { DisplayedVerdict } from "./ui/verdict/verdict-words.ts"

/** The outcome of a check as pages display it. */
export const displayedVerdict = (
  { isDnsOff }: Pick<SiteContext, "isDnsOff">,
  outcome: CheckOutcome,
  requestId: string,
): DisplayedVerdict => ({
  result: fullResult(outcome, requestId),
  imitates: outcome.judged.evidence.lookalikeOf,
  isDnsOff,
})
