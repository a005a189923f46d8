import { parseJson, trimSpace } from "../base/text.ts"
import { isJsonObject, ownMember } from "../base/untrusted-text.ts"
import { SUBJECT_KINDS } from "../check/address/subject.ts"
import { delimiterInWords, type ReadingRule } from "../contract/reading.ts"
import { hasByteOrderMark, MARK_BYTES, splitFirst, withBeginning, withoutMark } from "./beginning.ts"
import { firstRecord } from "./csv-reader.ts"
import { columnInWords, columnsInWords, describeColumns } from "./input-column.ts"
import { readRow } from "./input-rows.ts"
import { type InputLine, splitLines } from "./line-splitter.ts"
import { type ReadingOptions, type ReadingPlan, SINGLE_COLUMN } from "./reading-plan.ts"
import { rowsOfLines } from "./row-reader.ts"
import { DELIMITER_LINE, planMembers, planTable, type TablePlan } from "./table-plan.ts"
import { HEADER_LINES_MAX, isInput } from "./table-reading.ts"
import { type OptionNames, UnreadableFile } from "./unreadable-file.ts"

/*
 * How a file is read is decided here, once, by what is asked and by its beginning: the format by its name or by its first line, and of a table
 * the delimiter, the lines above it, its header and its column (`table-plan.ts`).
 */

/** A file, and how it is read. The text has no byte order mark. */
export type PlannedFile = {
  readonly plan: ReadingPlan
  /** The columns of a table that look like that with the inputs, from 0. */
  readonly inputColumns: readonly number[]
  readonly text: AsyncIterable<Uint8Array>
}

/** So much of a file decides how it is read: so many bytes of whole lines, and so many lines. */
const EXAMINED_BYTES_MAX = 65_536
const EXAMINED_LINES_MAX = 256

const LINE_FEED = 10

/**
 * Decides how a file is read, whose text is UTF-8. Null: it is empty. Throws an `UnreadableFile` when that cannot be told, or when nothing in it
 * looks like an input.
 */
export async function planFile(text: AsyncIterable<Uint8Array>, options: ReadingOptions): Promise<PlannedFile | null> {
  // Lines of which nothing is to be found are not waited for.
  const isFound = options.format !== "text" || !options.isForced
  const split = await splitFirst(isFound ? withExamined(text) : withBeginning(text, hasMarkRoom))
  if (split === null) return null
  const hasMark = hasByteOrderMark(split.first)
  const beginning = withoutMark(split.first)
  const { lines, isWhole } = examinedLines(beginning)
  if (isFound && isWhole && hasNothing(lines)) return null
  const { rule, inputColumns } = decideRule(lines, isWhole, options)
  return { plan: planOfBeginning({ ...rule, hasMark }, lines), inputColumns, text: split.wholeFrom(beginning) }
}

/** Whether lines are blank, but for one that names the delimiter. */
const hasNothing = (lines: readonly InputLine[]): boolean =>
  lines.every(({ text }, at) => text.trim() === "" || (at === 0 && DELIMITER_LINE.test(text)))

const hasMarkRoom = (beginning: Uint8Array): boolean => beginning.length >= MARK_BYTES

/**
 * The plan of a file whose first block this is, without a byte order mark. `rule` null: none was stored, and it is decided anew.
 */
export function planOfFirstBlock(bytes: Uint8Array, rule: ReadingRule | null, options: ReadingOptions): ReadingPlan {
  const lines = splitLines(rule === null ? withoutMark(bytes) : bytes)
  return planOfBeginning(rule ?? { ...decideRule(lines, false, options).rule, hasMark: false }, lines)
}

/** The plan of a file that is read by a rule, from its first lines. */
function planOfBeginning(rule: ReadingRule, lines: readonly InputLine[]): ReadingPlan {
  const { delimiter, skippedLines, hasHeader, width, hasMark } = rule
  const linesAbove = lines.slice(0, skippedLines).map(({ text }) => text)
  if (rule.format !== "csv") return { ...rule, columns: { ...SINGLE_COLUMN, linesAbove, hasMark } }
  const names = hasHeader
    ? headerNames(lines.slice(skippedLines), delimiter)
    : Array.from({ length: width }, (_, index) => `column_${index + 1}`)
  const isSingle = !hasHeader && width === 1
  const columns = isSingle ? SINGLE_COLUMN : { ...SINGLE_COLUMN, names, delimiter, hasHeader }
  return { ...rule, columns: { ...columns, linesAbove, hasMark } }
}

