import type { Store } from "../store/core/store.ts"
import { isMailable } from "./mailer.ts"
import type { Notice } from "./notices.ts"

/**
 * One mail that waits in the outbox, or was taken from it. An account has at most one of a notice about a subject: the id
 * of a key, or a version of the terms.
 */
export type OutboxKey = { readonly accountId: string; readonly notice: string; readonly subject: string }

/** A notice for an account, about a subject. */
type NewNotice = Notice & { readonly accountId: string; readonly subject: string }

/**
 * Puts a notice into the outbox, as part of the transaction that causes it: that of `store`. False, and nothing is put
 * there: the account has had a notice of this kind about this subject, is gone, or has an email that no mail can reach.
 */
export async function enqueueNotice(store: Store, nowMs: number, posting: NewNotice): Promise<boolean> {
  const { accountId, kind, subject, params } = posting
  const account = await store.one<{ email: string }>("SELECT email FROM accounts WHERE id = $1", [accountId])
  if (account === null || !isMailable(account.email)) return false
  const postedCount = await store.run(
    `INSERT INTO outbox (account_id, notice, subject, particulars, written_at_ms, due_at_ms, refusal_count, renewal_count)
     VALUES ($1, $2, $3, $4, $5, $5, 0, 0) ON CONFLICT (account_id, notice, subject) DO NOTHING`,
    [accountId, kind, subject, JSON.stringify(params), nowMs],
  )
  return postedCount > 0
}

/** A mail that a sender has claimed: nobody else sends it until the claim is over. */
export type ClaimedMail = OutboxKey & {
  readonly email: string
  readonly particulars: string
  readonly writtenAtMs: number
  /** How often a server wanted it later. */
  readonly refusalCount: number
  /** Null: it was not tried before. */
  readonly firstTriedAtMs: number | null
}

/**
 * Claims up to `countMax` mails that are due, the ones that have been due for longest first. No two claims get one mail, in
 * whatever processes they are made.
 */
export async function claimMails(
  store: Store,
  claim: string,
  nowMs: number,
  countMax: number,
): Promise<readonly ClaimedMail[]> {
  const due = "ended_at_ms IS NULL AND claim IS NULL AND due_at_ms <= $1"
  // Asked outside of a transaction, which would keep every other process from writing, each second.
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
      // Asked again: in an engine that lets two transactions in side by side, the slower one learns it here.
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
 * Makes due what would be due later than `latestMs`, which no delay can mean: it was put off, or written, under a clock that
 * was set back since. Gives the count.
 */
export async function rescheduleFutureMails(store: Store, nowMs: number, latestMs: number): Promise<number> {
  return await store.run(
    "UPDATE outbox SET due_at_ms = $1 WHERE ended_at_ms IS NULL AND claim IS NULL AND due_at_ms > $2",
    [nowMs, latestMs],
  )
}

/** Shows to whom else looks that the claim is alive: all mails under it. */
export async function renewClaims(store: Store, claim: string): Promise<number> {
  return await store.run("UPDATE outbox SET renewal_count = renewal_count + 1 WHERE claim = $1", [claim])
}

/** How a mail leaves the outbox: a server has taken it, a server refused it for good, or it was tried for too long. */
export type MailEnding = "sent" | "refused" | "given_up"

/** Ends a mail that is under the claim. False: it is not, since somebody else took it over or its account is gone. */
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

/** When a mail is tried again; `isRefusal`: a server wanted it later, and each time more patience is due. */
type MailDelay = { readonly nowMs: number; readonly dueAtMs: number; readonly isRefusal: boolean }

/** Puts a mail that is under the claim off after an attempt that failed. False as `endMail` has it. */
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

/** A mail under the claim of another process, and how often it was claimed or the claim renewed: that only rises. */
export type ForeignClaim = OutboxKey & { readonly claim: string; readonly renewalCount: number }

/** The mails that others have claimed. */
export async function readForeignClaims(store: Store, ownClaim: string): Promise<readonly ForeignClaim[]> {
  return await store.all<ForeignClaim>(
    `SELECT account_id AS "accountId", notice, subject, claim, renewal_count AS "renewalCount" FROM outbox
     WHERE claim IS NOT NULL AND claim <> $1 ORDER BY account_id, notice, subject LIMIT $2`,
    [ownClaim, FOREIGN_CLAIMS_MAX],
  )
}

/** How many claims of others are looked at; all processes together have fewer mails under way. */
const FOREIGN_CLAIMS_MAX = 1000

/** Gives a mail back to the outbox, where it is due. False: its claim was renewed meanwhile, or is over. */
export async function releaseClaim(store: Store, foreign: ForeignClaim): Promise<boolean> {
  const count = await store.run(
    `UPDATE outbox SET claim = NULL WHERE ${BY_OUTBOX_KEY} AND claim = $4 AND renewal_count = $5`,
    [...outboxKeyParams(foreign), foreign.claim, foreign.renewalCount],
  )
  return count > 0
}

/** How many mails wait, since when the oldest of them, and how many were never taken, of those that are kept. */
export type OutboxState = {
  readonly waitingCount: number
  /** Null: none waits. */
  readonly waitingSinceMs: number | null
  /** A server refused them for good. */
  readonly refusedCount: number
  /** They were tried for too long. */
  readonly givenUpCount: number
}

/** How the outbox stands. */
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

/** What `pruneOutbox` keeps, and how much it deletes at most. */
type OutboxRetention = { readonly endedFromMs: number; readonly waitingFromMs: number; readonly countMax: number }

/** Deletes mails that ended before `endedFromMs`, and ones that nobody has taken since before `waitingFromMs`. */
export async function pruneOutbox(
  store: Store,
  { endedFromMs, waitingFromMs, countMax }: OutboxRetention,
): Promise<{ readonly endedCount: number; readonly waitingCount: number }> {
  const pruned = (which: string, fromMs: number) =>
    store.run(
      `DELETE FROM outbox WHERE (account_id, notice, subject) IN (
         SELECT account_id, notice, subject FROM outbox WHERE ${which} LIMIT $2)`,
      [fromMs, countMax],
    )
  return {
    endedCount: await pruned("ended_at_ms < $1", endedFromMs),
    waitingCount: await pruned("ended_at_ms IS NULL AND claim IS NULL AND written_at_ms < $1", waitingFromMs),
  }
}

const BY_OUTBOX_KEY = "account_id = $1 AND notice = $2 AND subject = $3"

const outboxKeyParams = ({ accountId, notice, subject }: OutboxKey) => [accountId, notice, subject]

/** How a mail in the outbox stands: nobody has taken it yet, a sender has claimed it, or how it ended. */
type MailState = "waiting" | "under_way" | MailEnding

/** How many mails of a notice are kept in a state. */
type OutboxCount = { readonly notice: string; readonly state: MailState; readonly count: number }

/** What the outbox keeps, by notice and state. */
export async function countOutbox(store: Store): Promise<readonly OutboxCount[]> {
  return await store.all<OutboxCount>(
    `SELECT notice, COALESCE(ending, CASE WHEN claim IS NULL THEN 'waiting' ELSE 'under_way' END) AS state,
       COUNT(*) AS count FROM outbox GROUP BY 1, 2`,
  )
}

/** When the oldest mail that waits was written, in milliseconds since the Unix epoch; null: none waits. */
export async function oldestWaitingAtMs(store: Store): Promise<number | null> {
  const row = await store.one<{ atMs: number | null }>(
    `SELECT MIN(written_at_ms) AS "atMs" FROM outbox WHERE ended_at_ms IS NULL AND claim IS NULL`,
  )
  return row?.atMs ?? null
}
