import type { Stopwatch } from "../../base/clock.ts"
import { failing, type Log } from "../../base/log.ts"
import { Slots } from "../../base/slots.ts"
import type { Later } from "../../base/timer.ts"
import { isMailable } from "../notices/mailable.ts"
import type { Sending } from "../notices/mailer.ts"
import type { Notice } from "../notices/notices.ts"
import { SIGN_IN_MS } from "./sign-ins.ts"

/** How the mails of sign-ins are tried. */
export type SignInMailBounds = {
  /** How many are under way at once. */
  readonly atOnceMax: number
  /** How many are under way or wait for their next try; more are not sent. */
  readonly heldMax: number
  /** How long each further try waits for, after the one before: greylisting lets a mail in after minutes. */
  readonly retriesMs: readonly number[]
}

/** The bounds in use. The last try is ten minutes after the first, and leaves time to read the mail. */
export const SIGN_IN_MAIL_BOUNDS: SignInMailBounds = {
  atOnceMax: 4,
  heldMax: 1000,
  retriesMs: [15_000, 45_000, 60_000, 180_000, 300_000],
}

/** What sends them. */
export type SignInMailTools = {
  readonly stopwatch: Stopwatch
  readonly later: Later
  readonly log: Log
  /** Whether there is a server to send mails through. */
  readonly isSending: boolean
  readonly sendNow: (to: string, notice: Notice) => Promise<Sending | { readonly kind: "no_server" }>
}

/** What one mail says, and to whom. */
export type SignInMail = { readonly to: string; readonly link: string; readonly code: string }

/**
 * Sends the link and the code of a sign-in. They are in no outbox: both are secret, and worthless soon. When the process ends
 * before a server has taken a mail, whoever waits for it asks again.
 */
export class SignInMails {
  readonly #tools: SignInMailTools
  readonly #bounds: SignInMailBounds
  readonly #slots: Slots
  /** What waits for its next try; each is told whether there is one. */
  readonly #waiting = new Set<(isTried: boolean) => void>()
  #heldCount = 0
  #isEnding = false

  constructor(tools: SignInMailTools, bounds: SignInMailBounds = SIGN_IN_MAIL_BOUNDS) {
    this.#tools = tools
    this.#bounds = bounds
    this.#slots = new Slots(bounds.atOnceMax, bounds.heldMax)
  }

  /** Whether what goes to this address is written to the log, since no mail reaches it from here. */
  isLogged(to: string): boolean {
    return !this.#tools.isSending || !isMailable(to)
  }

  /** Begins to send a mail, or writes its link and code, but not the address, to the log. It never throws. */
  send(mail: SignInMail): void {
    const { log } = this.#tools
    if (this.isLogged(mail.to)) this.#tell(mail)
    else if (this.#heldCount >= this.#bounds.heldMax)
      log("warn", "too many mails for sign-ins are under way, and one is not sent", { held: this.#heldCount })
    else if (!this.#isEnding) void this.#held(mail)
  }

  /** Begins nothing more, and tries nothing again. */
  end(): void {
    this.#isEnding = true
    for (const tell of [...this.#waiting]) tell(false)
  }

  async #held(mail: SignInMail): Promise<void> {
    this.#heldCount++
    await this.#tried(mail).catch(failing(this.#tools.log, "a mail for a sign-in could not be written"))
    this.#heldCount--
  }

  async #tried(mail: SignInMail): Promise<void> {
    const { stopwatch, log } = this.#tools
    const endsAt = stopwatch() + SIGN_IN_MS
    let reply: number | null = null
    for (const waitMs of [0, ...this.#bounds.retriesMs]) {
      if (waitMs > 0 && !(await this.#waited(waitMs))) return
      const sending = await this.#attempt(mail, endsAt)
      if (sending === null) break
      if (sending.kind === "no_server") return this.#tell(mail)
      if (sending.kind === "accepted") return log("debug", "a mail for a sign-in was sent")
      reply = sending.reply
      if (sending.kind === "refused" && sending.isForGood)
        return log("warn", "a mail for a sign-in was refused for good", { reply })
    }
    log("warn", "a mail for a sign-in could not be sent in time", { reply })
  }

  /** Null: the sign-in is gone, and its mail of no use. */
  async #attempt({ to, link, code }: SignInMail, endsAt: number) {
    const leave = await this.#slots.take()
    try {
      const minutes = Math.round((endsAt - this.#tools.stopwatch()) / 60_000)
      if (minutes < 1 || this.#isEnding) return null
      return await this.#tools.sendNow(to, { kind: "sign_in", particulars: { link, code, minutes } })
    } finally {
      leave?.()
    }
  }

  /** False: there is no next try. */
  #waited(ms: number): Promise<boolean> {
    if (this.#isEnding) return Promise.resolve(false)
    return new Promise(resolve => {
      const tell = (isTried: boolean): void => {
        callOff()
        this.#waiting.delete(tell)
        resolve(isTried)
      }
      const callOff = this.#tools.later(ms, () => tell(true))
      this.#waiting.add(tell)
    })
  }

  #tell({ link, code }: SignInMail): void {
    this.#tools.log("info", "somebody asked to sign in; no mail goes out, so here are the link and the code", {
      link,
      code,
    })
  }
}
