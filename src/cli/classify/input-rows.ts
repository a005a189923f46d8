import { parseJson } from "../../base/text.ts"
import { detectSubjectKind, faultySubject, parseSubject } from "../../check/address/parse-subject.ts"
import { SUBJECT_KINDS, type Subject, type SubjectKind } from "../../check/address/subject.ts"

/** One input of a file, in whichever format it stands there. */
export type InputRow = {
  /** The text to be checked, or what could be read of it. */
  readonly input: string
  /** What the file says it is; null: the rule of a batch tells. */
  readonly kind: SubjectKind | null
  /** Why it is not looked into; null: it is. */
  readonly fault: "invalid_syntax" | "too_long" | null
  /** All cells of its row in a CSV file, as many as the header has or more; null: it stands alone. */
  readonly cells: readonly string[] | null
}

/** Reads the rows of a file from its lines, in their order. */
export type RowReader = {
  /** What is known of the file's columns so far; null: its header did not come yet. */
  readonly columns: () => InputColumns | null
  /** Takes the next line and appends the rows that are whole by it. */
  readonly push: (line: InputLine, rows: InputRow[]) => void
  /** There are no more lines: appends what is left. */
  readonly end: (rows: InputRow[]) => void
}

/** One line of a file, without its line feed. Bytes that are no UTF-8 stand in it as U+FFFD. */
export type InputLine = { readonly text: string /** Only its beginning is here. */; readonly isTooLong: boolean }

/** The columns of rows. */
export type InputColumns = { readonly names: readonly string[]; readonly delimiter: string }

/** The one column of inputs that stand alone. */
export const SINGLE_COLUMN: InputColumns = { names: ["input"], delimiter: "," }

/** What stands for bytes that are no UTF-8: a part of nobody's name. */
const REPLACEMENT_CHARACTER = "\ufffd"

/** A row as a check takes it; one that is not looked into is a Subject with that fault. */
export function rowSubject({ input, kind, fault }: InputRow, testDomain: string): Subject {
  const fate = fault ?? (input.includes(REPLACEMENT_CHARACTER) ? "invalid_syntax" : null)
  const asked = kind ?? detectSubjectKind(input)
  return fate === null ? parseSubject(asked, input, testDomain) : faultySubject(asked, input, fate)
}

/** Reads one input a line. An empty line is an input too, so that results have the line numbers of their inputs. */
export const TEXT_ROW_READER: RowReader = {
  columns: () => SINGLE_COLUMN,
  push: (line, rows) => void rows.push(toTextRow(line)),
  end: () => undefined,
}

/** The line as an input. */
const toTextRow = ({ text, isTooLong }: InputLine): InputRow => ({
  input: stripCarriageReturn(text),
  kind: null,
  fault: isTooLong ? "too_long" : null,
  cells: null,
})

/** The text without the carriage return that some systems put before a line feed. */
export const stripCarriageReturn = (text: string): string => (text.endsWith("\r") ? text.slice(0, -1) : text)

/**
 * Reads one JSON text a line: an object with the member `email`, `domain` or `url`, of which the first counts, or with the
 * member that `column` names; or a string. A line that begins as neither is an input as it stands. A line that is broken,
 * or has no such member, is an input that is not looked into.
 */
export function createNdjsonRowReader(column: string | null): RowReader {
  return {
    columns: () => SINGLE_COLUMN,
    push: (line, rows) => void rows.push(parseNdjsonRow(line, column)),
    end: () => undefined,
  }
}

/** How a JSON text begins that could hold an input. */
const JSON_START = /^[\t\r ]*[{["]/

function parseNdjsonRow(line: InputLine, column: string | null): InputRow {
  if (line.isTooLong || !JSON_START.test(line.text)) return toTextRow(line)
  const value = parseJson(line.text)
  if (typeof value === "string") return validRow(value, null)
  if (typeof value !== "object" || value === null) return malformedRow(line)
  const members = new Map<string, unknown>(Object.entries(value))
  const names = column === null ? SUBJECT_KINDS : [column]
  const name = names.find(name => typeof members.get(name) === "string")
  const input = name === undefined ? undefined : members.get(name)
  return typeof input === "string"
    ? validRow(input, SUBJECT_KINDS.find(kind => kind === name) ?? null)
    : malformedRow(line)
}

const validRow = (input: string, kind: SubjectKind | null): InputRow => ({ input, kind, fault: null, cells: null })

/** It is shown as a domain, so that nothing of a line that nobody can read is taken for an address. */
const malformedRow = ({ text }: InputLine): InputRow => ({
  input: text,
  kind: "domain",
  fault: "invalid_syntax",
  cells: null,
})
