import { describe, expect, test } from "bun:test"
import { unknown } from "../../../../src/base/finding.ts"
import { withSingleFlight } from "../../../../src/check/dns/resolver/single-flight.ts"
import { heldResolver, SOME } from "./manual-resolver.ts"
import { resolverSuite } from "./resolver.suite.ts"

resolverSuite("a resolver with single flight", withSingleFlight)

describe("a resolver with single flight", () => {
  test("sends equal concurrent questions once", async () => {
    const { resolver, open, give } = heldResolver()
    const resolve = withSingleFlight(resolver)
    const all = Array.from({ length: 1000 }, () => resolve({ name: "a.example", type: "A" }))
    expect(open()).toEqual(["A a.example"])
    await give(SOME)
    expect(new Set(await Promise.all(all))).toEqual(new Set([SOME]))
  })

  test("keeps names and types apart", () => {
    const { resolver, open } = heldResolver()
    const resolve = withSingleFlight(resolver)
    void resolve({ name: "a.example", type: "A" })
    void resolve({ name: "a.example", type: "AAAA" })
    void resolve({ name: "b.example", type: "A" })
    expect(open()).toEqual(["A a.example", "AAAA a.example", "A b.example"])
  })

  test("sends a question again after an answer or a failure", async () => {
    const { resolver, open, give } = heldResolver()
    const resolve = withSingleFlight(resolver)
    for (const finding of [SOME, unknown("timed_out"), SOME]) {
      const queries = resolve({ name: "a.example", type: "A" })
      expect(open()).toHaveLength(1)
      await give(finding)
      expect(await queries).toEqual(finding)
    }
  })
})
