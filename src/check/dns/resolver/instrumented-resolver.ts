import type { Finding } from "../../../base/finding.ts"
import type { DnsAnswer, Resolver } from "../dns-types.ts"

/** What came of a question: what DNS said, or why it said nothing. */
export type DnsOutcome = DnsAnswer["outcome"] | "timed_out" | "unavailable"

/** How many questions came to what. */
export type DnsOutcomeCounts = Readonly<Record<DnsOutcome, number>>

/** A resolver whose questions are counted by what came of them. */
export type InstrumentedResolver = { readonly resolver: Resolver; readonly stats: () => DnsOutcomeCounts }

/** Counts the questions that a resolver is asked. */
export function createInstrumentedResolver(resolver: Resolver): InstrumentedResolver {
  const counts: Record<DnsOutcome, number> = { records: 0, no_data: 0, no_name: 0, timed_out: 0, unavailable: 0 }
  return {
    resolver: async question => {
      const finding = await resolver(question)
      counts[dnsOutcome(finding)]++
      return finding
    },
    stats: () => counts,
  }
}

function dnsOutcome(finding: Finding<DnsAnswer>): DnsOutcome {
  if (finding.known) return finding.value.outcome
  return finding.cause === "timed_out" ? "timed_out" : "unavailable"
}
