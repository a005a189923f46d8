import { redactAddresses } from "../../base/address-redaction.ts"
import type { Clock, Random } from "../../base/outside-world.ts"
import { HOUR_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { JOB_LIMITS, JOB_TRANSITIONS, type JobReason, type JobTransitionName } from "../../contract/jobs.ts"
import type { StoredReading } from "../../contract/reading.ts"
import { recordAct } from "../audit/audit.ts"
import { answerJob, findRequest, forgetRequestOfJob, reserveForJob } from "../idempotency/idempotent-requests.ts"
import type { Actor } from "../store/change-log/actor.ts"
import type { SqlValue, Store } from "../store/core/store.ts"
import { findJob, JOB_COLUMNS, type Job, type JobOptions, type JobRow, toJob } from "./job-row.ts"

/** AES-256. */
const FILE_KEY_BYTES = 32

/**
 * Makes a transition, if the job is in a state that it starts from; false: it is not. `set` has more columns and `where` more conditions,
 * with parameters from $2 on.
 */
export async function applyTransition(
  store: Store,
  id: string,
  name: JobTransitionName,
  { set = "", where = "", params = [] }: { set?: string; where?: string; params?: readonly SqlValue[] } = {},
): Promise<boolean> {
  const { from, to } = JOB_TRANSITIONS[name]
  const states = from.map(state => `'${state}'`).join(", ")
  const count = await store.run(
    `UPDATE jobs SET state = '${to}'${set === "" ? "" : `, ${set}`} WHERE id = $1 AND state IN (${states})${where === "" ? "" : ` AND ${where}`}`,
    [id, ...params],
  )
  return count > 0
}

/** What a new job needs, besides its options. */
export type NewJob = {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  /** The process that receives the list. */
  readonly holder: string
  readonly options: JobOptions
  /** The hash of its idempotency key; null: it has none. */
  readonly keyHash: string | null
  /** Null: a dry run, of which nothing is kept and nothing recorded. */
  readonly actor: Actor | null
}

/** What of an account holds a new job back: its bounds, or an upload with the same idempotency key. */
export type JobBound = "jobs" | "uploads" | "bytes" | "repeated"

/** Which bound holds a new job of the account back; null: none. */
export async function reachedBound(store: Store, accountId: string): Promise<JobBound | null> {
  const row = await store.one<{ jobs: number; uploads: number; bytes: number }>(
    `SELECT COUNT(*) AS jobs, COUNT(CASE WHEN state = 'receiving' THEN 1 END) AS uploads,
       CAST(COALESCE(SUM(input_bytes + result_bytes), 0) AS BIGINT) AS bytes
     FROM jobs WHERE account_id = $1 AND state <> 'deleted'`,
    [accountId],
  )
  const { jobs = 0, uploads = 0, bytes = 0 } = row ?? {}
  if (jobs >= JOB_LIMITS.jobsPerAccountMax) return "jobs"
  if (uploads >= JOB_LIMITS.uploadsPerAccountMax) return "uploads"
  return bytes >= JOB_LIMITS.bytesPerAccountMax ? "bytes" : null
}

/** How many bytes lists and results of the account may still take; none or fewer: the bound is reached. */
export async function bytesLeft(store: Store, accountId: string): Promise<number> {
  const row = await store.one<{ bytes: number }>(
    `SELECT CAST(COALESCE(SUM(input_bytes + result_bytes), 0) AS BIGINT) AS bytes
     FROM jobs WHERE account_id = $1 AND state <> 'deleted'`,
    [accountId],
  )
  return JOB_LIMITS.bytesPerAccountMax - (row?.bytes ?? 0)
}

/** Creates a job whose list is about to arrive. Gives the bound that holds it back; null: the account is gone. */
export async function createJob(
  { store, clock, random }: { readonly store: Store; readonly clock: Clock; readonly random: Random },
  { id, accountId, keyId, holder, options, keyHash, actor }: NewJob,
): Promise<Job | JobBound | null> {
  const fileKey = Buffer.from(random(FILE_KEY_BYTES)).toString("base64")
  const { format, column, hasHeader, policy, includesTenant, callbackUrl } = options
  const { tellsCanonical, tellsDuplicates, columns } = options
  const name = options.name === null ? null : redactAddresses(options.name, JOB_LIMITS.nameLengthMax)
  return await store.transaction(async inner => {
    // Two uploads of one account count each other.
    if ((await inner.run("UPDATE accounts SET id = id WHERE id = $1", [accountId])) === 0) return null
    if (keyHash !== null && (await findRequest(inner, { accountId, keyHash })) !== null) return "repeated"
    const bound = await reachedBound(inner, accountId)
    if (bound !== null) return bound
    if (keyHash !== null) await reserveForJob(inner, { accountId, keyHash }, id, clock())
    const row = await inner.one<JobRow>(
      `INSERT INTO jobs (id, account_id, key_id, state, name, format, input_column, has_header, policy, includes_tenant, file_key,
         created_at_ms, holder, callback_url, tells_canonical, tells_duplicates, result_columns)
       VALUES ($1, $2, $3, 'receiving', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING ${JOB_COLUMNS}`,
      [id, accountId, keyId, name, format, column, Number(hasHeader), policy, Number(includesTenant), fileKey].concat([
        clock(),
        holder,
        callbackUrl,
        ...[Number(tellsCanonical), Number(tellsDuplicates), columns?.join(",") ?? null],
      ]),
    )
    if (row === null) return null
    if (actor !== null) await recordAct({ clock, actor }, inner, { kind: "list_uploaded", accountId, details: id })
    return toJob(row)
  })
}

/** The answer to an upload with an idempotency key, and what tells it from another one with the same key. */
export type UploadAnswer = {
  readonly bodyMac: string
  readonly nowMs: number
  readonly answerFor: (job: Job) => string
}

/** The list of a job has arrived. Gives the job; null: it was deleted meanwhile. */
export const queueJob = (
  store: Store,
  { id, accountId }: Pick<Job, "id" | "accountId">,
  { inputBytes, rowsTotal, reading }: Pick<Job, "inputBytes" | "rowsTotal"> & { readonly reading: StoredReading },
  upload: UploadAnswer | null = null,
): Promise<Job | null> =>
  store.transaction(async inner => {
    const set = "input_bytes = $2, rows_total = $3, format = $4, reading = $5, holder = NULL"
    const params = [inputBytes, rowsTotal, reading.format, JSON.stringify(reading)]
    const job = (await applyTransition(inner, id, "receive", { set, params }))
      ? await findJob(inner, accountId, id)
      : null
    if (job !== null && upload !== null) await answerJob(inner, id, upload.bodyMac, upload.answerFor(job), upload.nowMs)
    return job
  })

/** Deletes a job with its callbacks and the key of its files, which nobody can read from then on. The files themselves are swept. */
export const deleteJob = (store: Store, id: string): Promise<boolean> =>
  store.transaction(inner => deleteJobIn(inner, id))

async function deleteJobIn(store: Store, id: string): Promise<boolean> {
  const set = "file_key = NULL, name = NULL, holder = NULL, callback_url = NULL, reading = NULL"
  const isDeleted = await applyTransition(store, id, "delete", { set })
  if (!isDeleted) return false
  await store.run("DELETE FROM callbacks WHERE job_id = $1", [id])
  await forgetRequestOfJob(store, id)
  return true
}

/** The same for a job of the account. False: it has none with this id. */
export async function deleteJobOf(
  { store, clock, actor }: { readonly store: Store; readonly clock: Clock; readonly actor: Actor },
  accountId: string,
  id: string,
): Promise<boolean> {
  return await store.transaction(async inner => {
    const isDeleted = (await findJob(inner, accountId, id)) !== null && (await deleteJobIn(inner, id))
    if (isDeleted) await recordAct({ clock, actor }, inner, { kind: "list_deleted", accountId, details: id })
    return isDeleted
  })
}

/** Removes what is left of a deleted job. Its files must be gone. */
export const removeDeletedJob = (store: Store, id: string): Promise<number> =>
  store.run("DELETE FROM jobs WHERE id = $1 AND state = 'deleted'", [id])

/** Deletes the jobs that ended, or stopped, more than so many hours ago. Gives how many. */
export async function deleteExpiredJobs(store: Store, nowMs: TrustedInstant, keepHours: number): Promise<number> {
  const expired = await store.all<{ id: string }>(
    "SELECT id FROM jobs WHERE ended_at_ms IS NOT NULL AND ended_at_ms <= $1 AND state IN ('done', 'failed')",
    [nowMs - keepHours * HOUR_MS],
  )
  let count = 0
  for (const { id } of expired) if (await deleteJob(store, id)) count++
  return count
}

/** The ids of deleted jobs, whose files can be removed. */
export async function deletedJobIds(store: Store): Promise<readonly string[]> {
  return (await store.all<{ id: string }>("SELECT id FROM jobs WHERE state = 'deleted'")).map(({ id }) => id)
}

/** Which of these ids belong to jobs that are not deleted. */
export async function knownJobIds(store: Store): Promise<ReadonlySet<string>> {
  const rows = await store.all<{ id: string }>("SELECT id FROM jobs WHERE state <> 'deleted'")
  return new Set(rows.map(({ id }) => id))
}

/** A job that stopped, with what decides whether it goes on. */
export type StoppedJob = {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly reason: JobReason | null
  readonly tier: number
  readonly isSuspended: boolean
  /** The key's own limit; null: it has none, or there is no such key. */
  readonly keyUnitsPerDay: number | null
}

/** The jobs that stopped, the oldest first. */
export async function stoppedJobs(store: Store): Promise<readonly StoppedJob[]> {
  const rows = await store.all<Omit<StoppedJob, "isSuspended"> & { readonly suspended: number }>(
    `SELECT jobs.id, jobs.account_id AS "accountId", jobs.key_id AS "keyId", reason, tier,
       CASE WHEN suspended_at_ms IS NULL THEN 0 ELSE 1 END AS suspended, keys.units_per_day AS "keyUnitsPerDay"
     FROM jobs JOIN accounts ON accounts.id = jobs.account_id LEFT JOIN keys ON keys.id = jobs.key_id
     WHERE jobs.state = 'stopped' ORDER BY jobs.created_at_ms, jobs.id`,
  )
  return rows.map(({ suspended, ...job }) => ({ ...job, isSuspended: suspended === 1 }))
}
