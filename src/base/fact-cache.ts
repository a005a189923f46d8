import { LRUCache } from "lru-cache"
import type { Finding } from "./finding.ts"
import { boundedByCount } from "./lru-bounds.ts"
import type { Clock } from "./outside-world.ts"
import { SingleFlight } from "./single-flight.ts"
import { type CacheLifetime, isFresh } from "./time.ts"

/** How facts of one kind are cached that the outside world tells. */
export type FactKind = {
  readonly entriesMax: number
  /** How long a failure is cached, so that a burst of questions does not repeat it. */
  readonly failureTtlMs: number
  /** How long after its freshness a stale answer may replace a failure; 0: never. */
  readonly staleMs: number
  /** How long a stale answer is fresh again after a failure. */
  readonly staleTtlMs: number
}

/** Bounds of memory. A larger entry is not cached. */
export type FactBytes<V> = {
  readonly bytesMax: number
  readonly entryBytesMax: number
  readonly bytesOf: (key: string, finding: Finding<V>) => number
}

/** Makes what a caller gets of a finding. A failure does not count as cached. */
type ResultOf<V, R> = (finding: Finding<V>, isCached: boolean, freshUntilMs: number) => R

type Entry<V, R> = CacheLifetime & {
  readonly finding: Finding<V>
  /** The result of every hit until `freshUntilMs`, always the same object; null: there was no hit yet. */
  hit: R | null
  /** Until when an answer may replace a failure. */
  readonly staleUntilMs: number
}

/**
 * Caches facts of one kind by key, and failures to learn them; the least recently used is evicted first. Stale answers replace failures
 * (RFC 8767), so no entry is dropped for its age.
 */
export class FactCache<V, R> {
  readonly #kind: FactKind
  readonly #clock: Clock
  readonly #resultOf: ResultOf<V, R>
  readonly #entries: LRUCache<string, Entry<V, R>>
  /** The lookups under way, whose result all callers of a key get. */
  readonly flights = new SingleFlight<string, R>()

  /** `bytes` absent: entries are bounded by their count alone. */
  constructor(kind: FactKind, clock: Clock, resultOf: ResultOf<V, R>, bytes?: FactBytes<V>) {
    this.#kind = kind
    this.#clock = clock
    this.#resultOf = resultOf
    this.#entries = new LRUCache(
      bytes === undefined
        ? boundedByCount(kind.entriesMax)
        : {
            maxSize: bytes.bytesMax,
            maxEntrySize: bytes.entryBytesMax,
            sizeCalculation: ({ finding }, key) => bytes.bytesOf(key, finding),
          },
    )
  }

  /** How many entries it has. */
  get size(): number {
    return this.#entries.size
  }

  /** How much memory the entries take, by the estimate of `bytesOf`. */
  get bytes(): number {
    return this.#entries.calculatedSize
  }

  /** The fresh result; undefined: there is none. */
  fresh(key: string): R | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && isFresh(entry, this.#clock()) ? this.#hit(entry) : undefined
  }

  /** The answer that replaces a failure, with no freshness; undefined: there is none. */
  stale(key: string): R | undefined {
    const now = this.#clock()
    const entry = this.#staleEntry(key, now)
    return entry === undefined ? undefined : this.#resultOf(entry.finding, true, now)
  }

  /**
   * Caches an answer and returns its result, which is not from the cache. `foundAtMs`: when another process found it; if its clock is ahead
   * of ours, the answer is not fresh for longer.
   */
  setAnswer(key: string, finding: Finding<V>, ttlMs: number, foundAtMs?: number): R {
    const now = this.#clock()
    const freshUntilMs = Math.min(foundAtMs ?? now, now) + ttlMs
    const staleUntilMs = freshUntilMs + this.#kind.staleMs
    this.#set(key, { finding, hit: null, cachedAtMs: now, freshUntilMs, staleUntilMs })
    return this.#resultOf(finding, false, freshUntilMs)
  }

  /** Caches a failure, and returns what replaces it: the stale answer, or else the failure. */
  setFailure(key: string, failure: Finding<never>): R {
    const now = this.#clock()
    const { failureTtlMs, staleTtlMs } = this.#kind
    const stale = this.#staleEntry(key, now)
    const entry =
      stale === undefined
        ? { finding: failure, hit: null, cachedAtMs: now, freshUntilMs: now + failureTtlMs, staleUntilMs: now }
        : { ...stale, hit: null, cachedAtMs: now, freshUntilMs: Math.min(now + staleTtlMs, stale.staleUntilMs) }
    this.#set(key, entry)
    return this.#hit(entry)
  }

  /** Most facts are asked for once: the result of hits is made by the first one. */
  #hit(entry: Entry<V, R>): R {
    entry.hit ??= this.#resultOf(entry.finding, entry.finding.known, entry.freshUntilMs)
    return entry.hit
  }

  #staleEntry(key: string, now: number): Entry<V, R> | undefined {
    if (this.#kind.staleMs === 0) return undefined
    const entry = this.#entries.peek(key)
    return entry?.finding.known && now < entry.staleUntilMs ? entry : undefined
  }

  /** The library's own bound by count would allocate the room of all entries at the start. */
  #set(key: string, entry: Entry<V, R>): void {
    this.#entries.set(key, entry)
    if (this.#entries.size > this.#kind.entriesMax) this.#entries.pop()
  }
}
