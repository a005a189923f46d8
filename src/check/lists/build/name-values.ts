import { countGarbage } from "../../../base/garbage.ts"
import { NameNumbers } from "../name-numbers.ts"

/**
 * Hundreds of thousands of names with a value each, of which there are few different ones: the sources that list a name, or
 * what became of its listings. Each value is held once, and each name once for all tables, or a build would take
 * gigabytes.
 */

/** A list of texts or numbers; equal ones are one value. */
type ListValue = readonly (string | number)[]

/** Values of names, as in a read-only `Map`. */
export class NameValues<V extends ListValue> {
  readonly names: NameNumbers
  /** For each name the number of its value from 1 on; 0: it has none. Names after the end have none. */
  readonly #valueNumbers: Uint32Array
  readonly #values: readonly V[]

  /** Use `NameValuesBuilder`. */
  constructor(names: NameNumbers, valueNumbers: Uint32Array, values: readonly V[]) {
    this.names = names
    this.#valueNumbers = valueNumbers
    this.#values = values
  }

  get(name: string): V | undefined {
    return this.at(this.names.numberOf(name))
  }

  /** The value of the name with a number. */
  at(number: number): V | undefined {
    return this.#values[(this.#valueNumbers[number] ?? 0) - 1]
  }

  /** Each name with its value, in the order in which the names were first seen. */
  *[Symbol.iterator](): Generator<readonly [name: string, value: V]> {
    for (let number = 0; number < this.#valueNumbers.length; number++) {
      countGarbage()
      const value = this.at(number)
      if (value !== undefined) yield [this.names.nameOf(number), value]
    }
  }

  /** A table with other values of some names, which may be new. */
  with(changes: Iterable<readonly [name: string, value: V]>): NameValues<V> {
    const builder = new NameValuesBuilder<V>(this.names, this.#valueNumbers, this.#values)
    for (const [name, value] of changes) builder.set(name, value)
    return builder.build()
  }
}

/** Collects the values of a `NameValues`. */
export class NameValuesBuilder<V extends ListValue> {
  readonly #names: NameNumbers
  readonly #values: V[]
  readonly #numberByKey: Map<string, number>
  #valueNumbers: Uint32Array

  constructor(names = new NameNumbers(), valueNumbers: Uint32Array = new Uint32Array(), values: readonly V[] = []) {
    this.#names = names
    this.#valueNumbers = valueNumbers.slice()
    this.#values = [...values]
    this.#numberByKey = new Map(values.map((value, index) => [value.join(), index + 1]))
  }

  get(name: string): V | undefined {
    return this.#values[(this.#valueNumbers[this.#names.numberOf(name)] ?? 0) - 1]
  }

  set(name: string, value: V): void {
    const key = value.join()
    let valueNumber = this.#numberByKey.get(key)
    if (valueNumber === undefined) {
      valueNumber = this.#values.push(value)
      this.#numberByKey.set(key, valueNumber)
    }
    const number = this.#names.add(name)
    if (number >= this.#valueNumbers.length) this.#grow(number + 1)
    this.#valueNumbers[number] = valueNumber
  }

  build(): NameValues<V> {
    return new NameValues(this.#names, this.#valueNumbers.slice(0, this.#names.size), this.#values)
  }

  #grow(length: number): void {
    const grown = new Uint32Array(Math.max(length, this.#valueNumbers.length * 2, this.#names.size))
    grown.set(this.#valueNumbers)
    this.#valueNumbers = grown
  }
}
