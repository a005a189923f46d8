import { detectBinaryFormat, detectEncoding, isMostlyControls } from "./file-signatures.ts"
import { findInputColumn, findUnnamedColumn, INPUT_PATTERN } from "./input-column.ts"
import type { InputRow } from "./input-rows.ts"
import { UnreadableFile } from "./unreadable-file.ts"

/*
 * How a file is read is decided here, by what is asked and by its beginning: first the format by its name, then the encoding by its first
 * bytes, the delimiter by its first line, and the columns by its first record.
 */

/** The formats of inputs and results. */
export const FILE_FORMATS = ["text", "csv", "ndjson"] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

const FORMAT_BY_EXTENSION: Readonly<Record<string, FileFormat>> = {
  csv: "csv",
  tsv: "csv",
  ndjson: "ndjson",
  jsonl: "ndjson",
}

/** What the name of a file says about it. */
export type FileName = {
  /** The format of its text; null: the name does not say. */
  readonly format: FileFormat | null
  /** The delimiter of CSV; null: the name does not say. */
  readonly delimiter: string | null
  /** Whether it is compressed. */
  readonly isGzip: boolean
}

/** Reads the ending of a file's name: `list.csv.gz` is compressed CSV. */
export function readFileName(path: string): FileName {
  const isGzip = /\.gz$/i.test(path)
  const ending = /\.(\w+)$/.exec(isGzip ? path.slice(0, -3) : path)?.[1]?.toLowerCase() ?? ""
  return {
    format: (Object.hasOwn(FORMAT_BY_EXTENSION, ending) ? FORMAT_BY_EXTENSION[ending] : null) ?? null,
    delimiter: ending === "tsv" ? "\t" : null,
    isGzip,
  }
}

/**
 * The formats of inputs and of results. `asked` is that of the results, and of inputs too whose file's name does not say
 * otherwise; null: as the inputs are.
 */
export function resolveFormats(
  path: string,
  asked: FileFormat | null,
): { readonly from: FileFormat; readonly to: FileFormat } {
  const from = readFileName(path).format ?? asked ?? "text"
  return { from, to: asked ?? from }
}

/** The names of `--encoding` that differ from those of the Encoding Standard. `utf-16` is told by its mark, else little-endian. */
const ENCODING_ALIASES: Readonly<Record<string, string>> = {
  "latin-1": "latin1",
  utf16: "utf-16le",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
  cp1250: "windows-1250",
  cp1252: "windows-1252",
}

