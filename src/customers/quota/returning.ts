import type { Store } from "../store/store.ts"
import { isUndone } from "../store/store-fault.ts"
import type { Lease } from "./lease.ts"
import { bySubject, type DayUnits, readLeased, subtractLeased } from "./unit-rows.ts"

/** Units that go back, and the lease that they were in hand of; null: none is left of it. */
export type Returned = DayUnits & { readonly of: Lease | null }

/** Units that are nobody's in this process and go back to the store, at most of so many subjects' days. */
export class Returning {
  readonly #store: Store
  readonly #subjectsMax: number
  readonly #units = new Map<string, Returned>()

  constructor(store: Store, subjectsMax: number) {
    this.#store = store
    this.#subjectsMax = subjectsMax
  }

  /** Of how many subjects' days there are some. */
  get count(): number {
    return this.#units.size
  }

  /** Has units go back. A store that cannot keep up with what is given back loses it for the day. */
  add({ subject, day, count, of }: Returned): void {
    const key = keyOf({ subject, day })
    const others = this.#units.get(key)
    if (others === undefined && this.#units.size >= this.#subjectsMax) return
    this.#units.set(key, { subject, day, count: count + (others?.count ?? 0), of })
  }

  /** Lets go of all. */
  clear(): void {
    this.#units.clear()
  }

  /** Takes units of up to `countMax` subjects' days out, to be given back, in the order in which rows are taken. */
  take(countMax: number): readonly Returned[] {
    const units = [...this.#units.values().take(countMax)].sort(bySubject)
    for (const each of units) this.#units.delete(keyOf(each))
    return units
  }

  /** Gives units back to the store. Rejects when that fails, and then they may have gone back or not. */
  async give(units: readonly DayUnits[]): Promise<void> {
    await this.#store.transaction(async store => {
      for (const each of units) await subtractLeased(store, each)
    })
  }
}

const keyOf = ({ subject, day }: Pick<DayUnits, "subject" | "day">): string => `${day} ${subject}`

/** True when the store can be had. It never rejects: whoever waits for units is told of what fails, and this waits for none. */
export async function isThere(store: Store, day: number): Promise<boolean> {
  try {
    await readLeased(store, [{ subject: "", day }])
    return true
  } catch (error) {
    return !isUndone(error)
  }
}
