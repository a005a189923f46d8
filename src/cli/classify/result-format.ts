import { formatCsvRecord, safeCell } from "../../base/csv.ts"
import type { Subject } from "../../check/address/subject.ts"
import { type CheckOutcome, fullResultJson } from "../../check/result/result.ts"
import { CATEGORIES } from "../../contract/categories.ts"
import { escapeControls } from "../output.ts"
import type { InputColumns, InputRow } from "./input-rows.ts"

/** The format of results in a file. Each ends with a line feed. */
export type ResultFormat = {
  /** The text before all results. */
  readonly header: string
  /** The result of a row; `place` counts from 1. */
  readonly format: (row: InputRow, outcome: CheckOutcome, place: number) => string
  /** The beginning of a row's result, which does not depend on the verdict. A resumed run finds the row by it. */
  readonly prefix: (row: InputRow, subject: Subject) => string
}

/** The result format of a file format, for rows with these columns. `hasSafeCells` is for CSV alone: `safeCell` is applied to all cells. */
export const RESULT_FORMATS: Readonly<
  Record<FileFormat, (columns: InputColumns, hasSafeCells: boolean) => ResultFormat>
> = {
  text: () => TEXT_RESULTS,
  csv: csvResults,
  ndjson: () => NDJSON_RESULTS,
}

/** Fields separated by tabs, reasons by commas. Tabs in an input are escaped. */
const TEXT_RESULTS: ResultFormat = {
  header: "",
  format: ({ input }, { judged: { verdict } }) =>
    `${printableText(input)}\t${verdict.category}\t${verdict.confidence}\t${verdict.recommendation}\t${verdict.reasons.join(",")}\n`,
  prefix: ({ input }) => `${printableText(input)}\t`,
}

/** The fast path: most inputs are printable ASCII. */
const PRINTABLE_PATTERN = /^[ -~]*$/

const printableText = (input: string): string => (PRINTABLE_PATTERN.test(input) ? input : escapeControls(input))

/** A `CheckResult` a line. Its request id is the number of the line, so that a resumed run gives the same ids. */
const NDJSON_RESULTS: ResultFormat = {
  header: "",
  format: (_, outcome, place) => `${fullResultJson(outcome, `line_${place}`)}\n`,
  prefix: (_, { kind, sent, normalized, domain }) => {
    const asked = { email: kind === "email" ? sent : null, ...(kind === "url" ? { url: sent } : {}) }
    return `${JSON.stringify({ ...asked, normalized_email: normalized, domain }).slice(0, -1)},`
  },
}

/** The columns that are added to a row. Their values never need quotes. */
const RESULT_COLUMNS = [
  "category",
  "confidence",
  "recommendation",
  "is_business",
  "did_you_mean",
  "reasons",
  "degraded",
] as const

/** The cells of the row, then those of the result, then cells beyond the header. */
function csvResults({ names: ownNames, delimiter: to }: InputColumns, hasSafeCells: boolean): ResultFormat {
  const safe = (cells: readonly string[]): readonly string[] => (hasSafeCells ? cells.map(safeCell) : cells)
  const names = safe(ownNames)
  const ownOf = ({ input, cells }: InputRow): readonly string[] => safe(cells ?? [input])
  const beginning = (row: InputRow): string => formatCsvRecord(ownOf(row).slice(0, names.length), to) + to
  return {
    header: `${formatCsvRecord([...names, ...resultColumnNames(names)], to)}\n`,
    format: (row, { judged: { verdict, evidence } }) => {
      const { category, confidence, recommendation, reasons, isDegraded } = verdict
      const business = CATEGORIES[category].isBusiness
      const meant = evidence.suggestion ?? ""
      const told = [category, confidence, recommendation, business, meant, reasons.join(" "), isDegraded].join(to)
      const nameless = ownOf(row).slice(names.length)
      return `${beginning(row)}${told}${nameless.length === 0 ? "" : to + formatCsvRecord(nameless, to)}\n`
    },
    prefix: beginning,
  }
}

/** The names of the result columns, with a prefix when the file has one of them already, such as results that are checked again. */
function resultColumnNames(taken: readonly string[]): readonly string[] {
  for (let prefix = ""; ; prefix += "mailkind_") {
    const names = RESULT_COLUMNS.map(name => prefix + name)
    if (!names.some(name => taken.includes(name))) return names
  }
}

/** The formats of inputs and results. */
export const FILE_FORMATS = ["text", "csv", "ndjson"] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

const FORMAT_BY_EXTENSION: Readonly<Record<string, FileFormat>> = {
  csv: "csv",
  tsv: "csv",
  ndjson: "ndjson",
  jsonl: "ndjson",
}

/**
 * The formats of inputs and of results. `asked` is that of the results, and of inputs too whose file's name does not say
 * otherwise; null: as the inputs are.
 */
export function resolveFormats(
  path: string,
  asked: FileFormat | null,
): { readonly from: FileFormat; readonly to: FileFormat } {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""
  const from = (Object.hasOwn(FORMAT_BY_EXTENSION, ending) ? FORMAT_BY_EXTENSION[ending] : asked) ?? "text"
  return { from, to: asked ?? from }
}
