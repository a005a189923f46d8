import { LRUCache } from "lru-cache"
import { assert } from "../../base/errors.ts"
import type { Clock, Stopwatch } from "../../base/outside-world.ts"
import { type Change, type ChangeKind, isChangeKind } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"
import { type CallerCredentials, HotKeyCache, KeyCache, type LruCacheClock } from "./key-cache.ts"
import { hashKey, hasKeyFormat, isEqualHash, KEY_LENGTH_MAX, type KeyKind, parseKey } from "./key-format.ts"
import { LastUseBuffer } from "./last-use-buffer.ts"
import { deserializeOrigins } from "./origins.ts"

/** What a text that was sent as a key turned out to be. */
export type KeyLookup =
  | { readonly kind: "malformed" }
  | { readonly kind: "bad_checksum" }
  | { readonly kind: "unknown" }
  | CallerCredentials

/** The bounds of a key ring. */
export type KeyAuthenticatorBounds = {
  /** How many keys that exist are held. */
  readonly keysMax: number
  /** How long they are held, from the asking on: how long a revocation elsewhere may go unnoticed if nothing can be heard. */
  readonly keyTtlMs: number
  /** How long until one that is used is asked for again, beside its use: who uses it does not wait, and notices no outage that is shorter than the rest. */
  readonly keyFreshMs: number
  /** How many keys that do not exist are held, apart, so that they push out none that do. */
  readonly unknownMax: number
  readonly unknownTtlMs: number
}

/**
 * Bounds under which a key in use is served through an outage of `keyTtlMs - keyFreshMs`, and one that was revoked never for
 * `LIMITS.revocationSecondsMax`: what is busy for a thirtieth longer and what a check takes are within. About 20 MB when full.
 */
export const KEY_AUTHENTICATOR_BOUNDS: KeyAuthenticatorBounds = {
  keysMax: 20_000,
  keyTtlMs: 50_000,
  keyFreshMs: 15_000,
  unknownMax: 10_000,
  unknownTtlMs: 5000,
}

/** Which changes make stale what is held of their subject, be it a key or an account. */
const INVALIDATES_KEYS: { readonly [K in ChangeKind]: boolean } = {
  account_changed: true,
  account_removed: true,
  key_changed: true,
  key_revoked: true,
  correction_changed: false,
  own_lists_changed: false,
  terms_published: false,
}

/** For which part of the time for which keys are held they count as busy: 1.7 s of fifty. */
const HOT_TTL_PART = 1 / 30

/** How long nothing is asked for again beside its use after that failed. */
const REFRESH_PAUSE_MS = 1000

const UNKNOWN_KEY = { kind: "unknown" } as const
const MALFORMED_KEY = { kind: "malformed" } as const

/**
 * The keys that requests come with. A key that is held is answered at once, without a promise and without the disk.
 *
 * What is held is found by the key's SHA-256, never by its text: no secret stays in memory, the time that a look-up takes
 * tells only of digests, which nobody can steer, and it costs less than a microsecond.
 */
export class KeyAuthenticator {
  readonly #store: Store
  readonly #stopwatch: Stopwatch
  readonly #lastUse: LastUseBuffer
  readonly #keys: KeyCache
  /** Keys that were used in this second: their age and their use are looked at again at least once a second. */
  readonly #hotKeys: HotKeyCache
  readonly #unknownKeys: LRUCache<string, typeof UNKNOWN_KEY>
  /** Reads under way, at most one a key; emptied when anything changes, so that nobody joins one that began before. */
  #pendingReads = new Map<string, Promise<KeyLookup>>()
  #refreshPausedUntilMs = Number.NEGATIVE_INFINITY
  #hits = 0
  #misses = 0

  constructor(store: Store, clock: Clock, stopwatch: Stopwatch, bounds: KeyAuthenticatorBounds) {
    this.#store = store
    this.#stopwatch = stopwatch
    this.#hotKeys = new HotKeyCache(stopwatch, bounds.keyTtlMs * HOT_TTL_PART)
    this.#lastUse = new LastUseBuffer(clock)
    // `lru-cache` asks our stopwatch only with this resolution.
    const timed: LruCacheClock = { ttlResolution: 0, perf: { now: () => stopwatch() + 1 } }
    this.#keys = new KeyCache(bounds.keysMax, bounds.keyTtlMs, bounds.keyFreshMs, timed)
    this.#unknownKeys = new LRUCache({ max: bounds.unknownMax, ttl: bounds.unknownTtlMs, ...timed })
  }

