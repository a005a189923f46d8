import { formatCsvRecord, safeCell } from "../base/csv.ts"
import { type JsonMember, jsonMembers } from "../base/json-members.ts"
import { flattenString, jsonString } from "../base/text.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import type { Subject } from "../check/address/subject.ts"
import {
  inputMembers,
  type JudgedDomain,
  mailboxPart,
  partsOf,
  type ResultParts,
  resultMembers,
} from "../check/result/result.ts"
import { ALL_PARTS, ANSWER_PARTS } from "../check/verdict/evidence-need.ts"
import { RESULT_COLUMN_NAMES, RESULT_COLUMNS, type ResultColumn } from "../contract/result-columns.ts"
import { CheckResult } from "../contract/result-schema.ts"
import type { FileFormat } from "./file-format.ts"
import { type InputRow, lineError, type ReadRow, stripCarriageReturn } from "./input-rows.ts"
import type { InputColumns } from "./reading-plan.ts"
import type { RowOutcome } from "./row-checker.ts"

/** The format of results in a file. Each ends with a line feed. */
export type ResultFormat = {
  /** The text before all results. */
  readonly header: string
  /** The result of a row; `place` counts from 1. `duplicateOf`: the first row with the same mailbox or domain; null: it is the first, or nobody asked. */
  readonly format: (row: InputRow, outcome: RowOutcome, place: number, duplicateOf?: number | null) => string
  /** What goes into another file of the last row that was formatted; empty: nothing. */
  readonly aside?: () => string
  /** The parts of an answer that it shows (`ANSWER_PARTS`). */
  readonly parts: number
  /** The beginning of a row's result, which does not depend on the verdict. A resumed run finds the row by it. */
  readonly prefix: (read: ReadRow) => string
}

/**
 * What results have when it is asked for: in CSV the columns that are named, and the canonical form of an address, which NDJSON always
 * has; and the first row with the same mailbox or domain.
 */
export type ResultExtras = {
  readonly tellsCanonical: boolean
  readonly tellsDuplicates: boolean
  /** Null: the usual ones. */
  readonly columns: readonly ResultColumn[] | null
}
/** Nothing is asked for. */
export const NO_EXTRAS: ResultExtras = { tellsCanonical: false, tellsDuplicates: false, columns: null }

/** How results are written. Text has no place for extras. */
type ResultOptions = {
  /** Absent: none. */
  readonly extras?: ResultExtras
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
  ndjson: (_, options) => ndjsonResults(options),
}

/** Fields separated by tabs, reasons by commas. Tabs in an input are escaped. A cleaned one has a further field, with what was checked and further addresses. */
const TEXT_RESULTS: ResultFormat = {
  header: "",
  parts: 0,
  format: ({ input, cleaned }, outcome) => {
    const told = printableText(input) + (outcome === null ? SKIPPED_FIELDS : verdictFields(outcome.judged))
    return cleaned === null
      ? told
      : `${told.slice(0, -1)}\t${printableText([cleaned.text, ...cleaned.others].join(" "))}\n`
  },
  prefix: ({ row }) => `${printableText(row.input)}\t`,
}

/** The fields of a row without an input, to the end of its line: the last one says so. */
const SKIPPED_FIELDS = "\t\t\t\tskipped\n"

/** Few verdicts serve all rows, so the text of each is made once. */
const verdictFields = oncePerVerdict(
  ({ verdict: { category, confidence, recommendation, reasons } }) =>
    `\t${category}\t${confidence}\t${recommendation}\t${reasons.join(",")}\n`,
)

/** Rows with the same verdict have the same suggestion too. */
function oncePerVerdict(write: (judged: JudgedDomain) => string): (judged: JudgedDomain) => string {
  const written = new WeakMap<object, string>()
  return judged => {
    const known = written.get(judged.verdict)
    if (known !== undefined) return known
    const text = flattenString(write(judged))
    written.set(judged.verdict, text)
    return text
  }
}

/** The fast path: most inputs are printable ASCII. */
const PRINTABLE_PATTERN = /^[ -~]*$/

const printableText = (input: string): string => (PRINTABLE_PATTERN.test(input) ? input : escapeControls(input))

/**
 * A `CheckResult` a line, after the members of the input's own line. Its request id is the number of the line, and
 * `took_ms` is 0, so that a resumed run and one with other workers give the same file. A line that could not be read has `line_error`, which no wrong address has.
 */
