import { assert } from "../../base/errors.ts"
import type { Clock } from "../../base/outside-world.ts"
import { HOUR_MS } from "../../base/time.ts"
import { CALLBACK_EVENT_NAMES, CALLBACK_EVENTS } from "../../contract/callbacks.ts"
import { JOB_LIMITS, type JobReason } from "../../contract/jobs.ts"
import type { Notice, NoticeParams } from "../notices/notices.ts"
import { enqueueNotice } from "../notices/outbox.ts"
import type { SqlValue, Store } from "../store/core/store.ts"
import { enqueueCallback } from "./callback-queue.ts"
import type { JobMoment } from "./job-body.ts"
import { applyTransition, deleteJob } from "./job-lifecycle.ts"
import { findJob, JOB_COLUMNS, type Job, type JobRow, toJob } from "./job-row.ts"

/** How often a holder tells that it lives, and after how long without that another process takes its job over. */
export const JOB_LEASE_BOUNDS = { beatMs: 2000, deadAfterMs: 12_000 } as const

/** Whether a job waits for its turn or its cause, is uploaded, or is being checked, as a column of a poll of the database. */
export const JOBS_POLLED = "EXISTS (SELECT 1 FROM jobs WHERE state IN ('queued', 'stopped', 'receiving', 'running'))"

/**
 * Claims the oldest job that waits, of an account of which no job is being checked. Null: there is none. Whoever claims a job writes
 * results into a file of its own, named after the lease, so that a former holder that was only slow can do no harm. `isIdle`: the process
 * checks no job. Only then it gets one that has ended a process, so that no other job is blamed if it does so again; younger ones wait.
 */
export async function claimNextJob(store: Store, clock: Clock, holder: string, isIdle: boolean): Promise<Job | null> {
  return await store.transaction(async inner => {
    const next = await inner.one<{ id: string; accountId: string; stalledClaims: number }>(
      `SELECT jobs.id, account_id AS "accountId", stalled_claims AS "stalledClaims" FROM jobs JOIN accounts ON accounts.id = jobs.account_id
       WHERE state = 'queued' AND suspended_at_ms IS NULL AND NOT EXISTS (${RUNNING_OF_ACCOUNT})
       ORDER BY jobs.created_at_ms, jobs.id LIMIT 1`,
    )
    if (next === null) return null
    if (!isIdle && next.stalledClaims > 0 && next.stalledClaims < JOB_LIMITS.stalledClaimsMax) return null
    // Two processes that claim two jobs of one account wait for each other here; the second one finds the first one's.
    await inner.run("UPDATE accounts SET id = id WHERE id = $1", [next.accountId])
    const isClaimed = await applyTransition(inner, next.id, "claim", {
      set: "lease = lease + 1, beat = beat + 1, stalled_claims = stalled_claims + 1, holder = $2, reason = NULL, started_at_ms = COALESCE(started_at_ms, $3)",
      where: `NOT EXISTS (${RUNNING_OF_ACCOUNT})`,
      params: [holder, clock()],
    })
    if (!isClaimed) return null
    const row = await inner.one<JobRow>(`SELECT ${JOB_COLUMNS} FROM jobs WHERE id = $1`, [next.id])
    return row === null ? null : toJob(row)
  })
}

const RUNNING_OF_ACCOUNT =
  "SELECT 1 FROM jobs AS others WHERE others.account_id = jobs.account_id AND others.state = 'running'"

/** A claimed job, as its holder knows it. */
export type JobLease = Pick<Job, "id" | "lease">

const held = "lease = $2"

/** The claim ended in good order, so it does not count. A version before this column has not counted it. */
const FORGIVE_CLAIM = "stalled_claims = CASE WHEN stalled_claims > 0 THEN stalled_claims - 1 ELSE 0 END"

/** Gives the job back, so that any process may claim it. `isOrderly`: neither did the holder end amid its work, nor did a row fail. */
export const releaseJob = (store: Store, { id, lease }: JobLease, isOrderly: boolean): Promise<boolean> =>
  applyTransition(store, id, "release", {
    set: isOrderly ? `holder = NULL, ${FORGIVE_CLAIM}` : "holder = NULL",
    where: held,
    params: [lease],
  })

/** Stores from which row on one of a block is suspected of having ended a process. False: another process has the job, or it is deleted. */
export const suspectRowOf = async (store: Store, { id, lease }: JobLease, row: number): Promise<boolean> =>
  (await store.run(`UPDATE jobs SET suspect_row = $3 WHERE id = $1 AND ${held} AND state = 'running'`, [
    id,
    lease,
    row,
  ])) > 0

/** A claimed job with its owner, who is told how it ends. */
type OwnedLease = JobLease & Pick<Job, "accountId">

/** The job waits until something changes. Its owner gets a mail, once for each reason, and its callback URL a callback. */
export const stopJob = (store: Store, job: OwnedLease, reason: JobReason, moment: JobMoment): Promise<boolean> =>
  endWithNotice(
    store,
    job,
    "stop",
    { set: `holder = NULL, reason = $3, ${FORGIVE_CLAIM}`, params: [reason] },
    moment,
    () => ({
      kind: "list_stopped",
      params: { jobId: job.id, reason },
      subject: `${job.id} ${reason}`,
    }),
  )

