import { expect, test } from "bun:test"
import { jobsBench } from "../../bench/cases/jobs.ts"

const LIMIT_MS = 300_000

test(
  "the bench of lists has one checked by a server and by classify with equal results, and tells its rate, its memory and what live requests notice",
  async () => {
    const scale = { rounds: 1, rows: 4000, domains: 1200, quietMs: 200, lists: 3, listRows: 60_000 }
    const report = await jobsBench({ ...scale, liveRounds: 1, liveS: 1, liveRate: 100 })
    const budgets = report.figures.flatMap(({ budget }) => budget ?? [])
    expect(budgets.toSorted()).toEqual(["jobs_live", "jobs_live", "jobs_memory", "jobs_rows"])
    const values = new Map(report.figures.map(({ name, value }) => [name, value]))
    // How often a question is asked again depends on the machine.
    const told = ["server", "classify", "server, questions", "classify, questions"]
    for (const name of [...told, "live p99 alone, DNS off", "live p99 beside lists, with DNS"])
      expect([name, (values.get(name) ?? 0) > 0]).toEqual([name, true])
  },
  LIMIT_MS,
)
