import type { Clock } from "../../base/clock.ts"
import { type Leave, Slots } from "../../base/slots.ts"
import { Breaker, type BreakerBounds } from "./breaker.ts"

/** How one RDAP server is spared. */
export type LineBounds = {
  /** Requests under way. */
  readonly inFlightMax: number
  /** Requests that wait for others to end. */
  readonly waitingMax: number
  readonly breaker: BreakerBounds
  /** How long it is left alone when it says that there were too many requests, and not how long. */
  readonly restMs: number
  /** The shortest and the longest time that it can ask to be left alone. */
  readonly restMinMs: number
  readonly restMaxMs: number
}

/** What became of one request to a server. */
export type LineFate =
  | { readonly kind: "answered" }
  | { readonly kind: "failed" }
  /** It asked to be left alone; null: it did not say how long. */
  | { readonly kind: "sent_off"; readonly retryAfterMs: number | null }

/** Leave to make one request, whose fate is told by calling it, once. */
export type LinePass = (fate: LineFate) => void

/** The line before one RDAP server: few requests at once, none while it wants to be left alone, and few while it fails. */
export class RegistryLine {
  readonly #clock: Clock
  readonly #bounds: LineBounds
  readonly #slots: Slots
  readonly #breaker: Breaker
  #restsUntilMs = 0

  constructor(clock: Clock, bounds: LineBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#slots = new Slots(bounds.inFlightMax, bounds.waitingMax)
    this.#breaker = new Breaker(clock, bounds.breaker)
  }

  /** Whether a request would not be let through now. */
  get isShut(): boolean {
    return this.#clock() < this.#restsUntilMs || this.#breaker.isShut
  }

  /** Resolves with a slot when there is one; null: nobody is let through now, or too many wait already. */
  queue(): Promise<Leave> | null {
    return this.isShut ? null : this.#slots.take()
  }

  /** Leave to make a request; null: nobody is let through. */
  enter(): LinePass | null {
    const pass = this.isShut ? null : this.#breaker.enter()
    if (pass === null) return null
    return fate => {
      // A server that sends us off is there: it fails nobody who waits.
      pass(fate.kind === "failed" ? { kind: "failed", retryAfterMs: null } : { kind: "answered" })
      if (fate.kind === "sent_off") this.#rest(fate.retryAfterMs)
    }
  }

  /** Of several who are sent off at once, the one who is told the longest time counts. */
  #rest(retryAfterMs: number | null): void {
    const { restMs, restMinMs, restMaxMs } = this.#bounds
    const ms = Math.min(Math.max(retryAfterMs ?? restMs, restMinMs), restMaxMs)
    this.#restsUntilMs = Math.max(this.#restsUntilMs, this.#clock() + ms)
  }
}
