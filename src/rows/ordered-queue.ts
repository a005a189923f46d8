/** How many results are pending at once. With more, each would only wait longer for the network. */
export const IN_FLIGHT_MAX = 256
/** How many requests may wait behind a pending one, which takes a few seconds at most. */
export const QUEUE_MAX = 4_096
/** How much text they may hold, in UTF-16 units, so that long requests take no more memory than short ones. */
export const QUEUE_LENGTH_MAX = 16_777_216

type QueuedResult<Q, A> = { readonly request: Q; readonly length: number; result: A | undefined }

/**
 * Emits results in the order of their requests, in whatever order they arrive. A result that is available at once is emitted
 * at once when no earlier one is pending.
 */
export class OrderedQueue<Q, A extends object | null> {
  readonly #emit: (question: Q, answer: A) => void
  readonly #lengthOf: (request: Q) => number
  readonly #inFlightMax: number
  #queue: QueuedResult<Q, A>[] = []
  #head = 0
  #inFlight = 0
  #length = 0
  #failure: { readonly error: unknown } | null = null
  #onChange: () => void = () => undefined

  /** `lengthOf`: how much text a request holds, in UTF-16 units. It is asked for those that have to wait alone. */
  constructor(emit: (question: Q, answer: A) => void, lengthOf: (request: Q) => number, inFlightMax = IN_FLIGHT_MAX) {
    this.#emit = emit
    this.#lengthOf = lengthOf
    this.#inFlightMax = inFlightMax
  }

  /** Whether the next request must wait for `waitForRoom`. */
  get isFull(): boolean {
    return this.#inFlight >= this.#inFlightMax || this.#count >= QUEUE_MAX || this.#length >= QUEUE_LENGTH_MAX
  }

  get #count(): number {
    return this.#queue.length - this.#head
  }

  /** Adds a request, and its result. */
  add(request: Q, answer: A | Promise<A>): void {
    const isThere = !(answer instanceof Promise)
    if (isThere && this.#count === 0) {
      this.#emit(request, answer)
      return
    }
    const length = this.#lengthOf(request)
    const slot: QueuedResult<Q, A> = { request, length, result: isThere ? answer : undefined }
    this.#queue.push(slot)
    this.#length += length
    if (!isThere) this.#track(slot, answer)
  }

  /** Resolves when there is room. Rejects with the error of a result. */
  async waitForRoom(): Promise<void> {
    while (this.isFull) await this.#nextChange()
    if (this.#failure !== null) throw this.#failure.error
  }

  /** Resolves when all results were emitted. Rejects with the error of a result. */
  async drain(): Promise<void> {
    while (this.#count > 0) await this.#nextChange()
    if (this.#failure !== null) throw this.#failure.error
  }

  #track(slot: QueuedResult<Q, A>, answer: Promise<A>): void {
    this.#inFlight++
    answer.then(
      there => {
        this.#inFlight--
        slot.result = there
        this.#emitReady()
        this.#onChange()
      },
      error => {
        this.#failure ??= { error }
        this.#onChange()
      },
    )
  }

  #emitReady(): void {
    for (
      let slot = this.#queue[this.#head];
      slot !== undefined && slot.result !== undefined;
      slot = this.#queue[this.#head]
    ) {
      this.#head++
      this.#length -= slot.length
      this.#emit(slot.request, slot.result)
    }
    // Emitted entries are dropped now and then, because dropping each would move all others.
    if (this.#head < this.#queue.length && this.#head < QUEUE_MAX) return
    this.#queue = this.#queue.slice(this.#head)
    this.#head = 0
  }

  /** Resolves at the next result. Rejects when one has failed. */
  #nextChange(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) reject(this.#failure.error)
      this.#onChange = () => (this.#failure === null ? resolve() : reject(this.#failure.error))
    })
  }
}
