import { expect, test } from "bun:test"
import { type Finding, known, unknown } from "../../../../src/base/finding.ts"
import type { DnsAnswer } from "../../../../src/check/dns/dns-types.ts"
import { createInstrumentedResolver } from "../../../../src/check/dns/resolver/instrumented-resolver.ts"
import { resolverSuite } from "./resolver.suite.ts"

resolverSuite("a counting resolver", resolver => createInstrumentedResolver(resolver).resolver)

const answer = (outcome: DnsAnswer["outcome"]): Finding<DnsAnswer> => known({ outcome, records: [], ttlS: 0 })

test("questions are counted by their outcome", async () => {
  const findings = [
    answer("records"),
    answer("records"),
    answer("no_data"),
    answer("no_name"),
    unknown("timed_out"),
    unknown("unavailable"),
  ]
  const left = findings.values()
  const { resolver, stats } = createInstrumentedResolver(async () => left.next().value ?? unknown("unavailable"))
  for (const finding of findings) expect(await resolver({ name: "a.example", type: "A" })).toBe(finding)
  expect(stats()).toEqual({ records: 2, no_data: 1, no_name: 1, timed_out: 1, unavailable: 1 })
})
