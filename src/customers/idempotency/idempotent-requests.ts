import { HOUR_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Store } from "../store/core/store.ts"

/** A request with an idempotency key, as it is stored: nobody who reads the store learns the key, or can try out bodies. */
export type IdempotentRequest = {
  readonly accountId: string
  readonly keyHash: string
  /** Tells it from another request with the same key. */
  readonly bodyMac: string
}

/** What was stored of a request. `running`: its list is still arriving. */
export type FormerRequest =
  | { readonly kind: "answered"; readonly bodyMac: string; readonly answer: string }
  | { readonly kind: "running" }

/** Another request with the same key has stored its answer first. */
export class RepeatedRequest extends Error {
  override readonly name = "RepeatedRequest"
}

/** Stores the answer of a request, in the transaction of its work. Rejects with a `RepeatedRequest` when there is one already. */
export type RecordAnswer = (store: Store, answer: string) => Promise<void>

/** What is stored under a key of an account; null: nothing. */
export async function findRequest(
  store: Store,
  { accountId, keyHash }: Pick<IdempotentRequest, "accountId" | "keyHash">,
): Promise<FormerRequest | null> {
  const row = await store.one<{ bodyMac: string | null; answer: string | null }>(
    `SELECT body_mac AS "bodyMac", answer FROM idempotent_requests WHERE account_id = $1 AND key_hash = $2`,
    [accountId, keyHash],
  )
  if (row === null) return null
  const { bodyMac, answer } = row
  return bodyMac === null || answer === null ? { kind: "running" } : { kind: "answered", bodyMac, answer }
}

/** Stores the answer of a request, in the transaction of its work. Rejects with a `RepeatedRequest` when there is one already. */
export async function recordAnswer(
  store: Store,
  { accountId, keyHash, bodyMac }: IdempotentRequest,
  answer: string,
  nowMs: number,
): Promise<void> {
  await makeRoom(store, accountId)
  const count = await store.run(
    `INSERT INTO idempotent_requests (account_id, key_hash, body_mac, answer, at_ms) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (account_id, key_hash) DO NOTHING`,
    [accountId, keyHash, bodyMac, answer, nowMs],
  )
  if (count === 0) throw new RepeatedRequest()
}

/** Reserves a key that is free for the job of an upload, whose answer comes with `answerJob`. Deleting the job lets go of it. */
export async function reserveForJob(
  store: Store,
  { accountId, keyHash }: Pick<IdempotentRequest, "accountId" | "keyHash">,
  jobId: string,
  nowMs: number,
): Promise<void> {
  await makeRoom(store, accountId)
  await store.run("INSERT INTO idempotent_requests (account_id, key_hash, job_id, at_ms) VALUES ($1, $2, $3, $4)", [
    ...[accountId, keyHash, jobId, nowMs],
  ])
}

/** Stores the answer of an upload whose list has arrived. */
export const answerJob = (store: Store, jobId: string, bodyMac: string, answer: string, nowMs: number) =>
  store.run("UPDATE idempotent_requests SET body_mac = $2, answer = $3, at_ms = $4 WHERE job_id = $1", [
    ...[jobId, bodyMac, answer, nowMs],
  ])

/** Forgets the request that made a job. */
export const forgetRequestOfJob = (store: Store, jobId: string): Promise<number> =>
  store.run("DELETE FROM idempotent_requests WHERE job_id = $1", [jobId])

/** Deletes what is older than `LIMITS.idempotencyHours`, but no upload that is still arriving. */
export const pruneIdempotentRequests = (store: Store, nowMs: TrustedInstant, rowsMax: number): Promise<number> =>
  store.run(
    `DELETE FROM idempotent_requests WHERE (account_id, key_hash) IN (
       SELECT account_id, key_hash FROM idempotent_requests WHERE at_ms <= $1 AND answer IS NOT NULL ORDER BY at_ms LIMIT $2)`,
    [nowMs - LIMITS.idempotencyHours * HOUR_MS, rowsMax],
  )

/** Deletes the oldest answers of an account that has as many keys as it may have. */
async function makeRoom(store: Store, accountId: string): Promise<void> {
  const row = await store.one<{ count: number }>(
    "SELECT COUNT(*) AS count FROM idempotent_requests WHERE account_id = $1",
    [accountId],
  )
  const excess = (row?.count ?? 0) - LIMITS.idempotencyKeysPerAccountMax + 1
  if (excess <= 0) return
  await store.run(
    `DELETE FROM idempotent_requests WHERE account_id = $1 AND key_hash IN (
       SELECT key_hash FROM idempotent_requests WHERE account_id = $1 AND answer IS NOT NULL ORDER BY at_ms, key_hash LIMIT $2)`,
    [accountId, excess],
  )
}
