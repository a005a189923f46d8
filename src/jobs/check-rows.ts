import type { Pause } from "../base/concurrency.ts"
import type { Subject } from "../check/address/subject.ts"
import { type Check, NO_OWN_LIST_MATCH, type OwnListMatch } from "../check/check.ts"
import type { LookupContext } from "../check/lookup-context.ts"
import type { CheckOutcome } from "../check/result/result.ts"
import { ANSWER_PARTS } from "../check/verdict/evidence-need.ts"
import type { AccountRules } from "../contract/account-rules.ts"
import { JOB_FORMATS, JOB_LIMITS } from "../contract/jobs.ts"
import type { Recommendation } from "../contract/policies.ts"
import type { RowCounts } from "../contract/row-counts.ts"
import { parseStoredRules } from "../customers/accounts/account-rules.ts"
import type { ChargedRows } from "../customers/jobs/job-progress.ts"
import type { Job, JobCounts } from "../customers/jobs/job-row.ts"
import { type DuplicateTable, firstOfOutcome } from "../rows/duplicates.ts"
import type { InputRow } from "../rows/input-rows.ts"
import type { InputColumns } from "../rows/reading-plan.ts"
import { RESULT_FORMATS, type ResultExtras, type ResultFormat } from "../rows/result-format.ts"
import { RowChecker } from "../rows/row-checker.ts"
import { RowCounter } from "../rows/row-counter.ts"

/** What checking rows needs. */
export type CheckRowsDeps = {
  readonly check: Check
  /** What own lists say of a subject, as in a batch. */
  readonly ownListMatch: (accountId: string, subject: Subject) => OwnListMatch | Promise<OwnListMatch>
  readonly testDomain: string
  /** Is awaited before each few rows, and before a block is read and written, so that live requests go first. Rejects when the work must be left. */
  readonly pause: () => Promise<void>
  /** Whether the next row waits for a pause, because live requests come. */
  readonly isTurnOver: () => boolean
}

/** How many rows are checked in a turn at most. */
const ROWS_PER_TURN_MAX = 16

/** The text of one result, or of the header. */
type WrittenRow = { readonly text: string; readonly kind: RowKind }
/** What a part of the results is, by which it is left out or not. */
export type RowKind = "header" | "skipped" | Recommendation

/** The kinds by the byte that stands for them in a file. */
export const ROW_KINDS = ["header", "allow", "review", "block", "skipped"] as const satisfies readonly RowKind[]

/** For each result its length in bytes, and the byte that stands for its kind. */
export const ROW_META_BYTES = 5

/** The results of a block of rows. */
export type RowResults = {
  readonly written: readonly WrittenRow[]
  /** Without test addresses, which are of no category. */
  readonly counts: RowCounts
  readonly charged: ChargedRows
  /** Rows with the same input as an earlier one, if they are told. */
  readonly duplicates: number
  /** For how many rows the network was asked: there a check returns a promise. */
  readonly lookups: number
}

/** The format of a job's results. */
export const resultFormatOf = (
  { format, ...extras }: Pick<Job, "format" | keyof ResultExtras>,
  columns: InputColumns,
  hasSafeCells = false,
): ResultFormat =>
  RESULT_FORMATS[JOB_FORMATS[format].results](columns, {
    hasSafeCells,
    extras,
    tellsCached: false,
  })

/** How rows are written. `duplicates` null: they are not told. */
type RowsWritten = {
  readonly format: ResultFormat
  readonly columnCount: number
  readonly duplicates: DuplicateTable | null
}

/** What a row is checked with. */
type CheckedJob = Pick<Job, "accountId" | "policy" | "includesTenant" | "columns"> & {
  /** The rules of its account as they are stored. Null or absent: it has none. */
  readonly rules?: string | null
}

/** Checks rows in their order, with what was found for others of their list. The first one is row number `rowsBefore` + 1 of the list. */
export async function checkRows(
  deps: CheckRowsDeps,
  job: CheckedJob,
  rows: readonly InputRow[],
  rowsBefore: number,
  { format, columnCount, duplicates: table }: RowsWritten,
  context: LookupContext,
): Promise<RowResults> {
  const rules = parseStoredRules(job.rules ?? null)
  // Where no columns are named, the reasons tell of a tenant.
  const parts = format.parts | (job.columns === null ? ANSWER_PARTS.tenant : 0)
  const written: WrittenRow[] = []
  const counter = new RowCounter(false)
  const byRecommendation = { allow: 0, review: 0, block: 0 }
  let duplicates = 0
  const checker = new RowChecker({
    testDomain: deps.testDomain,
    check: subject => checkSubject(deps, job, parts, rules, subject, context),
    pause: createRowPause(deps),
    inFlightMax: JOB_LIMITS.lookupsPerJobMax,
  })
  const { lookups } = await checker.check(rows, (row, outcome, at) => {
    const kind = outcome === null ? "skipped" : outcome.judged.verdict.recommendation
    const place = rowsBefore + at + 1
    const first = firstOfOutcome(table, outcome, place)
    if (first !== null) duplicates++
    written.push({ text: format.format(row, outcome, place, first), kind })
    counter.count(outcome, row, place, columnCount)
    if (outcome !== null && !outcome.subject.isTest) byRecommendation[outcome.judged.verdict.recommendation]++
  })
  await checker.drain()
  const counts = counter.counts()
  return { written, counts, charged: { byCategory: counts.byCategory, byRecommendation }, duplicates, lookups }
}

/** Pauses before the first row of each turn. */
function createRowPause({ pause, isTurnOver }: CheckRowsDeps): Pause {
  let turnRows = ROWS_PER_TURN_MAX
  return () => {
    const isBegun = turnRows < ROWS_PER_TURN_MAX && !isTurnOver()
    turnRows = isBegun ? turnRows + 1 : 1
    return isBegun ? undefined : pause()
  }
}

/** The outcome of a subject, with what own lists and the rules of the account say of it. */
function checkSubject(
  { check, ownListMatch }: CheckRowsDeps,
  { accountId, policy, includesTenant }: CheckedJob,
  parts: number,
  rules: AccountRules | undefined,
  subject: Subject,
  context: LookupContext,
): CheckOutcome | Promise<CheckOutcome> {
  // The lookups of jobs are bounded apart from those of the account's live requests.
  const callerId = `${accountId}/jobs`
  const request = { subject, policy, isDeep: false, includeTenant: includesTenant, parts, callerId, rules }
  const checkWith = (match: OwnListMatch) => check({ ...request, ownListMatch: match }, context)
  const match = subject.domain === null || subject.isTest ? NO_OWN_LIST_MATCH : ownListMatch(accountId, subject)
  return match instanceof Promise ? match.then(checkWith) : checkWith(match)
}

/** The counts with those of more rows. */
export function addRowCounts({ bytesBy: before, duplicates, ...counts }: JobCounts, results: RowResults): JobCounts {
  const counter = new RowCounter()
  counter.add({ ...counts, rows: 0 })
  counter.add(results.counts)
  const bytesBy = { ...before }
  for (const { kind, text } of results.written) bytesBy[kind] = (bytesBy[kind] ?? 0) + Buffer.byteLength(text)
  const { rows: _, ...sums } = counter.counts()
  return { ...sums, duplicates: duplicates + results.duplicates, bytesBy }
}

/** The results begin with the header. */
export const withHeader = (checked: RowResults, { header }: ResultFormat): RowResults =>
  header === "" ? checked : { ...checked, written: [{ text: header, kind: "header" }, ...checked.written] }
