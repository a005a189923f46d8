import { redactAddresses } from "../../base/address-redaction.ts"
import { assert } from "../../base/errors.ts"
import type { Random } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import type { Category } from "../../contract/categories.ts"
import type { ReceiptStatus, ReportableCategory } from "../../contract/feedback-schema.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { AccountRange } from "../accounts/account-pruning.ts"
import { lockAccountRow } from "../accounts/accounts.ts"
import { recordAct } from "../audit/audit.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { newId } from "../store/core/id.ts"
import { likeText } from "../store/core/sql-text.ts"
import type { SqlValue, Store } from "../store/core/store.ts"

/** The status of a report. An operator accepts or rejects it, and may change the decision. */
export const FEEDBACK_STATUSES = ["received", "accepted", "rejected"] as const
export type FeedbackStatus = (typeof FEEDBACK_STATUSES)[number]

/** A verdict that a caller reports as wrong. It does not hold the address. */
export type FeedbackReport = {
  readonly accountId: string
  /** As A-labels, lower case. */
  readonly domain: string
  /** The role word of the local part (`support`), from our lists; null: none, or a domain was sent. */
  readonly roleWord: string | null
  readonly currentCategory: Category
  readonly reportedCategory: ReportableCategory
  /** As sent; null: none. */
  readonly comment: string | null
}

/** A stored report; its comment went through `sanitizeComment`. */
export type Feedback = FeedbackReport & {
  readonly id: string
  readonly status: FeedbackStatus
  readonly createdAtMs: number
  /** When it was last accepted or rejected; null: not yet. */
  readonly decidedAtMs: number | null
}

/** The receipt of a report; for a duplicate, the id is that of the first report. */
export type ReportReceipt = Pick<FeedbackReport, "domain" | "currentCategory" | "reportedCategory"> & {
  readonly id: string
  readonly status: ReceiptStatus
}

/** The receipt of a report, or why there is none. */
export type FeedbackReportResult =
  | { readonly kind: "reported"; readonly receipt: ReportReceipt }
  | { readonly kind: "unknown_account" }

/** Stores a receipt in the transaction that stores the report. */
export type RecordReceipt = (store: Store, receipt: ReportReceipt) => Promise<void>

/**
 * Stores a report durably. If the account reported the same category for the same domain within the last
 * `LIMITS.feedbackDuplicateDays` days, with any status, nothing is written and the receipt names that report, also when
 * several arrive at once.
 */
export async function recordFeedback(
  log: AttributedLog,
  random: Random,
  report: FeedbackReport,
  record: RecordReceipt | null = null,
): Promise<FeedbackReportResult> {
  // A duplicate does not need a transaction.
  const first = record === null ? await findDuplicate(log.store, report, log.clock()) : null
  if (first !== null) return toReceipt(report, first.id, "duplicate")
  return await log.store.transaction(async store => {
    const result = await insertUnlessDuplicate(store, random, log.clock(), report)
    if (result.kind === "reported" && result.receipt.status === "received")
      await recordAct(log, store, { kind: "report_made", accountId: report.accountId, details: result.receipt.id })
    if (result.kind === "reported") await record?.(store, result.receipt)
    return result
  })
}

/** The report with this id, or null. */
export async function findFeedback(store: Store, id: string): Promise<Feedback | null> {
  const row = await store.one<FeedbackRow>("SELECT * FROM feedback WHERE id = $1", [id])
  return row && toFeedback(row)
}

/** A page of reports. */
export type FeedbackQuery = {
  /** Null: any status. */
  readonly status: FeedbackStatus | null
  /** Absent: of any account, of any domain, and made at any time. */
  readonly accountId?: string
  /** A domain with its subdomains. */
  readonly domain?: string
  /** Made from this instant on, and before that one. */
  readonly fromMs?: number
  readonly toMs?: number
  /** The last report of the previous page; null: the first page. */
  readonly after: Pick<Feedback, "id" | "createdAtMs"> | null
  readonly countMax: number
}

/** The reports of a page, newest first. */
export async function listFeedback(
  store: Store,
  { status, after, countMax, accountId, domain, fromMs, toMs }: FeedbackQuery,
): Promise<Feedback[]> {
  const { createdAtMs, id } = after ?? FIRST_PAGE
  const wanted: readonly (readonly [sql: (at: string) => string, value: SqlValue | undefined])[] = [
    [at => `status = ${at}`, status ?? undefined],
    [at => `account_id = ${at}`, accountId],
    [at => `('.' || domain) LIKE ${at} ESCAPE '\\'`, domain === undefined ? undefined : `%.${likeText(domain)}`],
    [at => `created_at_ms >= ${at}`, fromMs],
    [at => `created_at_ms < ${at}`, toMs],
  ]
  const given = wanted.filter(([, value]) => value !== undefined)
  const rows = await store.all<FeedbackRow>(
    `SELECT * FROM feedback WHERE (created_at_ms, id) < ($1, $2) ${given.map(([sql], at) => `AND ${sql(`$${at + 4}`)} `).join("")}
     ORDER BY created_at_ms DESC, id DESC LIMIT $3`,
    [createdAtMs, id, countMax, ...given.map(([, value]) => value ?? null)],
  )
  return rows.map(toFeedback)
}

