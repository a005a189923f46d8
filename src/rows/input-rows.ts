import { parseJson } from "../base/text.ts"
import { isJsonObject, ownMember } from "../base/untrusted-text.ts"
import { detectSubjectKind, faultySubject, parseSubject } from "../check/address/parse-subject.ts"
import { SUBJECT_KINDS, type Subject, type SubjectKind } from "../check/address/subject.ts"
import { type JsonMember, jsonMembers, MEMBERS_MAX } from "./ndjson-members.ts"

/** One input of a file, in any format. */
export type InputRow = {
  /** The text to check, or a part of it when there is a fault. */
  readonly input: string
  /** The kind that the file gives; null: it is detected as in a batch. */
  readonly kind: SubjectKind | null
  /** Why the row is `invalid` without a check; null: it is checked. */
  readonly fault: "invalid_syntax" | "too_long" | null
  /** The cells of a CSV row, which may be fewer than the header has, or more; null: another format. */
  readonly cells: readonly string[] | null
  /** What a line of NDJSON held; null: it was no JSON text, or the format is another one. */
  readonly json: JsonLine | null
}

/** The members of a line that is a JSON object (null: another JSON text, or too many), and why it has no input. */
export type JsonLine = {
  readonly members: readonly JsonMember[] | null
  readonly problem: "not_json" | "no_input" | "too_many_members" | null
}

/** Why a line could not be read. An address that is wrong is none of these. */
export const LINE_ERRORS = {
  not_json: "not valid JSON",
  no_input: "without the member that is checked",
  too_many_members: `with more than ${MEMBERS_MAX} members`,
  too_long: "longer than 64 KiB",
  broken_quotes: "with a quote that does not close",
  wrong_encoding: "with bytes that are wrong in the encoding of the file",
} as const
export type LineError = keyof typeof LINE_ERRORS

/** Why the line of a row could not be read; null: it was read. */
export function lineError({ input, fault, cells, json }: InputRow): LineError | null {
  if (fault === "too_long") return "too_long"
  if (json !== null && json.problem !== null) return json.problem
  if (fault !== null) return cells === null ? "not_json" : "broken_quotes"
  return input.includes(REPLACEMENT_CHARACTER) ? "wrong_encoding" : null
}

/** Whether bytes of the row are wrong in the encoding of the file, in whatever cell. */
export const hasWrongBytes = ({ input, cells }: InputRow): boolean =>
  (cells ?? [input]).some(text => text.includes(REPLACEMENT_CHARACTER))

/** Turns the lines of a file into rows. */
export type RowReader = {
  /** The columns of the file; null: the header was not read yet. */
  readonly columns: () => InputColumns | null
  /** What a reader of CSV must know to read on from here; null: nothing. */
  readonly position: () => CsvPosition | null
  /** Reads the next line and appends the rows that it completes. */
  readonly push: (line: InputLine, rows: InputRow[]) => void
  /** The input has ended: appends the remaining rows. */
  readonly end: (rows: InputRow[]) => void
}

/** One line without its line feed. Bytes that are not UTF-8 are U+FFFD. */
export type InputLine = { readonly text: string /** `text` is only the beginning. */; readonly isTooLong: boolean }

/** The columns of a table: their names, the delimiter, and whether results have a header. */
export type InputColumns = {
  readonly names: readonly string[]
  readonly delimiter: string
  readonly hasHeader: boolean
}

/** What a reader knows after the header: enough to read any other rows of the file. */
export type CsvPosition = { readonly columns: InputColumns; readonly inputIndex: number; readonly delimiter: string }

/** The columns of formats without columns. */
export const SINGLE_COLUMN: InputColumns = { names: ["input"], delimiter: ",", hasHeader: true }

/** Replaces bytes that are not UTF-8. No valid name has it. */
const REPLACEMENT_CHARACTER = "\ufffd"

/** The subject of a row, with its fault if it has one. */
export function rowSubject({ input, kind, fault }: InputRow, testDomain: string): Subject {
  const fate = fault ?? (input.includes(REPLACEMENT_CHARACTER) ? "invalid_syntax" : null)
  const asked = kind ?? detectSubjectKind(input)
  return fate === null ? parseSubject(asked, input, testDomain) : faultySubject(asked, input, fate)
}

/** Reads one input a line. An empty line is an input too, so that results keep the line numbers of their inputs. */
export const TEXT_ROW_READER: RowReader = {
  columns: () => SINGLE_COLUMN,
  position: () => null,
  push: (line, rows) => void rows.push(toTextRow(line)),
  end: () => undefined,
}

const toTextRow = ({ text, isTooLong }: InputLine): InputRow => ({
  input: stripCarriageReturn(text),
  kind: null,
  fault: isTooLong ? "too_long" : null,
  cells: null,
  json: null,
})

/** Removes the carriage return before a line feed. */
export const stripCarriageReturn = (text: string): string => (text.endsWith("\r") ? text.slice(0, -1) : text)

/**
 * Reads one JSON text a line: a string, or an object with the member `column`, else the first of `email`, `domain` and `url`. A
 * line that does not begin like JSON is an input itself. A line that is invalid JSON or lacks the member is an invalid input.
 */
export function createNdjsonRowReader(column: string | null): RowReader {
  return {
    columns: () => SINGLE_COLUMN,
    position: () => null,
    push: (line, rows) => void rows.push(parseNdjsonRow(line, column)),
    end: () => undefined,
  }
}

/** The beginning of a JSON text that can hold an input. */
const JSON_START = /^[\t\r ]*[{["]/

function parseNdjsonRow(line: InputLine, column: string | null): InputRow {
  if (!JSON_START.test(line.text)) return toTextRow(line)
  if (line.isTooLong) return { ...toTextRow(line), kind: "domain" }
  const value = parseJson(line.text)
  if (typeof value === "string") return validRow(value, null, null)
  const members = isJsonObject(value) ? jsonMembers(line.text) : null
  if (isJsonObject(value) && members === null) return malformedRow(line, { members, problem: "too_many_members" })
  const names = column === null ? SUBJECT_KINDS : [column]
  const name = names.find(name => typeof ownMember(value, name) === "string")
  const input = name === undefined ? undefined : ownMember(value, name)
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
})

/** The kind of an unreadable line is `domain`, so that no part of it is shown as an address. */
const malformedRow = ({ text }: InputLine, json: JsonLine): InputRow => ({
  input: text,
  kind: "domain",
  fault: "invalid_syntax",
  cells: null,
  json,
})
