import { parseJson } from "../base/text.ts"
import { isJsonObject, ownMember } from "../base/untrusted-text.ts"
import { SUBJECT_KINDS, type SubjectKind } from "../check/address/subject.ts"
import { type CsvRecord, parseRecords } from "./csv-reader.ts"
import { type InputRow, type JsonLine, stripCarriageReturn } from "./input-rows.ts"
import { type InputLine, splitLines } from "./line-splitter.ts"
import { jsonMembers } from "./ndjson-members.ts"
import {
  decideColumns,
  decideDelimiter,
  planWithoutColumns,
  type ReadingOptions,
  type ReadingPlan,
} from "./reading-plan.ts"

/** Reads the rows of a file, a block of whole rows after the other. The first one, which has the header, decides the plan. */
export class BlockReader {
  readonly #options: ReadingOptions
  #plan: ReadingPlan | null = null

  constructor(options: ReadingOptions) {
    this.#options = options
  }

  /** How the file is read; null: nothing of it was read yet, or nothing of a table. */
  get plan(): ReadingPlan | null {
    return this.#plan
  }

  /** Throws an `UnreadableFile` if the header cannot be read. */
  read(bytes: Uint8Array): readonly InputRow[] {
    if (this.#plan !== null) return readBlock(bytes, this.#plan)
    const lines = splitLines(bytes, true)
    if (this.#options.format === "csv") return this.#readFirstRecords(lines)
    this.#plan = planWithoutColumns(this.#options)
    return toRows(lines, this.#plan)
  }

  #readFirstRecords(lines: readonly InputLine[]): readonly InputRow[] {
    const { delimiter, isRow } = decideDelimiter(lines[0]?.text ?? "", this.#options.delimiter)
    const records = parseRecords(isRow ? lines : lines.slice(1), delimiter)
    const [first] = records
    if (first === undefined) return []
    const decided = decideColumns(first, this.#options, delimiter)
    this.#plan = decided.plan
    return toCsvRows(decided.isRow ? records : records.slice(1), decided.plan)
  }
}

/** The rows of a block that is not the first one of its file. */
export const readBlock = (bytes: Uint8Array, plan: ReadingPlan): readonly InputRow[] =>
  toRows(splitLines(bytes, false), plan)

function toRows(lines: readonly InputLine[], plan: ReadingPlan): readonly InputRow[] {
  if (plan.format === "csv") return toCsvRows(parseRecords(lines, plan.delimiter), plan)
  return plan.format === "ndjson" ? lines.map(line => toNdjsonRow(line, plan.member)) : lines.map(toTextRow)
}

const toCsvRows = (records: readonly CsvRecord[], { inputIndex }: ReadingPlan): readonly InputRow[] =>
  records.map(({ cells, fault }) => ({ input: cells[inputIndex] ?? "", kind: null, fault, cells, json: null }))

/** An empty line is an input too, so that results keep the line numbers of their inputs. */
const toTextRow = ({ text, isTooLong }: InputLine): InputRow => ({
  input: stripCarriageReturn(text),
  kind: null,
  fault: isTooLong ? "too_long" : null,
  cells: null,
  json: null,
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
