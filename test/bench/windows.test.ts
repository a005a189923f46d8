import { expect, test } from "bun:test"
import { windowsBench } from "../../bench/cases/windows.ts"
import { SIZES } from "../../bench/cases/windows-cost.ts"
import { knownShare, simulatedWindows } from "../../bench/cases/windows-simulation.ts"
import { budgetStatus, reportText } from "../../bench/report/report.ts"
import { isDownloaded, parseCatalogue } from "../../src/check/lists/sources/catalogue.ts"
import { repositoryFiles } from "../check/lists/sources/repository-files.ts"

const LIMIT_MS = 120_000

test("the bench knows how many names each source that is downloaded has", () => {
  const found = parseCatalogue(repositoryFiles.read("data/catalogue.json"))
  const ids = found.kind === "catalogue" ? found.sources.filter(isDownloaded).map(({ id }) => id) : []
  expect([...Object.keys(SIZES), "castle"].toSorted()).toEqual(ids.toSorted())
})

test("the made-up windows have 1000 names each and the published persistence, and are the same on every run", () => {
  const windows = simulatedWindows(100, 1)
  expect(simulatedWindows(100, 1)).toEqual(windows)
  for (const window of windows) expect(new Set(window).size).toBe(1000)
  const day = 99
  const share = (from: number, to: number): number => {
    const seen = new Set(windows.slice(from, to).flat())
    return knownShare(windows[day] ?? [], name => seen.has(name))
  }
  expect(share(day - 1, day)).toBeCloseTo(0.9, 1)
  expect(Math.abs(share(0, day) - 0.98)).toBeLessThan(0.01)
  expect(Math.abs(share(0, day - 6) - 0.9)).toBeLessThan(0.02)
  expect(Math.abs(share(0, day - 29) - 0.78)).toBeLessThan(0.03)
})

test(
  "refreshes know of a next day's names what they must, a week without one included, and refuse poisoned windows alone",
  async () => {
    const report = await windowsBench({ days: 50, firstCountedDay: 35, poisonedEvery: 7, costDays: null })
    const budgeted = report.figures.filter(({ budget }) => budget !== null)
    expect(budgeted.map(({ budget }) => budget)).toEqual([
      "windows_day",
      "windows_week",
      "windows_poisoned",
      "windows_honest",
    ])
    expect(budgeted.map(budgetStatus)).toEqual(["held", "held", "held", "held"])
    for (const { name } of report.figures) expect(reportText(report)).toContain(name)
  },
  LIMIT_MS,
)
