import type { Clock } from "../base/clock.ts"
import type { Check, Question } from "../check/check.ts"
import type { Outcome } from "../check/present.ts"
import { refuseAsTold } from "./told-problem.ts"

type Needs = { readonly check: Check; readonly clock: Clock }

/** Checks a test address, which costs nothing. Rejects with the problem that the address asks for, if it asks for one. */
export async function tested({ check, clock }: Needs, question: Question): Promise<Outcome> {
  refuseAsTold(question.subject.localPart ?? "", clock)
  return await check(question)
}
