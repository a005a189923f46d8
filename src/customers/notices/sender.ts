import type { Clock, Random, Stopwatch } from "../../base/clock.ts"
import { failing, type Log, type LogFields, type LogLevel } from "../../base/log.ts"
import { DAY_MS } from "../../base/utc-day.ts"
import { randomBase62 } from "../store/base62.ts"
import type { Store } from "../store/store.ts"
import { AbandonedClaims } from "./abandoned-claims.ts"
import { delayMs, type Growth } from "./delay.ts"
import { mailOf, messageIdOf } from "./mail.ts"
import type { Mailer, Sending } from "./mailer.ts"
import { type Place, storedLetter } from "./notices.ts"
import {
  type Claimed,
  claimMails,
  type Ending,
  endMail,
  foreignClaims,
  putOff,
  recallMails,
  releaseClaim,
  renewClaims,
} from "./outbox.ts"

/** How mails are tried, and for how long. */
export type SenderBounds = {
  /** How many mails are under way at once. */
  readonly atOnceMax: number
  /** How long a claim may go without being renewed before others take its mails. */
  readonly leaseMs: number
  /** A mail that a server wants later: greylisting lets it in after minutes. */
  readonly retry: Growth
  /** All mails, when none can be sent. */
  readonly pause: Growth
  /** From the first attempt on; RFC 5321 §4.5.4.1 asks for four to five days at least. */
  readonly givenUpAfterMs: number
}

/** The bounds in use. */
export const SENDER_BOUNDS: SenderBounds = {
  atOnceMax: 4,
  leaseMs: 30_000,
  retry: { firstMs: 15_000, msMax: 7_200_000 },
  pause: { firstMs: 2_000, msMax: 300_000 },
  givenUpAfterMs: 5 * DAY_MS,
}

/** What the log says of a mail that leaves the outbox. */
const ENDINGS: { readonly [E in Ending]: { readonly level: LogLevel; readonly says: string } } = {
  sent: { level: "debug", says: "a mail was sent" },
  refused: { level: "warn", says: "a mail was refused for good" },
  given_up: { level: "warn", says: "a mail was tried for days and is given up" },
}

/** What a sender needs of the world, and who it writes for. */
export type SenderTools = {
  readonly store: Store
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly random: Random
  readonly mailer: Mailer
  /** The address that mails come from. */
  readonly from: () => string
  readonly place: () => Place
  readonly log: Log
}

/**
 * Sends what lies in the outbox. A mail is claimed before it is sent and ended after a server took it, so that one process
 * at a time sends it, and none after that. When a process dies between the server's word and the store's, the mail is sent
 * once more, with the message id that it had.
 */
export class Sender {
  readonly #tools: SenderTools
  readonly #bounds: SenderBounds
  readonly #claim: string
  readonly #abandoned: AbandonedClaims
  /** What is under way: each sends one mail after another. */
  readonly #lanes = new Set<Promise<void>>()
  /** What became of mails and could not be stored; until it is, no mail is claimed. */
  readonly #unstored: (() => Promise<unknown>)[] = []
  #failureCount = 0
  #pausedUntil = Number.NEGATIVE_INFINITY
  #isEnding = false

  constructor(tools: SenderTools, bounds: SenderBounds = SENDER_BOUNDS) {
    this.#tools = tools
    this.#bounds = bounds
    this.#claim = randomBase62(tools.random, 20)
    this.#abandoned = new AbandonedClaims(tools.stopwatch, bounds.leaseMs)
  }

