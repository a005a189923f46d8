import { LRUCache } from "lru-cache"
import type { Stopwatch } from "../../base/clock.ts"
import type { Store } from "../store/store.ts"
import { sentOrigin } from "./origin.ts"

/** How many origins are remembered, and for how long: so long a new key's page may be told that it is not known. */
const ORIGINS_MAX = 10_000
const ORIGIN_FRESH_MS = 5_000

/** How long one that is known may be told to be when the store does not answer: as long as keys are held. */
const ORIGIN_TTL_MS = 50_000

type Remembered = { readonly isKnown: boolean; readonly askedAtMs: number }

/**
 * The origins that any active publishable key allows. A preflight brings no key, so that is all that it can be answered
 * by. What is not remembered is asked of the store; a known one that was for longer than `ORIGIN_FRESH_MS` is asked for beside its
 * use, so that pages which are served go on in an outage. One that stays known for too long lets nobody in: its keys are looked at.
 */
export class KnownOrigins {
  readonly #store: Store
  readonly #stopwatch: Stopwatch
  readonly #remembered: LRUCache<string, Remembered>
  /** Questions under way, at most one an origin. */
  readonly #asking = new Map<string, Promise<boolean>>()

  constructor(store: Store, stopwatch: Stopwatch) {
    this.#store = store
    this.#stopwatch = stopwatch
    // `lru-cache` takes an entry made at 0 for one without an end.
    this.#remembered = new LRUCache({
      max: ORIGINS_MAX,
      ttl: ORIGIN_TTL_MS,
      ttlResolution: 0,
      perf: { now: () => stopwatch() + 1 },
    })
  }

  /** Whether a key allows the origin, which is an `Origin` header; null: none was sent. Rejects when the store fails. */
  async has(origin: string | null): Promise<boolean> {
    const sent = sentOrigin(origin)
    if (sent === null) return false
    const remembered = this.#remembered.get(sent)
    const isFresh = remembered !== undefined && this.#stopwatch() - remembered.askedAtMs <= ORIGIN_FRESH_MS
    if (remembered !== undefined && isFresh) return remembered.isKnown
    const answer = this.#asking.get(sent) ?? this.#ask(sent)
    if (remembered === undefined || !remembered.isKnown) return await answer
    // In an outage it is asked for at the next use again.
    answer.catch(() => undefined)
    return true
  }

  #ask(origin: string): Promise<boolean> {
    const asking = this.#find(origin).finally(() => this.#asking.delete(origin))
    this.#asking.set(origin, asking)
    return asking
  }

  async #find(origin: string): Promise<boolean> {
    const askedAtMs = this.#stopwatch()
    const row = await this.#store.one(
      `SELECT keys.id FROM key_origins JOIN keys ON keys.id = key_origins.key_id
       WHERE key_origins.origin = $1 AND keys.revoked_at_ms IS NULL LIMIT 1`,
      [origin],
    )
    this.#remembered.set(origin, { isKnown: row !== null, askedAtMs }, { start: askedAtMs + 1 })
    return row !== null
  }
}
