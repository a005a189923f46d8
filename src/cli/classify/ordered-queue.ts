/** How many answers are waited for at once: more wait for the network no shorter. */
export const IN_FLIGHT_MAX = 256
/** How many questions there may be whose answers are there or not, behind one that is not: it waits for a few seconds at most. */
export const QUEUE_MAX = 4_096
/** How much text those questions may have in all, in UTF-16 code units, so that long ones take no more memory than others. */
export const QUEUE_LENGTH_MAX = 16_777_216

type QueuedResult<Q, A> = { readonly request: Q; readonly length: number; result: A | null }

/**
 * Gives answers on in the order of their questions, whenever they come. An answer that is there at once, with none before
 * it missing, is given on at once.
 */
export class OrderedQueue<Q, A extends object> {
  readonly #emit: (question: Q, answer: A) => void
  #queue: QueuedResult<Q, A>[] = []
  #head = 0
  #inFlight = 0
  #length = 0
  #failure: { readonly error: unknown } | null = null
  #onChange: () => void = () => undefined

  constructor(give: (question: Q, answer: A) => void) {
    this.#emit = give
  }

  /** Whether the next question has to wait for `room`. */
  get isFull(): boolean {
    return this.#inFlight >= IN_FLIGHT_MAX || this.#count >= QUEUE_MAX || this.#length >= QUEUE_LENGTH_MAX
  }

  get #count(): number {
    return this.#queue.length - this.#head
  }

  /** Takes the next question, which has so much text, with its answer. */
  add(request: Q, length: number, answer: A | Promise<A>): void {
    const isThere = !(answer instanceof Promise)
    if (isThere && this.#count === 0) {
      this.#emit(request, answer)
      return
    }
    const slot: QueuedResult<Q, A> = { request, length, result: isThere ? answer : null }
    this.#queue.push(slot)
    this.#length += length
    if (!isThere) this.#track(slot, answer)
  }

  /** Resolves when there is room. Rejects with why an answer did not come. */
  async waitForRoom(): Promise<void> {
    while (this.isFull) await this.#nextChange()
    if (this.#failure !== null) throw this.#failure.error
  }

  /** Resolves when all answers are given on. Rejects with why one did not come. */
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
      slot !== undefined && slot.result !== null;
      slot = this.#queue[this.#head]
    ) {
      this.#head++
      this.#length -= slot.length
      this.#emit(slot.request, slot.result)
    }
    // What was given on is dropped now and then: each time would move all that are left.
    if (this.#head < this.#queue.length && this.#head < QUEUE_MAX) return
    this.#queue = this.#queue.slice(this.#head)
    this.#head = 0
  }

  /** Resolves at the next answer; at once when one did not come. */
  #nextChange(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) reject(this.#failure.error)
      this.#onChange = () => (this.#failure === null ? resolve() : reject(this.#failure.error))
    })
  }
}
