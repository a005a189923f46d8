import { SQLiteError } from "bun:sqlite"
import { backoffMs } from "../../../base/backoff.ts"
import { StoreError } from "../core/store-error.ts"

/**
 * How long one attempt waits for another process's write. SQLite blocks the whole process meanwhile, which answers nobody and tells its
 * supervisor nothing. A writer holds the file for one or two fsyncs (0.4 ms each here), so nearly every wait ends within this time.
 */
export const BUSY_TIMEOUT_MS = 25

/** The pauses between attempts, in which the process does all else. */
const PAUSES = { firstMs: 10, maxMs: 100 }

/** With the pauses between them they take some five seconds; only a writer that is stuck holds the file for so long. */
const ATTEMPTS_MAX = 42

/**
 * Waits for the lock of a SQLite file in many short attempts. After a wait that was in vain the next operations have one attempt each,
 * until a write succeeds: all of a process's operations wait for each other, and would each wait for a lock that lasts.
 */
export class LockWait {
  readonly #sleep: (ms: number) => Promise<unknown>
  #refusedCount = 0

  constructor(sleep: (ms: number) => Promise<unknown>) {
    this.#sleep = sleep
  }

  /** Runs work that takes the lock of a writer. It may run several times, and is done once. Throws its error: `busy` after the last attempt. */
  write<T>(work: () => T): T | Promise<T> {
    return this.read(() => {
      const result = work()
      this.#refusedCount = 0
      return result
    })
  }

  /** Runs work that may need no lock, so its success says nothing about the next write. */
  read<T>(work: () => T): T | Promise<T> {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || ++this.#refusedCount >= ATTEMPTS_MAX) throw error
      return this.#sleep(backoffMs(this.#refusedCount, PAUSES)).then(() => this.read(work))
    }
  }
}

/** A `StoreError` comes from an opening. */
const isBusy = (error: unknown): boolean =>
  error instanceof StoreError
    ? error.code === "busy"
    : error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY") === true
