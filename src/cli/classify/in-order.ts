/** How many answers are waited for at once: more wait for the network no shorter. */
export const IN_FLIGHT_MAX = 256
/** How many questions there may be whose answers are there or not, behind one that is not: it waits for a few seconds at most. */
export const HELD_MAX = 4_096
/** How much text those questions may have in all, in UTF-16 code units, so that long ones take no more memory than others. */
export const HELD_LENGTH_MAX = 16_777_216

type Slot<Q, A> = { readonly question: Q; readonly length: number; answer: A | null }

/**
 * Gives answers on in the order of their questions, whenever they come. An answer that is there at once, with none before
 * it missing, is given on at once.
 */
export class InOrder<Q, A extends object> {
  readonly #give: (question: Q, answer: A) => void
  #slots: Slot<Q, A>[] = []
  #first = 0
  #inFlight = 0
  #length = 0
  #fault: { readonly error: unknown } | null = null
  #changed: () => void = () => undefined

  constructor(give: (question: Q, answer: A) => void) {
    this.#give = give
  }

  /** Whether the next question has to wait for `room`. */
  get isFull(): boolean {
    return this.#inFlight >= IN_FLIGHT_MAX || this.#count >= HELD_MAX || this.#length >= HELD_LENGTH_MAX
  }

  get #count(): number {
    return this.#slots.length - this.#first
  }

  /** Takes the next question, which has so much text, with its answer. */
  add(question: Q, length: number, answer: A | Promise<A>): void {
    const isThere = !(answer instanceof Promise)
    if (isThere && this.#count === 0) {
      this.#give(question, answer)
      return
    }
    const slot: Slot<Q, A> = { question, length, answer: isThere ? answer : null }
    this.#slots.push(slot)
    this.#length += length
    if (!isThere) this.#await(slot, answer)
  }

  /** Resolves when there is room. Rejects with why an answer did not come. */
  async room(): Promise<void> {
    while (this.isFull) await this.#change()
    if (this.#fault !== null) throw this.#fault.error
  }

  /** Resolves when all answers are given on. Rejects with why one did not come. */
  async done(): Promise<void> {
    while (this.#count > 0) await this.#change()
    if (this.#fault !== null) throw this.#fault.error
  }

  #await(slot: Slot<Q, A>, answer: Promise<A>): void {
    this.#inFlight++
    answer.then(
      there => {
        this.#inFlight--
        slot.answer = there
        this.#giveOn()
        this.#changed()
      },
      error => {
        this.#fault ??= { error }
        this.#changed()
      },
    )
  }

  #giveOn(): void {
    for (
      let slot = this.#slots[this.#first];
      slot !== undefined && slot.answer !== null;
      slot = this.#slots[this.#first]
    ) {
      this.#first++
      this.#length -= slot.length
      this.#give(slot.question, slot.answer)
    }
    // What was given on is dropped now and then: each time would move all that are left.
    if (this.#first < this.#slots.length && this.#first < HELD_MAX) return
    this.#slots = this.#slots.slice(this.#first)
    this.#first = 0
  }

  /** Resolves at the next answer; at once when one did not come. */
  #change(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#fault !== null) reject(this.#fault.error)
      this.#changed = () => (this.#fault === null ? resolve() : reject(this.#fault.error))
    })
  }
}
