import type { Clock, Stopwatch } from "./outside-world.ts"
import { DAY_MS } from "./time.ts"

/** How far two clocks may differ and still confirm each other. Neither daily quotas nor certificates depend on less. */
export const CLOCK_SKEW_MS_MAX = 60_000

/** How long a clock that has jumped runs evenly before days are opened by it: as long as it has jumped, and at most so long. */
export const CLOCK_TRIAL_MS_MAX = 10 * 60_000

/** How long nothing is deleted after a clock has jumped: as long as it has jumped, and at most so long. */
export const CLOCK_HOLD_MS_MAX = DAY_MS

/** A reading that took longer says too little of the time: a database was slow, or this process was paused. */
const READING_MS_MAX = 5000

declare const isTrusted: unique symbol

/** An instant that not this host's clock alone tells, in milliseconds since the Unix epoch. What deletes by age takes one, and only `TrustedClock` gives it. */
export type TrustedInstant = number & { readonly [isTrusted]: true }

/** The time for what deletes and what opens a new day. */
export type TrustedTime = {
  /** The time for what deletes. Null: the clock is in doubt, and nothing may be deleted. */
  readonly now: () => TrustedInstant | null
  /** The time for what opens a day. It goes on evenly, whatever this host's clock does. */
  readonly reference: Clock
  /**
   * The time for what is stored, compared with stored times, and told of them: the same, but a server that was off, and has only the clock
   * of its host, takes what that says. A server reads it wherever it asks for the time; logs have the clock of their host.
   */
  readonly rowClock: Clock
}

/** Why the clock is in doubt. */
export type ClockDoubt = {
  /** How far this host's clock is ahead of the reference; negative: behind it. */
  readonly aheadMs: number
  /** How long nothing is deleted yet after a jump, if the clock runs evenly; null: until the two clocks agree. */
  readonly remainingMs: number | null
}

/** What the next process begins with: the reference, and how long nothing is to be deleted yet. */
export type StoredTime = { readonly confirmedAtMs: number | null; readonly heldMs: number }

type Anchor = { readonly atMs: number; readonly elapsedMs: number }

/** A jump of the source: how far it is ahead of the stopwatch since then, how far it jumped, and since when it runs evenly. */
type Jump = { readonly leadMs: number; readonly aheadMs: number; readonly sinceMs: number }

/**
 * A clock that is confirmed by a source, and by the stopwatch between its readings (DECISIONS 116).
 *
 *     reference      the last reading that was in line, and what the stopwatch has counted since
 *     in line        a reading within `CLOCK_SKEW_MS_MAX` of the reference
 *     jumped         a reading that is not: the reference goes on without it until it has run evenly for a while
 *
 * The source is the clock of the database, or this host's own where the database is a file: then the newest stored time is the first
 * reference. While this host's clock and the reference differ by more than `CLOCK_SKEW_MS_MAX`, or a jump is recent, it is in doubt.
 */
export class TrustedClock implements TrustedTime {
  readonly #clock: Clock
  readonly #stopwatch: Stopwatch
  #anchor: Anchor | null = null
  #jump: Jump | null = null
  #heldUntilMs = Number.NEGATIVE_INFINITY
  /** Whether a reading of this process was in line. Before that, a jump is a long stop. */
  #wasInLine = false
  #jumpCount = 0
  #latestRowMs = Number.NEGATIVE_INFINITY

  /** `stored`: what the process before has left; null: the source is the clock of the database. */
  constructor(
    { clock, stopwatch }: { readonly clock: Clock; readonly stopwatch: Stopwatch },
    stored: StoredTime | null,
  ) {
    this.#clock = clock
    this.#stopwatch = stopwatch
    if (stored === null) return
    this.#anchor = { atMs: stored.confirmedAtMs ?? clock(), elapsedMs: stopwatch() }
    this.#heldUntilMs = stopwatch() + stored.heldMs
  }

  readonly now = (): TrustedInstant | null =>
    this.doubt() === null ? (this.reference() as TrustedInstant) /* the only maker of the type */ : null

  readonly reference = (): number =>
    this.#anchor === null ? this.#clock() : Math.floor(this.#referenceAt(this.#anchor, this.#stopwatch()))

