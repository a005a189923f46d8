import type { CellFormats } from "./cell-formats.ts"
import { createTextReader, type SheetStrings, unescapeText } from "./sheet-strings.ts"
import { readXml, type XmlBounds } from "./xml-reader.ts"

/** What the cells of a sheet refer to. */
export type SheetParts = { readonly strings: SheetStrings; readonly formats: CellFormats }

/** A sheet has at most so many rows and columns (those of Excel), and so many cells with the empty ones before others. */
const ROWS_MAX = 1_048_576
const COLUMNS_MAX = 16_384
const CELLS_MAX = 50_000_000
/** The part with the sheet has so many bytes at most. */
const PART_BYTES_MAX = 536_870_912
/** Of a row so many characters are kept. A row of a list has less. */
const ROW_LENGTH_MAX = 131_072
/** The text of a number, a truth or an error is short. */
const VALUE_LENGTH_MAX = 32_767

/** The rows of a sheet as lines of CSV with commas. Rows that are empty or left out before others are empty lines, so that the number of a row is that of its line. */
export async function* sheetLines(
  parts: AsyncIterable<Uint8Array>,
  sheet: SheetParts,
  refuse: XmlBounds["refuse"],
): AsyncGenerator<Uint8Array, undefined> {
  const rows = new RowReader(sheet, refuse)
  for await (const _ of readXml(parts, rows, { name: "sheet", bytesMax: PART_BYTES_MAX, refuse })) {
    const lines = rows.take()
    if (lines !== "") yield Buffer.from(lines)
  }
}

class RowReader {
  readonly #sheet: SheetParts
  readonly #refuse: XmlBounds["refuse"]
  readonly #inline = createTextReader("is")
  #lines = ""
  #rowCount = 0
  /** Empty rows since the last filled one. After the last one, such as those that have a style alone, they are no rows. */
  #emptyCount = 0
  /** Cells of the widest row so far. The rows after it are as wide. */
  #width = 0
  #cellCount = 0
  /** The line of this row, the cells that it has, and the column of the next cell. */
  #line = ""
  #lineCells = 0
  #column = 0
  #cell = { type: "", style: 0, value: "" }
  #isValue = false

  constructor(sheet: SheetParts, refuse: XmlBounds["refuse"]) {
    this.#sheet = sheet
    this.#refuse = refuse
  }

  /** The lines since the last call. */
  take(): string {
    const lines = this.#lines
    this.#lines = ""
    return lines
  }

  readonly onOpen = (name: string, { r: place = "", t = "n", s = "0" }: Readonly<Record<string, string>>): void => {
    this.#inline.onOpen(name)
    if (name === "row") this.#beginRow(Number(place))
    else if (name === "c") this.#beginCell(place, t, Number(s))
    else if (name === "v") this.#isValue = true
  }

  readonly onText = (text: string): void => {
    this.#inline.onText(text)
    if (this.#isValue && this.#cell.value.length < VALUE_LENGTH_MAX) this.#cell.value += text
  }

  readonly onClose = (name: string): void => {
    if (this.#inline.onClose(name)) this.#cell.value = this.#inline.take()
    if (name === "row") this.#endRow()
    else if (name === "c") this.#endCell()
    else if (name === "v") this.#isValue = false
  }

  #beginRow(number: number): void {
    // A row without a number follows the one before.
    const place = Number.isInteger(number) && number > this.#rowCount ? number : this.#rowCount + 1
    if (place > ROWS_MAX) this.#refuse(`has a sheet of more than ${ROWS_MAX} rows`)
    this.#emptyCount += place - this.#rowCount - 1
    this.#rowCount = place
    this.#line = ""
    this.#lineCells = 0
    this.#column = 0
  }

  #beginCell(place: string, type: string, style: number): void {
    const named = columnOf(place)
    if (named !== null && named >= this.#column) this.#column = named
    if (this.#column >= COLUMNS_MAX) this.#refuse(`has a sheet of more than ${COLUMNS_MAX} columns`)
    this.#cell = { type, style, value: "" }
  }

  #endCell(): void {
    const text = this.#textOf(this.#cell)
    this.#column++
    if (text === "" || this.#line.length > ROW_LENGTH_MAX) return
    this.#line += `${",".repeat(this.#column - Math.max(1, this.#lineCells))}${csvCell(text)}`
    this.#lineCells = this.#column
  }

  #textOf({ type, style, value }: { readonly type: string; readonly style: number; readonly value: string }): string {
    if (type === "s") return this.#sheet.strings.at(Number(value))
    if (type === "inlineStr") return value
    if (type === "str") return unescapeText(value)
    if (type === "b") return value === "1" ? "TRUE" : "FALSE"
    return type === "n" ? this.#sheet.formats.format(value, style) : value
  }

  #endRow(): void {
    this.#width = Math.max(this.#width, this.#lineCells)
    this.#cellCount += this.#width
    if (this.#cellCount > CELLS_MAX)
      this.#refuse(`has a sheet of more than ${CELLS_MAX} cells, with the empty ones. Save the sheet as CSV`)
    if (this.#lineCells === 0) {
      this.#emptyCount++
      return
    }
    const missing = this.#width - this.#lineCells
    this.#lines += `${"\n".repeat(this.#emptyCount)}${this.#line}${",".repeat(missing)}\n`
    this.#emptyCount = 0
  }
}

const csvCell = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** The index of the column in a place such as `AB12`; null: it names none. */
function columnOf(place: string): number | null {
  let column = 0
  for (let at = 0; at < place.length && at < 4; at++) {
    const letter = place.charCodeAt(at) - LETTER_BEFORE_A
    if (letter < 1 || letter > 26) break
    column = column * 26 + letter
  }
  return column === 0 ? null : column - 1
}

const LETTER_BEFORE_A = 64