  /** Begins to send what is due, unless enough is under way or no mail can be sent now. */
  turn(): void {
    if (this.#isEnding || this.isPaused() || this.#lanes.size >= this.#bounds.atOnceMax) return
    const lane = this.#lane()
      .catch(this.#failed("the outbox was not read or written"))
      .finally(() => this.#lanes.delete(lane))
    this.#lanes.add(lane)
  }

  /** Whether no mail can be sent now, and none is tried. */
  isPaused(): boolean {
    return this.#tools.stopwatch() < this.#pausedUntil
  }

  /**
   * Renews what is claimed here, takes what others have abandoned, and undoes what a clock that was set has done. Due a few
   * times in each lease. It never rejects.
   */
  async renew(): Promise<void> {
    const { store, clock } = this.#tools
    try {
      if (this.#lanes.size + this.#unstored.length > 0) await renewClaims(store, this.#claim)
      for (const claim of this.#abandoned.among(await foreignClaims(store, this.#claim)))
        if (await releaseClaim(store, claim))
          this.#tools.log("info", "a mail was left under way by a process that is gone")
      const nowMs = clock()
      await recallMails(store, nowMs, nowMs + this.#bounds.retry.msMax)
    } catch (error) {
      this.#failed("claims on mails were not renewed")(error)
    }
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes)
  }

  /** Begins nothing more. What is under way goes on; `settled` tells when it is over. */
  end(): void {
    this.#isEnding = true
  }

  async #lane(): Promise<void> {
    const { store, clock } = this.#tools
    while (!this.#isEnding && !this.isPaused()) {
      await this.#storeUnstored()
      const [mail] = await claimMails(store, this.#claim, clock(), 1)
      if (mail === undefined) return
      this.turn()
      await this.#conclude(mail, await this.#attempt(mail).catch(this.#notAttempted))
    }
  }

  /** A fault of ours must not leave the mail claimed for as long as this process lives. */
  readonly #notAttempted = (fault: unknown): Sending => {
    this.#failed("a mail could not be written")(fault)
    return { kind: "refused", isForGood: false, reply: null }
  }

  async #attempt(mail: Claimed): Promise<Sending> {
    const { mailer, place, log } = this.#tools
    const from = this.#tools.from()
    const letter = storedLetter(mail.notice, mail.particulars, place())
    if (letter === null) {
      log("warn", "a mail of another version was found, which may send it", { notice: mail.notice })
      return { kind: "refused", isForGood: false, reply: null }
    }
    return await mailer.send(
      mailOf(letter, { from, to: mail.email, messageId: messageIdOf(mail, from), dateMs: mail.writtenAtMs }),
    )
  }

  async #conclude(mail: Claimed, sending: Sending): Promise<void> {
    const nowMs = this.#tools.clock()
    const pausedMs = this.#pauseAfter(sending)
    if (sending.kind === "accepted") return await this.#end(mail, "sent", nowMs)
    const { reply } = sending
    if (sending.kind === "refused" && sending.isForGood) return await this.#end(mail, "refused", nowMs, { reply })
    if (nowMs - (mail.firstTriedAtMs ?? nowMs) >= this.#bounds.givenUpAfterMs)
      return await this.#end(mail, "given_up", nowMs, { reply })
    const isRefusal = sending.kind === "refused"
    const waitMs = isRefusal ? delayMs(this.#bounds.retry, mail.refusalCount + 1, this.#tools.random) : pausedMs
    const delay = { nowMs, dueAtMs: nowMs + waitMs, isRefusal }
    await this.#stored(() => putOff(this.#tools.store, this.#claim, mail, delay))
  }

  async #end(mail: Claimed, ending: Ending, nowMs: number, fields: LogFields = {}): Promise<void> {
    const { store, log } = this.#tools
    await this.#stored(async () => {
      await endMail(store, this.#claim, mail, ending, nowMs)
      const { level, says } = ENDINGS[ending]
      log(level, says, { notice: mail.notice, account: mail.accountId, ...fields })
    })
  }

  /** How long no mail is tried from now on; a server that answers, whatever it says of a mail, ends the pause. */
  #pauseAfter(sending: Sending): number {
    const { stopwatch, random, log } = this.#tools
    if (sending.kind !== "unavailable") {
      if (this.#failureCount > 0) log("info", "mails can be sent again")
      this.#failureCount = 0
      return 0
    }
    // Mails that were under way together fail together: that is one failure.
    if (!this.isPaused() && !this.#isEnding) {
      const pauseMs = delayMs(this.#bounds.pause, ++this.#failureCount, random)
      this.#pausedUntil = stopwatch() + pauseMs
      const { cause, reply } = sending
      log("warn", "no mail can be sent now", { cause, reply, pause_s: Math.ceil(pauseMs / 1000) })
    }
    return Math.max(0, this.#pausedUntil - stopwatch())
  }

  async #stored(work: () => Promise<unknown>): Promise<void> {
    this.#unstored.push(work)
    await this.#storeUnstored()
  }

  async #storeUnstored(): Promise<void> {
    for (let work = this.#unstored.shift(); work !== undefined; work = this.#unstored.shift()) {
      try {
        await work()
      } catch (error) {
        this.#unstored.unshift(work)
        throw error
      }
    }
  }

  #failed(says: string): (error: unknown) => void {
    return failing(this.#tools.log, says)
  }
}
