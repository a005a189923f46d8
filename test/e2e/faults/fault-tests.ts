import { describe, expect, test } from "bun:test"
import { seeded } from "../../../bench/load/seeded-random.ts"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { breachesOf, type Fault } from "./fault.ts"
import { FAULTS } from "./faults.ts"

const LIMIT_MS = 180_000

/** The fault that `bun run verify` does. */
const SMOKE = "log_damage" satisfies keyof typeof FAULTS

/** Adds a test for the short form of the one fault of `verify`, or of each other one. */
export function testFaults({ isSmoke }: { readonly isSmoke: boolean }): void {
  describe("when things go wrong", () => {
    const wanted = Object.entries<Fault>(FAULTS).filter(([name]) => (name === SMOKE) === isSmoke)
    for (const [name, { promise, times, does }] of wanted)
      test(
        `${name}: ${promise}`,
        async () => {
          const found = await does({ times: times.short, isLong: false, program: PROGRAM, random: seeded(1) })
          // What cannot be done on this machine says so where it is asked for by name: `bun run faults`.
          if ("leftOut" in found) return
          expect(breachesOf(found, false)).toEqual([])
          expect(found.times).toBeGreaterThan(0)
        },
        LIMIT_MS,
      )
  })
}
