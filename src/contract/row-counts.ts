import { REASON_NAMES, type Reason } from "./reasons.ts"

/** Why rows of a list may not simply stay: a reason of a verdict, or that the row could not be read. */
export type RowProblem = Reason | "unreadable"
export const ROW_PROBLEM_NAMES: readonly RowProblem[] = [...REASON_NAMES, "unreadable"]

/** How many rows have a problem, and the number of the first one, from one. */
type ProblemCount = { readonly rows: number; readonly first: number }

/** What becomes of the rows of a list, in numbers. It holds nothing of the list. */
export type RowCounts = {
  readonly rows: number
  readonly byCategory: Readonly<Record<string, number>>
  readonly byRecommendation: Readonly<Record<string, number>>
  /** Rows that could not be read, and rows whose verdict rests on lists alone. */
  readonly unreadable: number
  readonly degraded: number
  /** Rows without an input; those whose input was cleaned, and of those the ones with several; and rows with more cells than the header. */
  readonly skipped: number
  readonly cleaned: number
  readonly several: number
  readonly wide: number
  /** By `RowProblem`. */
  readonly problems: Readonly<Record<string, ProblemCount>>
}

/** No row was counted yet. */
export const NO_ROW_COUNTS: RowCounts = {
  ...{ rows: 0, byCategory: {}, byRecommendation: {}, problems: {} },
  ...{ unreadable: 0, degraded: 0, skipped: 0, cleaned: 0, several: 0, wide: 0 },
}

/** So many problems are told of a list. */
export const TOLD_PROBLEMS_MAX = 3

/** A problem as it is told. */
export type ToldProblem = { readonly reason: RowProblem; readonly rows: number; readonly first_row: number }

/** The commonest problems, the commonest first; of equal ones, the one that comes first in the list. */
export const commonestProblems = (problems: RowCounts["problems"]): ToldProblem[] =>
  ROW_PROBLEM_NAMES.flatMap(reason => {
    const found = problems[reason]
    return found === undefined ? [] : [{ reason, rows: found.rows, first_row: found.first }]
  })
    .sort((one, other) => other.rows - one.rows || one.first_row - other.first_row)
    .slice(0, TOLD_PROBLEMS_MAX)
