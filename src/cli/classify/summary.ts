import type { CheckOutcome } from "../../check/result/result.ts"
import { CATEGORY_NAMES, type Category } from "../../contract/categories.ts"
import { hasWrongBytes, type InputRow, LINE_ERRORS, type LineError, lineError } from "../../rows/input-rows.ts"

/** Counts the results of a run by category. */
export class SummaryCounter {
  readonly #byCategory = new Map<Category, number>()
  #resultCount = 0
  #degradedCount = 0
  #unreadable: ClassifySummary["unreadable"] = NONE_UNREADABLE
  #wrongBytes: ClassifySummary["wrong_bytes"] = NO_WRONG_BYTES

  get resultCount(): number {
    return this.#resultCount
  }

  /** `place` is the number of the row in the file. */
  count({ judged: { verdict } }: CheckOutcome, row: InputRow, place: number): void {
    this.#resultCount++
    const error = lineError(row)
    if (hasWrongBytes(row)) this.#wrongBytes = addWrongBytes(this.#wrongBytes, 1, place)
    if (error !== null) this.#unreadable = addUnreadable(this.#unreadable, 1, place, error)
    if (verdict.isDegraded) this.#degradedCount++
    this.#byCategory.set(verdict.category, (this.#byCategory.get(verdict.category) ?? 0) + 1)
  }

  /** Adds what another counter has counted in later rows. */
  add({ results, degraded, unreadable: { rows, first, because }, wrong_bytes, by_category }: SummaryCounts): void {
    this.#resultCount += results
    this.#degradedCount += degraded
    if (first !== null && because !== null) this.#unreadable = addUnreadable(this.#unreadable, rows, first, because)
    if (wrong_bytes.first !== null)
      this.#wrongBytes = addWrongBytes(this.#wrongBytes, wrong_bytes.rows, wrong_bytes.first)
    for (const [category, count] of Object.entries(by_category))
      this.#byCategory.set(category as Category, (this.#byCategory.get(category as Category) ?? 0) + count) // keys of ours
  }

  counts(): SummaryCounts {
    return {
      results: this.#resultCount,
      degraded: this.#degradedCount,
      unreadable: this.#unreadable,
      wrong_bytes: this.#wrongBytes,
      by_category: Object.fromEntries(this.#byCategory),
    }
  }

  /** The summary after so many milliseconds. `keptCount`: the results of earlier runs in the file. */
  summary(tookMs: number, keptCount: number): ClassifySummary {
    return {
      results: this.#resultCount,
      kept: keptCount,
      seconds: Math.round(tookMs) / 1000,
      per_second: tookMs > 0 ? Math.round((this.#resultCount * 1000) / tookMs) : 0,
      degraded: this.#degradedCount,
      unreadable: this.#unreadable,
      wrong_bytes: this.#wrongBytes,
      by_category: Object.fromEntries(CATEGORY_NAMES.map(name => [name, this.#byCategory.get(name) ?? 0])),
    }
  }
}

const NONE_UNREADABLE = { rows: 0, first: null, because: null } as const

const addUnreadable = (
  { rows, first, because }: ClassifySummary["unreadable"],
  more: number,
  place: number,
  error: LineError,
): ClassifySummary["unreadable"] => ({ rows: rows + more, first: first ?? place, because: because ?? error })

const NO_WRONG_BYTES = { rows: 0, first: null } as const

const addWrongBytes = (
  { rows, first }: ClassifySummary["wrong_bytes"],
  more: number,
  place: number,
): ClassifySummary["wrong_bytes"] => ({ rows: rows + more, first: first ?? place })

/** What a counter has counted, as JSON. */
export type SummaryCounts = Pick<ClassifySummary, "results" | "degraded" | "unreadable" | "wrong_bytes" | "by_category">

/** The JSON summary of a run. The `kept` results of earlier runs are in none of the other numbers. */
export type ClassifySummary = {
  readonly results: number
  readonly kept: number
  readonly seconds: number
  readonly per_second: number
  readonly degraded: number
  /** The rows that could not be read. An address that is wrong is none of them. */
  readonly unreadable: { readonly rows: number; readonly first: number | null; readonly because: LineError | null }
  /** The rows in which U+FFFD stands for bytes that are wrong in the encoding of the file. */
  readonly wrong_bytes: { readonly rows: number; readonly first: number | null }
  readonly by_category: Readonly<Record<string, number>>
}

/** The summary for a person: one line, and the rows of a table, largest first. */
export function formatSummary({
  results,
  kept,
  seconds,
  per_second,
  degraded,
  unreadable,
  wrong_bytes,
  by_category,
}: ClassifySummary): {
  readonly says: string
  /** What is wrong with the file. */
  readonly warnings: readonly string[]
  readonly rows: readonly (readonly string[])[]
} {
  const after = kept === 0 ? "" : ` after ${formatCount(kept)} from before`
  const rows = Object.entries(by_category)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
  if (degraded > 0) rows.push(["from lists only", degraded])
  const width = Math.max(0, ...rows.map(([, count]) => formatCount(count).length))
  return {
    warnings: [unreadableWarning(unreadable), wrongBytesWarning(wrong_bytes)].filter(warning => warning !== null),
    says: `${formatCount(results)} results${after} in ${seconds} s, ${formatCount(per_second)} a second`,
    rows: rows.map(([name, count]) => [
      `  ${name}`,
      formatCount(count).padStart(width),
      `${((count * 100) / results).toFixed(1).padStart(5)} %`,
    ]),
  }
}

function unreadableWarning({ rows, first, because }: ClassifySummary["unreadable"]): string | null {
  if (first === null || because === null) return null
  const which = `the first is row ${formatCount(first)}, ${LINE_ERRORS[because]}`
  return `${formatCount(rows)} ${rows === 1 ? "row" : "rows"} could not be read and ${rows === 1 ? "is" : "are"} invalid; ${which}`
}

function wrongBytesWarning({ rows, first }: ClassifySummary["wrong_bytes"]): string | null {
  if (first === null) return null
  const which = `${formatCount(rows)} ${rows === 1 ? "row has" : "rows have"} bytes that are wrong in the encoding of the file, written as \ufffd`
  return `${which}; the first is row ${formatCount(first)}. --encoding names another encoding, such as windows-1252`
}

/** A count with thousands separated by commas. */
export const formatCount = (count: number): string => count.toLocaleString("en")
