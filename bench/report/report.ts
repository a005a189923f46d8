import { BUDGETS, type Budget, type BudgetName, isHeld } from "../budgets.ts"
import { median } from "./rounds.ts"

/** One number that a bench found: the median of its rounds, or the value itself. */
export type Figure = {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The value of each round; empty when the value was found at once. */
  readonly rounds: readonly number[]
  readonly budget: BudgetName | null
}

/** What a bench found. */
export type Report = {
  readonly bench: string
  /** How it was measured, in sentences. */
  readonly description: readonly string[]
  readonly figures: readonly Figure[]
}

/** A figure that is the median of its rounds. */
export const medianFigure = (
  name: string,
  unit: string,
  rounds: readonly number[],
  budget: BudgetName | null = null,
): Figure => ({ name, unit, value: median(rounds), rounds, budget })

/** A figure that was found at once. */
export const figure = (name: string, unit: string, value: number, budget: BudgetName | null = null): Figure => ({
  name,
  unit,
  value,
  rounds: [],
  budget,
})

/** `held`, `crossed`, or null: the figure has no budget. */
export function budgetStatus({ budget, value }: Figure): "held" | "crossed" | null {
  if (budget === null) return null
  return isHeld(budget, value) ? "held" : "crossed"
}

/** A report as a table for people. */
export function reportText({ bench, description, figures }: Report): string {
  const rows = figures.map(row => [row.name, formatValue(row.value), row.unit, budgetText(row), roundsText(row)])
  const widths = [0, 1, 2, 3].map(column => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  const lines = rows.map(cells =>
    cells
      .map((cell, at) => padded(cell, widths[at] ?? 0, at === 1))
      .join("  ")
      .trimEnd(),
  )
  return [bench, ...description.map(line => `  ${line}`), ...lines.map(line => `    ${line}`)].join("\n")
}

/** A report for programs: each figure says whether it keeps its budget. */
export const reportJson = (report: Report) => ({
  ...report,
  figures: report.figures.map(row => ({
    ...row,
    standing: budgetStatus(row),
    bound: row.budget === null ? null : BUDGETS[row.budget],
  })),
})

/** The bound of a figure and whether it holds, such as `≥ 0.75 held`; empty: it has none. */
export function budgetText(row: Figure): string {
  if (row.budget === null) return ""
  const budget: Budget = BUDGETS[row.budget]
  return `${"atMost" in budget ? `≤ ${budget.atMost}` : `≥ ${budget.atLeast}`} ${budgetStatus(row)}`
}

const roundsText = ({ rounds }: Figure): string =>
  rounds.length === 0 ? "" : `rounds ${rounds.map(formatValue).join(" ")}`

/** A number with three significant digits, or as a whole number from 100 on. */
export const formatValue = (value: number): string =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))

const padded = (cell: string, width: number, isNumber: boolean): string =>
  isNumber ? cell.padStart(width) : cell.padEnd(width)
