import { expect, test } from "bun:test"
import { overloadBench } from "../../bench/cases/overload.ts"

test("the overload bench asks for more than the server can, and tells what it did before, then and after", async () => {
  const report = await overloadBench({ connections: 8, waiting: 8, warmupS: 0.2, calmS: 0.5, overloadS: 1 })
  expect(report.figures.flatMap(({ budget }) => budget ?? []).toSorted()).toEqual([
    "overload_goodput",
    "overload_memory",
    "overload_p99",
    "overload_recovery",
  ])
  const value = (name: string) => report.figures.find(figure => figure.name === name)?.value
  // Nothing of this size is too much for memory: what is too much waits with those who ask.
  expect(value("refused with 503")).toBe(0)
  expect(value("given up by callers")).toBeGreaterThan(0)
  for (const { name, value: found } of report.figures) expect([name, Number.isFinite(found)]).toEqual([name, true])
}, 120_000)
