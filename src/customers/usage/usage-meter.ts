import { Mutex } from "../../base/mutex.ts"
import type { Clock } from "../../base/outside-world.ts"
import { utcDay } from "../../base/time.ts"
import type { Store } from "../store/core/store.ts"
import { CounterBuffer, type UsageCounter } from "./counter-buffer.ts"
import { type MeteredKey, measureIncrements, type UsageEvent } from "./measures.ts"
import { addCounts, type KeyCount, readCounts, readKeyCounts, type StoredCount } from "./usage-rows.ts"

/** The bounds of a usage meter. */
export type UsageMeterBounds = {
  /** From how many counters on (one a key, day and measure) a flush is asked for; none is dropped beyond it. */
  readonly countersMax: number
  /** How many rows one flush writes at most. */
  readonly rowsMax: number
}

/** Bounds that keep the counters within about 10 MB while the store works, and a flush within about 15 ms. */
export const USAGE_METER_BOUNDS: UsageMeterBounds = { countersMax: 50_000, rowsMax: 2000 }

/**
 * Counts what each key does, by UTC day, in memory, and writes it in batches: a request writes nothing. A crash forgets
 * what was not written yet; a failing store makes it forget nothing.
 */
export class UsageMeter {
  readonly #store: Store
  readonly #clock: Clock
  readonly #bounds: UsageMeterBounds
  readonly #onFull: () => void
  /** What is noted. */
  #pending = new CounterBuffer()
  /** What a flush writes: what had been gathered when the one before was all written. It is never added to. */
  #writing = new CounterBuffer()
  /** A read that ran beside a flush could see a count in both the store and the memory, or in neither. */
  readonly #mutex = new Mutex()
  #hasRequestedFlush = false
  /** When the first of what is gathered, and of what is written, was noted; null: there is none. */
  #pendingSinceMs: number | null = null
  #writingSinceMs: number | null = null

  /**
   * `full` asks for a flush before its time. It is called by `note`, so it only sees to it that a flush comes soon, and
   * not again before a flush has brought the counters below their bound.
   */
  constructor(store: Store, clock: Clock, full: () => void, bounds: UsageMeterBounds) {
    this.#store = store
    this.#clock = clock
    this.#onFull = full
    this.#bounds = bounds
  }

  /** Counts what a key of the account did, on the day that the clock shows now. Never waits and never fails. */
  record(accountId: string, key: MeteredKey, event: UsageEvent): void {
    const nowMs = this.#clock()
    this.#pendingSinceMs ??= nowMs
    this.#pending.increment(accountId, utcDay(nowMs), key.id, measureIncrements(event, key.kind))
    if (this.#hasRequestedFlush || !this.#isFull()) return
    this.#hasRequestedFlush = true
    this.#onFull()
  }

  /**
   * Writes a batch of what was counted, in one transaction, and gives the count of rows in it: zero when nothing is
   * left. When that fails it rejects, and all is counted still, once. What an account that is gone did is forgotten.
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
      await this.#store.transaction(inner => addCounts(inner, batch))
      for (const counter of batch) this.#writing.remove(counter)
      this.#hasRequestedFlush &&= this.#isFull()
      return batch.length
    })
  }

  /**
   * The account's counts from `fromDay` to `toDay`: what every process wrote and what is not written here yet, each
   * event once, in no order and with several counts of the same thing to be summed. Of `toDay` they are by key. Rejects
   * when the store fails.
   */
  counts(accountId: string, fromDay: number, toDay: number): Promise<readonly StoredCount[]> {
    return this.#mutex.runExclusive(async () => {
      const stored = await readCounts(this.#store, accountId, fromDay, toDay)
      return [...stored, ...this.#unwritten(accountId, fromDay, toDay)]
    })
  }

  /** The same counts by key and not by day. */
  countsByKey(accountId: string, fromDay: number, toDay: number): Promise<readonly KeyCount[]> {
    return this.#mutex.runExclusive(async () => {
      const stored = await readKeyCounts(this.#store, accountId, fromDay, toDay)
      return [...stored, ...this.#unwritten(accountId, fromDay, toDay)]
    })
  }

  #unwritten(accountId: string, fromDay: number, toDay: number): readonly UsageCounter[] {
    const all = [...this.#writing.ofAccount(accountId), ...this.#pending.ofAccount(accountId)]
    return all.filter(({ day }) => day >= fromDay && day <= toDay)
  }

  /** How many counters are not written yet, and for how long the oldest has not been. */
  stats(): { readonly unwritten: number; readonly lagMs: number } {
    const unwritten = this.#pending.size + this.#writing.size
    const sinceMs = (this.#writing.size > 0 ? this.#writingSinceMs : null) ?? this.#pendingSinceMs
    return { unwritten, lagMs: unwritten === 0 || sinceMs === null ? 0 : Math.max(0, this.#clock() - sinceMs) }
  }

  #isFull(): boolean {
    return this.#pending.size + this.#writing.size >= this.#bounds.countersMax
  }
}
