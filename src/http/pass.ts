import type { Clock } from "../base/clock.ts"
import { dayEndMs } from "../customers/quota/day.ts"
import type { InFlight } from "../customers/quota/in-flight.ts"
import type { Taken } from "../customers/quota/lease.ts"
import type { Rate } from "../customers/quota/rate-limiter.ts"
import type { TierLimits } from "../customers/quota/tier-limits.ts"
import type { Units } from "../customers/quota/units.ts"
import type { Extra, ExtraHeaders } from "./extra-headers.ts"
import type { Meter } from "./metrics/meter.ts"
import { Problem } from "./problem.ts"
import type { StateText } from "./rate-limit-headers.ts"

/** What limits a caller, ready to be applied. */
export type Rules = {
  readonly limits: TierLimits
  /** Null: nothing limits how often. */
  readonly rate: Rate | null
  /** The value of `RateLimit-Policy`; null: neither rate nor units are limited. */
  readonly policy: string | null
  /** Whom refusals are counted for: a value of the label `tier`. */
  readonly tier: string
}

/** What a pass is made from. */
export type PassNeeds = {
  readonly units: Units
  readonly inFlight: InFlight
  readonly clock: Clock
  readonly extras: ExtraHeaders
  readonly stateText: StateText
  readonly meter: Meter
}

/** One request that was let in, until it is answered. */
export class Pass {
  readonly #needs: PassNeeds
  readonly #request: Request
  /** Whose requests and units are counted: an account, or a publishable key. */
  readonly #subject: string
  readonly #rules: Rules
  readonly #more: Extra["more"]
  /** How many more requests would be let in now. */
  readonly #secondLeft: number
  #isInFlight = false
  /** What units were taken of; null: none were. */
  #taken: Taken | null = null

  constructor(
    needs: PassNeeds,
    request: Request,
    subject: string,
    rules: Rules,
    more: Extra["more"],
    secondLeft: number,
  ) {
    this.#needs = needs
    this.#request = request
    this.#subject = subject
    this.#rules = rules
    this.#more = more
    this.#secondLeft = secondLeft
  }

  /** Begins what is in flight; false: as much as may be is. */
  enter(): boolean {
    const { inFlight: max } = this.#rules.limits
    if (max === null) return true
    this.#isInFlight = this.#needs.inFlight.enter(this.#subject, max)
    return this.#isInFlight
  }

  /** Takes units of the day. Throws, or rejects with, `quota_exceeded`. A promise only when the store has to be asked. */
  charge(units: number): void | Promise<void> {
    const { unitsPerDay } = this.#rules.limits
    if (unitsPerDay === null) return
    const taken = this.#needs.units.take(this.#subject, units, unitsPerDay)
    return taken instanceof Promise ? this.#hearLater(taken) : this.#hear(taken)
  }

  /** Gives units back: those that a failure of ours has cost, or that were taken for what was not done. */
  refund(units: number): void {
    if (!this.#taken?.isTaken) return
    this.#needs.units.giveBack(this.#subject, units, this.#taken.day)
    this.#taken = { ...this.#taken, remaining: this.#taken.remaining + units }
  }

  /** What the answer has to carry, as of now. */
  told(): Extra {
    const { limits, policy } = this.#rules
    if (policy === null) return { policy, state: "", more: this.#more }
    const { unitsPerDay } = limits
    const dayLeft =
      unitsPerDay === null ? 0 : (this.#taken?.remaining ?? this.#needs.units.remaining(this.#subject, unitsPerDay))
    const state = this.#needs.stateText(limits, this.#secondLeft, dayLeft, this.#needs.clock())
    return { policy, state, more: this.#more }
  }

  /** Has the refusal of the request carry it too. */
  tellRefusal(): void {
    this.#needs.extras.set(this.#request, this.told())
  }

  /** Ends what is in flight. It is called once. */
  leave(): void {
    if (this.#isInFlight) this.#needs.inFlight.leave(this.#subject)
  }

  async #hearLater(taken: Promise<Taken>): Promise<void> {
    this.#hear(await taken)
  }

  #hear(taken: Taken): void {
    this.#taken = taken
    if (taken.isTaken) return
    this.#needs.meter.raise("mailkind_limited_total", 1, this.#rules.tier, "units")
    throw quotaExceeded(this.#rules.limits.unitsPerDay ?? 0, taken.day, this.#needs.clock())
  }
}

/** The day is the one whose units are used up: after a clock was set back over midnight, that is not the clock's own. */
function quotaExceeded(limit: number, day: number, nowMs: number): Problem {
  const resetsAtMs = dayEndMs(day)
  return new Problem("quota_exceeded", `The ${limit} units of the day are used up.`, {
    retry_after: Math.ceil((resetsAtMs - nowMs) / 1000),
    limit,
    resets_at: new Date(resetsAtMs).toISOString(),
  })
}
