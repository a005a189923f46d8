import { LRUCache } from "lru-cache"
import { boundedByCount } from "../../base/lru-bounds.ts"
import type { Stopwatch } from "../../base/outside-world.ts"
import { SingleFlight } from "../../base/single-flight.ts"
import type { Store } from "../store/core/store.ts"
import { lruClock } from "./key-cache.ts"

/** How many origins a key may allow. */
export const ORIGINS_PER_KEY_MAX = 20

/** The longest host with "https://" and a port, and some white space around it. */
const ORIGIN_LENGTH_MAX = 300

/** Scheme, host and port, and at most one slash, which people paste along. No user, path, query, wildcard or escape. */
const ORIGIN_FORMAT = /^https?:\/\/(?:[\p{L}\p{M}\p{N}._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?\/?$/iu

/**
 * An origin in the form that browsers send (RFC 6454 §6.2): lower case, A-labels, no default port, no slash. Null for a text that a key
 * cannot allow: a scheme other than http and https, a path, a user, a wildcard, or `null`.
 */
export function parseOrigin(text: string): string | null {
  if (text.length > ORIGIN_LENGTH_MAX || !ORIGIN_FORMAT.test(text)) return null
  const origin = URL.parse(text)?.origin
  // Parsing a host can produce other characters: `⑴` becomes `(1)`.
  return origin !== undefined && ORIGIN_FORMAT.test(origin) ? origin : null
}

/** The origin of an `Origin` header, which never ends in a slash; null when there is no header or no key can allow it. */
function parseOriginHeader(header: string | null): string | null {
  return header === null || header.endsWith("/") ? null : parseOrigin(header)
}

/** True when the `Origin` header names one of `origins`, which are in the form of `parseOrigin`. Null: there is no header. */
export function isAllowedOrigin(origins: readonly string[], header: string | null): boolean {
  const origin = parseOriginHeader(header)
  return origin !== null && origins.includes(origin)
}

/** The text in which the database stores origins: separated by single spaces, which no origin contains. */
export function serializeOrigins(origins: readonly string[]): string {
  return origins.join(" ")
}

/** The origins in a text that `serializeOrigins` wrote. */
export function deserializeOrigins(text: string): readonly string[] {
  return text === "" ? [] : text.split(" ")
}

/** How many origins are cached, and for how long: a page with a new key may be refused for so long. */
const ORIGINS_MAX = 10_000
const ORIGIN_FRESH_MS = 5_000

/** How long an allowed origin stays cached while the store does not answer: as long as keys. */
const ORIGIN_TTL_MS = 50_000

type CachedOrigin = { readonly isAllowed: boolean; readonly readAtMs: number }

/**
 * The origins that any active publishable key allows, which is what a preflight can be answered by, since it carries no key
 * (DECISIONS 29). An allowed origin that is older than `ORIGIN_FRESH_MS` is read again in the background, so that pages keep working
 * in an outage. A stale entry admits nobody, since the request that follows is checked against its key.
 */
export class AllowedOrigins {
  readonly #store: Store
  readonly #stopwatch: Stopwatch
  readonly #cache: LRUCache<string, CachedOrigin>
  readonly #pendingReads = new SingleFlight<string, boolean>()

  constructor(store: Store, stopwatch: Stopwatch) {
    this.#store = store
    this.#stopwatch = stopwatch
    this.#cache = new LRUCache({ ...boundedByCount(ORIGINS_MAX), ttl: ORIGIN_TTL_MS, ...lruClock(stopwatch) })
  }

  /** Whether any key allows the origin of this `Origin` header; null: there is no header. Rejects when the store fails. */
  async has(header: string | null): Promise<boolean> {
    const origin = parseOriginHeader(header)
    if (origin === null) return false
    const cached = this.#cache.get(origin)
    const isFresh = cached !== undefined && this.#stopwatch() - cached.readAtMs <= ORIGIN_FRESH_MS
    if (cached !== undefined && isFresh) return cached.isAllowed
    const reading = this.#pendingReads.run(origin, () => this.#read(origin))
    if (cached === undefined || !cached.isAllowed) return await reading
    // In an outage the next use reads it again.
    reading.catch(() => undefined)
    return true
  }

  /** Whether an origin is known to be allowed without asking the store. */
  hasCached(header: string): boolean {
    return this.#cache.peek(parseOriginHeader(header) ?? "")?.isAllowed ?? false
  }

  async #read(origin: string): Promise<boolean> {
    const readAtMs = this.#stopwatch()
    const row = await this.#store.one(
      `SELECT keys.id FROM key_origins JOIN keys ON keys.id = key_origins.key_id
       WHERE key_origins.origin = $1 AND keys.revoked_at_ms IS NULL LIMIT 1`,
      [origin],
    )
    this.#cache.set(origin, { isAllowed: row !== null, readAtMs }, { start: readAtMs + 1 })
    return row !== null
  }
}
