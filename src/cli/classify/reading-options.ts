import type { Command } from "commander"
import { escapeControls } from "../../base/untrusted-text.ts"
import { JOB_LIMITS } from "../../contract/jobs.ts"
import { delimiterOf } from "../../contract/reading.ts"
import { encodingName, type FileFormat, readFileName } from "../../rows/file-format.ts"
import type { ReadingOptions } from "../../rows/reading-plan.ts"
import { CommandError } from "../output.ts"

/** The options that say how a file is read. */
export type ReadingFlags = {
  readonly format?: FileFormat
  readonly column?: string
  readonly delimiter?: string
  readonly header: boolean
  readonly skip?: string
  readonly encoding?: string
  readonly sheet?: string
  readonly force: boolean
}

/** Adds the options of `ReadingFlags` to a command, but `--format` and `--force`, which mean more in some of them. */
export const addReadingOptions = (command: Command): Command =>
  command
    .option("--column <name>", "the CSV column, by name or number, or the NDJSON member with the input")
    .option("--delimiter <character>", "the character between the cells of a CSV file, such as ; or tab")
    .option("--no-header", "the CSV file has no line with the names of the columns")
    .option("--skip <n>", "so many lines stand above the header, or above the first row")
    .option("--encoding <name>", "the encoding of the file, such as utf-16le or windows-1252")
    .option("--sheet <name>", "the sheet of an .xlsx file, by name or number (default: the first one)")

/** `--format` is that of the results, and of a file too whose name does not say otherwise. */
export function parseReadingOptions(path: string, flags: ReadingFlags): ReadingOptions {
  const { column, delimiter, header, skip } = flags
  const name = readFileName(path)
  const format = name.format ?? flags.format ?? null
  if (column !== undefined && format === "text")
    throw new CommandError("Text has no columns. Use --column with csv and ndjson. --format names the format.", 2)
  const isTable = delimiter !== undefined || !header
  if (isTable && format !== "csv" && format !== null)
    throw new CommandError(
      `${delimiter === undefined ? "--no-header" : "--delimiter"} is for csv files. --format csv says that this is one.`,
      2,
    )
  return {
    format: format ?? (isTable || column !== undefined ? "csv" : null),
    column: column ?? null,
    delimiter: delimiter === undefined ? name.delimiter : parseDelimiter(delimiter),
    hasHeader: header,
    skippedLines: skip === undefined ? null : parseSkip(skip),
    isForced: flags.force,
  }
}

function parseSkip(named: string): number {
  const { skippedLinesMax } = JOB_LIMITS
  const count = /^\d{1,4}$/.test(named) ? Number(named) : Number.POSITIVE_INFINITY
  if (count <= skippedLinesMax) return count
  throw new CommandError(`--skip is a number from 0 to ${skippedLinesMax}.`, 2)
}

function parseDelimiter(named: string): string {
  const delimiter = delimiterOf(named)
  if (delimiter !== null) return delimiter
  throw new CommandError(
    "--delimiter is one character, such as ; or |, or the word tab. A quote or a line end cannot be one.",
    2,
  )
}

/** The encoding that `--encoding` names, as the Encoding Standard has it; null: none is named. */
export function parseEncoding(named: string | undefined): string | null {
  if (named === undefined) return null
  const encoding = encodingName(named)
  if (encoding !== null) return encoding
  throw new CommandError(
    `There is no encoding \`${escapeControls(named)}\`. Use a name such as utf-8, utf-16le, utf-16be, windows-1252 or iso-8859-2.`,
    2,
  )
}