  /**
   * What the text is, as a key; an active key counts as used now, to the second. Gives a promise only when the store has
   * to be asked, which rejects when that fails.
   */
  lookup(text: string): KeyLookup | Promise<KeyLookup> {
    // A text of any other length is not worth a digest; whether it has the form of a key is told by its being one.
    const busy = text.length <= KEY_LENGTH_MAX ? this.#hotKeys.get(text) : undefined
    if (busy !== undefined) {
      this.#hits++
      return busy
    }
    if (!hasKeyFormat(text)) return MALFORMED_KEY
    const hash = hashKey(text)
    const held = this.#keys.get(hash)
    if (held !== undefined) {
      this.#hits++
      this.#hotKeys.add(text, held)
      if (!this.#keys.isFresh(hash)) this.#refresh(hash)
      return this.#recordUse(held)
    }
    // What is held was read before: only a text that is not needs the reading (which costs more than the hash).
    const parsed = parseKey(text)
    if (parsed.kind !== "well_formed") return parsed
    const unknown = this.#unknownKeys.get(hash)
    if (unknown !== undefined) return unknown
    this.#misses++
    return this.#readShared(hash)
  }

  /** How many keys are held, and how often that was enough and was not. */
  stats(): { readonly entries: number; readonly hits: number; readonly misses: number } {
    return { entries: this.#keys.count + this.#unknownKeys.size, hits: this.#hits, misses: this.#misses }
  }

  /** Drops what the changes make stale. When it returns, no look-up that begins is answered from before them. */
  applyChanges(changes: readonly Change[]): void {
    if (changes.length === 0) return
    this.#pendingReads = new Map()
    this.#hotKeys.clear()
    for (const { kind, subject } of changes) {
      // A later version's change may concern keys: to ask again is cheap, to be wrong is not.
      if (!isChangeKind(kind)) this.invalidateAll()
      else if (INVALIDATES_KEYS[kind]) this.#keys.deleteById(subject)
    }
  }

  /** Drops everything held: what a reader of the change log does when it has lost some of it. */
  invalidateAll(): void {
    this.#pendingReads = new Map()
    this.#hotKeys.clear()
    this.#keys.clear()
    this.#unknownKeys.clear()
  }

  /**
   * Writes when keys were last used, a batch a call, and gives the count of keys in it; zero: nothing is left. Rejects
   * when the store fails, and keeps them for the next call.
   */
  flush(): Promise<number> {
    return this.#lastUse.flush(this.#store)
  }

  #recordUse(known: CallerCredentials): CallerCredentials {
    if (known.kind === "active") this.#lastUse.record(known.key.id)
    return known
  }

  async #readShared(hash: string): Promise<KeyLookup> {
    const found = await (this.#pendingReads.get(hash) ?? this.#read(hash))
    return found.kind === "active" ? this.#recordUse(found) : found
  }

  /** Asks for a key that is held, beside its use. When that fails, as it does in an outage, what is held stays for its time. */
  #refresh(hash: string): void {
    if (this.#pendingReads.has(hash) || this.#stopwatch() < this.#refreshPausedUntilMs) return
    this.#read(hash).catch(() => {
      this.#refreshPausedUntilMs = this.#stopwatch() + REFRESH_PAUSE_MS
    })
  }

  #read(hash: string): Promise<KeyLookup> {
    const reading = this.#pendingReads
    // An answer may be long on its way: what it tells was so when it was asked for.
    const askedAtMs = this.#stopwatch()
    const read = this.#queryStore(hash)
      .then(found => {
        // Something changed meanwhile: the answer was right when it was asked for, but is not kept.
        if (reading !== this.#pendingReads) return found
        if (found.kind !== "active") this.#hotKeys.clear()
        if (found.kind === "unknown") {
          this.#keys.delete(hash)
          this.#unknownKeys.set(hash, found)
        } else this.#keys.set(hash, found, askedAtMs)
        return found
      })
      .finally(() => reading.delete(hash))
    reading.set(hash, read)
    return read
  }

  async #queryStore(hash: string): Promise<CallerCredentials | typeof UNKNOWN_KEY> {
    const row = await this.#store.one<CredentialsRow>(FIND_CREDENTIALS, [hash])
    if (row === null) return UNKNOWN_KEY
    assert(isEqualHash(row.hash, hash), "a key is found by its own hash")
    return toCredentials(row)
  }
}

const FIND_CREDENTIALS = `SELECT keys.hash, keys.id, keys.kind, keys.origins, keys.revoked_at_ms, keys.account_id, accounts.tier,
  accounts.accepted_terms_version, accounts.accepted_terms_at_ms
  FROM keys JOIN accounts ON accounts.id = keys.account_id WHERE keys.hash = $1`

type CredentialsRow = {
  readonly hash: string
  readonly id: string
  readonly kind: KeyKind
  readonly origins: string
  readonly revoked_at_ms: number | null
  readonly account_id: string
  readonly tier: number
  readonly accepted_terms_version: string | null
  readonly accepted_terms_at_ms: number | null
}

function toCredentials(row: CredentialsRow): CallerCredentials {
  return {
    kind: row.revoked_at_ms === null ? "active" : "revoked",
    key: { id: row.id, kind: row.kind, origins: deserializeOrigins(row.origins) },
    account: {
      id: row.account_id,
      tier: row.tier,
      acceptedTermsVersion: row.accepted_terms_version,
      acceptedTermsAtMs: row.accepted_terms_at_ms,
    },
  }
}
