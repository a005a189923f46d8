import { formatCsvRecord } from "../../base/csv.ts"
import { jsonString, trimSpace } from "../../base/text.ts"
import { SUBJECT_KINDS } from "../../check/address/subject.ts"
import { ANSWER_PARTS } from "../../check/verdict/evidence-need.ts"
import type { Recommendation } from "../../contract/policies.ts"
import { type DuplicateTable, firstOfOutcome } from "../../rows/duplicates.ts"
import type { InputRow } from "../../rows/input-rows.ts"
import type { ReadingPlan } from "../../rows/reading-plan.ts"
import type { ResultFormat } from "../../rows/result-format.ts"
import type { RowOutcome } from "../../rows/row-checker.ts"
import { rowProblem } from "../../rows/row-counter.ts"

/** Which rows stay. */
export type CleanRule = {
  readonly keep: ReadonlySet<Recommendation>
  /** Finds further rows of a mailbox, which are left out; null: they stay. */
  readonly duplicates: DuplicateTable | null
}

/** What became of the rows. */
export class CleanTally {
  kept = 0
  readonly dropped: Record<Recommendation, number> = { allow: 0, review: 0, block: 0 }
  /** The same rows by `rowProblem`; one without a known problem by its recommendation. */
  readonly droppedFor: Record<string, number> = {}
  duplicates = 0
  /** Whether there were too many different inputs to tell all duplicates. */
  isCutOff = false
}

/** Writes the rows that stay, as the file has them, with their inputs cleaned. What is dropped is counted. */
export function cleanFormat(plan: ReadingPlan, { keep, duplicates }: CleanRule, tally: CleanTally): ResultFormat {
  const write = ROW_WRITERS[plan.format]
  const isDropped = (row: InputRow, outcome: RowOutcome, place: number): boolean => {
    if (outcome === null) return true
    const { recommendation } = outcome.judged.verdict
    if (!keep.has(recommendation)) {
      tally.dropped[recommendation]++
      const problem = rowProblem(row, outcome) ?? recommendation
      tally.droppedFor[problem] = (tally.droppedFor[problem] ?? 0) + 1
      return true
    }
    // A row that is left out is nobody's first.
    // Rows with one website may be of several people.
    const { subject } = outcome
    if (subject.kind !== "email" || firstOfOutcome(duplicates, outcome, place) === null) return false
    tally.duplicates++
    return true
  }
  let last: InputRow | null = null
  return {
    header: headerOf(plan),
    // Duplicates are found by the mailbox.
    parts: duplicates === null ? 0 : ANSWER_PARTS.mailbox,
    format: (row, outcome, place) => {
      const isLeftOut = isDropped(row, outcome, place)
      last = isLeftOut ? row : null
      if (isLeftOut) return ""
      tally.kept++
      tally.isCutOff = duplicates?.isFull ?? false
      return `${write(row, row.cleaned?.text ?? trimSpace(row.input), plan)}\n`
    },
    aside: () => (last === null ? "" : `${write(last, null, plan)}\n`),
    prefix: () => "",
  }
}

function headerOf({ columns, hasHeader, delimiter }: ReadingPlan): string {
  const names = hasHeader ? [`${formatCsvRecord(columns.names, delimiter)}`] : []
  return `${columns.hasMark ? "\ufeff" : ""}${[...columns.linesAbove, ...names].map(line => `${line}\n`).join("")}`
}

type WriteRow = (row: InputRow, input: string | null, plan: ReadingPlan) => string

/** A row without its line feed, with another input; null: as it is. */
const ROW_WRITERS: Readonly<Record<ReadingPlan["format"], WriteRow>> = {
  text: (row, input) => input ?? row.input,
  csv: ({ cells, input: own }, input, { inputIndex, delimiter }) => {
    const all = cells ?? [own]
    // A row that could not be read may have fewer cells.
    return formatCsvRecord(input === null || inputIndex >= all.length ? all : all.with(inputIndex, input), delimiter)
  },
  ndjson: ({ json, input: own }, input, { member }) => {
    // A line that is no JSON text is an input itself, or could not be read.
    if (json === null || json.problem === "not_json") return input ?? own
    const { members } = json
    if (members === null) return json.problem === null ? jsonString(input ?? own) : own
    const named = member ?? SUBJECT_KINDS.find(kind => members.some(({ name }) => name === kind))
    const written = members.map(({ name, text }) => {
      const isChanged = name === named && input !== null && input !== own
      return `${jsonString(name)}:${isChanged ? jsonString(input) : text}`
    })
    return `{${written.join(",")}}`
  },
}
