import { holdsAddress } from "../base/address-redaction.ts"
import { trimSpace } from "../base/text.ts"
import { SUBJECT_KINDS, type SubjectKind } from "../check/address/subject.ts"
import { isEmptyCell } from "./clean-cell.ts"
import { findInputColumn, findNamed, findUnnamedColumn, INPUT_PATTERN, kindColumns } from "./input-column.ts"
import type { InputLine } from "./line-splitter.ts"
import {
  CLEANS,
  type Column,
  columnsOf,
  EXAMINED_COLUMNS_MAX,
  HEADER_LINES_MAX,
  hasAnyInput,
  isAddress,
  isFilled,
  isHeaderLike,
  isInput,
  LOOKS,
  type Placed,
  type Reading,
  readingOf,
  shareOf,
} from "./table-reading.ts"

/** How a table is read, decided from its beginning. */
export type TablePlan = {
  readonly delimiter: string
  /** Lines before the header, or before the first row where there is none: they are no rows. A line `sep=;` counts. */
  readonly skippedLines: number
  /** Whether the next record has the names of the columns. */
  readonly hasHeader: boolean
  /** The cells of that record, and how many a row has. */
  readonly first: readonly string[]
  /** The column that holds addresses, domains or URLs, by its name or by its cells; null: none does. */
  readonly inputIndex: number | null
  /** What that column holds by its name, or else by its cells; null: either of them. */
  readonly kind: SubjectKind | null
  /** All columns of that kind by their cells, and whether a filled one is none of them. */
  readonly inputColumns: readonly number[]
  readonly hasOtherColumns: boolean
  /** Whether there are rows, and whether cells of the column look like inputs, or it has none yet. */
  readonly hasRows: boolean
  readonly hasInputs: boolean
  /** Why the table cannot be read as it is; null: it can. */
  readonly doubt: TableDoubt | null
  /** The delimiters that fit. */
  readonly delimiters: readonly string[]
}

/**
 * `delimiter`: two make a table. `header`: what may be one cannot be read. `tables`: a second header names another column. `columns`: several
 * could be meant. `ragged`: the line that names the column has another number of cells than the rows.
 */
export type TableDoubt = "delimiter" | "header" | "tables" | "columns" | "ragged"

const DELIMITERS = [",", ";", "\t", "|"] as const

/** Whether a line is the header of a table with one of the delimiters. */
export const isTableHeader = (line: string): boolean =>
  DELIMITERS.some(delimiter => isHeaderLike(line.split(delimiter)))

/** A longer name of a member is none of a column. */
const MEMBER_NAME_LENGTH_MAX = 200

/** A column with at least this share of addresses could be meant where another one has sites. */
const RIVAL_SHARE_MIN = 0.2

/** What the caller names of a table; null, and a header that it has: it is found. */
export type AskedTable = {
  readonly delimiter: string | null
  readonly hasHeader: boolean
  readonly column: string | null
  readonly skippedLines: number | null
}

/** The first line by which spreadsheets are told the delimiter: one that no cell of a verdict holds. */
export const DELIMITER_LINE = /^"?sep=(?<delimiter>[,;\t|:^~])"?\r?$/i

/**
 * Finds the delimiter, the header and the column of inputs of a table in its first lines. `isWhole`: there are no others. Takes time linear in
 * the text for each of four delimiters. Throws an `UnreadableFile` when there is no column of the asked name.
 */
export function planTable(lines: readonly InputLine[], isWhole: boolean, asked: AskedTable): TablePlan {
  const named = DELIMITER_LINE.exec(lines[0]?.text ?? "")?.groups?.["delimiter"]
  const start = Math.max(asked.skippedLines ?? 0, named === undefined ? 0 : 1)
  const given = asked.delimiter ?? named ?? null
  const readings = (given === null ? delimitersIn(lines) : [given])
    .map(delimiter => readingOf(lines, start, isWhole, delimiter))
    .toSorted((one, other) => other.weight - one.weight)
  const [best, second] = readings
  if (best === undefined) throw new Error("there are delimiters")
  const plan = planOf(best, asked, start, isWhole)
  const isTold = second === undefined || best.weight > second.weight || best.width === 1 || best.columns.length === 0
  return isTold ? plan : { ...plan, doubt: "delimiter", delimiters: [best.delimiter, second.delimiter] }
}

/** The delimiters that lines have, and one that they do not have: all others of these read them alike. */
function delimitersIn(lines: readonly InputLine[]): readonly string[] {
  const isIn = (delimiter: string): boolean => lines.some(({ text }) => text.includes(delimiter))
  const absent = DELIMITERS.find(delimiter => !isIn(delimiter))
  return DELIMITERS.filter(delimiter => delimiter === absent || isIn(delimiter))
}

