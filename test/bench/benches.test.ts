import { expect, test } from "bun:test"
import { join } from "node:path"
import { batchBench } from "../../bench/cases/batch.ts"
import { checkBench } from "../../bench/cases/check.ts"
import { dnsBench } from "../../bench/cases/dns.ts"
import { httpBench } from "../../bench/cases/http.ts"
import { listsReport } from "../../bench/cases/lists.ts"
import { startBench } from "../../bench/cases/start.ts"
import { MIX_KINDS } from "../../bench/mix/mix.ts"
import { type Report, reportJson, reportText } from "../../bench/report/report.ts"
import { PRODUCT } from "../../bench/servers/product.ts"
import { createSystem } from "../../src/system/system.ts"
import { check, lists } from "../support/app.ts"
import { outcomeOf } from "../support/outcome-of.ts"

const LIMIT_MS = 120_000
const PACK = join(import.meta.dir, "../../data/build/lists.pack")

/** A bench that runs has figures that are numbers, each under its own name, and can be told in both forms. */
function expectSane(report: Report, budgets: readonly string[]): void {
  const names = report.figures.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  // What a mapped file costs in private memory is too little to be measured at times, and so is the processor time of the floor.
  const isSmall = (name: string): boolean => name.startsWith("private memory") || name.startsWith("floor")
  const isPossible = (name: string, value: number): boolean => value > 0 || (value === 0 && isSmall(name))
  for (const { name, value } of report.figures) expect([name, isPossible(name, value)]).toEqual([name, true])
  expect(
    [...new Set(report.figures.flatMap(({ budget }): string[] => (budget === null ? [] : [budget])))].toSorted(),
  ).toEqual([...budgets])
  for (const name of names) expect(reportText(report)).toContain(name)
  expect(JSON.parse(JSON.stringify(reportJson(report))).figures).toHaveLength(names.length)
}

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

test(
  "the DNS bench checks names cold, warm and while the server is dead, and fills a cache",
  async () => {
    const scale = { rounds: 2, names: 20, atOnce: 4, warmChecks: 50, deadChecks: 20, cacheNames: 200 }
    const report = await dnsBench(scale, createSystem(), lists)
    const budgets = [
      "dns_cache_entries",
      "dns_cache_memory",
      "dns_cold",
      "dns_cold_cost",
      "dns_dead",
      "dns_denied",
      "dns_first_dead",
      "dns_kinds",
      "dns_own_hosts",
      "dns_recovery",
    ]
    expectSane(report, [...budgets, "dns_warm"])
    const questions = report.figures.find(({ name }) => name === "cold, questions a check")?.value
    // A machine that is busy otherwise is late to answer, and is asked again.
    expect([questions, Math.floor(questions ?? 0)]).toEqual([questions, 4])
    const ofOwnHosts = report.figures.find(({ name }) => name === "own hosts, questions a check")?.value
    expect([ofOwnHosts, Math.floor(ofOwnHosts ?? 0)]).toEqual([ofOwnHosts, 5])
  },
  LIMIT_MS,
)

test(
  "the HTTP bench loads product and floor in turn, and the product in every way that a check is asked for",
  async () => {
    const scale = { connections: 4, rounds: 2, roundS: 0.6, warmupS: 0.1, ownListEntries: 20 }
    const report = await httpBench(scale, PRODUCT.source)
    expectSane(report, ["http", "http_half_load", "http_kinds", "http_p99", "http_variants"])
    expect(report.description[0]).toContain("personal")
    expect(report.figures[0]?.rounds).toHaveLength(2)
  },
  LIMIT_MS,
)

test(
  "the batch bench loads batches of each kind, single checks and a floor in turn",
  async () => {
    const report = await batchBench({ connections: 2, rounds: 1, roundS: 0.5, warmupS: 0.1, ownListEntries: 20 })
    expectSane(report, ["batch_floor", "batch_gzip", "batch_kinds", "batch_role", "batch_single"])
    expect(report.description[0]).toContain("100 items")
  },
  LIMIT_MS,
)

test(
  "the start bench starts the server in an empty and in a warm directory, and tells what is not built",
  async () => {
    const report = await startBench({ rounds: 1 }, { source: PRODUCT.source, executable: null })
    expectSane(report, ["start"])
    expect(report.figures.map(({ name }) => name)).toEqual(["source, empty directory", "source, warm directory"])
    expect(report.description.join()).toContain("executable: not built")
  },
  LIMIT_MS,
)
