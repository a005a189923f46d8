import { type Finding, known } from "../../../../src/base/finding.ts"
import type { DnsAnswer, DnsQuestion, Resolver } from "../../../../src/check/dns/dns-types.ts"
import { written } from "../../../support/zone.ts"

/** A resolver whose answers the test triggers, the oldest question first. */
export type HeldResolver = {
  readonly resolver: Resolver
  /** The pending questions, as `TYPE name`. */
  readonly open: () => readonly string[]
  /** Answers the oldest pending question. */
  readonly give: (finding: Finding<DnsAnswer>) => Promise<void>
}

/** An answer with one arbitrary record. */
export const SOME: Finding<DnsAnswer> = known({
  outcome: "records",
  records: [{ type: "A", address: "192.0.2.1" }],
  ttlS: 60,
})

/** Builds a resolver that keeps every question pending until `give`. */
export function heldResolver(): HeldResolver {
  const held: { readonly question: DnsQuestion; readonly settle: (finding: Finding<DnsAnswer>) => void }[] = []
  return {
    resolver: question => new Promise(settle => held.push({ question, settle })),
    open: () => held.map(({ question }) => written(question)),
    give: async finding => {
      held.shift()?.settle(finding)
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    },
  }
}