/** The names of the columns in the first record of lines. */
const headerNames = (lines: readonly InputLine[], delimiter: string): readonly string[] =>
  firstRecord(lines, delimiter)?.cells ?? []

type Decided = { readonly rule: Omit<ReadingRule, "hasMark">; readonly inputColumns: readonly number[] }

function decideRule(lines: readonly InputLine[], isWhole: boolean, options: ReadingOptions): Decided {
  if (isFormBody(lines)) throw new UnreadableFile(() => FORM_BODY)
  const format = options.format ?? (isJsonLines(lines) ? "ndjson" : null)
  if (format === "text" || format === "ndjson") return decideWithoutColumns(format, lines, options)
  const table = planTable(lines, isWhole, options)
  // A file that nobody calls a table is one if it has a header above rows, other columns than those of inputs, or several of these.
  const hasHeader = table.hasHeader && table.hasRows
  const hasSeveral = table.inputColumns.length > 1 && lines.filter(({ text }) => text.trim() !== "").length > 1
  const isTable = hasHeader || table.hasOtherColumns || hasSeveral
  if (format === null && !isTable) return decideWithoutColumns("text", lines, options)
  return { rule: { format: "csv", member: null, ...ruleOfTable(table, options) }, inputColumns: table.inputColumns }
}

const FORM_BODY =
  "The file is the body of a form (multipart/form-data), not a list. Send it with its Content-Type, or send the file itself."

const isFormBody = ([first, second]: readonly InputLine[]): boolean =>
  first?.text.startsWith("--") === true && /^content-disposition:\s*form-data/i.test(second?.text ?? "")

/** Whether lines that nobody gave a format are JSON objects. */
const isJsonLines = (lines: readonly InputLine[]): boolean => {
  const first = lines.find(({ text }) => text.trim() !== "")?.text ?? ""
  return first.trimStart().startsWith("{") && parseJson(first) !== undefined
}

function decideWithoutColumns(
  format: "text" | "ndjson",
  lines: readonly InputLine[],
  { column, skippedLines, isForced }: ReadingOptions,
): Decided {
  const rule = { format, delimiter: ",", skippedLines: skippedLines ?? 0, hasHeader: false, width: 1, inputIndex: 0 }
  const member = format === "ndjson" ? memberOf(lines, column, isForced) : column
  const whole = { ...rule, kind: null, member }
  if (!isForced) assertInputs(lines.slice(rule.skippedLines), { ...whole, hasMark: false, columns: SINGLE_COLUMN })
  return { rule: whole, inputColumns: [] }
}

/**
 * The member of NDJSON with the inputs; null: the first of `email`, `domain` and `url`, or none is found. Throws an `UnreadableFile` if several
 * could be meant, or none has the asked name.
 */
function memberOf(lines: readonly InputLine[], column: string | null, isForced: boolean): string | null {
  const objects = lines.map(({ text }) => parseJson(text)).filter(isJsonObject)
  const has = (name: string): boolean => objects.some(object => ownMember(object, name) !== undefined)
  if (column !== null) {
    if (objects.length > 0 && !has(column) && !isForced)
      throw new UnreadableFile(() => "No object in the first lines has a member of this name.", true)
    return column
  }
  if (SUBJECT_KINDS.some(has)) return null
  const { member, several } = planMembers(objects)
  if (several.length > 1) {
    const named = columnsInWords(several, [...several.keys()])
    throw new UnreadableFile(
      names => `${several.length} members have addresses: ${named}. Choose one with ${names.column}.`,
      true,
    )
  }
  return member
}

/** Throws an `UnreadableFile` if lines without columns have texts, and none of them is an input. */
function assertInputs(lines: readonly InputLine[], plan: ReadingPlan): void {
  const rows = rowsOfLines(lines, plan).filter(row => readRow(row, "").subject !== null)
  if (rows.length === 0 || rows.some(({ input }) => input.includes("@") || isInput(trimSpace(input)))) return
  throw new UnreadableFile(
    ({ force }) =>
      `Nothing in the first ${lines.length === 1 ? "line" : `${lines.length} lines`} looks like an address, a domain or a URL. ${force} reads it all the same.`,
    true,
  )
}

