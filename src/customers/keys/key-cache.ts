import { LRUCache } from "lru-cache"
import type { Stopwatch } from "../../base/outside-world.ts"
import type { KeyKind } from "./key-format.ts"

/** What a request needs to know of its key. */
type CallerKey = { readonly id: string; readonly kind: KeyKind; readonly origins: readonly string[] }

/** What a request needs to know of its account; its email is not among it. */
export type CallerAccount = {
  readonly id: string
  readonly tier: number
  readonly acceptedTermsVersion: string | null
  readonly acceptedTermsAtMs: number | null
}

/** A key that exists, as it was when the store was asked. */
export type CallerCredentials = {
  readonly kind: "active" | "revoked"
  readonly key: CallerKey
  readonly account: CallerAccount
}

/** How caches count their time: by our own clock and one more, for they take an entry made at 0 for one without an end, and exactly. */
export type LruCacheClock = { readonly ttlResolution: 0; readonly perf: { readonly now: () => number } }

/** Keys by their hash, at most so many and for so long, each found again by its own id and by its account's. */
export class KeyCache {
  readonly #byHash: LRUCache<string, CallerCredentials>
  /** Id of a key or an account → hashes. Without it, each change would walk through all that is held (3 ms for 10 000). */
  readonly #hashesById = new Map<string, Set<string>>()

  readonly #freshRemainingMs: number

  /** Each is fresh for `freshMs` of its time. */
  constructor(countMax: number, ttlMs: number, freshMs: number, time: LruCacheClock) {
    this.#freshRemainingMs = ttlMs - freshMs
    const dispose = (known: CallerCredentials, hash: string) => {
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
  get(hash: string): CallerCredentials | undefined {
    return this.#byHash.get(hash)
  }

  /** Whether the key of this hash, which is held, need not be asked for again yet. */
  isFresh(hash: string): boolean {
    return this.#byHash.getRemainingTTL(hash) >= this.#freshRemainingMs
  }

  /**
   * Holds the key as it was at `INSTANT_MS` of the stopwatch, in place of the one that was asked for least recently when there are too
   * many. What came when its time was over already is not held.
   */
  set(hash: string, known: CallerCredentials, atMs: number): void {
    this.#byHash.set(hash, known, { start: atMs + 1 })
    this.#link(known.key.id, hash)
    this.#link(known.account.id, hash)
  }

  /** Drops the key of this hash. */
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

/** How many keys count as busy. */
const HOT_KEYS_MAX = 1000

const DIGEST_BYTES = 32

type HotKey = { readonly digest: Int32Array; readonly known: CallerCredentials }

/**
 * The keys that were used a moment ago. A busy key is found in half the time that one held by its hash in hex takes, since
 * nothing is written for it: its digest is computed into one place and compared there, whole, with that of the key.
 */
export class HotKeyCache {
  readonly #stopwatch: Stopwatch
  readonly #ttlMs: number
  /** By the first octets of the digest: of two keys that share those, one is busy. */
  readonly #entries = new Map<number, HotKey>()
  readonly #digestBytes = new Uint8Array(DIGEST_BYTES)
  readonly #digest = new Int32Array(this.#digestBytes.buffer)
  #filledAtMs = Number.NEGATIVE_INFINITY

  /** All are let go of together after at most `keptMs`. */
  constructor(stopwatch: Stopwatch, keptMs: number) {
    this.#stopwatch = stopwatch
    this.#ttlMs = keptMs
  }

  /** The key of this text; undefined when it is not busy. */
  get(text: string): CallerCredentials | undefined {
    this.#expire()
    const busy = this.#entries.get(this.#computeDigest(text))
    return busy !== undefined && isEqualDigest(busy.digest, this.#digest) ? busy.known : undefined
  }

  /** Counts the key of this text as busy, unless enough are. */
  add(text: string, known: CallerCredentials): void {
    this.#expire()
    if (this.#entries.size >= HOT_KEYS_MAX) return
    const start = this.#computeDigest(text)
    this.#entries.set(start, { digest: this.#digest.slice(), known })
  }

  /** Lets go of all. */
  clear(): void {
    this.#entries.clear()
  }

  #expire(): void {
    const now = this.#stopwatch()
    if (now - this.#filledAtMs <= this.#ttlMs) return
    this.#entries.clear()
    this.#filledAtMs = now
  }

  /** Computes the digest of the text, and gives its start. */
  #computeDigest(text: string): number {
    Bun.SHA256.hash(text, this.#digestBytes)
    return this.#digest[0] ?? 0
  }
}

/** Takes the same time wherever the digests differ. */
function isEqualDigest(one: Int32Array, other: Int32Array): boolean {
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
  return difference === 0
}
