import type { TrustedInstant } from "../../base/trusted-clock.ts"
import type { Store } from "../store/core/store.ts"
import { POLLED_AT } from "../store/poll/database-poll.ts"
import { isMailable } from "./mailer.ts"
import { NOTICES, type Notice } from "./notices.ts"

/**
 * Identifies a mail of the outbox, waiting or ended. An account has at most one mail of a notice about a subject (the id of
 * a key, or a version of the terms).
 */
export type OutboxKey = { readonly accountId: string; readonly notice: string; readonly subject: string }

/** A notice for an account, about a subject. */
type NewNotice = Notice & { readonly accountId: string; readonly subject: string }

/**
 * Adds a notice to the outbox within the transaction of `store`, which is the one that causes it. Adds nothing and returns
 * false when the account already had this notice about this subject, switched such mails off, is deleted, or has an email that cannot
 * receive mail.
 */
export async function enqueueNotice(store: Store, nowMs: number, posting: NewNotice): Promise<boolean> {
  const { accountId, kind, subject, params } = posting
  const account = await store.one<{ email: string; muted: number | null }>(
    `SELECT email, (SELECT 1 FROM muted_notices WHERE account_id = accounts.id AND notice = $2) AS muted
     FROM accounts WHERE id = $1`,
    [accountId, kind],
  )
  if (account === null || !isMailable(account.email)) return false
  if (account.muted !== null && NOTICES[kind].isOptional) return false
  const postedCount = await store.run(
    `INSERT INTO outbox (account_id, notice, subject, particulars, written_at_ms, due_at_ms, refusal_count, renewal_count)
     VALUES ($1, $2, $3, $4, $5, $5, 0, 0) ON CONFLICT (account_id, notice, subject) DO NOTHING`,
    [accountId, kind, subject, JSON.stringify(params), nowMs],
  )
  return postedCount > 0
}

/** A mail that a sender has claimed: no other process sends it while the claim lasts. */
export type ClaimedMail = OutboxKey & {
  readonly email: string
  readonly particulars: string
  readonly writtenAtMs: number
  /** How often a server deferred it. */
  readonly refusalCount: number
  /** Null: not tried before. */
  readonly firstTriedAtMs: number | null
}

/** Whether a mail is due, and whether one waits or is claimed, as columns of a poll of the database. */
export const OUTBOX_POLLED = {
  mailsDue: `EXISTS (SELECT 1 FROM outbox WHERE ended_at_ms IS NULL AND claim IS NULL AND due_at_ms <= ${POLLED_AT})`,
  mailsLeft: "EXISTS (SELECT 1 FROM outbox WHERE ended_at_ms IS NULL)",
} as const

/**
 * Claims up to `countMax` due mails, longest due first. No two claims get the same mail, across all processes.
 */
export async function claimMails(
  store: Store,
  claim: string,
  nowMs: number,
  countMax: number,
): Promise<readonly ClaimedMail[]> {
  const due = "ended_at_ms IS NULL AND claim IS NULL AND due_at_ms <= $1"
  // A look outside a transaction first: a transaction each second would block the other writers.
  if ((await store.one(`SELECT 1 AS due FROM outbox WHERE ${due} LIMIT 1`, [nowMs])) === null) return []
  return await store.transaction(async inner => {
    const rows = await inner.all<ClaimedMail>(
      `SELECT account_id AS "accountId", notice, subject, particulars, written_at_ms AS "writtenAtMs",
         refusal_count AS "refusalCount", first_tried_at_ms AS "firstTriedAtMs",
         (SELECT email FROM accounts WHERE accounts.id = outbox.account_id) AS email
       FROM outbox WHERE ${due} ORDER BY due_at_ms LIMIT $2`,
      [nowMs, countMax],
    )
    const claimed: ClaimedMail[] = []
    for (const row of rows) {
      // Checked again: on PostgreSQL two transactions run side by side, and the slower one notices here.
      const takenCount = await inner.run(
        `UPDATE outbox SET claim = $4, renewal_count = renewal_count + 1
         WHERE ${BY_OUTBOX_KEY} AND ended_at_ms IS NULL AND claim IS NULL`,
        [...outboxKeyParams(row), claim],
      )
      if (takenCount > 0) claimed.push(row)
    }
    return claimed
  })
}

/**
 * Makes mails due whose due time is later than `latestMs`: no delay is that long, so they were deferred or written under a
 * clock that has been set back since. Returns their count.
 */
export async function rescheduleFutureMails(store: Store, nowMs: number, latestMs: number): Promise<number> {
  return await store.run(
    "UPDATE outbox SET due_at_ms = $1 WHERE ended_at_ms IS NULL AND claim IS NULL AND due_at_ms > $2",
    [nowMs, latestMs],
  )
}

/** Renews a claim for all its mails, so that other processes see it alive. */
export async function renewClaims(store: Store, claim: string): Promise<number> {
  return await store.run("UPDATE outbox SET renewal_count = renewal_count + 1 WHERE claim = $1", [claim])
}

/** How a mail leaves the outbox: accepted by a server, refused for good, or tried for too long. */
export type MailEnding = "sent" | "refused" | "given_up"

/** Ends a mail under the claim. False: it is no longer under it, since another process took it over or its account is deleted. */
export async function endMail(
  store: Store,
  claim: string,
  envelope: OutboxKey,
  ending: MailEnding,
  nowMs: number,
): Promise<boolean> {
  const count = await store.run(
    `UPDATE outbox SET ending = $5, ended_at_ms = $6, claim = NULL
     WHERE ${BY_OUTBOX_KEY} AND claim = $4`,
    [...outboxKeyParams(envelope), claim, ending, nowMs],
  )
  return count > 0
}