/** What members of JSON objects hold. */
export type MembersPlan = {
  /** The member with the inputs; null: none has any. */
  readonly member: string | null
  /** The members of which several could be meant. */
  readonly several: readonly string[]
}

/** Finds the member of JSON objects with the inputs, as the column of a table. */
export function planMembers(objects: readonly Readonly<Record<string, unknown>>[]): MembersPlan {
  // The name is stored with a job, so it holds no address.
  const names = [...new Set(objects.flatMap(object => Object.keys(object)))]
    .filter(name => name.length <= MEMBER_NAME_LENGTH_MAX && !holdsAddress(name))
    .slice(0, EXAMINED_COLUMNS_MAX)
  const records = objects.map((object, line): Placed => {
    const cells = names.map(name =>
      Object.hasOwn(object, name) && typeof object[name] === "string" ? object[name] : "",
    )
    return { cells, isFaulty: false, line }
  })
  const columns = columnsOf(records, names.length)
  const found = namedColumn(names, inputFinder(records), columns)
  const isNamed = found !== null && hasAnyInput(records, found.column.index)
  const index = isNamed ? found.column.index : columns[0]?.index
  const isSeveral = isNamed ? found.isOneOfSeveral : columns.length > 1
  return {
    member: index === undefined ? null : (names[index] ?? null),
    several: isSeveral ? columns.map(({ index }) => names[index] ?? "") : [],
  }
}

function planOf(reading: Reading, asked: AskedTable, start: number, isWhole: boolean): TablePlan {
  const { delimiter, records, width, columns } = reading
  const table = records.filter(({ cells, isFaulty }) => !isFaulty && cells.length === width)
  const header = asked.hasHeader ? findHeader(reading, table, asked) : undefined
  const isPlaced = !asked.hasHeader || asked.skippedLines !== null || asked.column !== null
  const hasData = isPlaced || table.some(record => isData(record, columns))
  const first = header?.record ?? (hasData ? firstRow(reading, table) : undefined)
  const chosen = first === undefined ? null : chooseColumn(first, header, columns, asked)
  const isHidden = first === undefined || (!isPlaced && first.line >= HEADER_LINES_MAX)
  const rivals = rivalsOf(chosen, table, width)
  const inputColumns = [...rivals, ...columns.filter(({ kind }) => kind === chosen?.kind).map(({ index }) => index)]
  return {
    ...{ delimiter, skippedLines: first?.line ?? start, hasHeader: header !== undefined, inputColumns },
    first: first?.cells ?? table.find(isFilled)?.cells ?? [],
    ...{ inputIndex: isHidden ? null : (chosen?.index ?? null), kind: chosen?.kind ?? null },
    ...rowsOf(table, first, header, chosen, inputColumns, isWhole),
    doubt: doubtOf(reading, header, { inputColumns, rivals, first }, asked),
    delimiters: [delimiter],
  }
}

/** What the rows below the header hold. */
function rowsOf(
  table: readonly Placed[],
  first: Placed | undefined,
  header: Header | undefined,
  chosen: ChosenColumn | null,
  inputColumns: readonly number[],
  isWhole: boolean,
): Pick<TablePlan, "hasOtherColumns" | "hasRows" | "hasInputs"> {
  const from = first === undefined ? Number.POSITIVE_INFINITY : first.line + (header === undefined ? 0 : 1)
  const below = table.filter(({ line }) => line >= from)
  const isOther = (cell: string, index: number): boolean => !inputColumns.includes(index) && trimSpace(cell) !== ""
  return {
    hasOtherColumns: below.some(({ cells }) => cells.some(isOther)),
    hasRows: below.length > 0,
    hasInputs: chosen === null || hasInputs(below, chosen, isWhole),
  }
}

/** The columns with some addresses beside one that is chosen for its sites. */
const rivalsOf = (chosen: ChosenColumn | null, table: readonly Placed[], width: number): readonly number[] =>
  chosen === null || chosen.kind === null || chosen.kind === "email"
    ? []
    : Array.from({ length: Math.min(width, EXAMINED_COLUMNS_MAX) }, (_, index) => index).filter(
        index => index !== chosen.index && shareOf(table, { index, kind: "email" }, LOOKS) >= RIVAL_SHARE_MIN,
      )

/** The first row where there is no header: the first with an input, or those that stand directly above it and have as many cells. */
function firstRow({ records, columns, width }: Reading, table: readonly Placed[]): Placed | undefined {
  let at = records.findIndex(record => record.cells.length === width && isData(record, columns))
  if (at < 0) return table.find(isFilled)
  const isRow = (record: Placed | undefined): boolean =>
    record !== undefined && !record.isFaulty && record.cells.length === width && isFilled(record)
  while (isRow(records[at - 1])) at--
  return records[at]
}

