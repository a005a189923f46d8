import { CATEGORY_NAMES } from "../../contract/categories.ts"
import { RECOMMENDATIONS, type Recommendation } from "../../contract/policies.ts"
import { commonestProblems, type RowCounts, type ToldProblem } from "../../contract/row-counts.ts"
import { type ColumnReason, columnReason } from "../../rows/input-column.ts"
import { hasWrongBytes, type InputRow, type LineError, lineError } from "../../rows/input-rows.ts"
import type { ReadingOptions, ReadingPlan } from "../../rows/reading-plan.ts"
import type { RowOutcome } from "../../rows/row-checker.ts"
import { RowCounter } from "../../rows/row-counter.ts"

/** What a counter has counted, as JSON: what becomes of rows, and the first that are wrong in themselves. */
export type SummaryCounts = {
  readonly rows: RowCounts
  /** Rows with a verdict that are no test address: with a server, units. */
  readonly charged: number
  readonly firstUnreadable: { readonly place: number; readonly because: LineError } | null
  /** The rows in which U+FFFD stands for bytes that are wrong in the encoding of the file. */
  readonly wrongBytes: { readonly rows: number; readonly first: number | null }
}

/** Counts the results of a run. */
export class SummaryCounter {
  readonly #rows = new RowCounter()
  #encoding: string | null = null
  #reading: { readonly plan: ReadingPlan; readonly column: string | null } | null = null
  #charged = 0
  /** Null: nobody asked. */
  #duplicates: number | null = null
  #isCutOff = false
  #firstUnreadable: SummaryCounts["firstUnreadable"] = null
  #wrongBytes: SummaryCounts["wrongBytes"] = { rows: 0, first: null }

  /** The encoding of the file as it is known so far. */
  get encoding(): string | null {
    return this.#encoding
  }

  get resultCount(): number {
    return this.#rows.rows
  }

  /** Is told the encoding of the file, which may be another one than it seemed at first. */
  readonly tellEncoding = (encoding: string): void => {
    this.#encoding = encoding
  }

  /** Is told how the file is read, and which column was asked for. */
  tellReading(plan: ReadingPlan, { column }: Pick<ReadingOptions, "column">): void {
    this.#reading = { plan, column }
  }

  /** Is told whether a row is a duplicate, and whether there are too many inputs to tell all of them. */
  tellDuplicate(isDuplicate: boolean, isCutOff: boolean): void {
    this.#duplicates = (this.#duplicates ?? 0) + Number(isDuplicate)
    this.#isCutOff ||= isCutOff
  }

