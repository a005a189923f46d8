import { detectSubjectKind, faultySubject, parseSubject } from "../check/address/parse-subject.ts"
import type { Subject, SubjectKind } from "../check/address/subject.ts"
import { type JsonMember, MEMBERS_MAX } from "./ndjson-members.ts"

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

/** Replaces bytes that are not UTF-8. No valid name has it. */
const REPLACEMENT_CHARACTER = "\ufffd"

/** The subject of a row, with its fault if it has one. */
export function rowSubject({ input, kind, fault }: InputRow, testDomain: string): Subject {
  const fate = fault ?? (input.includes(REPLACEMENT_CHARACTER) ? "invalid_syntax" : null)
  const asked = kind ?? detectSubjectKind(input)
  return fate === null ? parseSubject(asked, input, testDomain) : faultySubject(asked, input, fate)
}

/** Removes the carriage return before a line feed. */
export const stripCarriageReturn = (text: string): string => (text.endsWith("\r") ? text.slice(0, -1) : text)
