import { trimSpace } from "../base/text.ts"
import { parseSubject } from "../check/address/parse-subject.ts"
import { SUBJECT_KINDS, type SubjectKind } from "../check/address/subject.ts"
import { cleanAddressCell, isEmptyCell } from "./clean-cell.ts"
import { type CsvRecord, CsvRecordParser } from "./csv-reader.ts"
import { kindColumns } from "./input-column.ts"
import type { InputLine } from "./line-splitter.ts"

/* What one delimiter makes of the beginning of a table: its records, its columns of inputs, and how much speaks for it. */

/** So many records are examined. */
const EXAMINED_RECORDS_MAX = 200
/** So many cells are examined with each delimiter, since each is looked at for each kind of input: those of 200 rows of ten columns. */
const EXAMINED_CELLS_MAX = 2000
/** Fewer records tell too little of a table, so of wide ones more cells are looked at: twenty records of 500 columns. */
const WIDE_RECORDS = 20
const WIDE_CELLS_MAX = 10_000
/** So many columns are examined: one further on has to be named. */
export const EXAMINED_COLUMNS_MAX = 1000
/** So many lines are searched for the header. */
export const HEADER_LINES_MAX = 20
/** How much a line above a table speaks against it, as a part of what a row of another form does. */
const ABOVE_WEIGHT = 0.5
/** A text in which a delimiter makes no columns, with inputs and without any. */
const SINGLE_WEIGHT = { withInputs: 0.5, without: 0.25 } as const
/** A column is one of addresses when at least this share of its cells are. */
const COLUMN_SHARE_MIN = 0.5

/** A record with the number of the line that it begins in, from 0. */
export type Placed = { readonly cells: readonly string[]; readonly isFaulty: boolean; readonly line: number }

/** What one delimiter makes of a beginning. */
export type Reading = {
  readonly delimiter: string
  readonly records: readonly Placed[]
  /** The number of cells that most records have. */
  readonly width: number
  /** The columns of inputs by their cells. */
  readonly columns: readonly Column[]
  /** How much speaks for it. */
  readonly weight: number
}

/** A column whose cells are mostly inputs of a kind. */
export type Column = { readonly index: number; readonly kind: SubjectKind }

/** Reads the beginning of a table with a delimiter. */
export function readingOf(lines: readonly InputLine[], start: number, isWhole: boolean, delimiter: string): Reading {
  const records = withoutEnds(recordsOf(lines, start, isWhole, delimiter))
  const width = commonWidth(records)
  const filled = records.filter(isFilled)
  const begins = filled.findIndex(({ cells }) => cells.length === width)
  const table = filled.slice(Math.max(0, begins))
  const equal = table.filter(({ cells, isFaulty }) => !isFaulty && cells.length === width)
  const columns = columnsOf(equal, width)
  // No cell of a column of inputs holds a delimiter of its table, so such a column weighs as much as that all rows have equal cells.
  const plain = Math.max(0, ...columns.map(column => shareOf(equal, column, LOOKS)))
  const cleaned = Math.max(0, ...columns.map(column => shareOf(equal, column, CLEANS)))
  // Lines above a table are of another form than it. Where there are no inputs, nothing tells lines above from others.
  const others = (filled.length - table.length) * (columns.length > 0 ? ABOVE_WEIGHT : 1)
  const named = namedShare(filled, width)
  const consistency = filled.length === 0 ? 0 : equal.length / (table.length + others)
  const single = columns.length > 0 ? SINGLE_WEIGHT.withInputs : SINGLE_WEIGHT.without
  const weight = Math.max(width < 2 ? single : consistency, named) * (1 + plain + cleaned / 4)
  return { delimiter, records, width, columns, weight }
}

/**
 * The share of rows with an input below a header that names its column, however many cells they have. One: no row has anything there. Zero: there
 * is no such header.
 */
