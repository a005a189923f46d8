import { expect, test } from "bun:test"
import { workersBench } from "../../bench/cases/workers.ts"

const LIMIT_MS = 120_000

test(
  "the workers bench loads two workers and one in turn, and tells what the load program takes",
  async () => {
    const report = await workersBench({ connections: 8, rounds: 2, roundS: 0.5, warmupS: 0.2 })
    for (const { name, value } of report.figures) expect([name, value > 0]).toEqual([name, true])
    expect(report.figures.flatMap(({ budget }) => budget ?? [])).toEqual(["workers_two"])
    expect(report.figures[0]?.rounds).toHaveLength(2)
  },
  LIMIT_MS,
)
