import { type Finding, known, unknown } from "../../base/finding.ts"
import type { Answer, Question, Resolver } from "./question.ts"
import type { AskServers, Said } from "./retrying.ts"

/** How often a chain of CNAMEs that a server left unfinished is taken up again. */
export const CONTINUATIONS_MAX = 8

/**
 * Follows CNAMEs where servers leave off. A chain that is too long or leads in a circle is `unavailable`. NXDOMAIN speaks of
 * the last name of a chain (RFC 6604 §3); the one that was asked for has a CNAME, so it is `no_data`. The TTL is the least of
 * all links.
 */
export function following(ask: AskServers): Resolver {
  return async question => {
    const said = await ask(question)
    if (!said.known) return said
    const { answer, continuesAt } = said.value
    return continuesAt === null ? known(answer) : await restOf(ask, question, continuesAt, answer.ttlS)
  }
}

async function restOf(
  ask: AskServers,
  { name, type }: Question,
  continuesAt: string,
  firstTtlS: number,
): Promise<Finding<Answer>> {
  const asked = new Set([name])
  let ttlS = firstTtlS
  for (let next: string | null = continuesAt; ; ) {
    if (asked.has(next) || asked.size > CONTINUATIONS_MAX) return unknown("unavailable")
    asked.add(next)
    const said: Finding<Said> = await ask({ name: next, type })
    if (!said.known) return said
    const { answer } = said.value
    ttlS = Math.min(ttlS, answer.ttlS)
    next = said.value.continuesAt
    if (next === null) {
      return known({ ...answer, outcome: answer.outcome === "no_name" ? "no_data" : answer.outcome, ttlS })
    }
  }
}
