import { createHash } from "node:crypto"
import { type Log, type LogFields, type LogLevel, logError } from "../../base/log.ts"
import type { Clock, Random, Stopwatch } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import { randomBase62 } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { type MailContent, renderMailHtml, renderMailText } from "./mail-content.tsx"
import type { Mailer, OutgoingMail, SendResult } from "./mailer.ts"
import { type LinkContext, storedNoticeContent } from "./notices.ts"
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

/** How mails are tried, and for how long. */
type MailSenderBounds = {
  /** How many mails are under way at once. */
  readonly concurrentMax: number
  /** How long a claim may go without being renewed before others take its mails. */
  readonly leaseMs: number
  /** A mail that a server wants later: greylisting lets it in after minutes. */
  readonly retry: BackoffBounds
  /** All mails, when none can be sent. */
  readonly pause: BackoffBounds
  /** From the first attempt on; RFC 5321 §4.5.4.1 asks for four to five days at least. */
  readonly givenUpAfterMs: number
}

/** The bounds in use. */
export const MAIL_SENDER_BOUNDS: MailSenderBounds = {
  concurrentMax: 4,
  leaseMs: 30_000,
  retry: { firstMs: 15_000, msMax: 7_200_000 },
  pause: { firstMs: 2_000, msMax: 300_000 },
  givenUpAfterMs: 5 * DAY_MS,
}

/** What the log says of a mail that leaves the outbox. */
const ENDING_LOG_LINES: { readonly [E in MailEnding]: { readonly level: LogLevel; readonly message: string } } = {
  sent: { level: "debug", message: "a mail was sent" },
  refused: { level: "warn", message: "a mail was refused for good" },
  given_up: { level: "warn", message: "a mail was tried for days and is given up" },
}

/** What a sender needs of the world, and who it writes for. */
type MailSenderDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly random: Random
  readonly mailer: Mailer
  /** The address that mails come from. */
  readonly from: () => string
  readonly linkContext: () => LinkContext
  readonly log: Log
}

/**
 * Sends what lies in the outbox. A mail is claimed before it is sent and ended after a server took it, so that one process
 * at a time sends it, and none after that. When a process dies between the server's word and the store's, the mail is sent
 * once more, with the message id that it had.
 */
export class MailSender {
  readonly #deps: MailSenderDeps
  readonly #bounds: MailSenderBounds
  readonly #claim: string
  readonly #staleClaims: StaleClaims
  /** What is under way: each sends one mail after another. */
  readonly #workers = new Set<Promise<void>>()
  /** What became of mails and could not be stored; until it is, no mail is claimed. */
  readonly #pendingWrites: (() => Promise<unknown>)[] = []
  #failureCount = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #isStopping = false

  constructor(tools: MailSenderDeps, bounds: MailSenderBounds = MAIL_SENDER_BOUNDS) {
    this.#deps = tools
    this.#bounds = bounds
    this.#claim = randomBase62(tools.random, 20)
    this.#staleClaims = new StaleClaims(tools.stopwatch, bounds.leaseMs)
  }

