/** Where the cells of an imported table stand. */
export type TableColumns = {
  /** The first row is a header, not an entry. */
  readonly isHeader: boolean
  /** What separates the cells of the header. */
  readonly delimiter: string
  /** Counted from 0; -1: the table has no such column. */
  readonly note: number
  readonly shownAs: number
}

/** The headings of columns besides the first, which has the entries. */
const NOTE_HEADINGS: readonly string[] = ["note", "notes", "comment", "comments"]
const SHOWN_AS_HEADING = "shown_as"

/** The delimiters of spreadsheets. They end the first cell, before it is known which of them the table has. */
const DELIMITERS = ",;\t"
/** A header row: words that cannot be an address or a domain. */
const HEADING = /^[\p{L}\p{N} _-]+$/u

/** A row is read up to here. No entry with its note is longer. */
export const ROW_LENGTH_MAX = 8192

const NO_COLUMNS = { isHeader: false, delimiter: ",", note: -1, shownAs: -1 } as const

/** Reads the first row of a table, of at most `ROW_LENGTH_MAX` characters. Without a header only the first cell of each row counts. */
export function findTableColumns(row: string): TableColumns {
  const { cell, end } = cellAt(row, 0, DELIMITERS)
  if (!HEADING.test(cell.trim())) return NO_COLUMNS
  const delimiter = row.charAt(end) || ","
  const names = splitCells(row, delimiter).map(name => name.trim().toLowerCase())
  return {
    isHeader: true,
    delimiter,
    note: names.findIndex(name => NOTE_HEADINGS.includes(name)),
    shownAs: names.indexOf(SHOWN_AS_HEADING),
  }
}

/** The entry of a row, and its note and masked form where the table has them. */
export function splitTableRow(row: string, { delimiter, note, shownAs }: TableColumns) {
  const written = cellAt(row, 0, DELIMITERS).cell.trim()
  if (note < 0 && shownAs < 0) return { written }
  const cells = splitCells(row, delimiter)
  return { written, note: unguarded(cells[note] ?? ""), shownAs: unguarded(cells[shownAs] ?? "") }
}

/** The cells of one row (RFC 4180). */
function splitCells(row: string, delimiter: string): readonly string[] {
  const cells: string[] = []
  for (let at = 0; at <= row.length; ) {
    const { cell, end } = cellAt(row, at, delimiter)
    cells.push(cell)
    at = end + 1
  }
  return cells
}

const QUOTE = '"'

/**
 * The cell that begins at a place of a row, and where it ends: at one of the delimiters, or at the end of the row. White space around a
 * quoted cell does not count, and a delimiter is never white space. A quote that does not end, or before other text, is a part of its
 * cell.
 */
function cellAt(row: string, at: number, delimiters: string): { readonly cell: string; readonly end: number } {
  const opening = skipBlanks(row, at, delimiters)
  if (row.charAt(opening) === QUOTE) {
    const closing = closingQuote(row, opening)
    const end = skipBlanks(row, closing + 1, delimiters)
    if (closing < row.length && (end === row.length || delimiters.includes(row.charAt(end))))
      return { cell: row.slice(opening + 1, closing).replaceAll('""', QUOTE), end }
  }
  let end = opening
  while (end < row.length && !delimiters.includes(row.charAt(end))) end++
  return { cell: row.slice(at, end), end }
}

/** Where the quote is that ends a cell; the length of the row: there is none. Two quotes stand for one. */
function closingQuote(row: string, opening: number): number {
  for (let at = row.indexOf(QUOTE, opening + 1); at >= 0; at = row.indexOf(QUOTE, at + 2))
    if (row.charAt(at + 1) !== QUOTE) return at
  return row.length
}

/** The first place from here on that is no white space. */
function skipBlanks(row: string, from: number, delimiters: string): number {
  let at = from
  while (at < row.length && !delimiters.includes(row.charAt(at)) && row.charAt(at).trim() === "") at++
  return at
}

/** The cell without the apostrophe that `guardedCell` or a spreadsheet put before a formula. */
const unguarded = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)

/** The cell with an apostrophe where a spreadsheet would take it for a formula. `unguarded` gives the same cell again. */
export const guardedCell = (cell: string): string => (/^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)
