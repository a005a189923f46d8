import { expect, test } from "bun:test"
import { lifeBench } from "../../bench/cases/life.ts"

const LIMIT_MS = 120_000

test(
  "the life bench lets days pass with requests, other lists and changed keys, and tells what the server holds after them",
  async () => {
    const scale = { days: 2, dayMs: 2000, requests: 1000, connections: 8, accounts: 50, quietMs: 200 }
    const report = await lifeBench(scale)
    expect(report.figures.flatMap(({ budget }) => budget ?? []).toSorted()).toEqual(["life_descriptors", "life_memory"])
    const values = new Map(report.figures.map(({ name, value }) => [name, value]))
    expect(values.get("requests")).toBeGreaterThanOrEqual(2000)
    for (const name of ["after the last", "p99 of the last day", "database after the last day"])
      expect([name, (values.get(name) ?? 0) > 0]).toEqual([name, true])
  },
  LIMIT_MS,
)