  /** Begins to send what is due, unless enough is under way or no mail can be sent now. */
  sendDue(): void {
    if (this.#isStopping || this.isPaused() || this.#workers.size >= this.#bounds.concurrentMax) return
    const lane = this.#work()
      .catch(this.#logFailure("the outbox was not read or written"))
      .finally(() => this.#workers.delete(lane))
    this.#workers.add(lane)
  }

  /** Whether no mail can be sent now, and none is tried. */
  isPaused(): boolean {
    return this.#deps.stopwatch() < this.#pausedUntilMs
  }

  /**
   * Renews what is claimed here, takes what others have abandoned, and undoes what a clock that was set has done. Due a few
   * times in each lease. It never rejects.
   */
  async renew(): Promise<void> {
    const { store, clock } = this.#deps
    try {
      if (this.#workers.size + this.#pendingWrites.length > 0) await renewClaims(store, this.#claim)
      for (const claim of this.#staleClaims.findStale(await readForeignClaims(store, this.#claim)))
        if (await releaseClaim(store, claim))
          this.#deps.log("info", "a mail was left under way by a process that is gone")
      const nowMs = clock()
      await rescheduleFutureMails(store, nowMs, nowMs + this.#bounds.retry.msMax)
    } catch (error) {
      this.#logFailure("claims on mails were not renewed")(error)
    }
  }

  /** Resolves when nothing is under way. */
  async whenIdle(): Promise<void> {
    while (this.#workers.size > 0) await Promise.all(this.#workers)
  }

  /** Begins nothing more. What is under way goes on; `settled` tells when it is over. */
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

  /** A fault of ours must not leave the mail claimed for as long as this process lives. */
  readonly #onAttemptError = (fault: unknown): SendResult => {
    this.#logFailure("a mail could not be written")(fault)
    return { kind: "refused", isPermanent: false, reply: null }
  }

  async #attempt(mail: ClaimedMail): Promise<SendResult> {
    const { mailer, linkContext, log } = this.#deps
    const from = this.#deps.from()
    const letter = storedNoticeContent(mail.notice, mail.particulars, linkContext())
    if (letter === null) {
      log("warn", "a mail of another version was found, which may send it", { notice: mail.notice })
      return { kind: "refused", isPermanent: false, reply: null }
    }
    return await mailer.send(
      createMail(letter, { from, to: mail.email, messageId: stableMessageId(mail, from), dateMs: mail.writtenAtMs }),
    )
  }

  async #recordResult(mail: ClaimedMail, sending: SendResult): Promise<void> {
    const nowMs = this.#deps.clock()
    const pausedMs = this.#pauseAfter(sending)
    if (sending.kind === "accepted") return await this.#endMail(mail, "sent", nowMs)
    const { reply } = sending
    if (sending.kind === "refused" && sending.isPermanent) return await this.#endMail(mail, "refused", nowMs, { reply })
    if (nowMs - (mail.firstTriedAtMs ?? nowMs) >= this.#bounds.givenUpAfterMs)
      return await this.#endMail(mail, "given_up", nowMs, { reply })
    const isRefusal = sending.kind === "refused"
    const waitMs = isRefusal ? backoffDelayMs(this.#bounds.retry, mail.refusalCount + 1, this.#deps.random) : pausedMs
    const delay = { nowMs, dueAtMs: nowMs + waitMs, isRefusal }
    await this.#write(() => rescheduleMail(this.#deps.store, this.#claim, mail, delay))
  }

  async #endMail(mail: ClaimedMail, ending: MailEnding, nowMs: number, fields: LogFields = {}): Promise<void> {
    const { store, log } = this.#deps
    await this.#write(async () => {
      await endMail(store, this.#claim, mail, ending, nowMs)
      const { level, message } = ENDING_LOG_LINES[ending]
      log(level, message, { notice: mail.notice, account: mail.accountId, ...fields })
    })
  }

  /** How long no mail is tried from now on; a server that answers, whatever it says of a mail, ends the pause. */
  #pauseAfter(sending: SendResult): number {
    const { stopwatch, random, log } = this.#deps
    if (sending.kind !== "unavailable") {
      if (this.#failureCount > 0) log("info", "mails can be sent again")
      this.#failureCount = 0
      return 0
    }
    // Mails that were under way together fail together: that is one failure.
    if (!this.isPaused() && !this.#isStopping) {
      const pauseMs = backoffDelayMs(this.#bounds.pause, ++this.#failureCount, random)
      this.#pausedUntilMs = stopwatch() + pauseMs
      const { cause, reply } = sending
      log("warn", "no mail can be sent now", { cause, reply, pause_s: Math.ceil(pauseMs / 1000) })
    }
    return Math.max(0, this.#pausedUntilMs - stopwatch())
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

  #logFailure(says: string): (error: unknown) => void {
    return logError(this.#deps.log, says)
  }
}

/** A letter with what stands on its envelope. */
export function createMail(
  letter: MailContent,
  header: Pick<OutgoingMail, "from" | "to" | "messageId" | "dateMs">,
): OutgoingMail {
  return { ...header, subject: letter.subject, text: renderMailText(letter), html: renderMailHtml(letter) }
}

/** The message id of what lies in the outbox: always the same, and not to be guessed, since an account's id is not. */
function stableMessageId({ accountId, notice, subject }: OutboxKey, from: string): string {
  const hash = createHash("sha256").update(JSON.stringify([accountId, notice, subject]))
  return `${hash.digest("hex").slice(0, 32)}@${senderDomain(from)}`
}

/** The domain of a sender's address, be it bare or behind a name and in angle brackets. */
export function senderDomain(from: string): string {
  return from.slice(from.lastIndexOf("@") + 1).replace(/>\s*$/, "")
}

/**
 * Tells which claims of other processes are abandoned: the ones that this process has looked at for `leaseMs` of its own
 * time without seeing them renewed. So no clock that is set decides it, and a process that has just started waits.
 */
class StaleClaims {
  readonly #stopwatch: Stopwatch
  readonly #leaseMs: number
  /** Since when each claim has stood as it stands. */
  #unchangedSince = new Map<string, number>()

  constructor(stopwatch: Stopwatch, leaseMs: number) {
    this.#stopwatch = stopwatch
    this.#leaseMs = leaseMs
  }

  /** Takes in all claims of others as they stand now, and gives the abandoned ones. */
  findStale(claims: readonly ForeignClaim[]): readonly ForeignClaim[] {
    const now = this.#stopwatch()
    const since = (claim: ForeignClaim): number => this.#unchangedSince.get(claimState(claim)) ?? now
    this.#unchangedSince = new Map(claims.map(claim => [claimState(claim), since(claim)]))
    return claims.filter(claim => now - since(claim) >= this.#leaseMs)
  }
}

const claimState = ({ accountId, notice, subject, claim, renewalCount }: ForeignClaim): string =>
  JSON.stringify([accountId, notice, subject, claim, renewalCount])

/** How delays grow: from `firstMs`, twice as long each time, up to `msMax`. */
type BackoffBounds = { readonly firstMs: number; readonly msMax: number }

/**
 * The delay after so many failures in a row, at least one: up to a quarter shorter than it may be, by chance, so that what
 * failed at one moment is not tried again at one moment.
 */
export function backoffDelayMs({ firstMs, msMax }: BackoffBounds, failureCount: number, random: Random): number {
  const wholeMs = Math.min(firstMs * 2 ** (failureCount - 1), msMax)
  const [byte = 0] = random(1)
  return Math.round(wholeMs * (1 - byte / 1024))
}
