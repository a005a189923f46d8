import { CALLBACK_LIMITS, type CallbackEnding, type CallbackEvent } from "../../contract/callbacks.ts"
import type { Store } from "../store/core/store.ts"
import { POLLED_AT } from "../store/poll/database-poll.ts"
import { type JobMoment, jobBody } from "./job-body.ts"
import type { Job } from "./job-row.ts"

/** An attempt that has no result after so long has failed: the process that made it has ended. */
const ATTEMPT_MS = 60_000

/** No callback is due later than this, unless it was scheduled under a clock that has been set back since. */
const LATEST_MS = 1000 * Math.max(...CALLBACK_LIMITS.retrySeconds) + ATTEMPT_MS

/**
 * Adds what happened to a job to the callbacks, within the transaction of `store`, which is the one that makes it happen. Adds nothing
 * when the job has no callback URL, or its receiver has said that it is gone.
 */
export async function enqueueCallback(store: Store, job: Job, event: CallbackEvent, moment: JobMoment): Promise<void> {
  if (job.callbackUrl === null) return
  const { nowMs } = moment
  const body = JSON.stringify({
    type: event,
    timestamp: new Date(nowMs).toISOString(),
    data: jobBody(job, moment),
  })
  // Each claim of a job ends once, so its lease makes the id unique.
  await store.run(
    `INSERT INTO callbacks (id, account_id, job_id, event, body, happened_at_ms, due_at_ms)
     SELECT $1, $2, $3, $4, $5, $6, $6
     WHERE NOT EXISTS (SELECT 1 FROM callbacks WHERE job_id = $3 AND ending = 'gone')`,
    [`msg_${job.id}_${job.lease}`, job.accountId, job.id, event, body, nowMs],
  )
}

/** Whether a callback is due, as a column of a poll of the database. */
export const CALLBACKS_POLLED = `EXISTS (SELECT 1 FROM callbacks
  WHERE ending IS NULL AND (due_at_ms <= ${POLLED_AT} OR due_at_ms > ${POLLED_AT} + ${LATEST_MS}))`

/** A callback that this process sends now. */
export type ClaimedCallback = {
  readonly id: string
  readonly accountId: string
  readonly jobId: string
  readonly url: string | null
  readonly body: string
  /** How many attempts were made, with this one. */
  readonly attemptCount: number
  /** When this attempt counts as failed, by which its claim is known. */
  readonly dueAtMs: number
}

/** How many accounts with a due callback one look goes through: more than may be slow, so that others come after them. */
const LOOKED_AT_MAX = 2000

/**
 * Claims the due callback of each account that `mayClaim`, asked before each claim, says. No two processes get the same one at the same
 * time. A claim needs no renewal: an attempt is shorter.
 */
export async function* claimCallbacks(
  store: Store,
  nowMs: number,
  mayClaim: (callback: Pick<ClaimedCallback, "accountId" | "url">) => boolean,
): AsyncGenerator<ClaimedCallback, undefined> {
  const rows = await store.all<Omit<ClaimedCallback, "body">>(
    `SELECT callbacks.id, callbacks.account_id AS "accountId", job_id AS "jobId", callback_url AS url,
       attempt_count + 1 AS "attemptCount", due_at_ms AS "dueAtMs"
     FROM callbacks JOIN jobs ON jobs.id = callbacks.job_id
     WHERE ending IS NULL AND (due_at_ms <= $1 OR due_at_ms > $2) AND NOT EXISTS (
       SELECT 1 FROM callbacks AS other WHERE other.account_id = callbacks.account_id AND other.ending IS NULL
         AND (other.due_at_ms, other.id) < (callbacks.due_at_ms, callbacks.id))
     ORDER BY due_at_ms LIMIT $3`,
    [nowMs, nowMs + LATEST_MS, LOOKED_AT_MAX],
  )
  for (const row of rows) {
    if (!mayClaim(row)) continue
    const dueAtMs = nowMs + ATTEMPT_MS
    const claimed = await store.one<{ readonly body: string }>(
      `UPDATE callbacks SET due_at_ms = $3, attempt_count = attempt_count + 1, tried_at_ms = $4
       WHERE id = $1 AND due_at_ms = $2 AND ending IS NULL RETURNING body`,
      [row.id, row.dueAtMs, dueAtMs, nowMs],
    )
    if (claimed !== null) yield { ...row, body: claimed.body, dueAtMs }
  }
}

/** What an attempt came to: when the next one is due, or how the callback ended. */
export type CallbackOutcome = { readonly result: string } & (
  | { readonly dueAtMs: number }
  | { readonly ending: CallbackEnding }
)

/** Records an attempt. Where the receiver is gone, nothing of the job is sent any more. */
export async function recordAttempt(
  store: Store,
  { id, jobId, dueAtMs }: Pick<ClaimedCallback, "id" | "jobId" | "dueAtMs">,
  outcome: CallbackOutcome,
): Promise<void> {
  const ending = "ending" in outcome ? outcome.ending : null
  await store.run("UPDATE callbacks SET result = $3, due_at_ms = $4, ending = $5 WHERE id = $1 AND due_at_ms = $2", [
    ...[id, dueAtMs, outcome.result, "dueAtMs" in outcome ? outcome.dueAtMs : dueAtMs],
    ending,
  ])
  if (ending === "gone")
    await store.run("UPDATE callbacks SET ending = 'gone' WHERE job_id = $1 AND ending IS NULL", [jobId])
}

/** A callback as its owner sees it. */
export type CallbackState = {
  readonly id: string
  readonly event: CallbackEvent
  readonly happenedAtMs: number
  readonly attemptCount: number
  /** When the last attempt began; null: there was none. */
  readonly triedAtMs: number | null
  /** What the last finished attempt came to; null: none has finished. */
  readonly result: string | null
  readonly ending: CallbackEnding | null
  readonly dueAtMs: number
}

/** How many callbacks of a job are shown. */
const SHOWN_CALLBACKS_MAX = 20

/** The last callbacks of a job, the newest first. */
export const listCallbacks = (store: Store, jobId: string): Promise<readonly CallbackState[]> =>
  store.all<CallbackState>(
    `SELECT id, event, happened_at_ms AS "happenedAtMs", attempt_count AS "attemptCount", tried_at_ms AS "triedAtMs",
       result, ending, due_at_ms AS "dueAtMs"
     FROM callbacks WHERE job_id = $1 ORDER BY happened_at_ms DESC, id DESC LIMIT $2`,
    [jobId, SHOWN_CALLBACKS_MAX],
  )

/** Sends a callback of a job once more, with all its attempts. False: the job has none with this id. */
export async function sendAgain(store: Store, jobId: string, id: string, nowMs: number): Promise<boolean> {
  const count = await store.run(
    "UPDATE callbacks SET ending = NULL, attempt_count = 0, due_at_ms = $3 WHERE job_id = $1 AND id = $2",
    [jobId, id, nowMs],
  )
  return count > 0
}

/** How many callbacks wait, and how many were given up. */
export async function countCallbacks(store: Store): Promise<{ readonly waiting: number; readonly givenUp: number }> {
  const row = await store.one<{ waiting: number; givenUp: number }>(
    `SELECT COUNT(CASE WHEN ending IS NULL THEN 1 END) AS waiting,
       COUNT(CASE WHEN ending = 'given_up' THEN 1 END) AS "givenUp" FROM callbacks`,
  )
  return row ?? { waiting: 0, givenUp: 0 }
}
