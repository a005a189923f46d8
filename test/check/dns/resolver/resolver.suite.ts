import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { known, unknown } from "../../../../src/base/finding.ts"
import type { DnsQuestion, Resolver } from "../../../../src/check/dns/dns-types.ts"
import { zone } from "../../../support/zone.ts"

/** A name with an address in the suite's zone, for the queries of a wrapper itself. */
export const KNOWN_NAME = "known.example"

const RECORDS = {
  [`A ${KNOWN_NAME}`]: ["192.0.2.1", "192.0.2.2"],
  [`MX ${KNOWN_NAME}`]: ["10 mx.known.example"],
  "TXT known.example": ["v=spf1 -all"],
  "MX slow.example": "timed_out",
  "MX lame.example": "unavailable",
} as const

const GOOD: readonly DnsQuestion[] = [
  { name: KNOWN_NAME, type: "A" },
  { name: KNOWN_NAME, type: "MX" },
  { name: KNOWN_NAME, type: "TXT" },
  { name: KNOWN_NAME, type: "NS" },
  { name: "none.example", type: "MX" },
]
const BAD: readonly DnsQuestion[] = [
  { name: "slow.example", type: "MX" },
  { name: "lame.example", type: "MX" },
]

/** The promises of every wrapper of a resolver. `wrap` builds a new one. The inner resolver answers at once, and the clock stands still. */
export function resolverSuite(description: string, wrap: (resolver: Resolver) => Resolver): void {
  const wrapped = () => {
    const { resolver, requests: queries } = zone({ ...RECORDS })
    return { under: resolver, resolver: wrap(resolver), queries }
  }

  describe(`${description}, as a resolver,`, () => {
    test("returns the records", async () => {
      const { resolver } = wrapped()
      expect(await resolver({ name: KNOWN_NAME, type: "MX" })).toEqual(
        known({
          outcome: "records",
          records: [{ type: "MX", preference: 10, exchange: "mx.known.example" }],
          ttlS: 300,
        }),
      )
    })

    test("distinguishes a name without records of the type from a name that does not exist", async () => {
      const { resolver } = wrapped()
      const denied = { records: [], ttlS: 300 }
      expect(await resolver({ name: KNOWN_NAME, type: "NS" })).toEqual(known({ ...denied, outcome: "no_data" }))
      expect(await resolver({ name: "none.example", type: "NS" })).toEqual(known({ ...denied, outcome: "no_name" }))
    })

    test("returns the cause of a failure", async () => {
      const { resolver } = wrapped()
      expect(await resolver({ name: "slow.example", type: "MX" })).toEqual(unknown("timed_out"))
      expect(await resolver({ name: "lame.example", type: "MX" })).toEqual(unknown("unavailable"))
    })

    test("returns to each of many concurrent questions its own answer", async () => {
      const { resolver, under } = wrapped()
      const questions = Array.from({ length: 40 }, () => GOOD).flat()
      const expected = await Promise.all(questions.map(under))
      expect(await Promise.all(questions.map(resolver))).toEqual(expected)
    })

    test("settles every question in any order with the result of the inner resolver or a failure", async () => {
      const question = fc.constantFrom(...GOOD, ...BAD)
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(question, { maxLength: 8 }), { maxLength: 20 }), async rounds => {
          const { resolver, under } = wrapped()
          for (const round of rounds) {
            const result = await Promise.all(round.map(resolver))
            const expected = await Promise.all(round.map(under))
            for (const [at, finding] of result.entries())
              expect([expected[at], unknown("unavailable")]).toContainEqual(finding)
          }
        }),
        { numRuns: 30 },
      )
    })
  })
}
