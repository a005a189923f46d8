import { describe, expect, test } from "bun:test"
import { seeded } from "../../../bench/load/seeded-random.ts"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { breachesOf, type Fault } from "./fault.ts"
import { FAULTS } from "./faults.ts"

const LIMIT_MS = 180_000

/** Faults that take long by nature: servers are started again and again, or a time-out of the product passes. */
const SLOW_FAULTS: ReadonlySet<string> = new Set<keyof typeof FAULTS>([
  "kill",
  "kill_quota",
  "list_damage",
  "dns",
  "mail",
  "database",
  "older_database",
  "outages",
])

/** Adds a test for the short form of each slow fault, or of each other one. */
export function testFaults({ isSlow }: { readonly isSlow: boolean }): void {
  describe("when things go wrong", () => {
    const wanted = Object.entries<Fault>(FAULTS).filter(([name]) => SLOW_FAULTS.has(name) === isSlow)
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
