import { formatCsvRecord } from "../../base/csv.ts"
import { jsonString, trimSpace } from "../../base/text.ts"
import { SUBJECT_KINDS } from "../../check/address/subject.ts"
import type { Recommendation } from "../../contract/policies.ts"
import { canonicalInput, DuplicateTable } from "../../rows/duplicates.ts"
import type { InputRow } from "../../rows/input-rows.ts"
import type { ReadingPlan } from "../../rows/reading-plan.ts"
import type { ResultFormat } from "../../rows/result-format.ts"
import type { RowOutcome } from "../../rows/row-checker.ts"

/** Which rows stay. */
export type CleanRule = {
  readonly keep: ReadonlySet<Recommendation>
  readonly keepsDuplicates: boolean
}

/** What became of the rows. */
export class CleanTally {
  kept = 0
  readonly dropped: Record<Recommendation, number> = { allow: 0, review: 0, block: 0 }
  duplicates = 0
  /** Whether there were too many different inputs to tell all duplicates. */
  isCutOff = false
}

/** Writes the rows that stay, as the file has them, with their inputs cleaned. What is dropped is counted. */
export function cleanFormat(plan: ReadingPlan, { keep, keepsDuplicates }: CleanRule, tally: CleanTally): ResultFormat {
  const table = new DuplicateTable()
  const write = ROW_WRITERS[plan.format]
  const isDropped = (outcome: NonNullable<RowOutcome>, place: number): boolean => {
    const { recommendation } = outcome.judged.verdict
    if (!keep.has(recommendation)) {
      tally.dropped[recommendation]++
      return true
    }
    const key = keepsDuplicates ? null : canonicalInput(outcome.subject)
    if (key === null || table.firstRow(key, place) === null) return false
    tally.duplicates++
    return true
  }
  return {
    header: headerOf(plan),
    format: (row, outcome, place) => {
      if (outcome === null || isDropped(outcome, place)) return ""
      tally.kept++
      tally.isCutOff = table.isFull
      return `${write(row, row.cleaned?.text ?? trimSpace(row.input), plan)}\n`
    },
    prefix: () => "",
  }
}

function headerOf({ format, columns, hasHeader, delimiter }: ReadingPlan): string {
  if (format !== "csv") return ""
  const names = hasHeader ? [`${formatCsvRecord(columns.names, delimiter)}`] : []
  return `${columns.hasMark ? "\ufeff" : ""}${[...columns.linesAbove, ...names].map(line => `${line}\n`).join("")}`
}

/** A row without its line feed, with another input. */
const ROW_WRITERS: Readonly<
  Record<ReadingPlan["format"], (row: InputRow, input: string, plan: ReadingPlan) => string>
> = {
  text: (_, input) => input,
  csv: ({ cells }, input, { inputIndex, delimiter }) =>
    formatCsvRecord(cells?.with(inputIndex, input) ?? [input], delimiter),
  ndjson: ({ json }, input, { member }) => {
    if (json === null) return input
    const { members } = json
    if (members === null) return jsonString(input)
    const own = member ?? SUBJECT_KINDS.find(kind => members.some(({ name }) => name === kind))
    const written = members.map(({ name, text }) => `${jsonString(name)}:${name === own ? jsonString(input) : text}`)
    return `{${written.join(",")}}`
  },
}
