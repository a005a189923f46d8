import { LRUCache } from "lru-cache"
import type { KeyKind } from "./key-form.ts"

/** What a request needs to know of its key. */
export type HeldKey = { readonly id: string; readonly kind: KeyKind; readonly origins: readonly string[] }

/** What a request needs to know of its account; its email is not among it. */
export type HeldAccount = {
  readonly id: string
  readonly tier: number
  readonly acceptedTermsVersion: string | null
  readonly acceptedTermsAtMs: number | null
}

/** A key that exists, as it was when the store was asked. */
export type KnownKey = {
  readonly kind: "active" | "revoked"
  readonly key: HeldKey
  readonly account: HeldAccount
}

/** How caches count their time: by our own clock and one more, for they take an entry made at 0 for one without an end, and exactly. */
export type CacheTime = { readonly ttlResolution: 0; readonly perf: { readonly now: () => number } }

/** Keys by their hash, at most so many and for so long, each found again by its own id and by its account's. */
export class HeldKeys {
  readonly #byHash: LRUCache<string, KnownKey>
  /** Id of a key or an account → hashes. Without it, each change would walk through all that is held (3 ms for 10 000). */
  readonly #hashesById = new Map<string, Set<string>>()

  readonly #leftWhenFreshMs: number

  /** Each is fresh for `freshMs` of its time. */
  constructor(countMax: number, ttlMs: number, freshMs: number, time: CacheTime) {
    this.#leftWhenFreshMs = ttlMs - freshMs
    const dispose = (known: KnownKey, hash: string) => {
      this.#unlink(known.key.id, hash)
      this.#unlink(known.account.id, hash)
    }
    this.#byHash = new LRUCache({ max: countMax, ttl: ttlMs, dispose, ...time })
  }

  /** How many keys are held. */
  get count(): number {
    return this.#byHash.size
  }

  /** The key of this hash, or undefined when it is not held, or was for too long. */
  get(hash: string): KnownKey | undefined {
    return this.#byHash.get(hash)
  }

  /** Whether the key of this hash, which is held, need not be asked for again yet. */
  isFresh(hash: string): boolean {
    return this.#byHash.getRemainingTTL(hash) >= this.#leftWhenFreshMs
  }

  /**
   * Holds the key as it was at `atMs` of the stopwatch, in place of the one that was asked for least recently when there are too
   * many. What came when its time was over already is not held.
   */
  set(hash: string, known: KnownKey, atMs: number): void {
    this.#byHash.set(hash, known, { start: atMs + 1 })
    this.#link(known.key.id, hash)
    this.#link(known.account.id, hash)
  }

  /** Drops the key of this hash. */
  remove(hash: string): void {
    this.#byHash.delete(hash)
  }

  /** Drops the key of this id, or all keys of the account of this id. */
  drop(id: string): void {
    for (const hash of [...(this.#hashesById.get(id) ?? [])]) this.#byHash.delete(hash)
  }

  /** Drops all keys. */
  clear(): void {
    this.#byHash.clear()
  }

  #link(id: string, hash: string): void {
    const hashes = this.#hashesById.get(id)
    if (hashes === undefined) this.#hashesById.set(id, new Set([hash]))
    else hashes.add(hash)
  }

  #unlink(id: string, hash: string): void {
    const hashes = this.#hashesById.get(id)
    hashes?.delete(hash)
    if (hashes?.size === 0) this.#hashesById.delete(id)
  }
}
