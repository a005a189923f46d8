import type { Stopwatch } from "../../../base/outside-world.ts"
import { type OpenStore, wrapOperations } from "../core/store.ts"
import { StoreError } from "../core/store-error.ts"

/**
 * For how long nothing can be written before SQLite counts as a database that accepts no writes. Another process of ours, a command or a copy of the
 * log holds the file for less.
 */
export const NO_WRITES_MS = 10_000

/** Writes one page and changes nothing. SQLite finds a full disk only when it writes. */
const TRIAL_SQL = "UPDATE change_head SET singleton = singleton"

/**
 * Finds out whether SQLite accepts writes: another program may have locked the file, or its disk may be full. After an operation has failed it
 * tries a write at each look until one succeeds, and one at a time.
 */
export class WriteWatch {
  /** The store, whose failures are noticed. */
  readonly store: OpenStore
  readonly #stopwatch: Stopwatch
  #failure: StoreError | null = null
  #failedAtMs = 0
  #isTrying = false

  constructor(store: OpenStore, stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch
    this.store = wrapOperations(store, async operation => {
      try {
        return await operation()
      } catch (error) {
        this.#noteFailure(error)
        throw error
      }
    })
  }

  /** Whether something has failed and no write has succeeded since. */
  get isFailing(): boolean {
    return this.#failure !== null
  }

  /** Why nothing could be written for too long; null: it could, or nobody has tried. `isSuspected`: another process of the node has failed. */
  look(isSuspected = false): StoreError | null {
    if (isSuspected || this.isFailing) void this.#try()
    return this.#stopwatch() - this.#failedAtMs >= NO_WRITES_MS ? this.#failure : null
  }

  async #try(): Promise<void> {
    if (this.#isTrying) return
    this.#isTrying = true
    try {
      await this.store.run(TRIAL_SQL)
      this.#failure = null
    } catch {
      // Noticed by the store.
    } finally {
      this.#isTrying = false
    }
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof StoreError)) return
    if (this.#failure === null) this.#failedAtMs = this.#stopwatch()
    this.#failure = error
  }
}
