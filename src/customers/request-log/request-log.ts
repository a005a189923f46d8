import { yieldThread } from "../../base/concurrency.ts"
import type { Clock, Random } from "../../base/outside-world.ts"
import type { Store } from "../store/core/store.ts"
import { insertRequests, type LoggedRequest, type RequestRow } from "./request-rows.ts"

/** The bounds of a process's buffer of requests that are not written yet. */
export type RequestLogBounds = {
  /** How many requests it holds, first come, first served. So many are written a second at most. */
  readonly rowsMax: number
  /** How many of each account it holds beyond that, so that a busy account does not keep the requests of others out. */
  readonly accountRowsMin: number
  /** How many it holds in all. */
  readonly totalMax: number
}

/** A write of 500 rows takes about 2 ms of the processor, and their deletion later as much; a full buffer takes about 1 MB. */
export const REQUEST_LOG_BOUNDS: RequestLogBounds = { rowsMax: 500, accountRowsMin: 10, totalMax: 2000 }

/** The requests of one account that are not written yet. */
type AccountBuffer = { readonly rows: RequestRow[]; skippedCount: number }

/**
 * How many rows one transaction writes, a size of a statement (`createBulkStatements`): the next size would hold up requests for 3 ms. What has
 * arrived is handled before the next transaction, which SQLite would begin at once.
 */
const ROWS_PER_TRANSACTION_MAX = 64

/** How many rows of an account were written. */
export type WrittenRows = ReadonlyMap<string, number>

const COUNTERS = 2 ** 31
const PROCESSES = 2 ** 22

/**
 * The requests of all accounts, buffered in memory and written in batches, so that a request writes nothing. What does not fit into
 * the buffer is dropped and counted, in the account's next row too. A crash loses what was not written.
 */
export class RequestLog {
  readonly #store: Store
  readonly #clock: Clock
  readonly #bounds: RequestLogBounds
  /** Tells the rows of processes apart that were written in the same millisecond. */
  readonly #process: number
  #counter = 0
  #pending = new Map<string, AccountBuffer>()
  #pendingCount = 0
  /** What the last write took and may not have written. */
  #writing: readonly RequestRow[] = []
  #flushing: Promise<WrittenRows> | null = null
  #droppedCount = 0

  constructor(store: Store, clock: Clock, random: Random, bounds: RequestLogBounds = REQUEST_LOG_BOUNDS) {
    this.#store = store
    this.#clock = clock
    this.#bounds = bounds
    this.#process = new DataView(random(4).buffer).getUint32(0) % PROCESSES
  }

  /**
   * Whether a request of the account that was just answered can be logged: then `record` must be called, else it is counted as
   * dropped. Under load most requests end here, so that nothing is made for them.
   */
  admits(accountId: string): boolean {
    const account = this.#pending.get(accountId)
    if (account === undefined ? this.#pendingCount < this.#bounds.totalMax : this.#hasRoom(account)) return true
    this.#droppedCount++
    if (account !== undefined) account.skippedCount++
    return false
  }

  /** Logs a request that was admitted. Never waits and never fails. */
  record(request: LoggedRequest): void {
    this.#pendingCount++
    this.#counter = (this.#counter + 1) % COUNTERS
    const row = { request, atMs: this.#clock(), seq: this.#process * COUNTERS + this.#counter, skippedCount: 0 }
    const account = this.#pending.get(request.accountId)
    if (account === undefined) this.#pending.set(request.accountId, { rows: [row], skippedCount: 0 })
    else account.rows.push(row)
  }

  /**
   * Writes what is buffered and gives how many rows each account got. When the store fails it rejects, and the rows that are left are
   * written by the next call, once. Requests of deleted accounts, and of accounts whose log is off, are left out.
   */
  flush(): Promise<WrittenRows> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null
    })
    return this.#flushing
  }

  /** Writes everything, also what came while a write ran or failed: what a clean stop calls last. When the store fails it rejects. */
  async flushAll(): Promise<void> {
    while (this.stats().unwritten > 0) await this.flush()
  }

  /** Writes what is buffered if requests of this account are among it. */
  async flushAccount(accountId: string): Promise<void> {
    await this.#flushing
    const isWaiting =
      this.#pending.has(accountId) || this.#writing.some(({ request }) => request.accountId === accountId)
    if (isWaiting) await this.flush()
  }

  /** The count of requests that are not written yet, and of those that were dropped since the start. */
  stats(): { readonly unwritten: number; readonly dropped: number } {
    return { unwritten: this.#pendingCount + this.#writing.length, dropped: this.#droppedCount }
  }

  #hasRoom({ rows }: AccountBuffer): boolean {
    const { rowsMax, accountRowsMin, totalMax } = this.#bounds
    if (this.#pendingCount < rowsMax) return true
    return rows.length < accountRowsMin && this.#pendingCount < totalMax
  }

  async #flush(): Promise<WrittenRows> {
    if (this.#writing.length === 0) this.#writing = this.#take()
    const written = new Map<string, number>()
    while (this.#writing.length > 0) {
      const rows = this.#writing.slice(0, ROWS_PER_TRANSACTION_MAX)
      // A row has its own key, so rows whose commit was not answered can be written again.
      await this.#store.transaction(inner => insertRequests(inner, rows), "unsynced")
      this.#writing = this.#writing.slice(rows.length)
      for (const { request } of rows) written.set(request.accountId, (written.get(request.accountId) ?? 0) + 1)
      if (this.#writing.length > 0) await yieldThread()
    }
    return written
  }

  /** Empties the buffer. The last row of an account says how many of its requests were dropped after it. */
  #take(): readonly RequestRow[] {
    const accounts = [...this.#pending.values()]
    this.#pending = new Map()
    this.#pendingCount = 0
    return accounts.flatMap(({ rows, skippedCount }) =>
      skippedCount === 0
        ? rows
        : rows.map((row, index) => (index === rows.length - 1 ? { ...row, skippedCount } : row)),
    )
  }
}
