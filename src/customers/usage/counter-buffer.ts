import { MEASURE_NAMES, type Measure, type MeasureIncrement, measureIndex } from "./measures.ts"

/** One counter: how often something happened by a key of an account on a day. */
export type UsageCounter = {
  readonly accountId: string
  readonly keyId: string
  /** Days since 1 January 1970, UTC. */
  readonly day: number
  readonly measure: Measure
  readonly count: number
}

/** What one key of an account did on one day. */
type KeyDayCounts = {
  readonly accountId: string
  readonly keyId: string
  readonly day: number
  /** By the position of the measure; zero: it was not raised. */
  readonly counts: Float64Array
}

/** Counters in memory, none of which is zero. */
export class CounterBuffer {
  readonly #byAccount = new Map<string, Set<KeyDayCounts>>()
  /** The tally that was raised last, by key. */
  readonly #latest = new Map<string, KeyDayCounts>()
  #counterCount = 0

  /** How many counters there are. */
  get size(): number {
    return this.#counterCount
  }

  /** Raises counters of one key on one day. */
  increment(accountId: string, day: number, keyId: string, raises: readonly MeasureIncrement[]): void {
    if (raises.length === 0) return
    const { counts } = this.#countsOf(accountId, day, keyId)
    for (const [at, by] of raises) {
      const before = counts[at] ?? 0
      if (before === 0) this.#counterCount++
      counts[at] = before + by
    }
  }

  /** All counters; those of one account stand together. */
  *all(): Generator<UsageCounter> {
    for (const accountId of this.#byAccount.keys()) yield* this.ofAccount(accountId)
  }

  /** The counters of one account. */
  *ofAccount(accountId: string): Generator<UsageCounter> {
    for (const { day, keyId, counts } of this.#byAccount.get(accountId) ?? [])
      for (const [at, measure] of MEASURE_NAMES.entries()) {
        const count = counts[at] ?? 0
        if (count > 0) yield { accountId, day, keyId, measure, count }
      }
  }

  /** Takes a counter out, whatever it stands at. */
  remove({ accountId, day, keyId, measure }: UsageCounter): void {
    const tally = this.#find(accountId, day, keyId)
    const at = measureIndex(measure)
    if (tally === undefined || !tally.counts[at]) return
    tally.counts[at] = 0
    this.#counterCount--
    if (tally.counts.some(count => count > 0)) return
    const tallies = this.#byAccount.get(accountId)
    tallies?.delete(tally)
    if (tallies?.size === 0) this.#byAccount.delete(accountId)
    if (this.#latest.get(keyId) === tally) this.#latest.delete(keyId)
  }

  #countsOf(accountId: string, day: number, keyId: string): KeyDayCounts {
    const latest = this.#latest.get(keyId)
    if (latest?.day === day && latest.accountId === accountId) return latest
    const tally = this.#find(accountId, day, keyId) ?? {
      accountId,
      keyId,
      day,
      counts: new Float64Array(MEASURE_NAMES.length),
    }
    this.#byAccount.getOrInsertComputed(accountId, newSet).add(tally)
    this.#latest.set(keyId, tally)
    return tally
  }

  /** An account has few keys, and each of them a tally a day. */
  #find(accountId: string, day: number, keyId: string): KeyDayCounts | undefined {
    return this.#byAccount
      .get(accountId)
      ?.values()
      .find(tally => tally.keyId === keyId && tally.day === day)
  }
}

const newSet = <T>(): Set<T> => new Set()
