import { LRUCache } from "lru-cache"
import { boundedByCount } from "../../base/lru-bounds.ts"
import type { Stopwatch } from "../../base/outside-world.ts"
import type { AccountRules } from "../../contract/account-rules.ts"
import type { KeyKind } from "./key-format.ts"
import type { IsInNetworks } from "./networks.ts"

/** What a request needs of its key. */
export type CallerKey = {
  readonly id: string
  readonly kind: KeyKind
  readonly origins: readonly string[]
  /** When the key expires. Absent: it does not expire. */
  readonly expiresAtMs?: number
  /** Absent: only the account's limits apply. */
  readonly limits?: CallerKeyLimits
}

/** The limits of one key, beside those of its account. Null: none. */
export type CallerKeyLimits = {
  readonly unitsPerDay: number | null
  readonly requestsPerSecond: number | null
  /** Whether a client may use the key. */
  readonly allowsClient: IsInNetworks | null
}

/** What a request needs of its account, which does not include the email. */
export type CallerAccount = {
  readonly id: string
  readonly tier: number
  readonly acceptedTermsVersion: string | null
  readonly acceptedTermsAtMs: number | null
  /** Since when all requests of the account are refused. Absent: it is not suspended. */
  readonly suspendedAtMs?: number
  /** Absent: it has none. */
  readonly rules?: AccountRules
}

/** An existing key with its account, as the store had them when it was read. */
export type CallerCredentials = {
  readonly kind: "active" | "revoked"
  readonly key: CallerKey
  readonly account: CallerAccount
}

type LruCacheClock = { readonly ttlResolution: 0; readonly perf: { readonly now: () => number } }

/** Makes `lru-cache` count time exactly by our stopwatch, plus one, since it takes an entry made at 0 for one that never expires. */
export const lruClock = (stopwatch: Stopwatch): LruCacheClock => ({
  ttlResolution: 0,
  perf: { now: () => stopwatch() + 1 },
})

/** Credentials by the hash of their key, bounded in count and age, which can be dropped by the id of their key or account. */
export class KeyCache {
  readonly #byHash: LRUCache<string, CallerCredentials>
  /** Id of a key or an account → hashes. Without it each change would visit all entries (3 ms for 10 000). */
  readonly #hashesById = new Map<string, Set<string>>()

  readonly #freshRemainingMs: number

  /** Entries are fresh for the first `freshMs` of their `ttlMs`. */
  constructor(countMax: number, ttlMs: number, freshMs: number, time: LruCacheClock) {
    this.#freshRemainingMs = ttlMs - freshMs
    const dispose = (credentials: CallerCredentials, hash: string) => {
      this.#unlink(credentials.key.id, hash)
      this.#unlink(credentials.account.id, hash)
    }
    this.#byHash = new LRUCache({ ...boundedByCount(countMax), ttl: ttlMs, dispose, ...time })
  }

  /** How many keys are cached. */
  get count(): number {
    return this.#byHash.size
  }

  /** The credentials for this hash; undefined when they are not cached or have expired. */
  get(hash: string): CallerCredentials | undefined {
    return this.#byHash.get(hash)
  }

  /** Whether the cached entry of this hash need not be read again yet. */
  isFresh(hash: string): boolean {
    return this.#byHash.getRemainingTTL(hash) >= this.#freshRemainingMs
  }

  /**
   * Caches credentials as they were at `atMs` of the stopwatch, evicting the least recently used ones when there are too many. An entry
   * that has already expired is not cached.
   */
  set(hash: string, credentials: CallerCredentials, atMs: number): void {
    this.#byHash.set(hash, credentials, { start: atMs + 1 })
    this.#link(credentials.key.id, hash)
    this.#link(credentials.account.id, hash)
  }

  /** Drops the entry of this hash. */
  delete(hash: string): void {
    this.#byHash.delete(hash)
  }

  /** Drops the key of this id, or all keys of the account of this id. */
  deleteById(id: string): void {
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
