/** That the run is asked to stop, and waits that end with it. One wait at a time. */
export class Stop {
  #isAsked = false
  #wake: () => void = () => undefined

  /** Whether it is asked to stop. */
  get isAsked(): boolean {
    return this.#isAsked
  }

  /** Asks it to. */
  ask(): void {
    this.#isAsked = true
    this.#wake()
  }

  /** What is promised; null when it is asked to stop before that is there. */
  wait<T>(promised: Promise<T>): Promise<T | null> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(null)
      if (this.#isAsked) this.#wake()
      // What comes too late is heard all the same: a rejection that nobody hears would end the process.
      promised.then(resolve, reject)
    })
  }
}
