/** A queue with a bound, in memory that does not grow: what is put first is taken first. */
export class Ring<T> {
  readonly #places: (T | undefined)[]
  #first = 0
  #size = 0

  constructor(sizeMax: number) {
    this.#places = new Array<T | undefined>(sizeMax).fill(undefined)
  }

  /** How many wait. */
  get size(): number {
    return this.#size
  }

  /** Puts one at the end; false, and nothing is put, when the queue is full. */
  put(value: T): boolean {
    if (this.#size === this.#places.length) return false
    this.#places[(this.#first + this.#size++) % this.#places.length] = value
    return true
  }

  /** Takes the first; undefined when there is none. */
  take(): T | undefined {
    if (this.#size === 0) return undefined
    const value = this.#places[this.#first]
    this.#places[this.#first] = undefined
    this.#first = (this.#first + 1) % this.#places.length
    this.#size--
    return value
  }
}
