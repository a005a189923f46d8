import { createHash } from "node:crypto"
import { jitteredMs } from "../../base/backoff.ts"
import { type Log, type LogFields, logError } from "../../base/log.ts"
import type { LogMessage } from "../../base/log-events.ts"
import type { LogLevel } from "../../base/log-level.ts"
import type { Clock, Random, Stopwatch } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TrustedTime } from "../../base/trusted-clock.ts"
import { randomBase62 } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { type MailContent, renderMailHtml, renderMailText } from "./mail-content.tsx"
import { type Mailer, type OutgoingMail, REFUSED_REMEDY, type SendResult } from "./mailer.ts"
import type { LinkContext } from "./notice-blocks.ts"
import { storedNoticeContent } from "./notices.ts"
import {
  type ClaimedMail,
  claimMails,
  endMail,
  type ForeignClaim,
  type MailEnding,
  type OutboxKey,
  readForeignClaims,
  releaseClaim,
  renewClaims,
  rescheduleFutureMails,
  rescheduleMail,
} from "./outbox.ts"

/** Bounds of sending. */
type MailSenderBounds = {
  /** Mails sent at the same time. */
  readonly concurrentMax: number
  /** How long a claim may stay unrenewed before other processes take its mails. */
  readonly leaseMs: number
  /** Delays of a mail that the server deferred; greylisting accepts it after minutes. */
  readonly retry: BackoffBounds
  /** Delays of all mails while the server is unusable. */
  readonly pause: BackoffBounds
  /** Counted from the first attempt; RFC 5321 §4.5.4.1 asks for four to five days at least. */
  readonly givenUpAfterMs: number
}

/** The bounds in use. */
export const MAIL_SENDER_BOUNDS: MailSenderBounds = {
  concurrentMax: 4,
  leaseMs: 30_000,
  retry: { firstMs: 15_000, msMax: 7_200_000 },
  pause: { firstMs: 2_000, msMax: 60_000 },
  givenUpAfterMs: 5 * DAY_MS,
}

/** Log messages for a mail that leaves the outbox. */
const ENDING_LOG_LINES: {
  readonly [E in MailEnding]: { readonly level: LogLevel; readonly message: LogMessage; readonly remedy?: string }
} = {
  sent: { level: "debug", message: "a mail was sent" },
  refused: { level: "warn", message: "a mail was refused permanently", remedy: REFUSED_REMEDY },
  given_up: {
    level: "warn",
    message: "a mail was tried for days and is given up",
    remedy: "The log of the mail server says why it has not taken it. `mailkind doctor --only smtp` tries it.",
  },
}

/** Dependencies of the sender. */
type MailSenderDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly trustedTime: Pick<TrustedTime, "now">
  readonly random: Random
  readonly mailer: Pick<Mailer, "send">
  /** The host and port of the mail server. */
  readonly mailServer: string
  /** The sender address. */
  readonly from: () => string
  readonly linkContext: () => LinkContext
  readonly log: Log
}

/**
 * Sends the mails of the outbox. A mail is claimed before it is sent and ended after the server accepted it, so only one
 * process sends it. If a process dies between the server's reply and the store's, the mail is sent again with the same
 * message id.
 */
export class MailSender {
  readonly #deps: MailSenderDeps
  readonly #bounds: MailSenderBounds
  readonly #claim: string
  readonly #staleClaims: StaleClaims
  /** Running workers; each sends one mail after another. */
  readonly #workers = new Set<Promise<void>>()
  /** Results that could not be stored yet; until they are, no mail is claimed. */
  readonly #pendingWrites: (() => Promise<unknown>)[] = []
  #failureCount = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #isStopping = false

  constructor(deps: MailSenderDeps, bounds: MailSenderBounds = MAIL_SENDER_BOUNDS) {
    this.#deps = deps
    this.#bounds = bounds
    this.#claim = randomBase62(deps.random, 20)
    this.#staleClaims = new StaleClaims(deps.stopwatch, bounds.leaseMs)
  }

