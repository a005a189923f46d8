import type { Clock, SetTimer } from "../../../base/outside-world.ts"
import { type ResponsiveTimer, setResponsiveTimer } from "../../../base/responsive-timer.ts"

/**
 * How old what is known of changes elsewhere may be when something cached is used, and how long a request waits for the database to tell what is
 * new, in time in which the event loop runs. A process polls more often than that unless it was stopped, or got no processor time.
 */
export const KNOWN_CHANGES_BOUNDS = { ageMs: 970, waitMs: 500 } as const

type KnownChangesDeps = {
  readonly clock: Clock
  readonly setTimer: SetTimer
  /** Asks the database now. Resolves when the caches have the changes, or the database gave no answer; never rejects. */
  readonly ask: () => Promise<void>
}

/**
 * As of when this process knows all changes of others. One that was stopped for a while, as on a paused host, has cached what was true
 * before, and has requests to answer before its next poll: it asks first (DECISIONS 171). A database that does not answer delays it by
 * `waitMs` once in `ageMs`: then what is cached serves, as in any outage.
 *
 * Times are those of the clock and not of a stopwatch, since processes of a node tell each other what they found.
 */
export class KnownChanges {
  readonly #deps: KnownChangesDeps
  #knownAtMs: number
  #asking: Promise<void> | null = null

  constructor(deps: KnownChangesDeps) {
    this.#deps = deps
    this.#knownAtMs = deps.clock()
  }

  /** Whether what is cached may be used. After the clock was set back it may not. */
  get isRecent(): boolean {
    const ageMs = this.now() - this.#knownAtMs
    return ageMs >= 0 && ageMs < KNOWN_CHANGES_BOUNDS.ageMs
  }

  /** The time of its clock, in milliseconds since the Unix epoch. */
  now(): number {
    return this.#deps.clock()
  }

  /** The caches have all changes that were there at `atMs`, or the database could not say so then. */
  note(atMs: number): void {
    this.#knownAtMs = atMs
  }

  /** Resolves when the caches have all changes as of now, or the wait for the database is over. All who ask meanwhile share the answer. Never rejects. */
  async askNow(): Promise<void> {
    this.#asking ??= this.#ask()
    await this.#asking
  }

  async #ask(): Promise<void> {
    const { setTimer, ask } = this.#deps
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting: { timer: ResponsiveTimer | null } = { timer: null }
    const wait = (): void => {
      const fromMs = this.now()
      waiting.timer = setResponsiveTimer(setTimer, KNOWN_CHANGES_BOUNDS.waitMs, () => {
        // A process that stood still most of the time has yet to read the answer, unless the statement fails by its own time limit.
        if (this.now() - fromMs > 2 * KNOWN_CHANGES_BOUNDS.waitMs) wait()
        else resolve()
      })
    }
    wait()
    try {
      await Promise.race([ask(), promise])
    } finally {
      // Whatever happens: else all requests from now on would share its failure.
      waiting.timer?.cancel()
      this.#asking = null
      if (!this.isRecent) this.note(this.now())
    }
  }
}
