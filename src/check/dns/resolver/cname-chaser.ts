import { type Finding, known, unknown } from "../../../base/finding.ts"
import type { Stopwatch } from "../../../base/outside-world.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../dns-types.ts"
import type { QueryServers, ServerAnswer } from "./failover.ts"

/** How many queries one question may take for CNAME targets that the server did not resolve. */
export const CNAME_QUERIES_MAX = 8

type CnameChasingDeps = { readonly timeoutMs: number; readonly stopwatch: Stopwatch }

/**
 * Resolves the CNAME targets that servers leave unresolved. A chain that is too long or has a loop is `unavailable`. NXDOMAIN
 * is about the last name of a chain (RFC 6604 §3), so for the name of the question it becomes `no_data`. The TTL is the least of
 * the chain. No name is queried after `timeoutMs`, the time that one query may take: then the question is `timed_out`.
 */
export function withCnameChasing(queryServers: QueryServers, { timeoutMs, stopwatch }: CnameChasingDeps): Resolver {
  return question => {
    const endsAtMs = stopwatch() + timeoutMs
    return queryServers(question).then(finding => {
      if (!finding.known) return finding
      const { answer, pendingCname } = finding.value
      if (pendingCname === null) return known(answer)
      return chaseCnames(queryServers, question, pendingCname, answer.ttlS, () => stopwatch() >= endsAtMs)
    })
  }
}

async function chaseCnames(
  queryServers: QueryServers,
  { name, type }: DnsQuestion,
  firstTarget: string,
  firstTtlS: number,
  isLate: () => boolean,
): Promise<Finding<DnsAnswer>> {
  const visited = new Set([name])
  let ttlS = firstTtlS
  for (let next: string | null = firstTarget; ; ) {
    if (visited.has(next) || visited.size > CNAME_QUERIES_MAX) return unknown("unavailable")
    if (isLate()) return unknown("timed_out")
    visited.add(next)
    const finding: Finding<ServerAnswer> = await queryServers({ name: next, type })
    if (!finding.known) return finding
    const { answer } = finding.value
    ttlS = Math.min(ttlS, answer.ttlS)
    next = finding.value.pendingCname
    if (next === null) {
      return known({ ...answer, outcome: answer.outcome === "no_name" ? "no_data" : answer.outcome, ttlS })
    }
  }
}
