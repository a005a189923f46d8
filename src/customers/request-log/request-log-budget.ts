import type { Stopwatch } from "../../base/outside-world.ts"
import type { Sample } from "../../contract/metrics.ts"
import type { Store } from "../store/core/store.ts"
import type { WrittenRows } from "./request-log.ts"
import { PRUNED_REQUESTS_MAX, trimAccount } from "./request-log-pruning.ts"
import { type LogSize, type RowBytes, readSizes } from "./request-log-sizes.ts"

/** How many accounts one step looks at: reading them takes 0.15 ms. */
export const ACCOUNTS_PER_STEP = 500

/** How many accounts one step trims at most: each takes some 0.2 ms, in several statements. */
export const TRIMMED_ACCOUNTS_PER_STEP = 100

/** For how many accounts that wrote within a second there is one step. */
const WRITERS_PER_STEP = 100

/** From which part of the budget on accounts are trimmed, and which part they have afterwards: what is written meanwhile stays below it. */
const TRIMMED_FROM_PART = 0.95
const TRIMMED_TO_PART = 0.9

/** The shares that an account can have are so much apart, and the greatest is more than any account's log. */
const SHARE_RATIO = 1.02
const SHARES_COUNT = 1000

/** How long what was counted counts as known. */
const KNOWN_MS = 60_000

/** How much all logs are. */
export type LogTotal = { readonly rowCount: number; readonly bytes: number }

type RequestLogBudgetDeps = {
  readonly store: Store
  readonly stopwatch: Stopwatch
  readonly rowBytes: RowBytes
  readonly bytesMax: number
}

/**
 * Keeps the logs of all accounts within one budget of bytes. A walk over the sizes of all accounts, one bounded step at a time, adds them up. When
 * they are too much, the next walk trims each log that is larger than a share, the oldest requests first. The share is the greatest with which all
 * fit, so an account with a smaller log loses nothing. Each process that writes walks by itself, and one process of the node while none writes: all
 * come to the same share.
 */
export class RequestLogBudget {
  readonly #deps: RequestLogBudgetDeps
  #walkedUpTo = ""
  #walk = new SizeSums()
  #isStepping = false
  /** What each account may have in this walk. */
  #share = Number.POSITIVE_INFINITY
  #total: LogTotal | null = null
  #steppedAtMs = Number.NEGATIVE_INFINITY

  constructor(deps: RequestLogBudgetDeps) {
    this.#deps = deps
  }

  /** What the last walk found; null: there is none, or it is another process that walks. */
  total(): LogTotal | null {
    return this.#deps.stopwatch() - this.#steppedAtMs > KNOWN_MS ? null : this.#total
  }

  samples(): readonly Sample[] {
    const total = this.total()
    return [
      ["mailkind_request_log_rows", total?.rowCount ?? 0],
      ["mailkind_request_log_bytes", total?.bytes ?? 0],
      ["mailkind_request_log_bytes_max", this.#deps.bytesMax],
    ]
  }

  /** Does what is to be done after rows were written: the more accounts wrote, the more steps. */
  async stepAfter(written: WrittenRows): Promise<void> {
    let deletedCount = 0
    for (let count = 0; count < written.size && deletedCount < PRUNED_REQUESTS_MAX; count += WRITERS_PER_STEP)
      deletedCount += await this.step()
  }

  /** Looks at the next accounts, until one step's worth of accounts is trimmed or of rows deleted. Returns their count. When the store fails it rejects. */
  async step(): Promise<number> {
    if (this.#isStepping) return 0
    this.#isStepping = true
    try {
      return await this.#step()
    } finally {
      this.#isStepping = false
    }
  }

  async #step(): Promise<number> {
    this.#steppedAtMs = this.#deps.stopwatch()
    const accounts = await readSizes(this.#deps.store, this.#walkedUpTo, ACCOUNTS_PER_STEP)
    let deletedCount = 0
    let trimmedCount = 0
    for (const account of accounts) {
      const kept = Math.min(1, this.#share / this.#bytesOf(account))
      const rowCount = Math.floor(account.rowCount * kept)
      if (kept < 1) {
        if (trimmedCount++ >= TRIMMED_ACCOUNTS_PER_STEP) return deletedCount
        deletedCount += await trimAccount(this.#deps.store, null, account.id, rowCount)
      }
      // An account that has more to delete is trimmed again.
      if (deletedCount >= PRUNED_REQUESTS_MAX) return deletedCount
      this.#walk.add(rowCount, this.#bytesOf(account) * kept)
      this.#walkedUpTo = account.id
    }
    if (accounts.length < ACCOUNTS_PER_STEP) this.#endWalk()
    return deletedCount
  }

  #bytesOf({ rowCount, textLength }: LogSize): number {
    const { perRow, perCharacter } = this.#deps.rowBytes
    return Math.max(1, rowCount * perRow + textLength * perCharacter)
  }

  #endWalk(): void {
    const { bytesMax } = this.#deps
    this.#total = this.#walk.total()
    const isTooMuch = this.#total.bytes > bytesMax * TRIMMED_FROM_PART
    this.#share = isTooMuch ? this.#walk.fairShare(bytesMax * TRIMMED_TO_PART) : Number.POSITIVE_INFINITY
    this.#walk = new SizeSums()
    this.#walkedUpTo = ""
  }
}

/** The sums of sizes, also by classes of similar size. */
class SizeSums {
  #rowCount = 0
  readonly #counts = new Float64Array(SHARES_COUNT)
  readonly #bytes = new Float64Array(SHARES_COUNT)

  add(rowCount: number, bytes: number): void {
    const index = Math.min(SHARES_COUNT - 1, Math.ceil(Math.log(bytes) / Math.log(SHARE_RATIO)))
    this.#rowCount += rowCount
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#bytes[index] = (this.#bytes[index] ?? 0) + bytes
  }

  total(): LogTotal {
    return { rowCount: this.#rowCount, bytes: this.#bytes.reduce((sum, bytes) => sum + bytes, 0) }
  }

  /** The greatest share with which all sizes, each cut to it, are no more than `bytesMax`; 0: there is none. */
  fairShare(bytesMax: number): number {
    let { bytes: atMostShare } = this.total()
    let aboveCount = 0
    for (let index = SHARES_COUNT - 1; index >= 0; index--) {
      const share = SHARE_RATIO ** index
      if (atMostShare + aboveCount * share <= bytesMax) return share
      atMostShare -= this.#bytes[index] ?? 0
      aboveCount += this.#counts[index] ?? 0
    }
    return 0
  }
}
