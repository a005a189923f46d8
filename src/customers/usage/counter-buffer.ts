import { MEASURE_NAMES, type Measure, type MeasureIncrement, measureIndex } from "./measures.ts"

/** A counter: how often a key of an account caused a measure on a day. */
export type UsageCounter = {
  readonly accountId: string
  readonly keyId: string
  /** Days since 1 January 1970, UTC. */
  readonly day: number
  readonly measure: Measure
  readonly count: number
}

/** The counts of one key of an account on one day. */
type KeyDayCounts = {
  readonly accountId: string
  readonly keyId: string
  readonly day: number
  /** By the index of the measure. */
  readonly counts: Float64Array
}

/** Counters in memory. Counters at zero do not exist. */
export class CounterBuffer {
  readonly #byAccount = new Map<string, Set<KeyDayCounts>>()
  /** The counts that were incremented last, by key id. */
  readonly #latest = new Map<string, KeyDayCounts>()
  #counterCount = 0

  /** How many counters there are. */
  get size(): number {
    return this.#counterCount
  }

  /** Increments counters of one key on one day. */
  increment(accountId: string, day: number, keyId: string, increments: readonly MeasureIncrement[]): void {
    if (increments.length === 0) return
    const { counts } = this.#countsOf(accountId, day, keyId)
    for (const [index, by] of increments) {
      const before = counts[index] ?? 0
      if (before === 0) this.#counterCount++
      counts[index] = before + by
    }
  }

  /** All counters, grouped by account. */
  *all(): Generator<UsageCounter> {
    for (const accountId of this.#byAccount.keys()) yield* this.ofAccount(accountId)
  }

  /** The counters of one account. */
  *ofAccount(accountId: string): Generator<UsageCounter> {
    for (const { day, keyId, counts } of this.#byAccount.get(accountId) ?? [])
      for (const [index, measure] of MEASURE_NAMES.entries()) {
        const count = counts[index] ?? 0
        if (count > 0) yield { accountId, day, keyId, measure, count }
      }
  }

  /** Removes a counter, whatever its count is. */
  remove({ accountId, day, keyId, measure }: UsageCounter): void {
    const dayCounts = this.#find(accountId, day, keyId)
    const index = measureIndex(measure)
    if (dayCounts === undefined || !dayCounts.counts[index]) return
    dayCounts.counts[index] = 0
    this.#counterCount--
    if (dayCounts.counts.some(count => count > 0)) return
    const accountCounts = this.#byAccount.get(accountId)
    accountCounts?.delete(dayCounts)
    if (accountCounts?.size === 0) this.#byAccount.delete(accountId)
    if (this.#latest.get(keyId) === dayCounts) this.#latest.delete(keyId)
  }

  #countsOf(accountId: string, day: number, keyId: string): KeyDayCounts {
    const latest = this.#latest.get(keyId)
    if (latest?.day === day && latest.accountId === accountId) return latest
    const dayCounts = this.#find(accountId, day, keyId) ?? {
      accountId,
      keyId,
      day,
      counts: new Float64Array(MEASURE_NAMES.length),
    }
    this.#byAccount.getOrInsertComputed(accountId, newSet).add(dayCounts)
    this.#latest.set(keyId, dayCounts)
    return dayCounts
  }

  /** A linear search: an account has few keys, and each has one entry a day. */
  #find(accountId: string, day: number, keyId: string): KeyDayCounts | undefined {
    return this.#byAccount
      .get(accountId)
      ?.values()
      .find(dayCounts => dayCounts.keyId === keyId && dayCounts.day === day)
  }
}

const newSet = <T>(): Set<T> => new Set()
