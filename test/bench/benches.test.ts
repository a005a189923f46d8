import { expect, test } from "bun:test"
import { join } from "node:path"
import { checkBench } from "../../bench/cases/check.ts"
import { listsReport } from "../../bench/cases/lists.ts"
import { MIX_KINDS } from "../../bench/mix/mix.ts"
import { check } from "../support/app.ts"
import { outcomeOf } from "../support/outcome-of.ts"
import { expectSane } from "./sane-report.ts"

const LIMIT_MS = 120_000
const PACK = join(import.meta.dir, "../../data/build/lists.pack")

test(
  "the lists bench runs and puts hits, misses, memory and opening beside their budgets",
  async () => {
    const report = await listsReport({ questions: 200, rounds: 2 }, PACK)
    expectSane(report, ["lists_hit", "lists_memory", "lists_miss", "lists_open"])
  },
  LIMIT_MS,
)

test("the lists bench refuses a file that is no pack", async () => {
  expect(await outcomeOf(listsReport({ questions: 1, rounds: 1 }, import.meta.path))).toThrow()
})

test("the check bench runs each kind of the mix, known and new, and tells the dearest by the cheapest", async () => {
  const report = await checkBench({ rounds: 2, warmChecks: 20, firstChecks: 10 }, check)
  expectSane(report, ["check", "check_first", "check_first_kinds", "check_kinds"])
  for (const kind of MIX_KINDS) expect(report.figures.map(({ name }) => name)).toContain(`${kind}, seen before`)
  const first = report.figures.filter(({ name }) => name.endsWith(", first sight"))
  expect(first).toHaveLength(MIX_KINDS.length - 2)
  expect(first[0]?.rounds).toHaveLength(2)
})
