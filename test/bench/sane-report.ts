import { expect } from "bun:test"
import { type Report, reportJson, reportText } from "../../bench/report/report.ts"

/** A bench that runs has figures that are numbers, each under its own name, and can be told in both forms. */
export function expectSane(report: Report, budgets: readonly string[]): void {
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