  readonly rowClock = (): number => {
    const nowMs = this.#wasInLine ? this.reference() : this.#clock()
    // Two readings differ by their errors. For that it stands still, since rates forget their debts when their clock goes back.
    const isError = nowMs < this.#latestRowMs && this.#latestRowMs - nowMs <= READING_MS_MAX
    if (!isError) this.#latestRowMs = nowMs
    return this.#latestRowMs
  }

  /** Why the clock is in doubt; null: it is not. Before the first reading of a database it is. */
  doubt(): ClockDoubt | null {
    const elapsedMs = this.#stopwatch()
    if (this.#anchor === null) return { aheadMs: 0, remainingMs: null }
    const aheadMs = this.#clock() - this.#referenceAt(this.#anchor, elapsedMs)
    const trialMs = this.#jump === null ? 0 : this.#jump.sinceMs + holdMs(this.#jump.aheadMs) - elapsedMs
    const remainingMs = Math.max(0, this.#heldUntilMs - elapsedMs, trialMs)
    if (this.#jump === null && Math.abs(aheadMs) > CLOCK_SKEW_MS_MAX) return { aheadMs, remainingMs: null }
    return this.#jump === null && remainingMs === 0 ? null : { aheadMs, remainingMs }
  }

  /** How often the source has jumped since this process had a reading in line. */
  get jumpCount(): number {
    return this.#jumpCount
  }

  /** How far this host's clock is ahead of the reference. */
  get aheadMs(): number {
    return this.#clock() - this.reference()
  }

  /** What the next process is to begin with. */
  get stored(): StoredTime {
    return { confirmedAtMs: this.reference(), heldMs: Math.max(0, Math.ceil(this.#heldUntilMs - this.#stopwatch())) }
  }

  /** Takes a reading of the source, which was asked for at `askedMs` of the stopwatch and told `sourceMs` since then. */
  observe(sourceMs: number, askedMs: number): void {
    const answeredMs = this.#stopwatch()
    if (answeredMs - askedMs > READING_MS_MAX) return
    const elapsedMs = (askedMs + answeredMs) / 2
    const anchor = { atMs: sourceMs, elapsedMs }
    const aheadMs = this.#anchor === null ? 0 : sourceMs - this.#referenceAt(this.#anchor, elapsedMs)
    // That this host's clock agrees says nothing: it may be the same clock, of a database on this host.
    if (Math.abs(aheadMs) <= CLOCK_SKEW_MS_MAX) {
      this.#anchor = anchor
      this.#jump = null
      this.#wasInLine = true
      return
    }
    const leadMs = sourceMs - elapsedMs
    const isSameJump = this.#jump !== null && Math.abs(leadMs - this.#jump.leadMs) <= CLOCK_SKEW_MS_MAX
    if (this.#jump === null || !isSameJump) {
      this.#jump = { leadMs, aheadMs, sinceMs: elapsedMs }
      if (this.#wasInLine) this.#jumpCount++
    }
    const jump = this.#jump
    if (elapsedMs - jump.sinceMs < Math.min(Math.abs(jump.aheadMs), CLOCK_TRIAL_MS_MAX)) return
    this.#anchor = anchor
    this.#jump = null
    // A server that is off each night would else wait for ever: what has run of an earlier wait counts.
    const isWaiting = this.#heldUntilMs > elapsedMs && Math.abs(jump.aheadMs) <= CLOCK_HOLD_MS_MAX
    if (!isWaiting) this.#heldUntilMs = jump.sinceMs + holdMs(jump.aheadMs)
  }

  #referenceAt({ atMs, elapsedMs }: Anchor, nowMs: number): number {
    return atMs + nowMs - elapsedMs
  }
}

const holdMs = (aheadMs: number): number => Math.min(Math.abs(aheadMs), CLOCK_HOLD_MS_MAX)

/** Does what deletes by age, unless the clock is in doubt. Gives null then. */
export async function whenTrusted<T>(
  time: Pick<TrustedTime, "now">,
  work: (nowMs: TrustedInstant) => Promise<T>,
): Promise<T | null> {
  const nowMs = time.now()
  return nowMs === null ? null : await work(nowMs)
}