  /** `place` is the number of the row in the file. */
  count(outcome: RowOutcome, row: InputRow, place: number, columnCount: number): void {
    this.#rows.count(outcome, row, place, columnCount)
    if (outcome === null) return
    // A text without a domain is judged without a server.
    if (outcome.subject.domain !== null && !outcome.subject.isTest) this.#charged++
    if (hasWrongBytes(row)) this.#addWrongBytes(1, place)
    if (this.#firstUnreadable !== null || this.#rows.unreadable === 0) return
    const because = lineError(row)
    if (because !== null) this.#firstUnreadable = { place, because }
  }

  /** Adds what another counter has counted in later rows. */
  add({ rows, charged, firstUnreadable, wrongBytes }: SummaryCounts): void {
    this.#rows.add(rows)
    this.#charged += charged
    this.#firstUnreadable ??= firstUnreadable
    if (wrongBytes.first !== null) this.#addWrongBytes(wrongBytes.rows, wrongBytes.first)
  }

  counts(): SummaryCounts {
    return {
      rows: this.#rows.counts(),
      charged: this.#charged,
      firstUnreadable: this.#firstUnreadable,
      wrongBytes: this.#wrongBytes,
    }
  }

  /** The summary after so many milliseconds. `keptCount`: the results of earlier runs in the file. `isCharged`: a server takes units. */
  summary(tookMs: number, keptCount: number, isCharged: boolean): ClassifySummary {
    const { byCategory, byRecommendation, problems, rows, skipped, cleaned, several, wide, degraded, unreadable } =
      this.#rows.counts()
    return {
      results: rows,
      judged: rows - skipped,
      ...{ skipped, cleaned, several, wide },
      duplicates: this.#duplicates,
      duplicates_cut_off: this.#isCutOff,
      units: isCharged ? this.#charged : null,
      kept: keptCount,
      seconds: Math.round(tookMs) / 1000,
      per_second: tookMs > 0 ? Math.round((rows * 1000) / tookMs) : 0,
      degraded,
      unreadable: {
        rows: unreadable,
        first: this.#firstUnreadable?.place ?? null,
        because: this.#firstUnreadable?.because ?? null,
      },
      wrong_bytes: this.#wrongBytes,
      file: this.#reading === null ? null : fileFound(this.#reading.plan, this.#reading.column, this.#encoding),
      problems: commonestProblems(problems),
      by_recommendation: countsOf(RECOMMENDATIONS, byRecommendation),
      by_category: countsOf(CATEGORY_NAMES, byCategory),
    }
  }

  #addWrongBytes(more: number, place: number): void {
    this.#wrongBytes = { rows: this.#wrongBytes.rows + more, first: this.#wrongBytes.first ?? place }
  }
}

const countsOf = <N extends string>(names: readonly N[], counts: Readonly<Record<string, number>>) =>
  Object.fromEntries(names.map(name => [name, counts[name] ?? 0])) as Record<N, number> // `fromEntries` loses the type of the names

/** How the file is read, for a reader of JSON. Lines and columns count from 1. */
const fileFound = (plan: ReadingPlan, column: string | null, encoding: string | null): FileFound => ({
  format: plan.format,
  encoding: encoding ?? "utf-8",
  delimiter: plan.format === "csv" ? plan.delimiter : null,
  header_line: plan.hasHeader ? plan.skippedLines + 1 : null,
  lines_above: plan.skippedLines,
  column_number: plan.format === "csv" ? plan.inputIndex + 1 : null,
  column: plan.hasHeader ? (plan.columns.names[plan.inputIndex] ?? null) : plan.member,
  column_by: columnReason(plan, column),
  kind: plan.kind,
})

/** What was found of a file. Null: it has none, or it was not told apart. */
export type FileFound = {
  readonly format: string
  readonly encoding: string
  readonly delimiter: string | null
  readonly header_line: number | null
  readonly lines_above: number
  readonly column_number: number | null
  readonly column: string | null
  readonly column_by: ColumnReason | null
  readonly kind: string | null
}

/** The JSON summary of a run. The `kept` results of earlier runs are in none of the other numbers. */
export type ClassifySummary = Pick<RowCounts, "skipped" | "cleaned" | "several" | "wide" | "degraded"> & {
  readonly results: number
  /** The results with a verdict: all but those of skipped rows. */
  readonly judged: number
  /** Rows with the same input as an earlier one; null: they are not told. */
  readonly duplicates: number | null
  /** Whether the file has too many different inputs to tell all duplicates. */
  readonly duplicates_cut_off: boolean
  /** What a server charges; null: none is asked. */
  readonly units: number | null
  readonly kept: number
  readonly seconds: number
  readonly per_second: number
  /** The rows that could not be read. An address that is wrong is none of them. */
  readonly unreadable: { readonly rows: number; readonly first: number | null; readonly because: LineError | null }
  readonly wrong_bytes: SummaryCounts["wrongBytes"]
  /** Null: the file is empty. */
  readonly file: FileFound | null
  /** The commonest reasons for which rows are not `allow`. */
  readonly problems: readonly ToldProblem[]
  readonly by_recommendation: Readonly<Record<Recommendation, number>>
  readonly by_category: Readonly<Record<string, number>>
}