/** The job goes on as soon as it is its turn. */
export const resumeJob = (store: Store, id: string): Promise<boolean> => applyTransition(store, id, "resume")

/** All rows are done. Its owner gets a mail, and its callback URL a callback. */
export const finishJob = (store: Store, job: OwnedLease, moment: JobMoment): Promise<boolean> =>
  endWithNotice(
    store,
    job,
    "finish",
    { set: "holder = NULL, ended_at_ms = $3, rows_total = rows_done", params: [moment.nowMs] },
    moment,
    done => ({ kind: "list_done", params: doneParams(done, moment), subject: job.id }),
  )

function doneParams({ id, counts }: Job, { nowMs, keepHours }: JobMoment): NoticeParams["list_done"] {
  const { allow = 0, review = 0, block = 0 } = counts.byRecommendation
  return { jobId: id, rows: { allow, review, block }, deletedAtMs: nowMs + keepHours * HOUR_MS }
}

/** The job cannot go on. Its owner gets a mail, and its callback URL a callback. */
export const failJob = (store: Store, job: OwnedLease, reason: JobReason, moment: JobMoment): Promise<boolean> =>
  endWithNotice(
    store,
    job,
    "fail",
    { set: "holder = NULL, reason = $3, ended_at_ms = $4", params: [reason, moment.nowMs] },
    moment,
    () => ({ kind: "list_stopped", params: { jobId: job.id, reason }, subject: `${job.id} ${reason}` }),
  )

/** Makes a transition of a claimed job, and tells its owner and its callback URL in the same transaction. */
const endWithNotice = (
  store: Store,
  { id, lease, accountId }: OwnedLease,
  name: "stop" | "finish" | "fail",
  { set, params }: { readonly set: string; readonly params: readonly SqlValue[] },
  moment: JobMoment,
  noticeOf: (job: Job) => Notice & { readonly subject: string },
): Promise<boolean> =>
  store.transaction(async inner => {
    const isMoved = await applyTransition(inner, id, name, { set, where: held, params: [lease, ...params] })
    if (!isMoved) return false
    const job = await findJob(inner, accountId, id)
    assert(job !== null, "a transition does not take a job away")
    await enqueueNotice(inner, moment.nowMs, { ...noticeOf(job), accountId })
    const event = CALLBACK_EVENT_NAMES.find(event => CALLBACK_EVENTS[event].transition === name)
    if (event !== undefined) await enqueueCallback(inner, job, event, moment)
    return true
  })

/** Tells the other processes that this one lives. */
export const beatJobs = (store: Store, holder: string): Promise<number> =>
  store.run("UPDATE jobs SET beat = beat + 1 WHERE holder = $1 AND state IN ('running', 'receiving')", [holder])

type HeldJob = Pick<Job, "id" | "state" | "lease" | "beat"> & { readonly holder: string | null }
type ObservedJob = HeldJob & { readonly sinceMs: number }

/**
 * Finds the jobs whose holder has ended: its beat did not rise for so long, by the stopwatch of this process. It may be wrong about one that was only
 * slow, which costs that one its lease and nothing else.
 */
export class HolderWatch {
  readonly #deadAfterMs: number
  /** Whether the holder is known to have ended, without waiting. */
  readonly #hasEnded: (holder: string) => boolean
  #observed = new Map<string, ObservedJob>()

  constructor(deadAfterMs: number, hasEnded: (holder: string) => boolean) {
    this.#deadAfterMs = deadAfterMs
    this.#hasEnded = hasEnded
  }

  /**
   * Takes the jobs of holders that have ended away from them: what was being checked waits again, and an upload is deleted. So it does with
   * jobs of this process, `holder`, on which nothing works any more, since the store failed when they were to be given back. Gives whether
   * an upload was deleted.
   */
  async takeOver(store: Store, holder: string, isAtWork: (id: string) => boolean, nowMs: number): Promise<boolean> {
    const previous = this.#observed
    // While the store fails no holder can tell that it lives, so that time does not count.
    this.#observed = new Map()
    const rows = await store.all<HeldJob>(
      "SELECT id, state, lease, beat, holder FROM jobs WHERE state IN ('running', 'receiving')",
    )
    this.#observed = new Map(
      rows.map(row => {
        const known = previous.get(row.id)
        const isSame = known?.lease === row.lease && known.beat === row.beat
        return [row.id, { ...row, sinceMs: isSame ? known.sinceMs : nowMs }]
      }),
    )
    const isLeft = (job: ObservedJob): boolean => {
      if (job.holder === holder) return !isAtWork(job.id)
      return nowMs - job.sinceMs >= this.#deadAfterMs || (job.holder !== null && this.#hasEnded(job.holder))
    }
    let hasDeleted = false
    for (const job of this.#observed.values()) {
      if (!isLeft(job)) continue
      if (job.state === "running") await releaseJob(store, job, job.holder === holder)
      else hasDeleted = (await deleteJob(store, job.id)) || hasDeleted
    }
    return hasDeleted
  }
}
