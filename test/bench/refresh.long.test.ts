import { expect, test } from "bun:test"
import { REFRESH_FULL, refreshBench } from "../../bench/cases/refresh.ts"

const LIMIT_MS = 180_000

test(
  "the refresh bench refreshes the lists of a server under load, which takes them and fails nobody",
  async () => {
    const scale = { refreshes: 2, connections: 4, rate: 50, roundS: 0.5, calmRounds: 1, quietMs: 200 }
    const report = await refreshBench(scale)
    const names = report.figures.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(report.figures.flatMap(({ budget }) => budget ?? []).toSorted()).toEqual([
      "refresh_descriptors",
      "refresh_failed",
      "refresh_memory",
      "refresh_taken",
    ])
    const figureOf = (wanted: string) => report.figures.find(({ name }) => name === wanted)?.value
    expect(figureOf("failed or other than 200")).toBe(0)
    expect(figureOf("lists taken")).toBe(scale.refreshes)
    for (const { name, value } of report.figures.filter(({ unit }) => unit === "ms" || unit === "MB"))
      expect([name, value > 0]).toEqual([name, true])
    expect(REFRESH_FULL.refreshes).toBe(20)
  },
  LIMIT_MS,
)
