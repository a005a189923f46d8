import { assert } from "../../base/assert.ts"
import type { Random } from "../../base/clock.ts"
import { DAY_MS } from "../../base/utc-day.ts"
import type { Category } from "../../contract/categories.ts"
import type { ReceiptStatus, ReportableCategory } from "../../contract/feedback-schema.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { ChangeLog } from "../store/changes.ts"
import { newId } from "../store/id.ts"
import type { Cell, Store } from "../store/store.ts"
import { keptComment } from "./kept-comment.ts"

/** What has become of a report: an operator accepts or rejects it, and may think again. */
export const FEEDBACK_STATUSES = ["received", "accepted", "rejected"] as const
export type FeedbackStatus = (typeof FEEDBACK_STATUSES)[number]

/** A verdict that a caller calls wrong. The address that it was about is not part of it. */
export type Report = {
  readonly accountId: string
  /** As A-labels, lower case. */
  readonly domain: string
  /** The word of our own lists that the local part names (`support`); null: none, or a domain was sent. */
  readonly roleWord: string | null
  readonly currentCategory: Category
  readonly reportedCategory: ReportableCategory
  /** As sent; null: none. */
  readonly comment: string | null
}

/** A report as it is kept; its comment is as `keptComment` writes it. */
export type Feedback = Report & {
  readonly id: string
  readonly status: FeedbackStatus
  readonly createdAtMs: number
  /** When it was accepted or rejected last; null: not yet. */
  readonly decidedAtMs: number | null
}

/** What the caller is told of a report; of a duplicate, the id is that of the first one. */
export type Receipt = Pick<Report, "domain" | "currentCategory" | "reportedCategory"> & {
  readonly id: string
  readonly status: ReceiptStatus
}

/** The receipt of a report, or why there is none. */
export type Reporting = { readonly kind: "reported"; readonly receipt: Receipt } | { readonly kind: "unknown_account" }

/**
 * Takes a report, durably. When the account reported the same category of the same domain less than
 * `LIMITS.feedbackDuplicateDays` days ago, whatever became of that report, nothing is written and the receipt names that
 * one, however many come at once.
 */
export async function reportVerdict(log: ChangeLog, random: Random, report: Report): Promise<Reporting> {
  // Who reports the same again does not make anybody wait for the disk.
  const first = await findFirst(log.store, report, log.clock())
  if (first !== null) return receiptOf(report, first.id, "duplicate")
  return await log.store.transaction(store => insertUnlessFirst(store, random, log.clock(), report))
}

/** The report with this id, or null. */
export async function findFeedback(store: Store, id: string): Promise<Feedback | null> {
  const row = await store.one<FeedbackRow>("SELECT * FROM feedback WHERE id = $1", [id])
  return row && feedbackOf(row)
}

/** Which reports are wanted. */
export type FeedbackQuery = {
  /** Null: whatever their status. */
  readonly status: FeedbackStatus | null
  /** The last report of the page before; null: the first page. */
  readonly after: Pick<Feedback, "id" | "createdAtMs"> | null
  readonly countMax: number
}

/** The reports asked for, the newest first. */
export async function listFeedback(store: Store, { status, after, countMax }: FeedbackQuery): Promise<Feedback[]> {
  const { createdAtMs, id } = after ?? BEFORE_ALL
  const [only, wanted]: [string, Cell[]] = status === null ? ["", []] : ["status = $4 AND", [status]]
  const rows = await store.all<FeedbackRow>(
    `SELECT * FROM feedback WHERE ${only} (created_at_ms, id) < ($1, $2)
     ORDER BY created_at_ms DESC, id DESC LIMIT $3`,
    [createdAtMs, id, countMax, ...wanted],
  )
  return rows.map(feedbackOf)
}

/** The next `countMax` reports that the account sent after `after` (null: from the first on), the newest first. */
export async function listFeedbackOf(
  store: Store,
  accountId: string,
  after: FeedbackQuery["after"],
  countMax: number,
): Promise<Feedback[]> {
  const { createdAtMs, id } = after ?? BEFORE_ALL
  const rows = await store.all<FeedbackRow>(
    `SELECT * FROM feedback WHERE account_id = $1 AND (created_at_ms, id) < ($2, $3)
     ORDER BY created_at_ms DESC, id DESC LIMIT $4`,
    [accountId, createdAtMs, id, countMax],
  )
  return rows.map(feedbackOf)
}

/** How many reports have this status. */
export async function countFeedback(store: Store, status: FeedbackStatus): Promise<number> {
  const row = await store.one<{ reports: number }>("SELECT COUNT(*) AS reports FROM feedback WHERE status = $1", [
    status,
  ])
  return row?.reports ?? 0
}

/** How many other accounts reported a category of the report's domain, whatever became of their reports. */
export type OtherReports = { readonly category: ReportableCategory; readonly accountCount: number }

/** What other accounts reported of the domain, the most frequent first. */
export async function otherReports(
  store: Store,
  { domain, accountId }: Pick<Report, "domain" | "accountId">,
): Promise<readonly OtherReports[]> {
  return await store.all<OtherReports>(
    `SELECT reported_category AS category, COUNT(DISTINCT account_id) AS "accountCount" FROM feedback
     WHERE domain = $1 AND account_id <> $2 GROUP BY reported_category
     ORDER BY COUNT(DISTINCT account_id) DESC, reported_category`,
    [domain, accountId],
  )
}

const BEFORE_ALL = { createdAtMs: Number.MAX_SAFE_INTEGER, id: "" }

const DUPLICATE_MS = LIMITS.feedbackDuplicateDays * DAY_MS

async function insertUnlessFirst(store: Store, random: Random, nowMs: number, report: Report): Promise<Reporting> {
  const { accountId, domain, roleWord, currentCategory, reportedCategory, comment } = report
  // A write that changes nothing takes the account's row: who reports next, in any engine, waits for this report to be there.
  const held = await store.run("UPDATE accounts SET tier = tier WHERE id = $1", [accountId])
  if (held === 0) return { kind: "unknown_account" }
  const first = await findFirst(store, report, nowMs)
  if (first !== null) return receiptOf(report, first.id, "duplicate")
  const id = newId("fb", random)
  const kept = comment === null ? null : keptComment(comment)
  const count = await store.run(
    `INSERT INTO feedback
       (id, account_id, domain, role_word, current_category, reported_category, comment, status, created_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'received', $8)`,
    [id, accountId, domain, roleWord, currentCategory, reportedCategory, kept, nowMs],
  )
  assert(count === 1, "a report is one row")
  return receiptOf(report, id, "received")
}

/** The report that this one would repeat, or null. */
async function findFirst(store: Store, report: Report, nowMs: number): Promise<{ readonly id: string } | null> {
  return await store.one<{ readonly id: string }>(
    `SELECT id FROM feedback WHERE account_id = $1 AND domain = $2 AND created_at_ms > $3 AND reported_category = $4
     ORDER BY created_at_ms, id LIMIT 1`,
    [report.accountId, report.domain, nowMs - DUPLICATE_MS, report.reportedCategory],
  )
}

function receiptOf(
  { domain, currentCategory, reportedCategory }: Report,
  id: string,
  status: ReceiptStatus,
): Reporting {
  return { kind: "reported", receipt: { id, status, domain, currentCategory, reportedCategory } }
}

/** A row of the table of reports. */
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
export function feedbackOf(row: FeedbackRow): Feedback {
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