function namedShare(filled: readonly Placed[], width: number): number {
  const at = filled.findIndex(
    ({ cells, isFaulty, line }) => !isFaulty && line < HEADER_LINES_MAX && isNamed(cells, width),
  )
  if (at < 0) return 0
  const below = filled.slice(at + 1)
  const header = filled[at]?.cells.slice(0, EXAMINED_COLUMNS_MAX) ?? []
  const named = SUBJECT_KINDS.flatMap(kind => kindColumns(header, kind).map(({ index }) => index))
  const rows = below.map(({ cells }) => named.map(index => cells[index]).filter(cell => cell !== undefined))
  if (rows.every(row => row.every(isEmptyCell))) return rows.length === 0 || rows.some(row => row.length > 0) ? 1 : 0
  return rows.filter(row => row.some(cell => isInput(trimSpace(cell)))).length / rows.length
}

/** Whether the whole of a cell names a column of inputs, and none is an input. */
export const isHeaderLike = (cells: readonly string[]): boolean =>
  SUBJECT_KINDS.some(kind => kindColumns(cells.slice(0, EXAMINED_COLUMNS_MAX), kind)[0]?.isWhole) &&
  !cells.some(cell => isInput(trimSpace(cell)))

/** Whether cells name a column of inputs: among others, or alone where rows have one cell. */
function isNamed(all: readonly string[], width: number): boolean {
  const cells = all.slice(0, EXAMINED_COLUMNS_MAX)
  const isWholeName = (kind: SubjectKind): boolean =>
    kindColumns(cells, kind).some(({ isWhole }) => isWhole || cells.length > 1)
  return (cells.length > 1 || width === 1) && SUBJECT_KINDS.some(isWholeName) && !cells.some(isInput)
}

/** The number of cells, above one, that most records have; one: none has more. */
function commonWidth(records: readonly Placed[]): number {
  const counts = new Map<number, number>()
  for (const { cells, isFaulty } of records)
    if (!isFaulty && cells.length > 1) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1)
  const sorted = [...counts].toSorted(([width, count], [other, more]) => more - count || other - width)
  return sorted[0]?.[0] ?? 1
}

/** The records of a table of several columns without the blank cell that all rows have more than the record directly above them: they end with a delimiter. */
function withoutEnds(records: readonly Placed[]): readonly Placed[] {
  const width = commonWidth(records)
  const isRow = ({ cells, isFaulty }: Placed): boolean => !isFaulty && cells.length === width
  const above = records.slice(0, Math.max(0, records.findIndex(isRow))).findLast(isFilled)
  const hasEnds =
    width > 2 &&
    above?.cells.length === width - 1 &&
    records.every(record => !isRow(record) || trimSpace(record.cells.at(-1) ?? "") === "")
  return hasEnds
    ? records.map(record => (isRow(record) ? { ...record, cells: record.cells.slice(0, -1) } : record))
    : records
}

/** Whether a cell of a record is not blank. */
export const isFilled = ({ cells }: Placed): boolean => cells.some(cell => trimSpace(cell) !== "")

function recordsOf(lines: readonly InputLine[], start: number, isWhole: boolean, delimiter: string): readonly Placed[] {
  const parser = new CsvRecordParser(delimiter)
  const placed: Placed[] = []
  let [line, cellCount] = [start, 0]
  const place = (records: readonly CsvRecord[]): void => {
    for (const { cells, fault, lineCount } of records) {
      placed.push({ cells, isFaulty: fault !== null, line })
      line += lineCount
      cellCount += cells.length
    }
  }
  for (const read of lines.slice(start)) {
    const cellsMax = placed.length < WIDE_RECORDS ? WIDE_CELLS_MAX : EXAMINED_CELLS_MAX
    if (placed.length >= EXAMINED_RECORDS_MAX || cellCount >= cellsMax) return placed
    const records: CsvRecord[] = []
    parser.push(read, records)
    place(records)
  }
  const rest: CsvRecord[] = []
  if (isWhole) parser.end(rest)
  place(rest)
  return placed
}

