import { createHmac } from "node:crypto"
import { jitteredMs } from "../../base/backoff.ts"
import { type Log, logError } from "../../base/log.ts"
import type { Clock, Random, Stopwatch } from "../../base/outside-world.ts"
import { CoalescedRuns } from "../../base/single-flight.ts"
import { HOUR_MS } from "../../base/time.ts"
import { CALLBACK_LIMITS } from "../../contract/callbacks.ts"
import type { Store } from "../store/core/store.ts"
import { CallbackLanes } from "./callback-lanes.ts"
import { type CallbackOutcome, type ClaimedCallback, claimCallbacks, recordAttempt } from "./callback-queue.ts"
import { signingSecrets } from "./callback-secrets.ts"

/** Posts to a URL that a stranger chose: the status of the response, or why there is none. Never rejects, and its time is bounded. */
export type PostCallback = (
  url: string,
  request: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<{ readonly known: true; readonly status: number } | { readonly known: false; readonly cause: string }>

/** What sending callbacks needs. */
export type CallbackSenderDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly random: Random
  readonly post: PostCallback
  readonly log: Log
}

const GONE = 410

/** Sends the callbacks of jobs (Standard Webhooks), each at least once, and tries for about a day. */
export class CallbackSender {
  readonly #deps: CallbackSenderDeps
  readonly #sending = new Set<Promise<void>>()
  readonly #lanes = new CallbackLanes()
  readonly #failures = new ToldFailures()
  readonly #looks = new CoalescedRuns(() => this.#look().catch(logError(this.#deps.log, "callbacks were not sent")))
  #isStopping = false

  constructor(deps: CallbackSenderDeps) {
    this.#deps = deps
  }

  /** Begins to send what is due. Never rejects. */
  sendDue(): Promise<void> {
    this.#looks.request()
    return this.#looks.idle()
  }

  /** Resolves when nothing is being sent. Nothing new is begun. */
  async stop(): Promise<void> {
    this.#isStopping = true
    // A claim that is under way may still begin to send.
    await this.#looks.idle()
    await this.whenIdle()
  }

  /** Resolves when nothing is being sent. */
  async whenIdle(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending)
  }

  async #look(): Promise<void> {
    const { store, clock, stopwatch, log } = this.#deps
    if (this.#isStopping || this.#lanes.isFull(stopwatch())) return
    const mayClaim = (due: Pick<ClaimedCallback, "accountId" | "url">): boolean =>
      !this.#isStopping && this.#lanes.hasRoom(placeOf(due), stopwatch())
    for await (const callback of claimCallbacks(store, clock(), mayClaim)) {
      this.#lanes.begin(placeOf(callback), stopwatch())
      const sending = this.#send(callback)
        // It is sent again when the claim has expired.
        .catch(logError(log, "the result of a callback was not recorded"))
        .finally(() => {
          this.#lanes.end(callback.accountId, stopwatch())
          this.#sending.delete(sending)
        })
      this.#sending.add(sending)
    }
  }

  async #send(callback: ClaimedCallback): Promise<void> {
    const { store, clock, stopwatch, post, log } = this.#deps
    const { url, accountId, body } = callback
    const secrets = await signingSecrets(store, accountId, clock())
    const posted =
      url === null || secrets.length === 0
        ? ({ known: false, cause: "failed" } as const)
        : await post(url, { headers: signedHeaders(callback.id, clock(), body, secrets), body })
    const outcome = this.#outcomeOf(posted, callback.attemptCount)
    await recordAttempt(store, callback, outcome)
    const ending = "ending" in outcome ? outcome.ending : null
    const where = hostPort(url)
    const remedy = ending === "gone" ? GONE_REMEDY : CALLBACK_REMEDY
    const fields = { account: accountId, job: callback.jobId, where, result: outcome.result, remedy }
    if (ending === "given_up" || ending === "gone") log("info", "a callback was not delivered", { ...fields, ending })
    else if (ending === null && where !== "") {
      const untold = this.#failures.tell(accountId, where, stopwatch())
      if (untold === null) log("debug", "a callback failed and is sent again", fields)
      else log("warn", "a callback failed and is sent again", { ...fields, untold })
    }
  }

  #outcomeOf(posted: Awaited<ReturnType<PostCallback>>, attemptCount: number): CallbackOutcome {
    const result = posted.known ? String(posted.status) : posted.cause
    if (posted.known && posted.status >= 200 && posted.status < 300) return { result, ending: "delivered" }
    if (posted.known && posted.status === GONE) return { result, ending: "gone" }
    const pauseS = CALLBACK_LIMITS.retrySeconds[attemptCount - 1]
    if (pauseS === undefined) return { result, ending: "given_up" }
    return { result, dueAtMs: this.#deps.clock() + jitteredMs(pauseS * 1000, this.#deps.random) }
  }
}

const GONE_REMEDY = "Its receiver asked for the end (410): do nothing."

/** How many receivers a process names an hour in the log, of all accounts and of one: strangers choose them. */
export const TOLD_RECEIVERS = { perHourMax: 20, perAccountMax: 4 } as const

/** Which failures have a line in the log: within an hour the first one of each receiver of an account, up to bounds. */
export class ToldFailures {
  readonly #told = new Set<string>()
  #sinceMs = Number.NEGATIVE_INFINITY
  #untold = 0

  /** How many failures had no line since the last one that had; null: this one has none either. */
  tell(accountId: string, where: string, nowMs: number): number | null {
    if (nowMs - this.#sinceMs >= HOUR_MS) {
      this.#told.clear()
      this.#sinceMs = nowMs
    }
    const ofAccount = [...this.#told].filter(told => told.startsWith(`${accountId} `)).length
    const isFull = this.#told.size >= TOLD_RECEIVERS.perHourMax || ofAccount >= TOLD_RECEIVERS.perAccountMax
    if (isFull || this.#told.has(`${accountId} ${where}`)) {
      this.#untold++
      return null
    }
    this.#told.add(`${accountId} ${where}`)
    const untold = this.#untold
    this.#untold = 0
    return untold
  }
}

const CALLBACK_REMEDY =
  "Mostly the receiver is at fault, and its account should know. If receivers of many accounts fail, look whether this host reaches the internet by https."

const placeOf = ({ accountId, url }: Pick<ClaimedCallback, "accountId" | "url">) => ({
  accountId,
  host: (url === null ? null : URL.parse(url)?.hostname) ?? "",
})

/** The host and port of a receiver; empty: it has none any more. */
function hostPort(url: string | null): string {
  const parsed = url === null ? null : URL.parse(url)
  if (parsed === null) return ""
  return `${parsed.hostname}:${parsed.port || (parsed.protocol === "http:" ? "80" : "443")}`
}

/** The headers of a callback. Each secret signs (Standard Webhooks, "Signature scheme"). */
function signedHeaders(
  id: string,
  nowMs: number,
  body: string,
  secrets: readonly Uint8Array[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1000))
  const signatures = secrets.map(
    secret => `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
  )
  return {
    "Content-Type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  }
}
