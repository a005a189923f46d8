import { writtenMembers } from "../base/json-members.ts"
import { parseJson } from "../base/text.ts"
import { isJsonObject, ownMember } from "../base/untrusted-text.ts"
import { SUBJECT_KINDS, type SubjectKind } from "../check/address/subject.ts"
import { type CsvRecord, parseRecords } from "./csv-reader.ts"
import { type InputRow, type JsonLine, MEMBERS_MAX, stripCarriageReturn } from "./input-rows.ts"
import { type InputLine, splitLines } from "./line-splitter.ts"
import type { ReadingPlan } from "./reading-plan.ts"

/** The rows of a block. `isFirst`: it is the first one of its file, with the lines above the table and the header. */
export function readBlock(bytes: Uint8Array, plan: ReadingPlan, isFirst: boolean): readonly InputRow[] {
  const lines = splitLines(bytes)
  if (!isFirst) return rowsOfLines(lines, plan)
  const rows = rowsOfLines(lines.slice(plan.skippedLines), plan)
  return plan.hasHeader ? rows.slice(1) : rows
}

/** The rows of lines that begin between rows. */
export function rowsOfLines(lines: readonly InputLine[], plan: ReadingPlan): readonly InputRow[] {
  if (plan.format === "csv") return toCsvRows(parseRecords(lines, plan.delimiter), plan)
  return plan.format === "ndjson" ? lines.map(line => toNdjsonRow(line, plan.member)) : lines.map(toTextRow)
}

const toCsvRows = (records: readonly CsvRecord[], { inputIndex, kind }: ReadingPlan): readonly InputRow[] =>
  records.map(({ cells, fault }) => {
    const input = cells[inputIndex] ?? ""
    return { input, kind: siteKind(kind, input), fault, cells, json: null, cleaned: null }
  })

/** What a cell of a column of websites or domains is: one with a path is a URL, whatever else the path has. Null: as in a batch. */
const siteKind = (kind: SubjectKind | null, input: string): SubjectKind | null =>
  kind === "url" || kind === "domain" ? (input.includes("/") ? "url" : null) : null

/** An empty line is an input too, so that results keep the line numbers of their inputs. */
const toTextRow = ({ text, isTooLong }: InputLine): InputRow => ({
  input: stripCarriageReturn(text),
  kind: null,
  fault: isTooLong ? "too_long" : null,
  cells: null,
  json: null,
  cleaned: null,
})

/** The beginning of a JSON text that can hold an input. */
const JSON_START = /^[\t\r ]*[{["]/

/**
 * The row of a JSON text: a string, or an object with the member `column`, else the first of `email`, `domain` and `url`. A
 * line that does not begin like JSON is an input itself. A line that is invalid JSON or lacks the member is an invalid input.
 */
function toNdjsonRow(line: InputLine, column: string | null): InputRow {
  if (!JSON_START.test(line.text)) return toTextRow(line)
  if (line.isTooLong) return { ...toTextRow(line), kind: "domain" }
  const value = parseJson(line.text)
  if (typeof value === "string") return validRow(value, null, null)
  const members = isJsonObject(value) ? writtenMembers(line.text, MEMBERS_MAX) : null
  if (isJsonObject(value) && members === null) return malformedRow(line, { members, problem: "too_many_members" })
  const names = column === null ? SUBJECT_KINDS : [column]
  const name = names.find(name => ownMember(value, name) !== undefined)
  // A member without a value is an empty cell.
  const input = name === undefined ? undefined : (ownMember(value, name) ?? "")
  return typeof input === "string"
    ? validRow(input, SUBJECT_KINDS.find(kind => kind === name) ?? null, members)
    : malformedRow(line, { members, problem: value === undefined ? "not_json" : "no_input" })
}

const validRow = (input: string, kind: SubjectKind | null, members: JsonLine["members"]): InputRow => ({
  input,
  kind,
  fault: null,
  cells: null,
  json: { members, problem: null },
  cleaned: null,
})

/** The kind of an unreadable line is `domain`, so that no part of it is shown as an address. */
const malformedRow = ({ text }: InputLine, json: JsonLine): InputRow => ({
  input: text,
  kind: "domain",
  fault: "invalid_syntax",
  cells: null,
  json,
  cleaned: null,
})
