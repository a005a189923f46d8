/** Tells whether the call is still the one that others join: false after it was invalidated. */
export type IsCurrent = () => boolean

/** Runs one call a key at a time: whoever asks for the key meanwhile gets the promise of the call that is running. */
export class SingleFlight<K, V> {
  readonly #running = new Map<K, Promise<V>>()

  /** How many calls are running that can be joined. */
  get size(): number {
    return this.#running.size
  }

  /** The running call for the key; undefined: there is none. */
  get(key: K): Promise<V> | undefined {
    return this.#running.get(key)
  }

  /** Joins the running call for the key, or starts one. `call` must not throw; its promise may reject, for all who joined. */
  run(key: K, call: (isCurrent: IsCurrent) => Promise<V>): Promise<V> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const isCurrent = (): boolean => this.#running.get(key) === promise
    const promise: Promise<V> = call(isCurrent).finally(() => {
      if (isCurrent()) this.#running.delete(key)
    })
    this.#running.set(key, promise)
    return promise
  }

  /** Nobody joins the running call for the key any more, since what it reads may be outdated. It still ends. */
  invalidate(key: K): void {
    this.#running.delete(key)
  }

  /** The same for every key. */
  invalidateAll(): void {
    this.#running.clear()
  }
}

/** Makes a function of which one call runs at a time: whoever calls it meanwhile gets the promise of that call. */
export function singleFlight<T>(call: () => Promise<T>): () => Promise<T> {
  const flight = new SingleFlight<null, T>()
  return () => flight.run(null, call)
}

/** Makes a function that calls once and then gives the same promise to all. A call that rejects is forgotten, so that the next one tries again. */
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