const ndjsonResults = ({ tellsCached, extras = NO_EXTRAS }: ResultOptions): ResultFormat => ({
  header: "",
  parts: ALL_PARTS,
  format: (row, outcome, place, duplicateOf = null) => {
    if (outcome === null) return `{${ownMembers(row, null, extras)}${SKIPPED_MEMBER}}\n`
    const cached = tellsCached && outcome.judged.evidence.isCached
    const result = resultMembers(outcome, { cached, took_ms: 0, request_id: `line_${place}` })
    let text = `{${ownMembers(row, outcome.subject, extras)}${result}`
    if (row.cleaned !== null) text += `,${jsonMembers({ cleaned: true, several: row.cleaned.others })}`
    const error = lineError(row)
    if (error !== null) text += `,${jsonMembers({ line_error: error })}`
    if (extras.tellsDuplicates) text += `,${jsonMembers({ duplicate_of: duplicateOf })}`
    return `${text}}\n`
  },
  prefix: ({ row, subject }) => {
    const own = ownMembers(row, subject, extras)
    return subject === null ? `{${own}${SKIPPED_MEMBER}}` : `{${own}${inputMembers(subject, subject.domain)},`
  },
})

/** The member of a row without an input, which is all that its result says. */
const SKIPPED_MEMBER = jsonMembers({ skipped: true })

/** The names of a result's members. */
const RESULT_MEMBERS: ReadonlySet<string> = new Set([
  ...Object.keys(CheckResult.properties),
  ...["line_error", "cleaned", "several", "skipped"],
])

/** The names of what results have besides. */
const extraNames = ({ tellsCanonical, tellsDuplicates }: ResultExtras): readonly string[] => [
  ...(tellsCanonical ? ["canonical_email"] : []),
  ...(tellsDuplicates ? ["duplicate_of"] : []),
]

/** The names of a result's members with what it has besides. */
const resultMembersWith = ({ tellsDuplicates }: Pick<ResultExtras, "tellsDuplicates">): ReadonlySet<string> =>
  tellsDuplicates ? RESULT_MEMBERS.union(new Set(["duplicate_of"])) : RESULT_MEMBERS

/**
 * The members of the line itself, each with a comma after it. One that the result repeats is left out; one whose name the result has with another value gets the
 * prefix `input_`.
 */
function ownMembers({ json }: InputRow, subject: Subject | null, extras: ResultExtras): string {
  const members = json?.members ?? []
  if (members.length === 0) return ""
  const { kind, sent, domain } = subject ?? NOTHING_REPEATED
  const repeated = kind === "domain" ? domain : sent
  const repeatedText = jsonString(repeated)
  const taken = resultMembersWith(extras)
  let written = ""
  let freeNames: ReadonlyMap<string, string> | null = null
  for (const { name, text } of members) {
    if (name === kind && repeated !== null && text === repeatedText) continue
    if (taken.has(name)) freeNames ??= findFreeNames(members, taken)
    written += `${jsonString(freeNames?.get(name) ?? name)}:${text},`
  }
  return written
}

/** The result of a skipped row repeats nothing. */
const NOTHING_REPEATED = { kind: "email", sent: null, domain: null } as const

/** For each name of members that the result has too, the one that they get. Each is found once, since many members may have it. */
function findFreeNames(members: readonly JsonMember[], taken: ReadonlySet<string>): ReadonlyMap<string, string> {
  const names = new Set(members.map(({ name }) => name))
  const freeNames = new Map<string, string>()
  for (const name of taken) {
    if (!names.has(name)) continue
    let free = name
    while (taken.has(free) || names.has(free)) free = `input_${free}`
    freeNames.set(name, free)
  }
  return freeNames
}

/** The columns where none are named. */
const USUAL_COLUMNS = RESULT_COLUMN_NAMES.filter(name => RESULT_COLUMNS[name].isUsual)

/** What tells of the cell that was checked. Each is empty for a row without an input but the last, which says so. */
const INPUT_CELLS = {
  input_cleaned: cleaned => String(cleaned !== null),
  input_checked: cleaned => cleaned?.text ?? "",
  input_several: cleaned => cleaned?.others.join(" ") ?? "",
  input_skipped: () => "false",
} as const satisfies { readonly [C in ResultColumn]?: (cleaned: InputRow["cleaned"]) => string }

const isInputColumn = (name: ResultColumn): name is keyof typeof INPUT_CELLS => Object.hasOwn(INPUT_CELLS, name)

/** What tells of the verdict. */
const VERDICT_CELLS: {
  readonly [C in Exclude<ResultColumn, keyof typeof INPUT_CELLS>]: (parts: ResultParts) => unknown
} = {
  category: ({ verdict }) => verdict.category,
  confidence: ({ verdict }) => verdict.confidence,
  recommendation: ({ verdict }) => verdict.recommendation,
  is_business: ({ verdict }) => verdict.is_business,
  did_you_mean: ({ evidence }) => evidence.did_you_mean,
  reasons: ({ evidence }) => evidence.reasons.join(" "),
  degraded: ({ evidence }) => evidence.degraded,
  is_free_provider: ({ verdict }) => verdict.is_free_provider,
  is_disposable: ({ verdict }) => verdict.is_disposable,
  is_relay: ({ verdict }) => verdict.is_relay,
  is_role_account: ({ verdict }) => verdict.is_role_account,
  has_mx: ({ evidence }) => evidence.mail.has_mx,
  mail_provider: ({ evidence }) => evidence.mail.provider,
  spf: ({ evidence }) => evidence.mail.spf,
  dmarc_policy: ({ evidence }) => evidence.mail.dmarc_policy,
  suite_a: ({ evidence }) => evidence.workspace.suite_a.detected,
  suite_b: ({ evidence }) => evidence.workspace.suite_b.detected,
  other_suite: ({ evidence }) => evidence.workspace.other_suite,
}

