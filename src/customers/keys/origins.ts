import { LRUCache } from "lru-cache"
import type { Stopwatch } from "../../base/outside-world.ts"
import type { Store } from "../store/core/store.ts"

/** How many origins a key may allow. */
export const ORIGINS_PER_KEY_MAX = 20

/** The longest host, "https://", a port, and what a person may put around them. */
const ORIGIN_LENGTH_MAX = 300

/** Scheme, host and port, and at most the one slash that people paste. No user, path, query, wildcard or escape. */
const ORIGIN_FORMAT = /^https?:\/\/(?:[\p{L}\p{M}\p{N}._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?\/?$/iu

/**
 * An origin as browsers write it (RFC 6454 §6.2): lower case, A-labels, no default port, no slash. Null when the text is
 * none that a key can allow: other schemes than http and https, a path, a user, a wildcard, or `null`.
 */
export function parseOrigin(text: string): string | null {
  if (text.length > ORIGIN_LENGTH_MAX || !ORIGIN_FORMAT.test(text)) return null
  const origin = URL.parse(text)?.origin
  // Reading a host may make other characters of its own: `⑴` becomes `(1)`.
  return origin !== undefined && ORIGIN_FORMAT.test(origin) ? origin : null
}

/** The origin of an `Origin` header, which never ends in a slash; null: none was sent, or it is none that a key can allow. */
function parseOriginHeader(header: string | null): string | null {
  return header === null || header.endsWith("/") ? null : parseOrigin(header)
}

/** True when `header`, an `Origin` header, is one of `origins`, which `parseOrigin` wrote. Null: no header was sent. */
export function isAllowedOrigin(origins: readonly string[], header: string | null): boolean {
  const sent = parseOriginHeader(header)
  return sent !== null && origins.includes(sent)
}

/** The text in which the database keeps origins: parted by single spaces, which no origin holds. */
export function serializeOrigins(origins: readonly string[]): string {
  return origins.join(" ")
}

/** The origins in a text that `serializeOrigins` wrote. */
export function deserializeOrigins(text: string): readonly string[] {
  return text === "" ? [] : text.split(" ")
}

/** How many origins are remembered, and for how long: so long a new key's page may be told that it is not known. */
const ORIGINS_MAX = 10_000
const ORIGIN_FRESH_MS = 5_000

/** How long one that is known may be told to be when the store does not answer: as long as keys are held. */
const ORIGIN_TTL_MS = 50_000

type CachedOrigin = { readonly isKnown: boolean; readonly askedAtMs: number }

/**
 * The origins that any active publishable key allows. A preflight brings no key, so that is all that it can be answered
 * by. What is not remembered is asked of the store; a known one that was for longer than `ORIGIN_FRESH_MS` is asked for beside its
 * use, so that pages which are served go on in an outage. One that stays known for too long lets nobody in: its keys are looked at.
 */
export class AllowedOrigins {
  readonly #store: Store
  readonly #stopwatch: Stopwatch
  readonly #cache: LRUCache<string, CachedOrigin>
  /** Questions under way, at most one an origin. */
  readonly #pendingReads = new Map<string, Promise<boolean>>()

  constructor(store: Store, stopwatch: Stopwatch) {
    this.#store = store
    this.#stopwatch = stopwatch
    // `lru-cache` takes an entry made at 0 for one without an end.
    this.#cache = new LRUCache({
      max: ORIGINS_MAX,
      ttl: ORIGIN_TTL_MS,
      ttlResolution: 0,
      perf: { now: () => stopwatch() + 1 },
    })
  }

  /** Whether a key allows the origin, which is an `Origin` header; null: none was sent. Rejects when the store fails. */
  async has(origin: string | null): Promise<boolean> {
    const sent = parseOriginHeader(origin)
    if (sent === null) return false
    const remembered = this.#cache.get(sent)
    const isFresh = remembered !== undefined && this.#stopwatch() - remembered.askedAtMs <= ORIGIN_FRESH_MS
    if (remembered !== undefined && isFresh) return remembered.isKnown
    const answer = this.#pendingReads.get(sent) ?? this.#readShared(sent)
    if (remembered === undefined || !remembered.isKnown) return await answer
    // In an outage it is asked for at the next use again.
    answer.catch(() => undefined)
    return true
  }

  #readShared(origin: string): Promise<boolean> {
    const asking = this.#queryStore(origin).finally(() => this.#pendingReads.delete(origin))
    this.#pendingReads.set(origin, asking)
    return asking
  }

  async #queryStore(origin: string): Promise<boolean> {
    const askedAtMs = this.#stopwatch()
    const row = await this.#store.one(
      `SELECT keys.id FROM key_origins JOIN keys ON keys.id = key_origins.key_id
       WHERE key_origins.origin = $1 AND keys.revoked_at_ms IS NULL LIMIT 1`,
      [origin],
    )
    this.#cache.set(origin, { isKnown: row !== null, askedAtMs }, { start: askedAtMs + 1 })
    return row !== null
  }
}
