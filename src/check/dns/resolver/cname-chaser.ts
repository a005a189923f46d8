import { type Finding, known, unknown } from "../../../base/finding.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../dns-types.ts"
import type { QueryServers, ServerAnswer } from "./failover.ts"

/** How often a chain of CNAMEs that a server left unfinished is taken up again. */
export const CNAME_QUERIES_MAX = 8

/**
 * Follows CNAMEs where servers leave off. A chain that is too long or leads in a circle is `unavailable`. NXDOMAIN speaks of
 * the last name of a chain (RFC 6604 §3); the one that was asked for has a CNAME, so it is `no_data`. The TTL is the least of
 * all links.
 */
export function withCnameChasing(ask: QueryServers): Resolver {
  return async question => {
    const said = await ask(question)
    if (!said.known) return said
    const { answer, pendingCname } = said.value
    return pendingCname === null ? known(answer) : await chaseCnames(ask, question, pendingCname, answer.ttlS)
  }
}

async function chaseCnames(
  ask: QueryServers,
  { name, type }: DnsQuestion,
  continuesAt: string,
  firstTtlS: number,
): Promise<Finding<DnsAnswer>> {
  const asked = new Set([name])
  let ttlS = firstTtlS
  for (let next: string | null = continuesAt; ; ) {
    if (asked.has(next) || asked.size > CNAME_QUERIES_MAX) return unknown("unavailable")
    asked.add(next)
    const said: Finding<ServerAnswer> = await ask({ name: next, type })
    if (!said.known) return said
    const { answer } = said.value
    ttlS = Math.min(ttlS, answer.ttlS)
    next = said.value.pendingCname
    if (next === null) {
      return known({ ...answer, outcome: answer.outcome === "no_name" ? "no_data" : answer.outcome, ttlS })
    }
  }
}