/** The columns whose cells are addresses; where there is none, those of URLs, then those of domains. */
export function columnsOf(records: readonly Placed[], width: number): readonly Column[] {
  for (const kind of ["email", "url", "domain"] as const) {
    const columns = Array.from({ length: Math.min(width, EXAMINED_COLUMNS_MAX) }, (_, index) => ({ index, kind }))
    const found = columns.filter(column => shareOf(records, column, CLEANS) >= COLUMN_SHARE_MIN)
    if (found.length > 0) return found
  }
  return []
}

/** The share of the cells of a column that are of its kind, without those that are empty and without the first, if it is a name. */
export function shareOf(records: readonly Placed[], { index, kind }: Column, looks: typeof LOOKS): number {
  const all = records.filter(({ cells }) => !isEmptyCell(trimSpace(cells[index] ?? "")))
  const [first] = all
  const rows = first !== undefined && !isCleanedAt(first.cells, index, kind) ? all.slice(1) : all
  const isOfKind = ({ cells }: Placed): boolean =>
    looks === CLEANS ? isCleanedAt(cells, index, kind) : looks[kind](trimSpace(cells[index] ?? ""))
  return rows.length === 0 ? 0 : rows.filter(isOfKind).length / rows.length
}

/** By the cells of a record: whether each is an address once it is cleaned, as 1, or not, as 2. Columns are looked at several times. */
const cleanedCells = new WeakMap<readonly string[], Uint8Array>()

function isCleanedAt(cells: readonly string[], index: number, kind: SubjectKind): boolean {
  const cell = (): string => trimSpace(cells[index] ?? "")
  if (kind !== "email") return CLEANS[kind](cell())
  const known = cleanedCells.getOrInsertComputed(cells, () => new Uint8Array(cells.length))
  known[index] ||= CLEANS.email(cell()) ? 1 : 2
  return known[index] === 1
}

/** Whether a cell is an input of any kind, once it is cleaned. */
export const isInput = (cell: string): boolean => SUBJECT_KINDS.some(kind => CLEANS[kind](cell))

/** Whether a column has inputs of any kind: one that is named for addresses may have domains. */
export const hasAnyInput = (records: readonly Placed[], index: number): boolean =>
  SUBJECT_KINDS.some(kind => shareOf(records, { index, kind }, CLEANS) > 0)

const ADDRESS = /^[^\s@"',;|<>][^\s@",;|<>]*@[^\s@,;|<>]+\.[^\s@.,;|<>]{2,}$/
const URL_START = /^https?:\/\/[^\s]+$/i

/** Whether a cell is plainly an address. */
export const isAddress = (cell: string): boolean => cell.includes("@") && !URL_START.test(cell) && ADDRESS.test(cell)
const isDomain = (cell: string): boolean => cell.includes(".") && parseSubject("domain", cell, "").fault === null

/** Whether a cell is plainly of a kind. */
export const LOOKS: Readonly<Record<SubjectKind, (cell: string) => boolean>> = {
  email: isAddress,
  url: cell => URL_START.test(cell),
  domain: isDomain,
}

/** Whether a cell is an address once it is cleaned, and no text with an address in it. */
const isCleanable = (cell: string): boolean =>
  (BRACKET.test(cell) || cell.split(SEPARATORS).every(part => part === "" || part.includes("@"))) &&
  isAddress(cleanAddressCell(cell)?.text ?? "")

const BRACKET = /[<([]/
const SEPARATORS = /[\s;,|]+/

/** Whether a cell is of a kind once it is cleaned. */
export const CLEANS: typeof LOOKS = {
  email: cell => isAddress(cell) || (!URL_START.test(cell) && isCleanable(cell)),
  url: cell => URL_START.test(cell),
  domain: isDomain,
}
