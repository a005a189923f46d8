import { expect, test } from "bun:test"
import { nodesBench } from "../../bench/cases/nodes.ts"
import { reportText } from "../../bench/report/report.ts"
import { POSTGRES_PROGRAMS } from "../support/postgres.ts"

const LIMIT_MS = 180_000
const SMALL = { accounts: 4, connectionsPerNode: 4, rounds: 2, roundS: 0.3, warmupS: 0.3, countedS: 1, rate: 200 }
const isThere = POSTGRES_PROGRAMS !== null
const facts = isThere ? "" : " [postgresql: not installed]"

test.skipIf(!isThere)(
  `the nodes bench loads one, two and three nodes, and one and three over SQLite, in turn, and tells what the database counts${facts}`,
  async () => {
    const report = await nodesBench(SMALL)
    for (const { name, value } of report.figures) expect([name, Number.isFinite(value)]).toEqual([name, true])
    expect(new Set(report.figures.map(({ name }) => name)).size).toBe(report.figures.length)
    const budgets = report.figures.flatMap(({ budget }) => budget ?? [])
    expect(budgets).toEqual(["nodes_cpu", "nodes_engine", "nodes_statements"])
    expect(report.figures[0]?.rounds).toHaveLength(2)
    const value = (name: string) => report.figures.find(figure => figure.name === name)?.value ?? Number.NaN
    expect(value("usage, at 200/s")).toBeGreaterThan(0)
    // What was counted is all of it, each of one kind.
    const kinds = report.figures.filter(({ name }) => name.endsWith(", at 200/s") && !/CPU|p50|p99/.test(name))
    expect(kinds.reduce((sum, kind) => sum + kind.value, 0)).toBeCloseTo(value("statements at 200/s"), 6)
    expect(reportText(report)).toContain("as PostgreSQL counts them")
  },
  LIMIT_MS,
)
