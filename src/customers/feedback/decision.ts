import type { Category } from "../../contract/categories.ts"
import { recordAct } from "../audit/audit.ts"
import { enqueueNotice } from "../notices/outbox.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { type RecordChange, recordChanges } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { CORRECTIONS_MAX } from "./correction-cache.ts"
import { type Feedback, type FeedbackRow, type FeedbackStatus, toFeedback } from "./feedback.ts"

/** The result of an operator's decision. `correction` is the domain's correction now; null: none. */
export type FeedbackDecision =
  /** `isNew` is false when the decision was the same before; then nothing was written. */
  | {
      readonly kind: "decided"
      readonly feedback: Feedback
      readonly isNew: boolean
      readonly correction: Category | null
    }
  /** The report was deleted with its account; its correction, which had remained, is withdrawn. */
  | { readonly kind: "orphan_taken_back"; readonly domain: string; readonly correction: Category | null }
  | { readonly kind: "unknown_feedback" }
  /** There are `CORRECTIONS_MAX` corrections and none for this domain; nothing was written. */
  | { readonly kind: "too_many_corrections" }

/** Somebody else decided differently after the report was displayed; nothing was written. */
type DecisionConflict = { readonly kind: "decided_meanwhile"; readonly feedback: Feedback }

/**
 * Accepts or rejects a report, unless its status is no longer the one that was `seen`; null: whichever it is. An accepted category becomes the
 * correction of the domain, replacing that of an earlier accepted report. If a rejected report made the correction of its domain, the correction
 * is withdrawn and that of the domain's latest other accepted report takes its place, if there is one (DECISIONS 11). Idempotent.
 */
export function decideFeedback(
  log: AttributedLog,
  id: string,
  verdict: DecidedStatus,
  seen: FeedbackStatus | null = null,
): Promise<FeedbackDecision | DecisionConflict> {
  return recordChanges(log, async (store, record): Promise<FeedbackDecision | DecisionConflict> => {
    // A write without effect locks the report's row until the decision.
    const row = await store.one<FeedbackRow>("UPDATE feedback SET status = status WHERE id = $1 RETURNING *", [id])
    if (row !== null && seen !== null && row.status !== seen && row.status !== verdict)
      return { kind: "decided_meanwhile", feedback: toFeedback(row) }
    return await decideAndRecord(log, { store, record }, id, verdict)
  })
}

async function decideAndRecord(
  log: AttributedLog,
  { store, record }: Pick<DecisionContext, "store" | "record">,
  id: string,
  verdict: DecidedStatus,
): Promise<FeedbackDecision> {
  const decision = await decide({ store, record, nowMs: log.clock() }, id, verdict)
  if (!isEffective(decision)) return decision
  const accountId = decision.kind === "decided" ? decision.feedback.accountId : null
  await recordAct(log, store, { kind: `report_${verdict}`, accountId, details: id })
  return decision
}

const isEffective = (decision: FeedbackDecision): boolean =>
  decision.kind === "orphan_taken_back" || (decision.kind === "decided" && decision.isNew)

/** The correction of exactly this domain, and the id of the report that made it; null: none. */
export async function findCorrection(
  store: Store,
  domain: string,
): Promise<{ readonly category: Category; readonly feedbackId: string } | null> {
  return await store.one(`SELECT category, feedback_id AS "feedbackId" FROM corrections WHERE domain = $1`, [domain])
}

type DecidedStatus = Exclude<FeedbackStatus, "received">

/** The effect of a decision on corrections, by the status before it. */
const DECISION_EFFECTS: {
  readonly [S in FeedbackStatus]: {
    readonly [V in DecidedStatus]: "corrects" | "takes_back" | "corrects_nothing" | "repeats"
  }
} = {
  received: { accepted: "corrects", rejected: "corrects_nothing" },
  accepted: { accepted: "repeats", rejected: "takes_back" },
  rejected: { accepted: "corrects", rejected: "repeats" },
}

/** The transaction of a decision, and its time. */
type DecisionContext = { readonly store: Store; readonly record: RecordChange; readonly nowMs: number }

