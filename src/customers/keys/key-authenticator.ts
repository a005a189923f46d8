import { LRUCache } from "lru-cache"
import { assert } from "../../base/errors.ts"
import { boundedByCount } from "../../base/lru-bounds.ts"
import type { Clock, Stopwatch } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import { parseStoredRules } from "../accounts/account-rules.ts"
import { type Change, type ChangeKind, isChangeKind } from "../store/change-log/change-log.ts"
import type { KnownChanges } from "../store/change-log/known-changes.ts"
import type { Store } from "../store/core/store.ts"
import { type CallerCredentials, type CallerKeyLimits, KeyCache, lruClock } from "./key-cache.ts"
import { hashKey, hasKeyFormat, isEqualHash, type KeyKind, parseKey } from "./key-format.ts"
import { LastUseBuffer } from "./last-use-buffer.ts"
import { createNetworkMatcher, deserializeNetworks } from "./networks.ts"
import { deserializeOrigins } from "./origins.ts"

/** The result of looking up a text that was sent as a key. */
export type KeyLookup =
  | { readonly kind: "malformed" }
  | { readonly kind: "bad_checksum" }
  | { readonly kind: "unknown" }
  /** It is not revoked, and its time is over. */
  | { readonly kind: "expired"; readonly expiresAtMs: number; readonly credentials: CallerCredentials }
  | CallerCredentials

/** The bounds of a key authenticator. */
export type KeyAuthenticatorBounds = {
  /** How many existing keys are cached. */
  readonly keysMax: number
  /** How long they are cached, from the start of the read: how long a revocation elsewhere can go unnoticed without notifications. */
  readonly keyTtlMs: number
  /** After how long a key in use is read again in the background. Its requests do not wait, and are served through an outage of `keyTtlMs - keyFreshMs`. */
  readonly keyFreshMs: number
  /** How many unknown keys are cached, separately, so that they do not evict existing ones. */
  readonly unknownMax: number
  readonly unknownTtlMs: number
}

/**
 * Bounds under which a key in use is served through an outage of 35 s, and a revoked key is refused after less than
 * `LIMITS.revocationSecondsMax`, including the duration of a check. About 20 MB when full.
 */
export const KEY_AUTHENTICATOR_BOUNDS: KeyAuthenticatorBounds = {
  keysMax: 20_000,
  keyTtlMs: 50_000,
  keyFreshMs: 15_000,
  unknownMax: 10_000,
  unknownTtlMs: 5000,
}

/** Whether this process knows what changed elsewhere, before it uses a cached key. */
type ChangesKnowledge = Pick<KnownChanges, "isRecent" | "askNow">

/** Which kinds of changes make the cached credentials of their subject stale, which is a key or an account. */
const INVALIDATES_KEYS: { readonly [K in ChangeKind]: boolean } = {
  account_changed: true,
  account_removed: true,
  key_changed: true,
  key_revoked: true,
  correction_changed: false,
  own_lists_changed: false,
  terms_published: false,
}

/** How long no key is refreshed in the background after a refresh failed. */
const REFRESH_PAUSE_MS = 1000

const ALWAYS_KNOWN: ChangesKnowledge = { isRecent: true, askNow: async () => undefined }

const UNKNOWN_KEY = { kind: "unknown" } as const
const MALFORMED_KEY = { kind: "malformed" } as const

/**
 * Authenticates the keys of requests. A cached key is found synchronously and without the disk.
 *
 * Keys are cached by their SHA-256, never by their text: no secret stays in memory, the time of a look-up depends only on digests,
 * which a client cannot control, and it takes less than a microsecond.
 */
export class KeyAuthenticator {
  readonly #store: Store
  readonly #expiryClock: Clock
  readonly #stopwatch: Stopwatch
  readonly #known: ChangesKnowledge
  readonly #lastUse: LastUseBuffer
  readonly #keys: KeyCache
  readonly #unknownKeys: LRUCache<string, typeof UNKNOWN_KEY>
  /** Running reads. A change invalidates them, so that no request joins a read that began before it. */
  readonly #pendingReads = new SingleFlight<string, KeyLookup>()
  #refreshPausedUntilMs = Number.NEGATIVE_INFINITY
  #hits = 0
  #misses = 0

