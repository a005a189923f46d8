import { escapeControls } from "../../base/untrusted-text.ts"
import { delimiterInWords } from "../../contract/reading.ts"
import { REASONS } from "../../contract/reasons.ts"
import type { ToldProblem } from "../../contract/row-counts.ts"
import { DISTINCT_INPUTS_MAX } from "../../rows/duplicates.ts"
import type { ColumnReason } from "../../rows/input-column.ts"
import { LINE_ERRORS } from "../../rows/input-rows.ts"
import { formatCount, type Output, printTable } from "../output.ts"
import type { ClassifySummary, FileFound } from "./summary.ts"

/** Prints the summary of a run for a person. */
export function printRunSummary(output: Output, summary: ClassifySummary): void {
  const { results, kept, seconds, per_second, file, problems } = summary
  const after = kept === 0 ? "" : ` after ${formatCount(kept)} from before`
  output.line(`${formatCount(results)} results${after} in ${seconds} s, ${formatCount(per_second)} per second`)
  if (file !== null) output.line(fileInWords(file))
  printTable(output, aligned(countRows(summary)))
  printProblems(output, problems)
  printWarnings(output, summary)
}

/** Prints what is wrong with the file, and what could not be told of it. */
export function printWarnings(
  output: Output,
  { unreadable, wrong_bytes, duplicates_cut_off: isCutOff }: ClassifySummary,
): void {
  for (const warning of [unreadableWarning(unreadable), wrongBytesWarning(wrong_bytes), isCutOff ? CUT_OFF : null])
    if (warning !== null) output.line(warning)
}

const CUT_OFF = `The file has more different inputs than are remembered: ${formatCount(DISTINCT_INPUTS_MAX)}, or fewer with little memory. Duplicates of later ones are not told.`

/** Prints the commonest problems, each with its first row. */
export function printProblems(output: Output, problems: readonly ToldProblem[]): void {
  if (problems.length === 0) return
  output.line(problems.length === 1 ? "Commonest problem:" : "Commonest problems:")
  printTable(
    output,
    problems.map(({ reason, rows, first_row }) => [
      `  ${reason}`,
      `${rowsInWords(rows)}, ${rows === 1 ? "" : "the first "}row ${formatCount(first_row)}`,
      reason === "unreadable" ? "The row could not be read." : REASONS[reason].description,
    ]),
  )
}

/** A row of the table of counts: its name, its count, and its share or what it means. */
type CountRow = readonly [name: string, count: number, note: string]

/** The table with its numbers below each other. */
const aligned = (rows: readonly CountRow[]): readonly (readonly string[])[] => {
  const width = Math.max(0, ...rows.map(([, count]) => formatCount(count).length))
  return rows.map(([name, count, note]) => [`  ${name}`, formatCount(count).padStart(width), note])
}

/** What became of the rows, by category, by recommendation, and what is to be known of them; without what no row has. */
function countRows(summary: ClassifySummary): readonly CountRow[] {
  const { results, judged, degraded, by_category, by_recommendation } = summary
  const share = (count: number): string => `${((count * 100) / results).toFixed(1).padStart(5)}%`
  const shares = (counts: Readonly<Record<string, number>>): readonly CountRow[] =>
    Object.entries(counts).map(([name, count]) => [name, count, share(count)])
  const byCategory = [...shares(by_category)].sort(([, one], [, other]) => other - one)
  const rows: readonly CountRow[] = [
    ["judged", judged, share(judged)],
    ...shares(by_recommendation),
    ...byCategory,
    ["from lists only", degraded, share(degraded)],
    ...noteRows(summary),
  ]
  return rows.filter(([, count]) => count > 0)
}

/** What is to be known of rows beside their verdicts. */
export const noteRows = ({
  skipped,
  cleaned,
  several,
  wide,
  duplicates,
  units,
}: Pick<ClassifySummary, "skipped" | "cleaned" | "several" | "wide" | "duplicates" | "units">): readonly CountRow[] => [
  ["skipped", skipped, "The cell is empty, or says so. They have no verdict."],
  ["cleaned", cleaned, `What is plainly meant was checked.${several === 0 ? "" : ` ${severalInWords(several)}`}`],
  ["wider", wide, "They have more cells than the file has columns."],
  ["duplicates", duplicates ?? 0, "An earlier row has the same mailbox or domain."],
  ["units", units ?? 0, "The server charged them."],
]

const severalInWords = (several: number): string =>
  `${formatCount(several)} ${several === 1 ? "has" : "have"} several addresses, of which the first was checked.`

const COLUMN_REASONS: Readonly<Record<ColumnReason, string>> = {
  asked: "as --column says",
  only: "the only one",
  name: "found by its name",
  cells: "found by what is in it",
}

/** How the file was read, in a sentence. */
export function fileInWords(file: FileFound): string {
  const { format, encoding, delimiter, header_line: line, lines_above: above } = file
  const parts = [`${format} in ${encoding}`]
  if (delimiter !== null) parts.push(`${delimiterInWords(delimiter)} between cells`)
  if (format === "csv") parts.push(line === null ? "no header" : `header in line ${formatCount(line)}`)
  if (above > 0) parts.push(`${formatCount(above)} ${above === 1 ? "line" : "lines"} above it`)
  return `Read as ${[...parts, ...columnInWords(file)].join(", ")}.`
}

function columnInWords({ column, column_number: number, column_by: reason }: FileFound): readonly string[] {
  if (reason === null) return []
  const named = column === null ? "" : ` \`${escapeControls(column)}\``
  const which =
    number === null ? (column === null ? "member email, domain or url" : `member${named}`) : `column ${number}${named}`
  return [`${which} (${COLUMN_REASONS[reason]})`]
}

const rowsInWords = (rows: number): string => `${formatCount(rows)} ${rows === 1 ? "row" : "rows"}`

function unreadableWarning({ rows, first, because }: ClassifySummary["unreadable"]): string | null {
  if (first === null || because === null) return null
  const which = `the first is row ${formatCount(first)}, ${LINE_ERRORS[because]}`
  return `${rowsInWords(rows)} could not be read and ${rows === 1 ? "is" : "are"} invalid; ${which}`
}

function wrongBytesWarning({ rows, first }: ClassifySummary["wrong_bytes"]): string | null {
  if (first === null) return null
  const which = `${rowsInWords(rows)} ${rows === 1 ? "has" : "have"} bytes that are wrong in the encoding of the file, written as \ufffd`
  return `${which}; the first is row ${formatCount(first)}. --encoding names another encoding, such as windows-1252`
}
