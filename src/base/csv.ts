/** Formats cells as one record without a line feed. Cells are quoted where needed, and no character changes. */
export function formatCsvRecord(cells: readonly string[], delimiter: string): string {
  let text = ""
  for (const cell of cells) text += delimiter + quoteIfNeeded(cell, delimiter)
  return text.slice(delimiter.length)
}

/** The usual delimiters are quoted, whichever the file uses, and that of the file. */
const NEEDS_QUOTES_PATTERN = /[",;\t\r\n]/

const quoteIfNeeded = (cell: string, delimiter: string): string =>
  NEEDS_QUOTES_PATTERN.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell

/** How the cells begin that spreadsheets take for formulas (OWASP, "CSV Injection"). */
const FORMULA_PATTERN = /^[=+\-@\t\r]/

/** The cell, with an apostrophe before it if a spreadsheet would take it for a formula. A spreadsheet then shows it as text. */
export const safeCell = (cell: string): string => (FORMULA_PATTERN.test(cell) ? `'${cell}` : cell)

/** A line of a file for spreadsheets (RFC 4180), in which no cell is a formula. */
export const csvLine = (cells: readonly (string | number)[]): string =>
  `${formatCsvRecord(
    cells.map(cell => safeCell(String(cell))),
    ",",
  )}\r\n`

/** Whether a cell that begins so is taken for a formula. */
export const isFormulaStart = (beginning: string): boolean => FORMULA_PATTERN.test(beginning)