/** The name of an encoding as the Encoding Standard has it; null: it is not known. */
export function encodingName(asked: string): string | null {
  const label = asked.trim().toLowerCase()
  try {
    return new TextDecoder(Object.hasOwn(ENCODING_ALIASES, label) ? ENCODING_ALIASES[label] : label).encoding
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Whether the name is that of an encoding with a NUL in each ASCII character. */
export const isUtf16 = (encoding: string): boolean => encoding.startsWith("utf-16")

/** The encoding of a text: the one that its beginning shows, else the asked one, else UTF-8. Calls `refuse` as `decodeInput` does. */
export function decideEncoding(beginning: Uint8Array, asked: string | null, refuse: (says: string) => never): string {
  const says = detectBinaryFormat(beginning)
  if (says !== null) refuse(says)
  const isUtf16Asked = asked !== null && isUtf16(asked)
  const shown = detectEncoding(beginning)
  if (asked !== null && shown !== null && shown !== asked && !(isUtf16Asked && isUtf16(shown)))
    refuse(`is ${shown.toUpperCase()}, not ${asked.toUpperCase()}. Leave out --encoding, or name ${shown}`)
  if (isUtf16Asked && !beginning.includes(0))
    refuse(`is not ${asked.toUpperCase()}. Leave out --encoding, or name another`)
  const encoding = shown ?? asked ?? "utf-8"
  if (encoding === "utf-8" && isMostlyControls(beginning)) refuse("is not text. Save it as text, CSV or NDJSON")
  return encoding
}

/** How the rows of a file are asked to be read. */
export type ReadingOptions = {
  readonly format: FileFormat
  /** The name or the number of the CSV column, or the NDJSON member, with the inputs; null: it is found by its name. */
  readonly column: string | null
  /** The character between cells of CSV; null: it is detected. */
  readonly delimiter: string | null
  /** Whether the first line of CSV has the names of the columns. */
  readonly hasHeader: boolean
}

/** The columns of a table: their names, the delimiter, and whether results have a header. */
export type InputColumns = {
  readonly names: readonly string[]
  readonly delimiter: string
  readonly hasHeader: boolean
}

/** How the rows of a file are read: enough to read any block of them. It is plain JSON, which worker processes are given. */
export type ReadingPlan = {
  readonly format: FileFormat
  readonly columns: InputColumns
  /** The character between cells of CSV, and the index of the one with the input. */
  readonly delimiter: string
  readonly inputIndex: number
  /** The member of NDJSON with the input; null: the first of `email`, `domain` and `url`. */
  readonly member: string | null
}

/** The columns of formats without columns. */
const SINGLE_COLUMN: InputColumns = { names: ["input"], delimiter: ",", hasHeader: true }

/** The delimiters that are detected. */
const DELIMITERS = [",", ";", "\t", "|"] as const

/** The first line by which spreadsheets are told the delimiter: one that no cell of a verdict holds. */
const DELIMITER_LINE = /^"?sep=(?<delimiter>[,;\t|:^~])"?\r?$/i

/**
 * The delimiter of a CSV file with this first line: the asked one, else that of a line such as `sep=;`, which is no row, else the first
 * of comma, semicolon, tab and vertical bar that the line has.
 */
export function decideDelimiter(
  firstLine: string,
  asked: string | null,
): { readonly delimiter: string; readonly isRow: boolean } {
  const named = DELIMITER_LINE.exec(firstLine)?.groups?.["delimiter"]
  const detected = named ?? DELIMITERS.find(delimiter => firstLine.includes(delimiter)) ?? DELIMITERS[0]
  return { delimiter: asked ?? detected, isRow: named === undefined }
}

/** The plan of a file without columns. */
export const planWithoutColumns = ({ format, column }: ReadingOptions): ReadingPlan => ({
  ...{ format, columns: SINGLE_COLUMN, delimiter: SINGLE_COLUMN.delimiter, inputIndex: 0, member: column },
})

/**
 * The plan of a CSV file with this first record (`findInputColumn`), and whether that is a row. A file with one column whose first line looks
 * like an input has no header. Throws an `UnreadableFile` when the column cannot be found.
 */
export function decideColumns(
  { cells, fault }: Pick<InputRow, "fault"> & { readonly cells: readonly string[] },
  { column, hasHeader }: ReadingOptions,
  delimiter: string,
): { readonly plan: ReadingPlan; readonly isRow: boolean } {
  const toPlan = (columns: InputColumns, inputIndex: number): ReadingPlan => ({
    ...{ format: "csv", columns, delimiter, inputIndex, member: null },
  })
  if (!hasHeader) {
    const names = cells.map((_, at) => `column_${at + 1}`)
    return { plan: toPlan({ names, delimiter, hasHeader }, findUnnamedColumn(cells, column)), isRow: true }
  }
  if (fault !== null)
    throw new UnreadableFile(({ format }) =>
      fault === "too_long"
        ? `The first line is too long for the header of a CSV file. Is the file CSV? ${format} names another format.`
        : "The header of the CSV file has a quote that does not close. Correct the first line.",
    )
  const [only] = cells
  if (column === null && cells.length === 1 && only !== undefined && INPUT_PATTERN.test(only))
    return { plan: toPlan(SINGLE_COLUMN, 0), isRow: true }
  return { plan: toPlan({ names: cells, delimiter, hasHeader }, findInputColumn(cells, column)), isRow: false }
}
