import { CATEGORY_NAMES, type Category } from "../../contract/categories.ts"
import { RECOMMENDATIONS, type Recommendation } from "../../contract/policies.ts"
import { hasWrongBytes, type InputRow, isWide, LINE_ERRORS, type LineError, lineError } from "../../rows/input-rows.ts"
import type { ReadingPlan } from "../../rows/reading-plan.ts"
import type { RowOutcome } from "../../rows/row-checker.ts"

/** Counts the results of a run by category. */
export class SummaryCounter {
  readonly #byCategory = new Map<Category, number>()
  readonly #byRecommendation: Record<Recommendation, number> = { allow: 0, review: 0, block: 0 }
  readonly #told: RowsTold = { skipped: 0, cleaned: 0, several: 0, wide: 0 }
  #encoding: string | null = null
  #plan: ReadingPlan | null = null
  #resultCount = 0
  #degradedCount = 0
  #unreadable: ClassifySummary["unreadable"] = NONE_UNREADABLE
  #wrongBytes: ClassifySummary["wrong_bytes"] = NO_WRONG_BYTES

  get resultCount(): number {
    return this.#resultCount
  }

  /** Is told the encoding of the file, which may be another one than it seemed at first. */
  readonly tellEncoding = (encoding: string): void => {
    this.#encoding = encoding
  }

  /** Is told how the file is read. */
  tellReading(plan: ReadingPlan): void {
    this.#plan = plan
  }

  /** `place` is the number of the row in the file. */
  count(outcome: RowOutcome, row: InputRow, place: number, columnCount: number): void {
    this.#resultCount++
    if (row.cleaned !== null) this.#told.cleaned++
    if (row.cleaned !== null && row.cleaned.others.length > 0) this.#told.several++
    if (isWide(row, columnCount)) this.#told.wide++
    if (outcome === null) {
      this.#told.skipped++
      return
    }
    const { verdict } = outcome.judged
    const error = lineError(row)
    if (hasWrongBytes(row)) this.#wrongBytes = addWrongBytes(this.#wrongBytes, 1, place)
    if (error !== null) this.#unreadable = addUnreadable(this.#unreadable, 1, place, error)
    if (verdict.isDegraded) this.#degradedCount++
    this.#byCategory.set(verdict.category, (this.#byCategory.get(verdict.category) ?? 0) + 1)
    this.#byRecommendation[verdict.recommendation]++
  }

  /** Adds what another counter has counted in later rows. */
  add({
    results,
    degraded,
    unreadable: { rows, first, because },
    wrong_bytes,
    by_category,
    by_recommendation,
    ...told
  }: SummaryCounts): void {
    this.#resultCount += results
    for (const name of ROWS_TOLD) this.#told[name] += told[name]
    for (const name of RECOMMENDATIONS) this.#byRecommendation[name] += by_recommendation[name]
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
      ...this.#told,
      degraded: this.#degradedCount,
      unreadable: this.#unreadable,
      wrong_bytes: this.#wrongBytes,
      by_recommendation: this.#byRecommendation,
      by_category: Object.fromEntries(this.#byCategory),
    }
  }

  /** The summary after so many milliseconds. `keptCount`: the results of earlier runs in the file. */
  summary(tookMs: number, keptCount: number): ClassifySummary {
    return {
      results: this.#resultCount,
      judged: this.#resultCount - this.#told.skipped,
      ...this.#told,
      kept: keptCount,
      seconds: Math.round(tookMs) / 1000,
      per_second: tookMs > 0 ? Math.round((this.#resultCount * 1000) / tookMs) : 0,
      degraded: this.#degradedCount,
      unreadable: this.#unreadable,
      wrong_bytes: this.#wrongBytes,
      file: fileFound(this.#plan, this.#encoding),
      by_recommendation: this.#byRecommendation,
      by_category: Object.fromEntries(CATEGORY_NAMES.map(name => [name, this.#byCategory.get(name) ?? 0])),
    }
  }
}

/** How the file is read, for a reader of JSON. Lines and columns count from 1. */
const fileFound = (plan: ReadingPlan | null, encoding: string | null): FileFound | null =>
  plan === null
    ? null
    : {
        format: plan.format,
        encoding: encoding ?? "utf-8",
        delimiter: plan.format === "csv" ? plan.delimiter : null,
        header_line: plan.hasHeader ? plan.skippedLines + 1 : null,
        lines_above: plan.skippedLines,
        column_number: plan.format === "csv" ? plan.inputIndex + 1 : null,
        column: plan.hasHeader ? (plan.columns.names[plan.inputIndex] ?? null) : plan.member,
        kind: plan.kind,
      }

/** What was found of a file. Null: it has none, or it was not told apart. */
export type FileFound = {
  readonly format: string
  readonly encoding: string
  readonly delimiter: string | null
  readonly header_line: number | null
  readonly lines_above: number
  readonly column_number: number | null
  readonly column: string | null
  readonly kind: string | null
}

/** Rows without an input; those whose input was cleaned, and of those the ones with several; and rows with more cells than the header. */
const ROWS_TOLD = ["skipped", "cleaned", "several", "wide"] as const
type RowsTold = Record<(typeof ROWS_TOLD)[number], number>

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
export type SummaryCounts = Pick<
  ClassifySummary,
  | "results"
  | "degraded"
  | "unreadable"
  | "wrong_bytes"
  | "by_category"
  | "by_recommendation"
  | (typeof ROWS_TOLD)[number]
>

/** The JSON summary of a run. The `kept` results of earlier runs are in none of the other numbers. */
export type ClassifySummary = Readonly<RowsTold> & {
  readonly results: number
  /** The results with a verdict: all but those of skipped rows. */
  readonly judged: number
  /** Null: the file is empty. */
  readonly file: FileFound | null
  readonly by_recommendation: Readonly<Record<Recommendation, number>>
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