/** The parts of an answer that CSV results show. Duplicates are found by the mailbox. */
function shownParts(columns: readonly ResultColumn[], { tellsCanonical, tellsDuplicates }: ResultExtras): number {
  let parts: number = tellsCanonical || tellsDuplicates ? ANSWER_PARTS.mailbox : 0
  for (const name of columns) {
    const { needs } = RESULT_COLUMNS[name]
    if (needs !== null) parts |= ANSWER_PARTS[needs]
  }
  return parts
}

/** The cells of the row, then those of the result, then cells beyond the header. */
function csvResults(
  { names: ownNames, delimiter: to, hasHeader, linesAbove, hasMark }: InputColumns,
  { hasSafeCells, extras = NO_EXTRAS }: ResultOptions,
): ResultFormat {
  const safe = (cells: readonly string[]): readonly string[] => (hasSafeCells ? cells.map(safeCell) : cells)
  const names = safe(ownNames)
  const beginning = ({ input, cells: ownCells }: InputRow): string => {
    const cells = safe((ownCells ?? [input]).slice(0, names.length))
    // The cells that a short row lacks stand in the text alone: a thousand columns must not cost each empty row a thousand cells.
    return formatCsvRecord(cells, to) + to.repeat(names.length - cells.length + 1)
  }
  const beyond = ({ cells }: InputRow): string =>
    cells === null || cells.length <= names.length ? "" : to + formatCsvRecord(safe(cells.slice(names.length)), to)
  const columns = extras.columns ?? USUAL_COLUMNS
  const resultCells = writeResultCells(columns, cells => formatCsvRecord(safe(cells), to))
  const extraNamesHere = extraNames(extras)
  const extrasOf = (outcome: RowOutcome, duplicateOf: number | null): string => {
    if (extraNamesHere.length === 0) return ""
    const cells = extraNamesHere.map(name =>
      name === "duplicate_of" ? `${duplicateOf ?? ""}` : canonicalCell(outcome),
    )
    return to + formatCsvRecord(safe(cells), to)
  }
  const header = hasHeader
    ? `${formatCsvRecord([...names, ...resultColumnNames(names, [...columns, ...extraNamesHere])], to)}\n`
    : ""
  return {
    parts: shownParts(columns, extras),
    header: `${hasMark ? "\ufeff" : ""}${linesAbove.map(line => lineAbove(line, to, hasSafeCells)).join("")}${header}`,
    format: (row, outcome, _, duplicateOf = null) => {
      const told = resultCells(row, outcome) + extrasOf(outcome, duplicateOf)
      return `${beginning(row)}${told}${beyond(row)}\n`
    },
    prefix: ({ row }) => beginning(row),
  }
}

/** Writes the cells of these columns. `join` makes text of cells. */
function writeResultCells(columns: readonly ResultColumn[], join: (cells: readonly string[]) => string) {
  const ofVerdict = columns.filter(name => !isInputColumn(name))
  const ofInput = columns.filter(isInputColumn)
  const between = ofVerdict.length > 0 && ofInput.length > 0 ? join(["", ""]) : ""
  const inputCells = (cleaned: InputRow["cleaned"]): string => join(ofInput.map(name => INPUT_CELLS[name](cleaned)))
  const verdictCells = oncePerVerdict(judged => {
    const parts = partsOf(judged)
    return join(ofVerdict.map(name => `${VERDICT_CELLS[name](parts) ?? ""}`)) + between
  })
  const plain = inputCells(null)
  const skipped = join(columns.map(name => (name === "input_skipped" ? "true" : "")))
  return ({ cleaned }: InputRow, outcome: RowOutcome): string =>
    outcome === null ? skipped : verdictCells(outcome.judged) + (cleaned === null ? plain : inputCells(cleaned))
}

const canonicalCell = (outcome: RowOutcome): string =>
  outcome === null ? "" : (mailboxPart(outcome.subject, outcome.judged).canonical_email ?? "")

/** A line above a table as it is in the file; with safe cells, without those that a spreadsheet would run as formulas. */
const lineAbove = (line: string, delimiter: string, hasSafeCells: boolean): string =>
  hasSafeCells
    ? `${formatCsvRecord(stripCarriageReturn(line).split(delimiter).map(safeCell), delimiter)}\n`
    : `${line}\n`

/** The names of the result columns, with a prefix when the file has one of them already, such as results that are checked again. */
function resultColumnNames(taken: readonly string[], columns: readonly string[]): readonly string[] {
  const own = new Set(taken)
  for (let prefix = ""; ; prefix += "mk_") {
    const names = columns.map(name => prefix + name)
    if (!names.some(name => own.has(name))) return names
  }
}
