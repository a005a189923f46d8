import type { FaultLog } from "../base/fault-log.ts"
import type { Log } from "../base/log.ts"
import { type OpenStore, wrapOperations } from "../customers/store/core/store.ts"
import { outageOf, StoreError, type StoreErrorCode } from "../customers/store/core/store-error.ts"
import type { System } from "../system/system.ts"

/** How a database fails that may soon be there: it starts, fails over, or is full of the connections of others. */
const PASSING_ERRORS: ReadonlySet<StoreErrorCode> = new Set([
  ...(["away", "unknown_host", "crowded", "clients_full", "pool_full", "pool_silent", "standby"] as const),
])

/** How often a database that is away is tried again. */
const RETRY_MS = 1000

/** The start was asked to stop while it waited for its database. */
export class StartStopped extends Error {
  override readonly name = "StartStopped"
}

type StartContext = {
  readonly system: Pick<System, "stopwatch" | "sleep">
  readonly settings: { readonly MAILKIND_DATABASE_WAIT_S: number; readonly MAILKIND_DATABASE_URL: object | null }
  readonly log: Log
  readonly faults?: FaultLog
}

/** The time that a start waits for its database, in all of its steps together (`DECISIONS 119`). */
export class StartBudget {
  readonly #context: StartContext
  readonly #stopSignal: Promise<string>
  readonly #budgetMs: number
  #spentMs = 0
  /** Since when steps wait; null: none does. */
  #waitingSinceMs: number | null = null
  /** The first fault that steps wait for now; empty: none waits. */
  #fault = ""

  /** `budgetMs`: what is left of the time, where another process has used up some of it; null: all of it. */
  constructor(context: StartContext, stopSignal: Promise<string>, budgetMs: number | null = null) {
    this.#context = context
    this.#stopSignal = stopSignal
    this.#budgetMs = budgetMs ?? 1000 * context.settings.MAILKIND_DATABASE_WAIT_S
  }

  /** What is left of it, in milliseconds. */
  get leftMs(): number {
    const waitingMs = this.#waitingSinceMs === null ? 0 : this.#context.system.stopwatch() - this.#waitingSinceMs
    return Math.max(0, this.#budgetMs - this.#spentMs - waitingMs)
  }

  /**
   * Runs a step of the start, and runs it again while the database is away in a way that passes and there is time left. What it writes must
   * be nothing when it has failed so. Rejects with the error of the database, or with `StartStopped`.
   */
  async run<T>(step: () => Promise<T>): Promise<T> {
    const { stopwatch, sleep } = this.#context.system
    for (;;) {
      const startedAtMs = stopwatch()
      try {
        const result = await step()
        this.#recordAnswer()
        return result
      } catch (error) {
        if (!(error instanceof StoreError && this.#isPassing(error))) throw error
        this.#waitingSinceMs ??= startedAtMs
        if (this.leftMs === 0) throw error
        this.#tell(error)
      }
      const stopped = await Promise.race([this.#stopSignal, sleep(Math.min(RETRY_MS, this.leftMs))])
      if (typeof stopped === "string") throw new StartStopped()
    }
  }

  /** The same store, of which each operation is a step of the start until it has ended: from then on requests are served, and none waits. */
  storeFor(store: OpenStore, hasEnded: () => boolean = () => false): OpenStore {
    return wrapOperations(store, operation => (hasEnded() ? operation() : this.run(operation)))
  }

  /** A statement that PostgreSQL cancelled was held up as well, by others or by a pause of the database itself. */
  #isPassing({ code }: StoreError): boolean {
    return PASSING_ERRORS.has(code) || (code === "busy" && this.#context.settings.MAILKIND_DATABASE_URL !== null)
  }

  #recordAnswer(): void {
    if (this.#waitingSinceMs === null) return
    this.#spentMs += this.#context.system.stopwatch() - this.#waitingSinceMs
    this.#waitingSinceMs = null
    this.#context.log("info", "the database answers", { fault: this.#fault, ...this.#context.faults?.end(this.#fault) })
    this.#fault = ""
  }

  #tell(error: StoreError): void {
    if (this.#fault !== "") return
    this.#fault = error.code
    const wait_s = Math.round(this.#budgetMs / 1000)
    this.#context.log("warn", "the start waits for the database", { ...outageOf(error), wait_s })
  }
}