/** What is decided of the columns and of the first record of a table. */
type Decided = {
  readonly inputColumns: readonly number[]
  readonly rivals: readonly number[]
  readonly first: Placed | undefined
}

function doubtOf(
  reading: Reading,
  header: Header | undefined,
  { inputColumns, rivals, first }: Decided,
  asked: AskedTable,
): TableDoubt | null {
  const { records } = reading
  const isBroken = records.some(({ line, isFaulty }) => isFaulty && line < (first?.line ?? HEADER_LINES_MAX))
  if (header === undefined && isBroken) return "header"
  if (header !== undefined && hasOtherTable(records, header)) return "tables"
  const isOneOfSeveral = header === undefined ? inputColumns.length > 1 : header.isOneOfSeveral
  if (isOneOfSeveral || rivals.length > 0) return "columns"
  return isRagged(reading, header, first, asked) ? "ragged" : null
}

/** Whether a line above rows for which no header was found names a column of inputs: it has another number of cells than they have. */
function isRagged(
  { records }: Reading,
  header: Header | undefined,
  first: Placed | undefined,
  { hasHeader, skippedLines, column }: AskedTable,
): boolean {
  if (header !== undefined || !hasHeader || skippedLines !== null || column !== null) return false
  return records.some(
    ({ cells, line, isFaulty }) =>
      !isFaulty && cells.length > 1 && line < Math.min(first?.line ?? 0, HEADER_LINES_MAX) && isHeaderLike(cells),
  )
}

const isData = ({ cells }: Placed, columns: readonly Column[]): boolean =>
  columns.some(({ index, kind }) => CLEANS[kind](trimSpace(cells[index] ?? "")))

/** Whether cells of a column are inputs. A beginning in which none is filled says nothing. */
function hasInputs(below: readonly Placed[], { index }: ChosenColumn, isWhole: boolean): boolean {
  const cells = below.map(({ cells }) => trimSpace(cells[index] ?? "")).filter(cell => !isEmptyCell(cell))
  if (cells.length === 0) return !isWhole || below.length === 0
  return cells.some(isInput)
}

/** The first record below the lines that the caller leaves out, unless it is a row: rows without a header may have lines above them too. */
function placedHeader(
  record: Placed | undefined,
  table: readonly Placed[],
  columns: readonly Column[],
  isColumnAsked: boolean,
): Header | undefined {
  if (record === undefined || (!isColumnAsked && isData(record, columns))) return undefined
  const found = namedColumn(record.cells, inputFinder(table), columns)
  return { record, column: columns[0] ?? null, isOneOfSeveral: columns.length > 1, ...found }
}

/** The record with the names of the columns: the one that the caller places or that has the asked name, else the one that is found. */
function findHeader(
  { records, columns, width }: Reading,
  table: readonly Placed[],
  { column, skippedLines }: AskedTable,
): Header | undefined {
  const named = (record: Placed | undefined): Header | undefined =>
    record === undefined ? undefined : { record, column: null, isOneOfSeveral: false }
  const filled = table.filter(isFilled)
  if (skippedLines !== null) {
    const first = records.find(record => !record.isFaulty && isFilled(record))
    return placedHeader(first, table, columns, column !== null)
  }
  const isNumber = column !== null && /^\d+$/.test(column)
  const asked =
    column === null || isNumber
      ? undefined
      : records.find(
          ({ cells, line, isFaulty }) => !isFaulty && line < HEADER_LINES_MAX && findNamed(cells, column) !== null,
        )
  if (asked !== undefined) return named(asked)
  const firstData = table.find(record => isData(record, columns))
  const until = Math.min(firstData?.line ?? HEADER_LINES_MAX, HEADER_LINES_MAX)
  const before = records.filter(record => !record.isFaulty && record.line < until)
  const found = headerOf(before, table, columns, width)
  if (found !== undefined || column === null || firstData !== undefined) return found
  // A column that somebody names has whatever inputs, below the first line.
  return named(filled.find(({ cells }) => !cells.some(cell => INPUT_PATTERN.test(cell))))
}

/** The column with the inputs. `kind` null: an input of any kind. */
type ChosenColumn = { readonly index: number; readonly kind: SubjectKind | null }

function chooseColumn(
  { cells }: Placed,
  header: Header | undefined,
  columns: readonly Column[],
  asked: AskedTable,
): ChosenColumn | null {
  if (asked.column === null)
    return header?.column ?? columns[0] ?? (cells.length === 1 ? { index: 0, kind: null } : null)
  const index = header === undefined ? findUnnamedColumn(cells, asked.column) : findInputColumn(cells, asked.column)
  const named =
    header === undefined ? undefined : SUBJECT_KINDS.find(kind => kindColumns([cells[index] ?? ""], kind).length > 0)
  return { index, kind: named ?? columns.find(column => column.index === index)?.kind ?? null }
}

