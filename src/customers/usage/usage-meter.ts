import { Mutex } from "../../base/mutex.ts"
import type { Clock } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import type { Store } from "../store/core/store.ts"
import { isWriteUnsure } from "../store/core/store-error.ts"
import { CounterBuffer, type UsageCounter } from "./counter-buffer.ts"
import {
  MEASURE_NAMES,
  type Measure,
  type MeteredKey,
  measureIncrements,
  measureIndex,
  type UsageEvent,
} from "./measures.ts"
import { addCounts, type KeyDayCount, readCounts, readKeyDayCounts, type StoredCount } from "./usage-rows.ts"

/** The bounds of a usage meter. */
export type UsageMeterBounds = {
  /** The count of counters (one for each key, day and measure) at which a flush is requested. No event is dropped beyond it. */
  readonly countersMax: number
  /** How many rows one flush writes at most. */
  readonly rowsMax: number
}

/** Bounds that keep the counters within about 10 MB while the store works, and a flush within about 15 ms. */
export const USAGE_METER_BOUNDS: UsageMeterBounds = { countersMax: 50_000, rowsMax: 2000 }

/**
 * Counts what each key does, by UTC day, in memory, and writes it in batches, so that a request writes nothing. A crash loses what was
 * not written; a failing store loses nothing, unless it leaves open whether it has written.
 */
export class UsageMeter {
  readonly #store: Store
  readonly #clock: Clock
  readonly #bounds: UsageMeterBounds
  readonly #onFull: () => void
  readonly #today: (nowMs: number) => number
  /** Receives new events. */
  #pending = new CounterBuffer()
  /** What a flush writes: the pending counters at the time when the previous ones were all written. It receives no events. */
  #writing = new CounterBuffer()
  /** Without it, a read during a flush could count an event twice, or not at all. */
  readonly #mutex = new Mutex()
  /** What this process counted since its start, by the index of the measure. */
  readonly #totals = new Float64Array(MEASURE_NAMES.length)
  #hasRequestedFlush = false
  /** The time of the first event in each buffer; null: it is empty. */
  #pendingSinceMs: number | null = null
  #writingSinceMs: number | null = null

  /**
   * `onFull` requests a flush ahead of time. `record` calls it, so it must only schedule the flush. It is not called again before a
   * flush has brought the counters below their bound. `today` gives the day on which quotas count at an instant.
   */
  constructor(
    store: Store,
    clock: Clock,
    onFull: () => void,
    bounds: UsageMeterBounds,
    today: (nowMs: number) => number = utcDay,
  ) {
    this.#store = store
    this.#clock = clock
    this.#onFull = onFull
    this.#bounds = bounds
    this.#today = today
  }

  /**
   * Counts an event of the account's key on the day whose units it cost; null: on the current day. Never waits and never fails.
   */
  record(accountId: string, key: MeteredKey, event: UsageEvent, chargedDay: number | null = null): void {
    const nowMs = this.#clock()
    this.#pendingSinceMs ??= nowMs
    const day = chargedDay ?? this.#today(nowMs)
    const increments = measureIncrements(event, key.kind)
    this.#pending.increment(accountId, day, key.id, increments)
    for (const [index, by] of increments) this.#totals[index] = (this.#totals[index] ?? 0) + by
    if (this.#hasRequestedFlush || !this.#isFull()) return
    this.#hasRequestedFlush = true
    this.#onFull()
  }

  /**
   * Writes a batch in one transaction and returns the count of its rows; zero when none was left. When the store fails it rejects, and
   * nothing is counted twice; only a batch whose commit was not answered may be lost. Counts of deleted accounts are dropped.
   */
  flush(): Promise<number> {
    return this.#mutex.runExclusive(async () => {
      if (this.#writing.size === 0) {
        ;[this.#writing, this.#pending] = [this.#pending, this.#writing]
        this.#writingSinceMs = this.#pendingSinceMs
        this.#pendingSinceMs = null
      }
      const batch = [...this.#writing.all().take(this.#bounds.rowsMax)]
      if (batch.length === 0) return 0
      try {
        await this.#store.transaction(inner => addCounts(inner, batch), "unsynced")
      } catch (error) {
        // As with leased units: what may have been written is not written again, so that nothing is counted twice.
        if (isWriteUnsure(error)) this.#removeWritten(batch)
        throw error
      }
      this.#removeWritten(batch)
      return batch.length
    })
  }

  /**
   * The account's counts from `fromDay` to `toDay`: those of all processes from the store, and the unwritten ones of this process. Each
   * event is counted once; several counts of one measure have to be summed. Those of `toDay` are by key. Rejects when the store fails.
   */
  counts(accountId: string, fromDay: number, toDay: number): Promise<readonly StoredCount[]> {
    return this.#mutex.runExclusive(async () => {
      const stored = await readCounts(this.#store, accountId, fromDay, toDay)
      return [...stored, ...this.#unwritten(accountId, fromDay, toDay)]
    })
  }

  /** The same counts by key and day. */
  countsByKeyAndDay(accountId: string, fromDay: number, toDay: number): Promise<readonly KeyDayCount[]> {
    return this.#mutex.runExclusive(async () => {
      const stored = await readKeyDayCounts(this.#store, accountId, fromDay, toDay)
      return [...stored, ...this.#unwritten(accountId, fromDay, toDay)]
    })
  }

  #removeWritten(batch: readonly UsageCounter[]): void {
    for (const counter of batch) this.#writing.remove(counter)
    this.#hasRequestedFlush &&= this.#isFull()
  }

  #unwritten(accountId: string, fromDay: number, toDay: number): readonly UsageCounter[] {
    const all = [...this.#writing.ofAccount(accountId), ...this.#pending.ofAccount(accountId)]
    return all.filter(({ day }) => day >= fromDay && day <= toDay)
  }

  /** What this process counted of a measure since its start, over all accounts. */
  total(measure: Measure): number {
    return this.#totals[measureIndex(measure)] ?? 0
  }

  /** The count of unwritten counters, and the age of the oldest. */
  stats(): { readonly unwritten: number; readonly lagMs: number } {
    const unwritten = this.#pending.size + this.#writing.size
    const sinceMs = (this.#writing.size > 0 ? this.#writingSinceMs : null) ?? this.#pendingSinceMs
    return { unwritten, lagMs: unwritten === 0 || sinceMs === null ? 0 : Math.max(0, this.#clock() - sinceMs) }
  }

  #isFull(): boolean {
    return this.#pending.size + this.#writing.size >= this.#bounds.countersMax
  }
}