/** The next `countMax` reports of an account after `after` (null: from the start), newest first. */
export async function listFeedbackOf(
  store: Store,
  accountId: string,
  after: FeedbackQuery["after"],
  countMax: number,
): Promise<Feedback[]> {
  const { createdAtMs, id } = after ?? FIRST_PAGE
  const rows = await store.all<FeedbackRow>(
    `SELECT * FROM feedback WHERE account_id = $1 AND (created_at_ms, id) < ($2, $3)
     ORDER BY created_at_ms DESC, id DESC LIMIT $4`,
    [accountId, createdAtMs, id, countMax],
  )
  return rows.map(toFeedback)
}

/** Counts the reports with a status. */
export async function countFeedback(store: Store, status: FeedbackStatus): Promise<number> {
  const row = await store.one<{ reports: number }>("SELECT COUNT(*) AS reports FROM feedback WHERE status = $1", [
    status,
  ])
  return row?.reports ?? 0
}

/** Deletes reports of some accounts that are older than `LIMITS.feedbackDays`. What an accepted one has corrected stays. */
export async function pruneReportsOf(
  store: Store,
  { after, last }: AccountRange,
  nowMs: TrustedInstant,
): Promise<number> {
  return await store.run(
    "DELETE FROM feedback WHERE account_id IN (SELECT id FROM accounts WHERE id > $1 AND id <= $2) AND created_at_ms < $3",
    [after, last, nowMs - LIMITS.feedbackDays * DAY_MS],
  )
}

/** How many other accounts reported a category for the report's domain, with any status. */
export type OtherReportCount = { readonly category: ReportableCategory; readonly accountCount: number }

/** The categories that other accounts reported for the domain, most frequent first. */
export async function readOtherReports(
  store: Store,
  { domain, accountId }: Pick<FeedbackReport, "domain" | "accountId">,
): Promise<readonly OtherReportCount[]> {
  return await store.all<OtherReportCount>(
    `SELECT reported_category AS category, COUNT(DISTINCT account_id) AS "accountCount" FROM feedback
     WHERE domain = $1 AND account_id <> $2 GROUP BY reported_category
     ORDER BY COUNT(DISTINCT account_id) DESC, reported_category`,
    [domain, accountId],
  )
}

const FIRST_PAGE = { createdAtMs: Number.MAX_SAFE_INTEGER, id: "" }

const DUPLICATE_MS = LIMITS.feedbackDuplicateDays * DAY_MS

async function insertUnlessDuplicate(
  store: Store,
  random: Random,
  nowMs: number,
  report: FeedbackReport,
): Promise<FeedbackReportResult> {
  const { accountId, domain, roleWord, currentCategory, reportedCategory, comment } = report
  // The next report of the account sees this one.
  if (!(await lockAccountRow(store, accountId))) return { kind: "unknown_account" }
  const first = await findDuplicate(store, report, nowMs)
  if (first !== null) return toReceipt(report, first.id, "duplicate")
  const id = newId("fb", random)
  const kept = comment === null ? null : sanitizeComment(comment)
  const count = await store.run(
    `INSERT INTO feedback
       (id, account_id, domain, role_word, current_category, reported_category, comment, status, created_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'received', $8)`,
    [id, accountId, domain, roleWord, currentCategory, reportedCategory, kept, nowMs],
  )
  assert(count === 1, "a report is one row")
  return toReceipt(report, id, "received")
}

/** The report that this one would repeat, or null. */
async function findDuplicate(
  store: Store,
  report: FeedbackReport,
  nowMs: number,
): Promise<{ readonly id: string } | null> {
  return await store.one<{ readonly id: string }>(
    `SELECT id FROM feedback WHERE account_id = $1 AND domain = $2 AND created_at_ms > $3 AND reported_category = $4
     ORDER BY created_at_ms, id LIMIT 1`,
    [report.accountId, report.domain, nowMs - DUPLICATE_MS, report.reportedCategory],
  )
}

function toReceipt(
  { domain, currentCategory, reportedCategory }: FeedbackReport,
  id: string,
  status: ReceiptStatus,
): FeedbackReportResult {
  return { kind: "reported", receipt: { id, status, domain, currentCategory, reportedCategory } }
}

/** A row of the feedback table. */
export type FeedbackRow = {
  readonly id: string
  readonly account_id: string
  readonly domain: string
  readonly role_word: string | null
  readonly current_category: Category
  readonly reported_category: ReportableCategory
  readonly comment: string | null
  readonly status: FeedbackStatus
  readonly created_at_ms: number
  readonly decided_at_ms: number | null
}

/** The report that a row holds. */
export function toFeedback(row: FeedbackRow): Feedback {
  return {
    id: row.id,
    accountId: row.account_id,
    domain: row.domain,
    roleWord: row.role_word,
    currentCategory: row.current_category,
    reportedCategory: row.reported_category,
    comment: row.comment,
    status: row.status,
    createdAtMs: row.created_at_ms,
    decidedAtMs: row.decided_at_ms,
  }
}

/** Returns the comment in the form that may be stored, as `redactAddresses` makes it. Null when nothing is left. */
export const sanitizeComment = (text: string): string | null => redactAddresses(text, LIMITS.commentLengthMax)