  /** `clock` and `stopwatch` may be coarse. By `expiryClock` keys expire; only those that do ask for it. */
  constructor(
    store: Store,
    clock: Clock,
    stopwatch: Stopwatch,
    bounds: KeyAuthenticatorBounds,
    expiryClock: Clock = clock,
    known: ChangesKnowledge = ALWAYS_KNOWN,
  ) {
    this.#store = store
    this.#expiryClock = expiryClock
    this.#stopwatch = stopwatch
    this.#known = known
    this.#lastUse = new LastUseBuffer(clock)
    const clockOptions = lruClock(stopwatch)
    this.#keys = new KeyCache(bounds.keysMax, bounds.keyTtlMs, bounds.keyFreshMs, clockOptions)
    this.#unknownKeys = new LRUCache({
      ...boundedByCount(bounds.unknownMax),
      ttl: bounds.unknownTtlMs,
      ...clockOptions,
    })
  }

  /**
   * Looks a key up and, when it is active, records its use to the second. Returns a promise only when the store has to be asked, for the key or
   * for what has changed elsewhere; it rejects when the store fails.
   */
  lookup(text: string): KeyLookup | Promise<KeyLookup> {
    if (!hasKeyFormat(text)) return MALFORMED_KEY
    const hash = hashKey(text)
    const cached = this.#keys.get(hash)
    if (cached !== undefined && !this.#known.isRecent) return this.#known.askNow().then(() => this.#find(text, hash))
    return this.#find(text, hash, cached)
  }

  #find(text: string, hash: string, cached = this.#keys.get(hash)): KeyLookup | Promise<KeyLookup> {
    if (cached !== undefined) {
      this.#hits++
      if (!this.#keys.isFresh(hash)) this.#refresh(hash)
      return this.#recordUse(this.#judge(cached))
    }
    // Only a text that is not cached needs to be parsed, which costs more than the hash.
    const parsed = parseKey(text)
    if (parsed.kind !== "well_formed") return parsed
    const unknown = this.#unknownKeys.get(hash)
    if (unknown !== undefined) return unknown
    this.#misses++
    return this.#readShared(hash)
  }

  /** The count of cached keys, and of look-ups that hit and missed the cache. */
  stats(): { readonly entries: number; readonly hits: number; readonly misses: number } {
    return { entries: this.#keys.count + this.#unknownKeys.size, hits: this.#hits, misses: this.#misses }
  }

  /** Drops what the changes make stale. A look-up that begins after it returns sees the changes. */
  applyChanges(changes: readonly Change[]): void {
    if (changes.length === 0) return
    this.#pendingReads.invalidateAll()
    for (const { kind, subject } of changes) {
      // A kind of a later version may concern keys: reading again is cheap, serving a revoked key is not acceptable.
      if (!isChangeKind(kind)) this.invalidateAll()
      else if (INVALIDATES_KEYS[kind]) this.#keys.deleteById(subject)
    }
  }

  /** Drops everything, since changes were lost. */
  invalidateAll(): void {
    this.#pendingReads.invalidateAll()
    this.#keys.clear()
    this.#unknownKeys.clear()
  }

  /**
   * Writes a batch of last uses and returns the count of keys in it; zero when none was left. When the store fails it rejects, and the
   * uses stay for the next call.
   */
  flush(): Promise<number> {
    return this.#lastUse.flush(this.#store)
  }

  /** A cached key expires while it is cached, so each look-up asks the clock. */
  #judge(lookup: KeyLookup): KeyLookup {
    if (lookup.kind !== "active") return lookup
    const { expiresAtMs } = lookup.key
    return expiresAtMs !== undefined && expiresAtMs <= this.#expiryClock()
      ? { kind: "expired", expiresAtMs, credentials: lookup }
      : lookup
  }

  #recordUse(lookup: KeyLookup): KeyLookup {
    if (lookup.kind === "active") this.#lastUse.record(lookup.key.id)
    return lookup
  }

  async #readShared(hash: string): Promise<KeyLookup> {
    return this.#recordUse(this.#judge(await this.#read(hash)))
  }

  /** Reads a cached key again in the background. When that fails, as in an outage, the cached key stays until it expires. */
  #refresh(hash: string): void {
    if (this.#pendingReads.get(hash) !== undefined || this.#stopwatch() < this.#refreshPausedUntilMs) return
    this.#read(hash).catch(() => {
      this.#refreshPausedUntilMs = this.#stopwatch() + REFRESH_PAUSE_MS
    })
  }

  #read(hash: string): Promise<KeyLookup> {
    return this.#pendingReads.run(hash, async isCurrent => {
      // The answer may take long, so its age counts from the start of the read.
      const startedAtMs = this.#stopwatch()
      const found = await this.#queryStore(hash)
      // A change arrived meanwhile: the answer was right when the read began, but is not cached.
      if (!isCurrent()) return found
      if (found.kind === "unknown") {
        this.#keys.delete(hash)
        this.#unknownKeys.set(hash, found)
      } else this.#keys.set(hash, found, startedAtMs)
      return found
    })
  }

  async #queryStore(hash: string): Promise<CallerCredentials | typeof UNKNOWN_KEY> {
    const row = await this.#store.one<CredentialsRow>(FIND_CREDENTIALS, [hash])
    if (row === null) return UNKNOWN_KEY
    assert(isEqualHash(row.hash, hash), "a key is found by its own hash")
    return toCredentials(row)
  }
}

