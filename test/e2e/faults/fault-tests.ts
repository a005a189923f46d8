import { describe, expect, test } from "bun:test"
import { seeded } from "../../../bench/load/seeded-random.ts"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { breachesOf, type Fault } from "./fault.ts"
import { FAULTS } from "./faults.ts"

const LIMIT_MS = 180_000

/** `bun run verify` does the smoke. The others are in files that run side by side. */
type Group = "smoke" | "storage" | "database" | "connections"
const GROUPS: Readonly<Record<keyof typeof FAULTS, Group>> = {
  log_damage: "smoke",
  kill: "storage",
  kill_quota: "storage",
  full_disk: "storage",
  read_only: "storage",
  page_damage: "storage",
  list_damage: "storage",
  clock: "storage",
  dns: "connections",
  mail: "connections",
  database: "database",
  older_database: "database",
  outages: "database",
  kill_worker: "connections",
  poison: "connections",
  descriptors: "connections",
  idle: "connections",
  slow: "connections",
  broken_off: "connections",
  smuggling: "connections",
  floods: "connections",
  sizing: "connections",
  sizing_group: "connections",
  sizing_workers: "connections",
  year: "storage",
}

/** Adds a test for the short form of each fault of a group. */
export function testFaults(group: Group): void {
  describe("when things go wrong", () => {
    const wanted = Object.entries<Fault>(FAULTS).filter(([name]) => Object(GROUPS)[name] === group)
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