/** Throws an `UnreadableFile` when the table cannot be read, or nothing of it looks like an input. */
function ruleOfTable({ doubt, ...table }: TablePlan, { isForced, column }: ReadingOptions) {
  const { delimiter, skippedLines, hasHeader, first, inputIndex, kind } = table
  const isDoubtful = doubt === "delimiter" || doubt === "header" || (doubt !== null && column === null)
  const named = hasHeader ? first : []
  const all = { names: named, indexes: first.map((_, index) => index) }
  if (doubt !== null && isDoubtful) {
    const choice = doubt === "columns" ? { names: named, indexes: table.inputColumns } : null
    throw new UnreadableFile(names => TABLE_DOUBTS[doubt](table, names), true, choice)
  }
  if (inputIndex === null)
    throw new UnreadableFile(names => withoutColumn(table, names), true, { ...all, names: first })
  if (!table.hasInputs && !isForced) throw new UnreadableFile(names => withoutInputs(table, names), true, all)
  return { delimiter, skippedLines, hasHeader, width: first.length, inputIndex, kind }
}

type Undoubted = Omit<TablePlan, "doubt">

const TABLE_DOUBTS: Readonly<
  Record<NonNullable<TablePlan["doubt"]>, (table: Undoubted, names: OptionNames) => string>
> = {
  delimiter: ({ delimiters }, names) =>
    `The first rows are a table with ${delimiters.map(delimiterInWords).join(" and with ")} between cells. Name one with ${names.delimiter}.`,
  header: (_, names) =>
    `The header of the CSV file has a quote that does not close, or is longer than 64 KiB. Correct the first line. ${names.format} says that the file is no CSV.`,
  ragged: ({ first }, names) =>
    `A line above the rows names the column of addresses, but most rows have ${first.length} cells and it has not. Put quotes around cells that hold the delimiter, or name the column with ${names.column}.`,
  tables: (_, names) =>
    `The file has two tables whose addresses stand in different columns. Leave the first out with ${names.skip}, or name the column with ${names.column}.`,
  columns: ({ first, hasHeader, inputColumns }, names) =>
    `${inputColumns.length} columns have addresses: ${columnsInWords(hasHeader ? first : [], inputColumns)}. Choose one with ${names.column}.`,
}

function withoutColumn({ first, skippedLines }: Undoubted, names: OptionNames): string {
  if (skippedLines < HEADER_LINES_MAX)
    return `No column has a name like \`email\`, \`domain\` or \`url\`, or has addresses. Choose one with ${names.column}. ${describeColumns(first, names)}`
  const line = skippedLines + 1
  return `The first ${HEADER_LINES_MAX} lines have no header and no addresses. Line ${line} looks like the beginning of a table: ${names.skip} leaves out the ${skippedLines} lines above it.`
}

function withoutInputs(
  { first, hasHeader, inputIndex, delimiter, skippedLines }: Undoubted,
  names: OptionNames,
): string {
  const column = columnInWords(hasHeader ? first : [], inputIndex ?? 0)
  const header = hasHeader ? `line ${skippedLines + 1} for the header` : "no line for a header"
  return `Nothing in the first rows of column ${column} looks like an address, a domain or a URL, with ${delimiterInWords(delimiter)} between cells and ${header}. Name another column with ${names.column}, or read it all the same with ${names.force}.`
}

/** The lines of a beginning that decide, which are whole, and whether there are no others. */
function examinedLines(beginning: Uint8Array): { readonly lines: readonly InputLine[]; readonly isWhole: boolean } {
  let end = 0
  for (let count = 0; count < EXAMINED_LINES_MAX; count++) {
    const next = beginning.indexOf(LINE_FEED, end) + 1
    if (next === 0 || next > EXAMINED_BYTES_MAX) break
    end = next
  }
  const isWhole = beginning.length <= EXAMINED_BYTES_MAX && beginning.indexOf(LINE_FEED, end) < 0
  // A first line that is longer than what is examined is read as far as it goes.
  const examined = isWhole ? beginning : beginning.subarray(0, end === 0 ? EXAMINED_BYTES_MAX + 1 : end)
  return { lines: splitLines(examined), isWhole }
}

/** Joins the first chunks to what is examined of a file, or all of them. */
async function* withExamined(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  let parts: Uint8Array[] | null = []
  let [bytes, lineFeeds] = [0, 0]
  for await (const chunk of chunks) {
    if (parts === null) {
      yield chunk
      continue
    }
    // A copy, because the memory of the chunk is reused.
    parts.push(new Uint8Array(chunk))
    bytes += chunk.length
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) lineFeeds++
    if (bytes <= EXAMINED_BYTES_MAX && lineFeeds <= EXAMINED_LINES_MAX) continue
    yield Buffer.concat(parts)
    parts = null
  }
  if (parts !== null && bytes > 0) yield Buffer.concat(parts)
}
