import { formatCsvRecord, safeCell } from "../base/csv.ts"
import { jsonMembers } from "../base/json-members.ts"
import { flattenString, jsonString } from "../base/text.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import type { Subject } from "../check/address/subject.ts"
import { type CheckOutcome, inputPart, type JudgedDomain, resultMembers } from "../check/result/result.ts"
import { CATEGORIES } from "../contract/categories.ts"
import { CheckResult } from "../contract/schemas.ts"
import { type InputRow, lineError } from "./input-rows.ts"
import type { JsonMember } from "./ndjson-members.ts"
import type { FileFormat, InputColumns } from "./reading-plan.ts"

/** The format of results in a file. Each ends with a line feed. */
export type ResultFormat = {
  /** The text before all results. */
  readonly header: string
  /** The result of a row; `place` counts from 1. */
  readonly format: (row: InputRow, outcome: CheckOutcome, place: number) => string
  /** The beginning of a row's result, which does not depend on the verdict. A resumed run finds the row by it. */
  readonly prefix: (row: InputRow, subject: Subject) => string
}

/** How results are written. */
type ResultOptions = {
  /** In CSV: `safeCell` is applied to all cells. */
  readonly hasSafeCells: boolean
  /** In NDJSON: `cached` has its value. Else it is always false: another process, which continues a list, has cached other verdicts. */
  readonly tellsCached: boolean
}

/** The result format of a file format, for rows with these columns. */
export const RESULT_FORMATS: Readonly<
  Record<FileFormat, (columns: InputColumns, options: ResultOptions) => ResultFormat>
> = {
  text: () => TEXT_RESULTS,
  csv: csvResults,
  ndjson: (_, { tellsCached }) => ndjsonResults(tellsCached),
}

/** Fields separated by tabs, reasons by commas. Tabs in an input are escaped. */
const TEXT_RESULTS: ResultFormat = {
  header: "",
  format: ({ input }, { judged }) => `${printableText(input)}${verdictFields(judged)}`,
  prefix: ({ input }) => `${printableText(input)}\t`,
}

/** Few verdicts serve all rows, so the text of each is made once. */
const verdictFields = oncePerVerdict(
  ({ verdict: { category, confidence, recommendation, reasons } }) =>
    `\t${category}\t${confidence}\t${recommendation}\t${reasons.join(",")}\n`,
)

/** Rows with the same verdict have the same suggestion too. */
function oncePerVerdict(write: (judged: JudgedDomain) => string): (judged: JudgedDomain) => string {
  const written = new WeakMap<object, string>()
  return judged => written.getOrInsertComputed(judged.verdict, () => flattenString(write(judged)))
}

/** The fast path: most inputs are printable ASCII. */
const PRINTABLE_PATTERN = /^[ -~]*$/

const printableText = (input: string): string => (PRINTABLE_PATTERN.test(input) ? input : escapeControls(input))

/**
 * A `CheckResult` a line, after the members of the input's own line. Its request id is the number of the line, and
 * `took_ms` is 0, so that a resumed run and one with other workers give the same file. A line that could not be read has `line_error`, which no wrong address has.
 */
const ndjsonResults = (tellsCached: boolean): ResultFormat => ({
  header: "",
  format: (row, outcome, place) => {
    const cached = tellsCached && outcome.judged.evidence.isCached
    const result = resultMembers(outcome, { cached, took_ms: 0, request_id: `line_${place}` })
    const error = lineError(row)
    const told = error === null ? [result] : [result, jsonMembers({ line_error: error })]
    return `{${[...ownMembers(row, outcome.subject), ...told].join(",")}}\n`
  },
  prefix: (row, subject) => {
    const asked = jsonMembers(inputPart(subject, subject.domain))
    return `{${[...ownMembers(row, subject), asked].join(",")},`
  },
})

/** The names of a result's members. */
const RESULT_MEMBERS: ReadonlySet<string> = new Set([...Object.keys(CheckResult.properties), "line_error"])

/**
 * The members of the line itself. One that the result repeats is left out; one whose name the result has with another value gets the
 * prefix `input_`.
 */
function ownMembers({ json }: InputRow, { kind, sent, domain }: Subject): readonly string[] {
  const members = json?.members ?? []
  if (members.length === 0) return []
  const repeated = kind === "domain" ? domain : sent
  const freeNames = members.some(({ name }) => RESULT_MEMBERS.has(name)) ? findFreeNames(members) : null
  return members
    .filter(({ name, text }) => name !== kind || repeated === null || text !== jsonString(repeated))
    .map(({ name, text }) => `${jsonString(freeNames?.get(name) ?? name)}:${text}`)
}

/** For each name of members that the result has too, the one that they get. Each is found once, since many members may have it. */
function findFreeNames(members: readonly JsonMember[]): ReadonlyMap<string, string> {
  const names = new Set(members.map(({ name }) => name))
  const freeNames = new Map<string, string>()
  for (const name of RESULT_MEMBERS) {
    if (!names.has(name)) continue
    let free = name
    while (RESULT_MEMBERS.has(free) || names.has(free)) free = `input_${free}`
    freeNames.set(name, free)
  }
  return freeNames
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
function csvResults(
  { names: ownNames, delimiter: to, hasHeader }: InputColumns,
  { hasSafeCells }: ResultOptions,
): ResultFormat {
  const safe = (cells: readonly string[]): readonly string[] => (hasSafeCells ? cells.map(safeCell) : cells)
  const names = safe(ownNames)
  const ownOf = ({ input, cells }: InputRow): readonly string[] => safe(cells ?? [input])
  const beginning = (row: InputRow): string => {
    const cells = ownOf(row).slice(0, names.length)
    // The cells that a short row lacks stand in the text alone: a thousand columns must not cost each empty row a thousand cells.
    return formatCsvRecord(cells, to) + to.repeat(names.length - cells.length + 1)
  }
  const verdictCells = oncePerVerdict(({ verdict, evidence }) => {
    const { category, confidence, recommendation, reasons, isDegraded } = verdict
    const business = CATEGORIES[category].isBusiness
    const meant = evidence.suggestion ?? ""
    return [category, confidence, recommendation, business, meant, reasons.join(" "), isDegraded].join(to)
  })
  return {
    header: hasHeader ? `${formatCsvRecord([...names, ...resultColumnNames(names)], to)}\n` : "",
    format: (row, { judged }) => {
      const told = verdictCells(judged)
      const nameless = ownOf(row).slice(names.length)
      return `${beginning(row)}${told}${nameless.length === 0 ? "" : to + formatCsvRecord(nameless, to)}\n`
    },
    prefix: beginning,
  }
}

/** The names of the result columns, with a prefix when the file has one of them already, such as results that are checked again. */
function resultColumnNames(taken: readonly string[]): readonly string[] {
  const own = new Set(taken)
  for (let prefix = ""; ; prefix += "mailkind_") {
    const names = RESULT_COLUMNS.map(name => prefix + name)
    if (!names.some(name => own.has(name))) return names
  }
}
