import type { CheckOutcome, JudgedDomain } from "../check/result/result.ts"
import { POLICIES, RAISING_REASONS, RECOMMENDATIONS, type Recommendation } from "../contract/policies.ts"
import { REASONS } from "../contract/reasons.ts"
import { NO_ROW_COUNTS, type RowCounts, type RowProblem } from "../contract/row-counts.ts"
import { type InputRow, isWide, lineError } from "./input-rows.ts"
import type { RowOutcome } from "./row-checker.ts"

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The counts that are numbers. */
const NUMBERS = ["rows", "unreadable", "degraded", "skipped", "cleaned", "several", "wide"] as const

/** Counts what becomes of rows. Jobs, `classify`, its worker processes and `clean` all use it. */
export class RowCounter {
  readonly #numbers: Mutable<Pick<RowCounts, (typeof NUMBERS)[number]>>
  readonly #byCategory: Record<string, number> = {}
  readonly #byRecommendation: Record<string, number> = {}
  readonly #problems: Record<string, { rows: number; readonly first: number }> = {}
  readonly #countsTestAddresses: boolean

  /** `countsTestAddresses`: whether test addresses are of a category. */
  constructor(countsTestAddresses = true) {
    const { rows, unreadable, degraded, skipped, cleaned, several, wide } = NO_ROW_COUNTS
    this.#numbers = { rows, unreadable, degraded, skipped, cleaned, several, wide }
    this.#countsTestAddresses = countsTestAddresses
  }

  get rows(): number {
    return this.#numbers.rows
  }

  get unreadable(): number {
    return this.#numbers.unreadable
  }

  /** Counts a row. `place` is its number in the file, from one. */
  count(outcome: RowOutcome, row: InputRow, place: number, columnCount: number): void {
    const numbers = this.#numbers
    numbers.rows++
    if (row.cleaned !== null) numbers.cleaned++
    if (row.cleaned !== null && row.cleaned.others.length > 0) numbers.several++
    if (isWide(row, columnCount)) numbers.wide++
    if (outcome === null) {
      numbers.skipped++
      return
    }
    const { category, recommendation, isDegraded } = outcome.judged.verdict
    if (isDegraded) numbers.degraded++
    if (this.#countsTestAddresses || !outcome.subject.isTest) increment(this.#byCategory, category, 1)
    increment(this.#byRecommendation, recommendation, 1)
    const problem = rowProblem(row, outcome)
    if (problem === "unreadable") numbers.unreadable++
    if (problem !== null) this.#addProblem(problem, 1, place)
  }

  /** Adds what was counted of later rows. */
  add(counts: RowCounts): void {
    for (const name of NUMBERS) this.#numbers[name] += counts[name]
    for (const [name, count] of Object.entries(counts.byCategory)) increment(this.#byCategory, name, count)
    for (const [name, count] of Object.entries(counts.byRecommendation)) increment(this.#byRecommendation, name, count)
    for (const [name, { rows, first }] of Object.entries(counts.problems)) this.#addProblem(name, rows, first)
  }

  counts(): RowCounts {
    return {
      ...this.#numbers,
      byCategory: this.#byCategory,
      byRecommendation: this.#byRecommendation,
      problems: this.#problems,
    }
  }

  #addProblem(name: string, rows: number, first: number): void {
    const found = this.#problems[name]
    if (found === undefined) this.#problems[name] = { rows, first }
    else found.rows += rows
  }
}

function increment(counts: Record<string, number>, name: string, by: number): void {
  counts[name] = (counts[name] ?? 0) + by
}

/** Why a row may not simply stay; null: it may. A line that could not be read is a fault of its subject. */
export const rowProblem = (row: InputRow, { judged, subject }: CheckOutcome): RowProblem | null =>
  subject.fault === null || lineError(row) === null ? problemOf(judged) : "unreadable"

const severity = (recommendation: Recommendation): number => RECOMMENDATIONS.indexOf(recommendation)

/**
 * Why a verdict is not `allow`: the reason that decides its category, else the one that raises the recommendation of the category. Null: it is
 * `allow`, or a server of a later version has a reason that is not known here.
 */
export function problemOf({ policy, verdict }: Pick<JudgedDomain, "policy" | "verdict">): RowProblem | null {
  const { category, recommendation, reasons } = verdict
  if (recommendation === "allow") return null
  const usual = POLICIES[policy][category]
  const raising = reasons[1]
  const isRaised = recommendation !== usual && severity(recommendation) > severity(usual)
  const reason = isRaised && raising !== undefined && RAISING_REASONS.has(raising) ? raising : reasons[0]
  return reason !== undefined && Object.hasOwn(REASONS, reason) ? reason : null
}
