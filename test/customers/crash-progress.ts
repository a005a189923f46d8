/** Counts answers, so that others can wait for their number instead of for a time. */
export class Progress {
  #count = 0
  #isOver = false
  readonly #waits = new Set<{ readonly at: number; readonly resolve: () => void }>()

  get count(): number {
    return this.#count
  }

  /** Nothing more is counted; true from `end` on. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Counts one. */
  step(): void {
    this.#count++
    this.#wake()
  }

  /** Ends all waits. */
  end(): void {
    this.#isOver = true
    this.#wake()
  }

  /** Waits until so many were counted, or it is over. */
  async reached(at: number): Promise<void> {
    if (this.#isOver || this.#count >= at) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waits.add({ at, resolve })
    await promise
  }

  #wake(): void {
    for (const wait of this.#waits) {
      if (!this.#isOver && this.#count < wait.at) continue
      this.#waits.delete(wait)
      wait.resolve()
    }
  }
}
