import type { BudgetName } from "../budgets.ts"
import { type Figure, figure } from "./report.ts"
import { ratios } from "./rounds.ts"

/*
 * Costs are processor time, user and system: how long a program waits for a core on a busy machine does not count. What other
 * programs still add (cold caches, migrations) only ever makes a round dearer, so a cost is the mean of the lower half of its
 * rounds.
 */

/** The mean of the lower half of the values, the middle one among them; NaN of none. */
export function lowerHalfMean(values: readonly number[]): number {
  const half = values.toSorted((one, other) => one - other).slice(0, Math.ceil(values.length / 2))
  return half.reduce((sum, value) => sum + value, 0) / half.length
}

/** A figure of processor time. */
export const costFigure = (
  name: string,
  unit: string,
  rounds: readonly number[],
  budget: BudgetName | null = null,
): Figure => ({ name, unit, value: lowerHalfMean(rounds), rounds, budget })

/** What one costs by what another costs; its rounds show how far the two of one round agree. */
export const costRatioFigure = (
  name: string,
  over: readonly number[],
  under: readonly number[],
  budget: BudgetName | null = null,
): Figure => ({
  name,
  unit: "×",
  value: lowerHalfMean(over) / lowerHalfMean(under),
  rounds: ratios(over, under),
  budget,
})

/** What the dearest kind of a bench costs by what its cheapest does, and which they are. */
export function spreadFigure(
  name: string,
  costs: Readonly<Record<string, readonly number[]>>,
  budget: BudgetName | null,
): { readonly figure: Figure; readonly description: string } {
  const sorted = Object.entries(costs)
    .map(([kind, rounds]) => ({ kind, cost: lowerHalfMean(rounds) }))
    .sort((one, other) => one.cost - other.cost)
  const [cheapest, dearest] = [sorted.at(0), sorted.at(-1)]
  if (cheapest === undefined || dearest === undefined) throw new Error("there are no kinds")
  return {
    figure: figure(name, "×", dearest.cost / cheapest.cost, budget),
    description: `${name}: ${dearest.kind} by ${cheapest.kind}`,
  }
}

/** The processor time of this process while it does the work, in microseconds. */
export async function processorUs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