/** When a mail is tried again; `isRefusal`: the server deferred it, which lengthens the next delay. */
type MailDelay = { readonly nowMs: number; readonly dueAtMs: number; readonly isRefusal: boolean }

/** Reschedules a mail under the claim after a failed attempt. False as in `endMail`. */
export async function rescheduleMail(
  store: Store,
  claim: string,
  envelope: OutboxKey,
  { nowMs, dueAtMs, isRefusal }: MailDelay,
): Promise<boolean> {
  const count = await store.run(
    `UPDATE outbox SET due_at_ms = $5, first_tried_at_ms = COALESCE(first_tried_at_ms, $6), claim = NULL,
       refusal_count = refusal_count + $7
     WHERE ${BY_OUTBOX_KEY} AND claim = $4`,
    [...outboxKeyParams(envelope), claim, dueAtMs, nowMs, isRefusal ? 1 : 0],
  )
  return count > 0
}

/** A mail claimed by another process, and its count of claims and renewals, which only rises. */
export type ForeignClaim = OutboxKey & { readonly claim: string; readonly renewalCount: number }

/** Reads the mails that other processes have claimed. */
export async function readForeignClaims(store: Store, ownClaim: string): Promise<readonly ForeignClaim[]> {
  return await store.all<ForeignClaim>(
    `SELECT account_id AS "accountId", notice, subject, claim, renewal_count AS "renewalCount" FROM outbox
     WHERE claim IS NOT NULL AND claim <> $1 ORDER BY account_id, notice, subject LIMIT $2`,
    [ownClaim, FOREIGN_CLAIMS_MAX],
  )
}

/** Claims read at most; all processes together have fewer mails in flight. */
const FOREIGN_CLAIMS_MAX = 1000

/** Returns a mail to the outbox, due now. False: its claim was renewed meanwhile, or has ended. */
export async function releaseClaim(store: Store, foreign: ForeignClaim): Promise<boolean> {
  const count = await store.run(
    `UPDATE outbox SET claim = NULL WHERE ${BY_OUTBOX_KEY} AND claim = $4 AND renewal_count = $5`,
    [...outboxKeyParams(foreign), foreign.claim, foreign.renewalCount],
  )
  return count > 0
}

/** Counts of waiting and failed mails. */
export type OutboxState = {
  readonly waitingCount: number
  /** When the oldest waiting mail was written; null: none waits. */
  readonly waitingSinceMs: number | null
  /** Refused for good by a server. */
  readonly refusedCount: number
  /** Given up after too long. */
  readonly givenUpCount: number
}

/** Reads these counts. */
export async function readOutboxState(store: Store): Promise<OutboxState> {
  const waiting = await store.one<{ waiting: number; since: number | null }>(
    "SELECT COUNT(*) AS waiting, MIN(written_at_ms) AS since FROM outbox WHERE ended_at_ms IS NULL",
  )
  const ended = await store.one<{ refused: number; given_up: number }>(
    `SELECT COUNT(CASE WHEN ending = 'refused' THEN 1 END) AS refused,
       COUNT(CASE WHEN ending = 'given_up' THEN 1 END) AS given_up FROM outbox WHERE ended_at_ms IS NOT NULL`,
  )
  return {
    waitingCount: waiting?.waiting ?? 0,
    waitingSinceMs: waiting?.since ?? null,
    refusedCount: ended?.refused ?? 0,
    givenUpCount: ended?.given_up ?? 0,
  }
}

/** Bounds of `pruneOutbox`. */
type OutboxRetention = {
  readonly storedMs: number
  /** Whether mails are deleted too that wait. */
  readonly prunesWaiting: boolean
  readonly countMax: number
}

/** Deletes mails that ended more than `storedMs` ago, and those that have waited for so long. */
export async function pruneOutbox(
  store: Store,
  nowMs: TrustedInstant,
  { storedMs, prunesWaiting, countMax }: OutboxRetention,
): Promise<{ readonly endedCount: number; readonly waitingCount: number }> {
  const pruned = (which: string, fromMs: number) =>
    store.run(
      `DELETE FROM outbox WHERE (account_id, notice, subject) IN (
         SELECT account_id, notice, subject FROM outbox WHERE ${which} LIMIT $2)`,
      [fromMs, countMax],
    )
  return {
    endedCount: await pruned("ended_at_ms < $1", nowMs - storedMs),
    waitingCount: await pruned(
      "ended_at_ms IS NULL AND claim IS NULL AND written_at_ms < $1",
      prunesWaiting ? nowMs - storedMs : 0,
    ),
  }
}

const BY_OUTBOX_KEY = "account_id = $1 AND notice = $2 AND subject = $3"

const outboxKeyParams = ({ accountId, notice, subject }: OutboxKey) => [accountId, notice, subject]

/** The state of a mail in the outbox: waiting, claimed, or how it ended. */
type MailState = "waiting" | "under_way" | MailEnding

/** The count of mails of one notice in one state. */
type OutboxCount = { readonly notice: string; readonly state: MailState; readonly count: number }

/** Counts the mails of the outbox by notice and state. */
export async function countOutbox(store: Store): Promise<readonly OutboxCount[]> {
  return await store.all<OutboxCount>(
    `SELECT notice, COALESCE(ending, CASE WHEN claim IS NULL THEN 'waiting' ELSE 'under_way' END) AS state,
       COUNT(*) AS count FROM outbox GROUP BY 1, 2`,
  )
}

/** When the oldest waiting mail was written, in milliseconds since the Unix epoch; null: none waits. */
export async function oldestWaitingAtMs(store: Store): Promise<number | null> {
  const row = await store.one<{ atMs: number | null }>(
    `SELECT MIN(written_at_ms) AS "atMs" FROM outbox WHERE ended_at_ms IS NULL AND claim IS NULL`,
  )
  return row?.atMs ?? null
}