const FIND_CREDENTIALS = `SELECT keys.hash, keys.id, keys.kind, keys.origins, keys.revoked_at_ms, keys.expires_at_ms,
  keys.units_per_day, keys.requests_per_second, keys.networks, keys.account_id, accounts.tier,
  accounts.accepted_terms_version, accounts.accepted_terms_at_ms, accounts.suspended_at_ms, accounts.rules
  FROM keys JOIN accounts ON accounts.id = keys.account_id WHERE keys.hash = $1`

type CredentialsRow = {
  readonly hash: string
  readonly id: string
  readonly kind: KeyKind
  readonly origins: string
  readonly revoked_at_ms: number | null
  readonly expires_at_ms: number | null
  readonly units_per_day: number | null
  readonly requests_per_second: number | null
  readonly networks: string
  readonly account_id: string
  readonly tier: number
  readonly accepted_terms_version: string | null
  readonly accepted_terms_at_ms: number | null
  readonly suspended_at_ms: number | null
  readonly rules: string | null
}

function toCredentials(row: CredentialsRow): CallerCredentials {
  const limits = toLimits(row)
  const rules = parseStoredRules(row.rules)
  return {
    kind: row.revoked_at_ms === null ? "active" : "revoked",
    key: {
      id: row.id,
      kind: row.kind,
      origins: deserializeOrigins(row.origins),
      ...(row.expires_at_ms === null ? {} : { expiresAtMs: row.expires_at_ms }),
      ...(limits === null ? {} : { limits }),
    },
    account: {
      id: row.account_id,
      tier: row.tier,
      acceptedTermsVersion: row.accepted_terms_version,
      acceptedTermsAtMs: row.accepted_terms_at_ms,
      ...(row.suspended_at_ms === null ? {} : { suspendedAtMs: row.suspended_at_ms }),
      ...(rules === undefined ? {} : { rules }),
    },
  }
}

function toLimits(row: CredentialsRow): CallerKeyLimits | null {
  const networks = deserializeNetworks(row.networks)
  if (row.units_per_day === null && row.requests_per_second === null && networks.length === 0) return null
  return {
    unitsPerDay: row.units_per_day,
    requestsPerSecond: row.requests_per_second,
    allowsClient: networks.length === 0 ? null : createNetworkMatcher(networks),
  }
}