async function decide(moment: DecisionContext, id: string, verdict: DecidedStatus): Promise<FeedbackDecision> {
  const { store, nowMs } = moment
  // Writes without effect lock the report's row, then the correction's, always in this order, so that the next decision, on
  // either engine, sees this one.
  const row = await store.one<FeedbackRow>("UPDATE feedback SET status = status WHERE id = $1 RETURNING *", [id])
  if (row === null) return verdict === "rejected" ? await rejectOrphan(moment, id) : { kind: "unknown_feedback" }
  const held = await store.one<CorrectionRow>(
    "UPDATE corrections SET category = category WHERE domain = $1 RETURNING domain, category, feedback_id",
    [row.domain],
  )
  const effect = DECISION_EFFECTS[row.status][verdict]
  if (effect === "repeats")
    return { kind: "decided", feedback: toFeedback(row), isNew: false, correction: held?.category ?? null }
  if (effect === "corrects" && held === null && (await isCorrectionLimitReached(store)))
    return { kind: "too_many_corrections" }
  await store.run("UPDATE feedback SET status = $2, decided_at_ms = $3 WHERE id = $1", [id, verdict, nowMs])
  const feedback = toFeedback({ ...row, status: verdict, decided_at_ms: nowMs })
  await notifyReporter(moment, feedback)
  const decided = (correction: Category | null): FeedbackDecision => ({
    kind: "decided",
    feedback,
    isNew: true,
    correction,
  })
  if (effect === "corrects") return decided(await writeCorrection(moment, row))
  // A correction made by another report since then stays.
  const isOwn = effect === "takes_back" && held?.feedback_id === id
  return decided(isOwn ? await withdrawCorrection(moment, row.domain) : (held?.category ?? null))
}

/** Tells the account that reported, in the transaction of the decision. The same decision of a report is told once. */
async function notifyReporter({ store, nowMs }: DecisionContext, decided: Feedback): Promise<void> {
  const { id, accountId, domain, reportedCategory, status } = decided
  await enqueueNotice(store, nowMs, {
    accountId,
    kind: "report_decided",
    subject: `${id} ${status}`,
    params: { domain, reportedCategory, isAccepted: status === "accepted" },
  })
}

async function rejectOrphan(moment: DecisionContext, feedbackId: string): Promise<FeedbackDecision> {
  const held = await moment.store.one<CorrectionRow>(
    "UPDATE corrections SET category = category WHERE feedback_id = $1 RETURNING domain, category, feedback_id",
    [feedbackId],
  )
  if (held === null) return { kind: "unknown_feedback" }
  return { kind: "orphan_taken_back", domain: held.domain, correction: await withdrawCorrection(moment, held.domain) }
}

type CorrectionRow = { readonly domain: string; readonly category: Category; readonly feedback_id: string }

async function isCorrectionLimitReached(store: Store): Promise<boolean> {
  const row = await store.one<{ made: number }>("SELECT COUNT(*) AS made FROM corrections")
  return (row?.made ?? 0) >= CORRECTIONS_MAX
}

/** Writes the report's category as the correction of its domain, and returns it. */
async function writeCorrection({ store, record, nowMs }: DecisionContext, by: FeedbackRow): Promise<Category> {
  const { id, domain, reported_category: category } = by
  await store.run(
    `INSERT INTO corrections (domain, category, feedback_id, made_at_ms) VALUES ($1, $2, $3, $4)
     ON CONFLICT (domain) DO UPDATE SET category = $2, feedback_id = $3, made_at_ms = $4`,
    [domain, category, id, nowMs],
  )
  await record("correction_changed", domain)
  return category
}

/** Withdraws the domain's correction and returns the one that takes its place; null: none. */
async function withdrawCorrection(moment: DecisionContext, domain: string): Promise<Category | null> {
  const { store, record } = moment
  const next = await store.one<FeedbackRow>(
    "SELECT * FROM feedback WHERE domain = $1 AND status = 'accepted' ORDER BY decided_at_ms DESC, id LIMIT 1",
    [domain],
  )
  if (next !== null) return await writeCorrection(moment, next)
  await store.run("DELETE FROM corrections WHERE domain = $1", [domain])
  await record("correction_changed", domain)
  return null
}
