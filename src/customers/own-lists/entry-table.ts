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

/** The first cell of a row, quoted as in RFC 4180 or plain; the delimiters are those of spreadsheets. */
const FIRST_CELL = /^\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))/
/** A header row: words that cannot be an address or a domain. */
const HEADING = /^[\p{L}\p{N} _-]+$/u

/** A row is read up to here. No entry with its note is longer. */
const ROW_LENGTH_MAX = 8192

const NO_COLUMNS = { isHeader: false, delimiter: ",", note: -1, shownAs: -1 } as const

/** Reads the first row of a table. Without a header only the first cell of each row counts. */
export function findTableColumns(row: string): TableColumns {
  const first = firstCell(row)
  if (!HEADING.test(first.text.trim())) return NO_COLUMNS
  const delimiter = first.rest.replace(/^ +/, "").at(0) ?? ","
  const names = splitCells(row.slice(0, ROW_LENGTH_MAX), delimiter).map(name => name.trim().toLowerCase())
  return {
    isHeader: true,
    delimiter,
    note: names.findIndex(name => NOTE_HEADINGS.includes(name)),
    shownAs: names.indexOf(SHOWN_AS_HEADING),
  }
}

/** The entry of a row, and its note and masked form where the table has them. */
export function splitTableRow(row: string, { delimiter, note, shownAs }: TableColumns) {
  const written = firstCell(row).text.trim()
  if (note < 0 && shownAs < 0) return { written }
  const cells = splitCells(row.slice(0, ROW_LENGTH_MAX), delimiter)
  return { written, note: unguarded(cells[note] ?? ""), shownAs: unguarded(cells[shownAs] ?? "") }
}

function firstCell(row: string): { readonly text: string; readonly rest: string } {
  const cut = row.slice(0, ROW_LENGTH_MAX)
  const [all = "", quoted, bare = ""] = FIRST_CELL.exec(cut) ?? []
  return { text: quoted === undefined ? bare : quoted.replaceAll('""', '"'), rest: cut.slice(all.length) }
}

/** The cells of one row (RFC 4180). A quote that does not end is a part of its cell. */
function splitCells(row: string, delimiter: string): readonly string[] {
  const cells: string[] = []
  for (let at = 0; at <= row.length; ) {
    const { cell, end } = cellAt(row, at, delimiter)
    cells.push(cell)
    at = end + delimiter.length
  }
  return cells
}

const QUOTED_CELL = /\s*"((?:[^"]|"")*)"\s*/y

/** The cell that begins at a place of a row, and where it ends. */
function cellAt(row: string, at: number, delimiter: string): { readonly cell: string; readonly end: number } {
  QUOTED_CELL.lastIndex = at
  const quoted = QUOTED_CELL.exec(row)
  const quotedEnd = at + (quoted?.[0].length ?? 0)
  if (quoted !== null && (quotedEnd === row.length || row.startsWith(delimiter, quotedEnd)))
    return { cell: (quoted[1] ?? "").replaceAll('""', '"'), end: quotedEnd }
  const next = row.indexOf(delimiter, at)
  const end = next < 0 ? row.length : next
  return { cell: row.slice(at, end), end }
}

/** The cell without the apostrophe that `guardedCell` or a spreadsheet put before a formula. */
const unguarded = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)

/** The cell with an apostrophe where a spreadsheet would take it for a formula. `unguarded` gives the same cell again. */
export const guardedCell = (cell: string): string => (/^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)
