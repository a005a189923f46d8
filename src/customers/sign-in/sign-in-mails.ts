import { Semaphore } from "../../base/concurrency.ts"
import { type Log, logError } from "../../base/log.ts"
import type { SetTimer, Stopwatch } from "../../base/outside-world.ts"
import { isMailable, REFUSED_REMEDY, type SendResult } from "../notices/mailer.ts"
import type { Notice } from "../notices/notices.ts"
import { SIGN_IN_MS } from "./pending-sign-ins.ts"

/** Bounds of sending sign-in mails. */
export type SignInMailBounds = {
  /** Mails sent at the same time. */
  readonly concurrentMax: number
  /** Mails in flight or waiting for a retry; beyond that mails are not sent. */
  readonly pendingMax: number
  /** The delay before each retry: greylisting accepts a mail after minutes. */
  readonly retriesMs: readonly number[]
}

/** The bounds in use. The last try is ten minutes after the first, and leaves time to read the mail. */
export const SIGN_IN_MAIL_BOUNDS: SignInMailBounds = {
  concurrentMax: 4,
  pendingMax: 1000,
  retriesMs: [15_000, 45_000, 60_000, 180_000, 300_000],
}

/** Dependencies of the sender. */
export type SignInMailsDeps = {
  readonly stopwatch: Stopwatch
  readonly setTimer: SetTimer
  readonly log: Log
  /** The host and port of the mail server; null: none is set. */
  readonly mailServer: string | null
  readonly sendNow: (to: string, notice: Notice) => Promise<SendResult | { readonly kind: "no_server" }>
}

/** One sign-in mail: its address, link and code. */
export type SignInMail = { readonly to: string; readonly link: string; readonly code: string }

/**
 * Sends the link and code of a sign-in. They are not stored in the outbox, since both are secret and expire soon
 * (DECISIONS 46). If the process ends before a server accepts the mail, the person asks again.
 */
export class SignInMails {
  readonly #deps: SignInMailsDeps
  readonly #bounds: SignInMailBounds
  readonly #semaphore: Semaphore
  /** Mails waiting for a retry; each callback says whether there will be one. */
  readonly #waitingRetries = new Set<(isTried: boolean) => void>()
  #pendingCount = 0
  #isStopping = false

  constructor(deps: SignInMailsDeps, bounds: SignInMailBounds = SIGN_IN_MAIL_BOUNDS) {
    this.#deps = deps
    this.#bounds = bounds
    this.#semaphore = new Semaphore(bounds.concurrentMax, bounds.pendingMax)
  }

  /** Whether link and code for this address are logged, since it cannot receive mail from here. */
  isLogged(to: string): boolean {
    return this.#deps.mailServer === null || !isMailable(to)
  }

  /** Starts sending a mail, or logs its link and code without the address. Never throws. */
  send(mail: SignInMail): void {
    const { log } = this.#deps
    if (this.isLogged(mail.to)) this.#logMail(mail)
    else if (this.#pendingCount >= this.#bounds.pendingMax)
      log("warn", "too many mails for sign-ins are under way, and one is not sent", {
        fault: "sign_in_mails",
        held: this.#pendingCount,
        remedy: "The mail server is too slow, or does not answer: look for `no mail can be sent now`, and at its log.",
      })
    else if (!this.#isStopping) void this.#sendPending(mail)
  }

  /** Starts nothing new and retries nothing. */
  stop(): void {
    this.#isStopping = true
    for (const tell of [...this.#waitingRetries]) tell(false)
  }

  async #sendPending(mail: SignInMail): Promise<void> {
    this.#pendingCount++
    await this.#sendWithRetries(mail).catch(logError(this.#deps.log, "a mail for a sign-in could not be written"))
    this.#pendingCount--
  }

  async #sendWithRetries(mail: SignInMail): Promise<void> {
    const { stopwatch, log, mailServer: where } = this.#deps
    const endsAt = stopwatch() + SIGN_IN_MS
    let last: SendResult | null = null
    for (const waitMs of [0, ...this.#bounds.retriesMs]) {
      if (waitMs > 0 && !(await this.#waitForRetry(waitMs))) return
      const sending = await this.#attempt(mail, endsAt)
      if (sending === null) break
      if (sending.kind === "no_server") return this.#logMail(mail)
      if (sending.kind === "accepted") return log("debug", "a mail for a sign-in was sent")
      last = sending
      if (sending.kind === "refused" && sending.isPermanent)
        return log("warn", "a mail for a sign-in was refused permanently", {
          ...{ where, reply: sending.reply },
          remedy: REFUSED_REMEDY,
        })
    }
    // What an outage of the mail server costs is told with that.
    const level = last?.kind === "unavailable" ? "debug" : "warn"
    log(level, "a mail for a sign-in could not be sent in time", { where, reply: last?.reply ?? null })
  }

  /** Null: the sign-in has ended, so its mail is useless. */
  async #attempt({ to, link, code }: SignInMail, endsAt: number) {
    const leave = await this.#semaphore.acquire()
    try {
      const minutes = Math.round((endsAt - this.#deps.stopwatch()) / 60_000)
      if (minutes < 1 || this.#isStopping) return null
      return await this.#deps.sendNow(to, { kind: "sign_in", params: { link, code, minutes } })
    } finally {
      leave?.()
    }
  }

  /** False: there is no further try. */
  #waitForRetry(ms: number): Promise<boolean> {
    if (this.#isStopping) return Promise.resolve(false)
    return new Promise(resolve => {
      const tell = (isTried: boolean): void => {
        cancel()
        this.#waitingRetries.delete(tell)
        resolve(isTried)
      }
      const cancel = this.#deps.setTimer(ms, () => tell(true))
      this.#waitingRetries.add(tell)
    })
  }

  #logMail({ link, code }: SignInMail): void {
    this.#deps.log("info", "sign-in requested; no mail server is set, so here are the link and the code", {
      link,
      code,
    })
  }
}
