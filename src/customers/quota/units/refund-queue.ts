import type { Store } from "../../store/core/store.ts"
import { hasWrittenNothing } from "../../store/core/store-error.ts"
import type { UnitLease } from "./unit-lease.ts"
import { bySubject, type DayUnits, readLeased, subtractLeased } from "./unit-rows.ts"

/** Units that are returned to the store, and the lease that held them; null: it no longer exists. */
export type UnitRefund = DayUnits & { readonly lease: UnitLease | null }

/** Units that this process no longer holds and returns to the store, of a bounded number of subject days. */
export class RefundQueue {
  readonly #store: Store
  readonly #subjectsMax: number
  readonly #units = new Map<string, UnitRefund>()

  constructor(store: Store, subjectsMax: number) {
    this.#store = store
    this.#subjectsMax = subjectsMax
  }

  /** The count of subject days in the queue. */
  get count(): number {
    return this.#units.size
  }

  /** Queues units. When the queue is full, because the store is too slow, they are lost for the day. */
  add({ subject, day, count, lease }: UnitRefund): void {
    const key = subjectDayKey({ subject, day })
    const queued = this.#units.get(key)
    if (queued === undefined && this.#units.size >= this.#subjectsMax) return
    this.#units.set(key, { subject, day, count: count + (queued?.count ?? 0), lease })
  }

  /** Empties the queue. */
  clear(): void {
    this.#units.clear()
  }

  /** Removes and returns units of up to `countMax` subject days, in the order in which their rows are locked. */
  takeBatch(countMax: number): readonly UnitRefund[] {
    const units = [...this.#units.values().take(countMax)].sort(bySubject)
    for (const refund of units) this.#units.delete(subjectDayKey(refund))
    return units
  }

  /** Returns units to the store. After an error they may have been returned, or not. */
  async writeRefunds(units: readonly DayUnits[]): Promise<void> {
    await this.#store.transaction(async store => {
      for (const refund of units) await subtractLeased(store, refund)
    })
  }
}

const subjectDayKey = ({ subject, day }: Pick<DayUnits, "subject" | "day">): string => `${day} ${subject}`

/** True when the store answers. Never rejects: no request waits for this. */
export async function isStoreAvailable(store: Store, day: number): Promise<boolean> {
  try {
    await readLeased(store, [{ subject: "", day }])
    return true
  } catch (error) {
    return !hasWrittenNothing(error)
  }
}
