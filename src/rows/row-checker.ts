import { type Pause, untilAborted } from "../base/concurrency.ts"
import type { Subject } from "../check/address/subject.ts"
import type { CheckOutcome } from "../check/result/result.ts"
import type { CheckedCounts } from "./garbage-collector.ts"
import { type InputRow, readRow } from "./input-rows.ts"
import { OrderedQueue } from "./ordered-queue.ts"

/** What checking rows needs. */
export type RowCheckerDeps = {
  readonly testDomain: string
  readonly check: (subject: Subject) => CheckOutcome | Promise<CheckOutcome>
  /** Is called before each row, to write what is due or to give the thread back. When it rejects, the work is left. */
  readonly pause?: Pause
  /** When it is aborted, the work is left with its reason. */
  readonly signal?: AbortSignal
  /** How many checks are under way at once; absent: as many as the queue has by default. */
  readonly inFlightMax?: number
}

/** The outcome of a row; null: it has no input, and was skipped. */
export type RowOutcome = CheckOutcome | null

/** Takes the outcome of a row, which is the one at index `at` of the rows that were given with it. */
export type TakeOutcome = (row: InputRow, outcome: RowOutcome, at: number) => void

/** A row whose outcome is waited for. */
export type QueuedRow = { readonly row: InputRow; readonly at: number; readonly take: TakeOutcome }

/**
 * Checks rows: each becomes a subject, and its outcome is taken in the order of the rows. Jobs, `classify`, its worker processes and
 * `check -` all use it. An invalid row is an outcome, and ends nothing.
 */
export class RowChecker {
  readonly #deps: RowCheckerDeps
  readonly #order: OrderedQueue<QueuedRow, RowOutcome>

  constructor(deps: RowCheckerDeps) {
    this.#deps = deps
    this.#order = new OrderedQueue(
      ({ row, at, take }, outcome) => take(row, outcome, at),
      ({ row }) => textLength(row),
      deps.inFlightMax,
    )
  }

  /**
   * Begins the checks of rows that follow those before. Resolves with what was begun when there is room for more: checks may still be
   * under way then, and their outcomes are taken later.
   */
  async check(rows: readonly InputRow[], take: TakeOutcome): Promise<CheckedCounts> {
    const { testDomain, check, pause, signal } = this.#deps
    let lookups = 0
    signal?.throwIfAborted()
    for (let at = 0; at < rows.length; at++) {
      const { row, subject } = readRow(rows[at] as InputRow, testDomain) // an index below the length
      const paused = pause?.()
      if (paused instanceof Promise) {
        await paused
        signal?.throwIfAborted()
      }
      const outcome = subject === null ? null : check(subject)
      // A check that asks the network returns a promise.
      if (outcome instanceof Promise) lookups++
      this.#order.add({ row, at, take }, outcome)
      if (this.#order.isFull) await untilAborted(this.#order.waitForRoom(), signal)
    }
    return { rows: rows.length, lookups }
  }

  /** Resolves when the outcomes of all rows were taken. Rejects with the error of a check. */
  drain(): Promise<void> {
    return untilAborted(this.#order.drain(), this.#deps.signal)
  }
}

/** How much text a row holds while it waits for its outcome. */
const textLength = ({ input, cells }: InputRow): number =>
  cells === null ? input.length : cells.reduce((length, cell) => length + cell.length, 0)
