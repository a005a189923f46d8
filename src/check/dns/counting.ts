import type { Finding } from "../../base/finding.ts"
import type { Answer, Resolver } from "./question.ts"

/** What came of a question: what DNS said, or why it said nothing. */
export type QuestionOutcome = Answer["outcome"] | "timed_out" | "unavailable"

/** How many questions came to what. */
export type QuestionCounts = Readonly<Record<QuestionOutcome, number>>

/** A resolver whose questions are counted by what came of them. */
export type Counting = { readonly resolver: Resolver; readonly counts: () => QuestionCounts }

/** Counts the questions that a resolver is asked. */
export function counting(resolver: Resolver): Counting {
  const counts: Record<QuestionOutcome, number> = { records: 0, no_data: 0, no_name: 0, timed_out: 0, unavailable: 0 }
  return {
    resolver: async question => {
      const finding = await resolver(question)
      counts[outcomeOf(finding)]++
      return finding
    },
    counts: () => counts,
  }
}

function outcomeOf(finding: Finding<Answer>): QuestionOutcome {
  if (finding.known) return finding.value.outcome
  return finding.cause === "timed_out" ? "timed_out" : "unavailable"
}
