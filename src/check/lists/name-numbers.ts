const STAR = 0x2a

/** Powers of two, since slots are found by a mask. */
const INITIAL_NAMES = 1024
const INITIAL_BYTES = 16 * INITIAL_NAMES

/**
 * Numbers for names, from 0 on, in the order in which they were first seen. The names are in ASCII and are held as bytes: as
 * texts in a `Map` hundreds of thousands of them take four times the memory.
 */
export class NameNumbers {
  /** All names, one after the other. */
  #bytes = Buffer.alloc(INITIAL_BYTES)
  /** Where each name begins, and where the last one ends. */
  #starts = new Uint32Array(INITIAL_NAMES + 1)
  #size = 0
  /** A hash table with open addressing, at most half full: 1 + the number of a name; 0: free. */
  #slots = new Uint32Array(2 * INITIAL_NAMES)

  get size(): number {
    return this.#size
  }

  /** The number of a name; -1: it has none. */
  numberOf(name: string): number {
    return (this.#slots[this.#slotOf(name)] ?? 0) - 1
  }

  /** The name with a number below `size`. */
  nameOf(number: number): string {
    return this.#bytes.toString("latin1", this.#starts[number], this.#starts[number + 1])
  }

  /** The code of a character of a name. */
  codeAt(number: number, at: number): number {
    return this.#bytes[(this.#starts[number] ?? 0) + at] ?? 0
  }

  lengthOf(number: number): number {
    return (this.#starts[number + 1] ?? 0) - (this.#starts[number] ?? 0)
  }

  /** Whether a name is a suffix pattern, with `*` for a label. */
  isPattern(number: number): boolean {
    const length = this.lengthOf(number)
    for (let at = 0; at < length; at++) if (this.codeAt(number, at) === STAR) return true
    return false
  }

  /** Negative if the first name sorts before the second one by code units, positive if after. */
  compare(first: number, second: number): number {
    // Two declarations, since an array to take them apart from would be garbage of each of ten million comparisons.
    const start = this.#starts[first] ?? 0
    const otherStart = this.#starts[second] ?? 0
    const length = Math.min(this.lengthOf(first), this.lengthOf(second))
    for (let at = 0; at < length; at++) {
      const difference = (this.#bytes[start + at] ?? 0) - (this.#bytes[otherStart + at] ?? 0)
      if (difference !== 0) return difference
    }
    return this.lengthOf(first) - this.lengthOf(second)
  }

  /** All numbers, sorted by name. */
  sorted(): Uint32Array {
    return new Uint32Array(this.#size).map((_, number) => number).sort((a, b) => this.compare(a, b))
  }

  /** The number of a name, a new one if it has none. */
  add(name: string): number {
    const slot = this.#slotOf(name)
    const taken = this.#slots[slot] ?? 0
    if (taken > 0) return taken - 1
    const number = this.#size++
    const start = this.#starts[number] ?? 0
    const end = start + name.length
    if (end > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], Math.max(end, 2 * this.#bytes.length))
    this.#bytes.write(name, start, "latin1")
    if (number + 1 >= this.#starts.length) this.#starts = grown(this.#starts)
    this.#starts[number + 1] = end
    this.#slots[slot] = number + 1
    if (2 * this.#size >= this.#slots.length) this.#rehash()
    return number
  }

  /** The slot of a name, or the free one where it would be. */
  #slotOf(name: string): number {
    const mask = this.#slots.length - 1
    for (let slot = Bun.hash.xxHash32(name) & mask; ; slot = (slot + 1) & mask) {
      const taken = this.#slots[slot] ?? 0
      if (taken === 0 || this.#isName(taken - 1, name)) return slot
    }
  }

  #isName(number: number, name: string): boolean {
    if (this.lengthOf(number) !== name.length) return false
    const start = this.#starts[number] ?? 0
    for (let at = 0; at < name.length; at++) if (this.#bytes[start + at] !== name.charCodeAt(at)) return false
    return true
  }

  #rehash(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length)
    for (let number = 0; number < this.#size; number++) this.#slots[this.#slotOf(this.nameOf(number))] = number + 1
  }
}

function grown(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * numbers.length)
  larger.set(numbers)
  return larger
}
