import { LRUCache } from "lru-cache"
import type { Stopwatch } from "../../base/clock.ts"
import type { Store } from "../store/store.ts"
import { sentOrigin } from "./origin.ts"

/** How many origins are remembered, and for how long: so long a new key's page may be told that it is not known. */
const ORIGINS_MAX = 10_000
const ORIGIN_TTL_MS = 5_000

/**
 * The origins that any active publishable key allows. A preflight brings no key, so that is all that it can be answered
 * by. What is not remembered is asked of the store.
 */
export class KnownOrigins {
  readonly #store: Store
  readonly #known: LRUCache<string, boolean>

  constructor(store: Store, stopwatch: Stopwatch) {
    this.#store = store
    // `lru-cache` takes an entry made at 0 for one without an end.
    this.#known = new LRUCache({
      max: ORIGINS_MAX,
      ttl: ORIGIN_TTL_MS,
      ttlResolution: 0,
      perf: { now: () => stopwatch() + 1 },
    })
  }

  /** Whether a key allows the origin, which is an `Origin` header; null: none was sent. */
  async has(origin: string | null): Promise<boolean> {
    const sent = sentOrigin(origin)
    if (sent === null) return false
    const known = this.#known.get(sent)
    if (known !== undefined) return known
    const row = await this.#store.one(
      `SELECT keys.id FROM key_origins JOIN keys ON keys.id = key_origins.key_id
       WHERE key_origins.origin = $1 AND keys.revoked_at_ms IS NULL LIMIT 1`,
      [sent],
    )
    this.#known.set(sent, row !== null)
    return row !== null
  }
}
