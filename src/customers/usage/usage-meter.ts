import type { Clock } from "../../base/clock.ts"
import { dayOf } from "../../base/utc-day.ts"
import type { Store } from "../store/store.ts"
import { Turns } from "../store/turns.ts"
import { type MeteredKey, raisesOf, type UsageEvent } from "./measures.ts"
import { type Counter, Tallies } from "./tallies.ts"
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
  readonly #full: () => void
  /** What is noted. */
  #gathered = new Tallies()
  /** What a flush writes: what had been gathered when the one before was all written. It is never added to. */
  #writing = new Tallies()
  /** A read that ran beside a flush could see a count in both the store and the memory, or in neither. */
  readonly #turns = new Turns()
  #hasAsked = false
  /** When the first of what is gathered, and of what is written, was noted; null: there is none. */
  #gatheredSinceMs: number | null = null
  #writingSinceMs: number | null = null

  /**
   * `full` asks for a flush before its time. It is called by `note`, so it only sees to it that a flush comes soon, and
   * not again before a flush has brought the counters below their bound.
   */
  constructor(store: Store, clock: Clock, full: () => void, bounds: UsageMeterBounds) {
    this.#store = store
    this.#clock = clock
    this.#full = full
    this.#bounds = bounds
  }

  /** Counts what a key of the account did, on the day that the clock shows now. Never waits and never fails. */
  note(accountId: string, key: MeteredKey, event: UsageEvent): void {
    const nowMs = this.#clock()
    this.#gatheredSinceMs ??= nowMs
    this.#gathered.raise(accountId, dayOf(nowMs), key.id, raisesOf(event, key.kind))
    if (this.#hasAsked || !this.#isFull()) return
    this.#hasAsked = true
    this.#full()
  }

  /**
   * Writes a batch of what was counted, in one transaction, and gives the count of rows in it: zero when nothing is
   * left. When that fails it rejects, and all is counted still, once. What an account that is gone did is forgotten.
   */
  flush(): Promise<number> {
    return this.#turns.take(async () => {
      if (this.#writing.size === 0) {
        ;[this.#writing, this.#gathered] = [this.#gathered, this.#writing]
        this.#writingSinceMs = this.#gatheredSinceMs
        this.#gatheredSinceMs = null
      }
      const batch = [...this.#writing.all().take(this.#bounds.rowsMax)]
      if (batch.length === 0) return 0
      await this.#store.transaction(inner => addCounts(inner, batch))
      for (const counter of batch) this.#writing.drop(counter)
      this.#hasAsked &&= this.#isFull()
      return batch.length
    })
  }

  /**
   * The account's counts from `fromDay` to `toDay`: what every process wrote and what is not written here yet, each
   * event once, in no order and with several counts of the same thing to be summed. Of `toDay` they are by key. Rejects
   * when the store fails.
   */
  counts(accountId: string, fromDay: number, toDay: number): Promise<readonly StoredCount[]> {
    return this.#turns.take(async () => {
      const stored = await readCounts(this.#store, accountId, fromDay, toDay)
      return [...stored, ...this.#unwritten(accountId, fromDay, toDay)]
    })
  }

  /** The same counts by key and not by day. */
  countsByKey(accountId: string, fromDay: number, toDay: number): Promise<readonly KeyCount[]> {
    return this.#turns.take(async () => {
      const stored = await readKeyCounts(this.#store, accountId, fromDay, toDay)
      return [...stored, ...this.#unwritten(accountId, fromDay, toDay)]
    })
  }

  #unwritten(accountId: string, fromDay: number, toDay: number): readonly Counter[] {
    const all = [...this.#writing.of(accountId), ...this.#gathered.of(accountId)]
    return all.filter(({ day }) => day >= fromDay && day <= toDay)
  }

  /** How many counters are not written yet, and for how long the oldest has not been. */
  told(): { readonly unwritten: number; readonly lagMs: number } {
    const unwritten = this.#gathered.size + this.#writing.size
    const sinceMs = (this.#writing.size > 0 ? this.#writingSinceMs : null) ?? this.#gatheredSinceMs
    return { unwritten, lagMs: unwritten === 0 || sinceMs === null ? 0 : Math.max(0, this.#clock() - sinceMs) }
  }

  #isFull(): boolean {
    return this.#gathered.size + this.#writing.size >= this.#bounds.countersMax
  }
}
