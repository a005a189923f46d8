import type { JsonMember } from "../base/json-members.ts"
import { trimSpace } from "../base/text.ts"
import { detectSubjectKind, faultySubject, parseSubject, plainEmailSubject } from "../check/address/parse-subject.ts"
import type { Subject, SubjectKind } from "../check/address/subject.ts"
import { type CleanedCell, cleanAddressCell, cleanHostCell, hasUnseen, isEmptyCell } from "./clean-cell.ts"

/** How many members an object has at most. */
export const MEMBERS_MAX = 1000

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
  /** What was made of an input that is none as it stands; null: it is checked as it stands. */
  readonly cleaned: CleanedCell | null
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
export function lineError({ input, fault, cells, json, cleaned }: InputRow): LineError | null {
  if (fault === "too_long") return "too_long"
  if (json !== null && json.problem !== null) return json.problem
  if (fault !== null) return cells === null ? "not_json" : "broken_quotes"
  return isWrong(cleaned?.text ?? input) ? "wrong_encoding" : null
}

/** Whether bytes of the row are wrong in the encoding of the file, in whatever cell. */
export const hasWrongBytes = ({ input, cells }: InputRow): boolean =>
  cells === null ? isWrong(input) : cells.some(isWrong)

const isWrong = (text: string): boolean => text.includes(REPLACEMENT_CHARACTER)

/** Replaces bytes that are not UTF-8. No valid name has it. */
const REPLACEMENT_CHARACTER = "\ufffd"

/** A row, and what is checked of it; null: its cell is empty or says so, and it gets no verdict. */
export type ReadRow = { readonly row: InputRow; readonly subject: Subject | null }

/** What is checked of a row: its input as it stands, else what is meant by it (decisions: Files). */
export function readRow(row: InputRow, testDomain: string): ReadRow {
  // Most rows are an address in normal form, in which nothing is wrong or unseen.
  const plain =
    row.fault === null && (row.kind ?? "email") === "email" ? plainEmailSubject(row.input, testDomain) : null
  if (plain !== null && plain.fault === null) return { row, subject: plain }
  const subject = subjectAsItStands(row, testDomain)
  if (row.fault !== null) return { row, subject }
  if (subject.fault === null) {
    const isPlain = subject.normalized === row.input || !hasUnseen(row.input)
    return (isPlain ? null : cleanedRow(row, testDomain)) ?? { row, subject }
  }
  if (isEmptyCell(row.input)) return { row, subject: null }
  const meant = cleanedRow(row, testDomain)
  // A name that cannot exist is told as that, unless what is meant is one that can.
  const isMeant = subject.fault === "invalid_syntax" || subject.fault === "too_long" || meant?.subject?.fault === null
  return isMeant && meant !== null ? meant : { row, subject }
}

function subjectAsItStands({ input, kind, fault }: InputRow, testDomain: string): Subject {
  const fate = fault ?? (isWrong(input) ? "invalid_syntax" : null)
  const asked = kind ?? detectSubjectKind(input)
  return fate === null ? parseSubject(asked, input, testDomain) : faultySubject(asked, input, fate)
}

const URL_START = /^\s*https?:\/\//i

/** A row whose input is none as it stands, with what is meant; null: nothing plain is. */
function cleanedRow(row: InputRow, testDomain: string): ReadRow | null {
  const { input, kind } = row
  // A batch takes a URL with an `@` for an address.
  const url = kind === null && URL_START.test(input) ? parseSubject("url", input, testDomain) : null
  if (url?.fault === null) return { row, subject: url }
  const isAddress = kind === "email" || (kind === null && input.includes("@"))
  const cleaned = isAddress ? cleanAddressCell(input) : cleanHostCell(input)
  if (cleaned === null) return null
  const asked = URL_START.test(cleaned.text) ? "url" : detectSubjectKind(cleaned.text)
  const subject = parseSubject(asked, cleaned.text, testDomain)
  const isMeant = asked === "email" ? subject.fault !== "invalid_syntax" : subject.fault === null
  return isMeant ? { row: { ...row, cleaned }, subject } : null
}

/** How many units a row costs: none without a verdict, and none for a test address. */
export function isCharged(row: InputRow, testDomain: string): boolean {
  const { subject } = readRow(row, testDomain)
  return subject !== null && !subject.isTest
}

/** Whether a row has filled cells beyond the header. */
export const isWide = ({ cells }: InputRow, columnCount: number): boolean =>
  cells !== null && cells.length > columnCount && cells.slice(columnCount).some(cell => trimSpace(cell) !== "")

/** Removes the carriage return before a line feed. */
export const stripCarriageReturn = (text: string): string => (text.endsWith("\r") ? text.slice(0, -1) : text)
