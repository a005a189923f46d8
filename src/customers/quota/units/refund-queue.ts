import type { Store } from "../../store/core/store.ts"
import { hasWrittenNothing } from "../../store/core/store-error.ts"
import type { UnitLease } from "./unit-lease.ts"
import { bySubject, type DayUnits, readLeased, subtractLeased } from "./unit-rows.ts"

/** Units that go back, and the lease that they were in hand of; null: none is left of it. */
export type UnitRefund = DayUnits & { readonly lease: UnitLease | null }

/** Units that are nobody's in this process and go back to the store, at most of so many subjects' days. */
export class RefundQueue {
  readonly #store: Store
  readonly #subjectsMax: number
  readonly #units = new Map<string, UnitRefund>()

  constructor(store: Store, subjectsMax: number) {
    this.#store = store
    this.#subjectsMax = subjectsMax
  }

  /** Of how many subjects' days there are some. */
  get count(): number {
    return this.#units.size
  }

  /** Has units go back. A store that cannot keep up with what is given back loses it for the day. */
  add({ subject, day, count, lease }: UnitRefund): void {
    const key = subjectDayKey({ subject, day })
    const others = this.#units.get(key)
    if (others === undefined && this.#units.size >= this.#subjectsMax) return
    this.#units.set(key, { subject, day, count: count + (others?.count ?? 0), lease })
  }

  /** Lets go of all. */
  clear(): void {
    this.#units.clear()
  }

  /** Takes units of up to `countMax` subjects' days out, to be given back, in the order in which rows are taken. */
  takeBatch(countMax: number): readonly UnitRefund[] {
    const units = [...this.#units.values().take(countMax)].sort(bySubject)
    for (const each of units) this.#units.delete(subjectDayKey(each))
    return units
  }

  /** Gives units back to the store. Rejects when that fails, and then they may have gone back or not. */
  async writeRefunds(units: readonly DayUnits[]): Promise<void> {
    await this.#store.transaction(async store => {
      for (const each of units) await subtractLeased(store, each)
    })
  }
}

const subjectDayKey = ({ subject, day }: Pick<DayUnits, "subject" | "day">): string => `${day} ${subject}`

/** True when the store can be had. It never rejects: whoever waits for units is told of what fails, and this waits for none. */
export async function isStoreAvailable(store: Store, day: number): Promise<boolean> {
  try {
    await readLeased(store, [{ subject: "", day }])
    return true
  } catch (error) {
    return !hasWrittenNothing(error)
  }
}
