import type { Budget } from "../../base/budget.ts"
import { type Finding, unknown } from "../../base/finding.ts"
import type { Ask } from "../dns/question.ts"

/** Asks as long as there is time; then every question, also one under way, is `timed_out` at once. */
export function askWithin(ask: Ask, budget: Budget): Ask {
  return question => (budget.isOver ? Promise.resolve(TIMED_OUT) : budget.wait(ask(question), TIMED_OUT))
}

const TIMED_OUT: Finding<never> = unknown("timed_out")
