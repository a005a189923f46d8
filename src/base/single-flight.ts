/** Whether other callers still join this call: false after an invalidation. */
export type IsCurrent = () => boolean

/** Runs one call per key at a time. Callers of the same key meanwhile share the promise of the running call. */
export class SingleFlight<K, V> {
  readonly #running = new Map<K, Promise<V>>()

  /** The number of running calls that can be joined. */
  get size(): number {
    return this.#running.size
  }

  /** The running call for the key, if any. */
  get(key: K): Promise<V> | undefined {
    return this.#running.get(key)
  }

  /** Joins the running call for the key or starts one. `call` must not throw. If its promise rejects, it rejects for all callers that joined. */
  run(key: K, call: (isCurrent: IsCurrent) => Promise<V>): Promise<V> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const isCurrent = (): boolean => this.#running.get(key) === promise
    // `finally` would make three promises more.
    const promise: Promise<V> = call(isCurrent).then(
      value => {
        if (isCurrent()) this.#running.delete(key)
        return value
      },
      error => {
        if (isCurrent()) this.#running.delete(key)
        throw error
      },
    )
    this.#running.set(key, promise)
    return promise
  }

  /** Detaches the running call for the key because its data may be stale: it finishes, but no further caller joins it. */
  invalidate(key: K): void {
    this.#running.delete(key)
  }

  /** Detaches the running calls of all keys. */
  invalidateAll(): void {
    this.#running.clear()
  }
}

/** Wraps a function so that it is called once and all callers share its promise. After a rejection the next caller tries again. */
export function lazyPromise<T>(call: () => Promise<T>): () => Promise<T> {
  let promise: Promise<T> | null = null
  return () => {
    promise ??= call().catch((error: unknown) => {
      promise = null
      throw error
    })
    return promise
  }
}

/** Runs a piece of work once at a time. A request during a run causes one more run after it, however many requests there are. */
export class CoalescedRuns {
  readonly #run: () => Promise<void>
  #running: Promise<void> | null = null
  #isRequested = false
  #isStopped = false

  /** `run` must not reject. */
  constructor(run: () => Promise<void>) {
    this.#run = run
  }

  /** Runs the work at once, or once more after the current run. */
  request(): void {
    this.#isRequested = true
    if (!this.#isStopped) this.#running ??= this.#runRequested()
  }

  /** Forgets the requests since the current run began. */
  forget(): void {
    this.#isRequested = false
  }

  /** Resolves when no run is under way or requested. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Starts no further run, and waits for the current one. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #runRequested(): Promise<void> {
    while (this.#isRequested && !this.#isStopped) {
      this.#isRequested = false
      await this.#run()
    }
    this.#running = null
  }
}