/** Whether a record names another column of inputs, with rows between it and the header: there are two tables. */
function hasOtherTable(records: readonly Placed[], { record, column }: Header): boolean {
  if (column === null) return false
  const addresses = records
    .filter(({ cells }) => cells.some(cell => isAddress(trimSpace(cell))))
    .map(({ line }) => line)
  return records.some(({ cells, line }) => {
    const named = cells.length < 2 || cells.some(cell => cell.includes("@")) ? [] : kindColumns(cells, "email")
    const [from, to] = [Math.min(line, record.line), Math.max(line, record.line)]
    return (
      named.length > 0 &&
      !named.some(({ index }) => index === column.index) &&
      addresses.some(other => other > from && other < to)
    )
  })
}

/** A header, and the column of inputs that it names; null: another one is asked for, or none has any. */
type Header = { readonly record: Placed; readonly column: Column | null; readonly isOneOfSeveral: boolean }

/**
 * The first record before the data that names a column that has inputs, one with as many cells as the rows before others; else the first with
 * the most cells above such a column.
 */
function headerOf(
  before: readonly Placed[],
  table: readonly Placed[],
  columns: readonly Column[],
  width: number,
): Header | undefined {
  const hasInputs = inputFinder(table)
  const named = before.flatMap(record => {
    const found = namedColumn(record.cells, hasInputs, columns)
    return found === null ? [] : [{ record, ...found }]
  })
  const filled = named.filter(({ column }) => column !== null && hasInputs(column.index))
  const best = filled.find(({ record }) => record.cells.length === width) ?? filled[0]
  if (best !== undefined) return best
  const [byCells] = columns
  if (byCells === undefined) return named[0]
  // Between the header and the rows are no lines of another form, and blank ones directly above the rows alone.
  const last = before.findLastIndex(isFilled)
  const begins = before.findLastIndex(
    (record, at) => at <= last && (record.cells.length !== width || !isFilled(record)),
  )
  const block = before.slice(begins + 1, last + 1)
  const above = block.filter(({ cells }) => isNameAbove(trimSpace(cells[byCells.index] ?? ""), byCells.kind))
  // Lines above a list of one column have one cell, as its header. Notes before a blank line are no rows, whichever of them is the header.
  const isLast = width === 1 || last < before.length - 1
  const record = isLast ? above.at(-1) : above.toSorted((one, other) => filledCount(other) - filledCount(one))[0]
  const isOneOfSeveral = columns.length > 1
  return record === undefined ? undefined : { record, column: byCells, isOneOfSeveral }
}

/** Whether a cell above inputs of a kind may be their name. Sites are written with and without a scheme, so that a domain above them is a row. */
const isNameAbove = (cell: string, kind: SubjectKind): boolean =>
  !isEmptyCell(cell) && (kind === "email" || !isInput(cell))

/** Tells whether a column has inputs. Each is looked at once, however many records name it. */
function inputFinder(records: readonly Placed[]): (index: number) => boolean {
  const found = new Map<number, boolean>()
  return index => found.getOrInsertComputed(index, () => hasAnyInput(records, index))
}

/** The column that names say to have inputs, of those that have some; null: none does. */
function namedColumn(
  names: readonly string[],
  hasInputs: (index: number) => boolean,
  columns: readonly Column[],
): { readonly column: Column; readonly isOneOfSeveral: boolean } | null {
  const hasAddresses = columns.some(({ kind }) => kind === "email")
  // Addresses are more than the name of another kind.
  for (const kind of hasAddresses ? (["email"] as const) : SUBJECT_KINDS) {
    const all = kindColumns(names.slice(0, EXAMINED_COLUMNS_MAX), kind).map(({ index }) => ({ index, kind }))
    const filled = all.filter(({ index }) => hasInputs(index))
    const [column] = filled.length > 0 ? filled : all
    if (column === undefined) continue
    const isPlain = names.filter(name => name.trim().toLowerCase() === kind).length === 1
    return { column, isOneOfSeveral: filled.length > 1 && !isPlain && !areNumbered(filled, names) }
  }
  return null
}

/** Whether names differ by a number alone, as `E-mail 1 - Value` and `E-mail 2 - Value` do. */
const areNumbered = (columns: readonly Column[], names: readonly string[]): boolean =>
  new Set(columns.map(({ index }) => (names[index] ?? "").replace(/[\d\s]+/g, ""))).size === 1 &&
  new Set(columns.map(({ index }) => names[index])).size === columns.length

const filledCount = ({ cells }: Placed): number => cells.filter(cell => trimSpace(cell) !== "").length