  /** Starts sending due mails, unless enough are in flight or sending is paused. */
  sendDue(): void {
    if (this.#isStopping || this.isPaused() || this.#workers.size >= this.#bounds.concurrentMax) return
    const worker = this.#work()
      .catch(this.#logFailure("the outbox was not read or written"))
      .finally(() => this.#workers.delete(worker))
    this.#workers.add(worker)
  }

  /** Whether results wait to be stored, for which the store failed. */
  get hasUnwritten(): boolean {
    return this.#pendingWrites.length > 0
  }

  /** Whether sending is paused because the server is unusable. */
  isPaused(): boolean {
    return this.#deps.stopwatch() < this.#pausedUntilMs
  }

  /**
   * Renews the claims of this process, takes over stale claims of others, and repairs due times after a clock was set back.
   * Call it a few times per lease. It never rejects.
   */
  async renew(): Promise<void> {
    const { store, clock } = this.#deps
    try {
      if (this.#workers.size + this.#pendingWrites.length > 0) await renewClaims(store, this.#claim)
      for (const claim of this.#staleClaims.findStale(await readForeignClaims(store, this.#claim)))
        if (await releaseClaim(store, claim)) this.#deps.log("info", "a process ended while it was sending a mail")
      const nowMs = clock()
      await rescheduleFutureMails(store, nowMs, nowMs + this.#bounds.retry.msMax)
    } catch (error) {
      this.#logFailure("claims on mails were not renewed")(error)
    }
  }

  /** Resolves when nothing is in flight. */
  async whenIdle(): Promise<void> {
    while (this.#workers.size > 0) await Promise.all(this.#workers)
  }

  /** Starts nothing new. Mails in flight continue; await `whenIdle`. */
  stop(): void {
    this.#isStopping = true
  }

  async #work(): Promise<void> {
    const { store, clock } = this.#deps
    while (!this.#isStopping && !this.isPaused()) {
      await this.#flushWrites()
      const [mail] = await claimMails(store, this.#claim, clock(), 1)
      if (mail === undefined) return
      this.sendDue()
      await this.#recordResult(mail, await this.#attempt(mail).catch(this.#onAttemptError))
    }
  }

  /** An error of our own must not leave the mail claimed while this process lives. */
  readonly #onAttemptError = (error: unknown): SendResult => {
    this.#logFailure("a mail could not be written")(error)
    return { kind: "refused", isPermanent: false, reply: null }
  }

  async #attempt(mail: ClaimedMail): Promise<SendResult> {
    const { mailer, linkContext, log } = this.#deps
    const from = this.#deps.from()
    const content = storedNoticeContent(mail.notice, mail.particulars, linkContext())
    if (content === null) {
      log("warn", "a mail of another version was found, which may send it", { notice: mail.notice })
      return { kind: "refused", isPermanent: false, reply: null }
    }
    return await mailer.send(
      createMail(content, { from, to: mail.email, messageId: stableMessageId(mail, from), dateMs: mail.writtenAtMs }),
    )
  }

  async #recordResult(mail: ClaimedMail, sending: SendResult): Promise<void> {
    const nowMs = this.#deps.clock()
    const pausedMs = this.#pauseAfter(sending)
    if (sending.kind === "accepted") return await this.#endMail(mail, "sent", nowMs)
    const { reply } = sending
    if (sending.kind === "refused" && sending.isPermanent) return await this.#endMail(mail, "refused", nowMs, { reply })
    const trustedMs = this.#deps.trustedTime.now()
    if (trustedMs !== null && trustedMs - (mail.firstTriedAtMs ?? trustedMs) >= this.#bounds.givenUpAfterMs)
      return await this.#endMail(mail, "given_up", nowMs, { reply })
    const isRefusal = sending.kind === "refused"
    const waitMs = isRefusal ? backoffDelayMs(this.#bounds.retry, mail.refusalCount + 1, this.#deps.random) : pausedMs
    const delay = { nowMs, dueAtMs: nowMs + waitMs, isRefusal }
    await this.#write(() => rescheduleMail(this.#deps.store, this.#claim, mail, delay))
  }

  async #endMail(mail: ClaimedMail, ending: MailEnding, nowMs: number, fields: LogFields = {}): Promise<void> {
    const { store, log, mailServer } = this.#deps
    await this.#write(async () => {
      await endMail(store, this.#claim, mail, ending, nowMs)
      const { level, message, remedy } = ENDING_LOG_LINES[ending]
      const failure = remedy !== undefined && { where: mailServer, remedy }
      log(level, message, { notice: mail.notice, account: mail.accountId, ...fields, ...failure })
    })
  }

  /** Pauses sending. A server that answers, whatever it says about a mail, ends the pause. */
  #pauseAfter(sending: SendResult): number {
    const { stopwatch, random } = this.#deps
    if (sending.kind !== "unavailable") {
      this.#failureCount = 0
      return 0
    }
    // Mails in flight together fail together: that counts as one failure.
    if (!this.isPaused() && !this.#isStopping)
      this.#pausedUntilMs = stopwatch() + backoffDelayMs(this.#bounds.pause, ++this.#failureCount, random)
    // A stopwatch tells fractions, and what is stored is whole.
    return Math.max(0, Math.ceil(this.#pausedUntilMs - stopwatch()))
  }

  async #write(work: () => Promise<unknown>): Promise<void> {
    this.#pendingWrites.push(work)
    await this.#flushWrites()
  }

  async #flushWrites(): Promise<void> {
    for (let work = this.#pendingWrites.shift(); work !== undefined; work = this.#pendingWrites.shift()) {
      try {
        await work()
      } catch (error) {
        this.#pendingWrites.unshift(work)
        throw error
      }
    }
  }

  #logFailure(message: LogMessage): (error: unknown) => void {
    return logError(this.#deps.log, message)
  }
}

/** The content with its addresses and message id. */
export function createMail(
  content: MailContent,
  header: Pick<OutgoingMail, "from" | "to" | "messageId" | "dateMs">,
): OutgoingMail {
  return { ...header, subject: content.subject, text: renderMailText(content), html: renderMailHtml(content) }
}

/** The message id of an outbox mail: stable over attempts, and not guessable, since account ids are not. */
function stableMessageId({ accountId, notice, subject }: OutboxKey, from: string): string {
  const hash = createHash("sha256").update(JSON.stringify([accountId, notice, subject]))
  return `${hash.digest("hex").slice(0, 32)}@${senderDomain(from)}`
}

/** The domain of a sender address, with or without a display name and angle brackets. */
export function senderDomain(from: string): string {
  return from.slice(from.lastIndexOf("@") + 1).replace(/>\s*$/, "")
}

/**
 * Finds stale claims of other processes: those that this process has seen unrenewed for `leaseMs` of its own time. So clock
 * changes do not matter, and a process that has just started waits (DECISIONS 44).
 */
class StaleClaims {
  readonly #stopwatch: Stopwatch
  readonly #leaseMs: number
  /** Since when each claim has been unchanged. */
  #unchangedSince = new Map<string, number>()

  constructor(stopwatch: Stopwatch, leaseMs: number) {
    this.#stopwatch = stopwatch
    this.#leaseMs = leaseMs
  }

  /** Records the current claims of others and returns the stale ones. */
  findStale(claims: readonly ForeignClaim[]): readonly ForeignClaim[] {
    const now = this.#stopwatch()
    const since = (claim: ForeignClaim): number => this.#unchangedSince.get(claimState(claim)) ?? now
    this.#unchangedSince = new Map(claims.map(claim => [claimState(claim), since(claim)]))
    return claims.filter(claim => now - since(claim) >= this.#leaseMs)
  }
}

const claimState = ({ accountId, notice, subject, claim, renewalCount }: ForeignClaim): string =>
  JSON.stringify([accountId, notice, subject, claim, renewalCount])

/** A delay that doubles from `firstMs` up to `msMax`. */
type BackoffBounds = { readonly firstMs: number; readonly msMax: number }

/**
 * The delay after so many failures in a row (at least one), shortened at random by up to a quarter, so that mails that
 * failed together are not retried together.
 */
export function backoffDelayMs({ firstMs, msMax }: BackoffBounds, failureCount: number, random: Random): number {
  return jitteredMs(Math.min(firstMs * 2 ** (failureCount - 1), msMax), random)
}
