import { seeded } from "../../bench/load/seeded-random.ts"

/** Chance that is the same on every run: the request of a seed and a number is made by its own dice alone. */
export class Dice {
  readonly #random: () => number

  constructor(seed: number, number: number) {
    this.#random = seeded(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b))
    // The first numbers of neighbouring seeds are alike.
    this.#random()
    this.#random()
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  /** True once in so many times. */
  once(inTimes: number): boolean {
    return this.below(inTimes) === 0
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0]
  }

  /** Some of the values, in another order. */
  some<T>(values: readonly T[]): readonly T[] {
    return values
      .map(value => ({ value, place: this.#random() }))
      .filter(({ place }) => place < 0.7)
      .sort((one, other) => one.place - other.place)
      .map(({ value }) => value)
  }

  /** So many values, each made anew. */
  times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make)
  }
}
