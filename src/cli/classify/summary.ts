import type { CheckOutcome } from "../../check/result/result.ts"
import { CATEGORY_NAMES, type Category } from "../../contract/categories.ts"

/** Counts the results of a run by category. */
export class SummaryCounter {
  readonly #byCategory = new Map<Category, number>()
  #resultCount = 0
  #degradedCount = 0

  get resultCount(): number {
    return this.#resultCount
  }

  count({ judged: { verdict } }: CheckOutcome): void {
    this.#resultCount++
    if (verdict.isDegraded) this.#degradedCount++
    this.#byCategory.set(verdict.category, (this.#byCategory.get(verdict.category) ?? 0) + 1)
  }

  /** The summary after so many milliseconds. `keptCount`: the results of earlier runs in the file. */
  summary(tookMs: number, keptCount: number): ClassifySummary {
    return {
      results: this.#resultCount,
      kept: keptCount,
      seconds: Math.round(tookMs) / 1000,
      per_second: tookMs > 0 ? Math.round((this.#resultCount * 1000) / tookMs) : 0,
      degraded: this.#degradedCount,
      by_category: Object.fromEntries(CATEGORY_NAMES.map(name => [name, this.#byCategory.get(name) ?? 0])),
    }
  }
}

/** The JSON summary of a run. The `kept` results of earlier runs are in none of the other numbers. */
export type ClassifySummary = {
  readonly results: number
  readonly kept: number
  readonly seconds: number
  readonly per_second: number
  readonly degraded: number
  readonly by_category: Readonly<Record<string, number>>
}

/** The summary for a person: one line, and the rows of a table, largest first. */
export function formatSummary({ results, kept, seconds, per_second, degraded, by_category }: ClassifySummary): {
  readonly says: string
  readonly rows: readonly (readonly string[])[]
} {
  const after = kept === 0 ? "" : ` after ${formatCount(kept)} from before`
  const rows = Object.entries(by_category)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
  if (degraded > 0) rows.push(["from lists only", degraded])
  const width = Math.max(0, ...rows.map(([, count]) => formatCount(count).length))
  return {
    says: `${formatCount(results)} results${after} in ${seconds} s, ${formatCount(per_second)} a second`,
    rows: rows.map(([name, count]) => [
      `  ${name}`,
      formatCount(count).padStart(width),
      `${((count * 100) / results).toFixed(1).padStart(5)} %`,
    ]),
  }
}

/** A count with thousands separated by commas. */
export const formatCount = (count: number): string => count.toLocaleString("en")
