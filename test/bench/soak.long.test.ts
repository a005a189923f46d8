import { expect, test } from "bun:test"
import { SOAK_FULL, soakBench } from "../../bench/cases/soak.ts"

const LIMIT_MS = 120_000

test(
  "the soak bench sends every kind in several parts, and tells what the server holds after each",
  async () => {
    const scale = { parts: 2, loads: 2, requests: 1000, connections: 8, accounts: 50, quietMs: 200 }
    const report = await soakBench(scale)
    expect(report.figures.flatMap(({ budget }) => budget ?? []).toSorted()).toEqual(["soak_descriptors", "soak_memory"])
    const names = report.figures.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter(name => name.startsWith("resident memory"))).toHaveLength(scale.parts)
    for (const { name, value } of report.figures.filter(({ name }) => /memory|p99|part$/.test(name)))
      expect([name, value > 0]).toEqual([name, true])
    expect(report.description[0]).toStartWith("4000 requests")
    expect(SOAK_FULL.parts * SOAK_FULL.loads * SOAK_FULL.requests).toBe(5_000_000)
  },
  LIMIT_MS,
)
