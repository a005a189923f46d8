import type { Finding } from "../../../base/finding.ts"
import type { DnsAnswer, Resolver } from "../dns-types.ts"

/** How a question ended: the outcome of its answer, or the cause of its failure. */
export type DnsOutcome = DnsAnswer["outcome"] | "timed_out" | "unavailable"

/** How many questions had each outcome. */
export type DnsOutcomeCounts = Readonly<Record<DnsOutcome, number>>

/** A resolver that counts the outcomes of its questions. */
export type InstrumentedResolver = { readonly resolver: Resolver; readonly stats: () => DnsOutcomeCounts }

/** Counts the outcomes of a resolver's questions. */
export function createInstrumentedResolver(resolver: Resolver): InstrumentedResolver {
  const counts: Record<DnsOutcome, number> = { records: 0, no_data: 0, no_name: 0, timed_out: 0, unavailable: 0 }
  return {
    resolver: question =>
      resolver(question).then(finding => {
        counts[dnsOutcome(finding)]++
        return finding
      }),
    stats: () => counts,
  }
}

function dnsOutcome(finding: Finding<DnsAnswer>): DnsOutcome {
  if (finding.known) return finding.value.outcome
  return finding.cause === "timed_out" ? "timed_out" : "unavailable"
}
