import type { Measure, Raise } from "./measures.ts"

/** One counter: how often something happened by a key of an account on a day. */
export type Counter = {
  readonly accountId: string
  readonly keyId: string
  /** Days since 1 January 1970, UTC. */
  readonly day: number
  readonly measure: Measure
  readonly count: number
}

type Tally = Map<Measure, number>

/** Counters in memory, none of which is zero. */
export class Tallies {
  /** Account → day → key: nested, since looking up texts that exist costs less than composing a new one. */
  readonly #byAccount = new Map<string, Map<number, Map<string, Tally>>>()
  #counterCount = 0

  /** How many counters there are. */
  get size(): number {
    return this.#counterCount
  }

  /** Raises counters of one key on one day. */
  raise(accountId: string, day: number, keyId: string, raises: readonly Raise[]): void {
    if (raises.length === 0) return
    const tally: Tally = this.#byAccount
      .getOrInsertComputed(accountId, newMap)
      .getOrInsertComputed(day, newMap)
      .getOrInsertComputed(keyId, newMap)
    const before = tally.size
    for (const [measure, by] of raises) tally.set(measure, (tally.get(measure) ?? 0) + by)
    this.#counterCount += tally.size - before
  }

  /** All counters; those of one account stand together. */
  *all(): Generator<Counter> {
    for (const accountId of this.#byAccount.keys()) yield* this.of(accountId)
  }

  /** The counters of one account. */
  *of(accountId: string): Generator<Counter> {
    for (const [day, keys] of this.#byAccount.get(accountId) ?? [])
      for (const [keyId, tally] of keys)
        for (const [measure, count] of tally) yield { accountId, day, keyId, measure, count }
  }

  /** Takes a counter out, whatever it stands at. */
  drop({ accountId, day, keyId, measure }: Counter): void {
    const days = this.#byAccount.get(accountId)
    const keys = days?.get(day)
    const tally = keys?.get(keyId)
    if (!tally?.delete(measure)) return
    this.#counterCount--
    if (tally.size === 0) keys?.delete(keyId)
    if (keys?.size === 0) days?.delete(day)
    if (days?.size === 0) this.#byAccount.delete(accountId)
  }
}

const newMap = <K, V>(): Map<K, V> => new Map()
