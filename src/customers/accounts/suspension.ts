import { redactLines } from "../../base/address-redaction.ts"
import { hasAtMostCharacters, trimSpace } from "../../base/text.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import { recordAct } from "../audit/audit.ts"
import { enqueueNotice } from "../notices/outbox.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { recordChanges } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { accountEmailHash } from "./account-email.ts"

/** `isNew` is false when the account was in that state before; then nothing was written. */
export type SuspensionChange =
  | { readonly kind: "changed"; readonly isNew: boolean }
  | { readonly kind: "bad_reason" }
  | { readonly kind: "unknown_account" }

/**
 * Suspends an account and enqueues a notice to its owner: requests with its keys are refused until it is resumed. This process refuses
 * them when it resolves, all others within `LIMITS.revocationSecondsMax`. The owner reads `written` without addresses; empty: no
 * reason is given.
 */
export async function suspendAccount(log: AttributedLog, id: string, written: string): Promise<SuspensionChange> {
  if (!hasAtMostCharacters(written, LIMITS.suspensionReasonLengthMax)) return { kind: "bad_reason" }
  const reason = redactLines(trimSpace(written))
  const nowMs = log.clock()
  return await recordChanges(log, async (store, record): Promise<SuspensionChange> => {
    const count = await store.run(
      "UPDATE accounts SET suspended_at_ms = $2, suspension_reason = $3 WHERE id = $1 AND suspended_at_ms IS NULL",
      [id, nowMs, reason],
    )
    if (count === 0) return await unchanged(store, id)
    const params = { atMs: nowMs, reason }
    await enqueueNotice(store, nowMs, { accountId: id, subject: `${nowMs}`, kind: "account_suspended", params })
    await recordAct(log, store, { kind: "account_suspended", accountId: id, details: "" })
    await record("account_changed", id)
    return { kind: "changed", isNew: true }
  })
}

/** Resumes a suspended account and enqueues a notice to its owner: its keys work again. */
export async function resumeAccount(log: AttributedLog, id: string): Promise<SuspensionChange> {
  const nowMs = log.clock()
  return await recordChanges(log, async (store, record): Promise<SuspensionChange> => {
    const count = await store.run(
      "UPDATE accounts SET suspended_at_ms = NULL, suspension_reason = NULL WHERE id = $1 AND suspended_at_ms IS NOT NULL",
      [id],
    )
    if (count === 0) return await unchanged(store, id)
    const params = { atMs: nowMs }
    await enqueueNotice(store, nowMs, { accountId: id, subject: `${nowMs}`, kind: "account_resumed", params })
    await recordAct(log, store, { kind: "account_resumed", accountId: id, details: "" })
    await record("account_changed", id)
    return { kind: "changed", isNew: true }
  })
}

async function unchanged(store: Store, id: string): Promise<SuspensionChange> {
  const account = await store.one<{ readonly id: string }>("SELECT id FROM accounts WHERE id = $1", [id])
  return account === null ? { kind: "unknown_account" } : { kind: "changed", isNew: false }
}

/** The count of suspended accounts. */
export async function countSuspended(store: Store): Promise<number> {
  const row = await store.one<{ suspended: number }>(
    "SELECT COUNT(*) AS suspended FROM accounts WHERE suspended_at_ms IS NOT NULL",
  )
  return row?.suspended ?? 0
}

/*
 * A suspension outlives the deletion of its account, under a hash of the email: otherwise the owner of a suspended account would delete
 * it and sign up again.
 */

/** Keeps the suspension of an account, if there is one, in the transaction of `store` that deletes the account. */
export async function keepFormerSuspension(
  store: Store,
  { email, suspendedAtMs }: { readonly email: string; readonly suspendedAtMs?: number },
  nowMs: number,
): Promise<void> {
  if (suspendedAtMs === undefined) return
  await store.run(
    `INSERT INTO former_suspensions (email_hash, suspended_at_ms, kept_at_ms) VALUES ($1, $2, $3)
     ON CONFLICT (email_hash) DO UPDATE SET kept_at_ms = excluded.kept_at_ms`,
    [accountEmailHash(email), suspendedAtMs, nowMs],
  )
}

/** Takes the suspension of a former account with this email for a new one: when it began, or null. */
export async function takeFormerSuspension(store: Store, email: string): Promise<number | null> {
  const row = await store.one<{ readonly atMs: number }>(
    'DELETE FROM former_suspensions WHERE email_hash = $1 RETURNING suspended_at_ms AS "atMs"',
    [accountEmailHash(email)],
  )
  return row?.atMs ?? null
}

/** Deletes suspensions of accounts that were deleted more than `LIMITS.formerSuspensionDays` ago. */
export async function pruneFormerSuspensions(store: Store, nowMs: TrustedInstant): Promise<number> {
  return await store.run("DELETE FROM former_suspensions WHERE kept_at_ms < $1", [
    nowMs - LIMITS.formerSuspensionDays * DAY_MS,
  ])
}
