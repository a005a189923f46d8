import type { Subject } from "../../check/address/subject.ts"
import { type CheckOutcome, fullResultJson } from "../../check/result/result.ts"
import { CATEGORIES } from "../../contract/categories.ts"
import { escapeControls } from "../output.ts"
import { formatCsvRecord } from "./csv-reader.ts"
import type { InputColumns, InputRow } from "./input-rows.ts"

/** How results stand in a file, each with a line feed at its end. */
export type ResultFormat = {
  /** What stands before all results. */
  readonly header: string
  /** The result of a row, which is the `place`th, from 1. */
  readonly format: (row: InputRow, outcome: CheckOutcome, place: number) => string
  /** How the result of a row begins, whatever its check comes to: by this it is known again. */
  readonly prefix: (row: InputRow, subject: Subject) => string
}

/** How the results of rows with these columns stand in a file of this format. */
export const RESULT_FORMATS: Readonly<Record<FileFormat, (columns: InputColumns) => ResultFormat>> = {
  text: () => TEXT_RESULTS,
  csv: csvResults,
  ndjson: () => NDJSON_RESULTS,
}

/** Fields between tabs; reasons between commas. No input has a tab: control characters are named. */
const TEXT_RESULTS: ResultFormat = {
  header: "",
  format: ({ input }, { judged: { verdict } }) =>
    `${printableText(input)}\t${verdict.category}\t${verdict.confidence}\t${verdict.recommendation}\t${verdict.reasons.join(",")}\n`,
  prefix: ({ input }) => `${printableText(input)}\t`,
}

/** Printable ASCII, which is most inputs, needs no closer look. */
const PRINTABLE_PATTERN = /^[ -~]*$/

const printableText = (input: string): string => (PRINTABLE_PATTERN.test(input) ? input : escapeControls(input))

/** CheckResults. Each bears the number of its line as its id, so that a run that goes on after an interruption gives the same ids. */
const NDJSON_RESULTS: ResultFormat = {
  header: "",
  format: (_, outcome, place) => `${fullResultJson(outcome, `line_${place}`)}\n`,
  prefix: (_, { kind, sent, normalized, domain }) => {
    const asked = { email: kind === "email" ? sent : null, ...(kind === "url" ? { url: sent } : {}) }
    return `${JSON.stringify({ ...asked, normalized_email: normalized, domain }).slice(0, -1)},`
  },
}

/** What is told of a row beside its own cells, in this order; none of it ever needs quotes. */
const RESULT_COLUMNS = [
  "category",
  "confidence",
  "recommendation",
  "is_business",
  "did_you_mean",
  "reasons",
  "degraded",
] as const

/** The row's own cells under their names, then the result's, then cells that have no name. */
function csvResults({ names, delimiter: to }: InputColumns): ResultFormat {
  const ownOf = ({ input, cells }: InputRow): readonly string[] => cells ?? [input]
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

/** The names of result columns, with a prefix where the file has one of them already, as a result that is checked again. */
function resultColumnNames(taken: readonly string[]): readonly string[] {
  for (let prefix = ""; ; prefix += "mailkind_") {
    const names = RESULT_COLUMNS.map(name => prefix + name)
    if (!names.some(name => taken.includes(name))) return names
  }
}

/** How inputs and results stand in a file. */
export const FILE_FORMATS = ["text", "csv", "ndjson"] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

/** What a file's name says of its format. */
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
