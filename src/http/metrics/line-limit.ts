const SECOND_MS = 1000

/** What a limit has left out of the log. */
export type OmittedLines = { readonly count: number; readonly slowestMs: number }

/** Bounds how many lines of one kind are logged in a second, and tells of the others after it. */
export class LineLimit {
  readonly #perSecond: number
  readonly #onOmitted: (omitted: OmittedLines) => void
  #sinceMs = Number.NEGATIVE_INFINITY
  #logged = 0
  #omitted = 0
  #slowestMs = 0

  constructor(perSecond: number, onOmitted: (omitted: OmittedLines) => void) {
    this.#perSecond = perSecond
    this.#onOmitted = onOmitted
  }

  /** Whether a line about a response that took so long may be logged now. */
  admits(nowMs: number, tookMs: number): boolean {
    this.tick(nowMs)
    if (this.#logged < this.#perSecond) {
      this.#logged++
      return true
    }
    this.#omitted++
    this.#slowestMs = Math.max(this.#slowestMs, tookMs)
    return false
  }

  /** Begins a new second if the last one is over, and tells what was left out in that. */
  tick(nowMs: number): void {
    if (nowMs - this.#sinceMs < SECOND_MS) return
    const omitted = { count: this.#omitted, slowestMs: this.#slowestMs }
    this.#sinceMs = nowMs
    this.#logged = 0
    this.#omitted = 0
    this.#slowestMs = 0
    if (omitted.count > 0) this.#onOmitted(omitted)
  }

  /** Whether something was left out that has not been told. */
  get hasOmitted(): boolean {
    return this.#omitted > 0
  }
}
