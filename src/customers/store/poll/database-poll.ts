import type { Clock, Stopwatch } from "../../../base/outside-world.ts"
import { CoalescedRuns } from "../../../base/single-flight.ts"
import { createIntervals, type RunInterval } from "../../../base/time.ts"
import type { OpenStore, SqlValue } from "../core/store.ts"
import type { NodeClaims } from "./node-claims.ts"

/**
 * How long after a poll the next one may follow, and how often a process looks whether it does. Their sum, and the statement, bound how long a
 * revocation elsewhere goes unnoticed where no notification arrives: less than a second.
 */
export const POLL_BOUNDS = { everyMs: 850, lookMs: 50 } as const

/** The time in milliseconds since the Unix epoch, in the SQL of what is polled. */
export const POLLED_AT = "CAST($1 AS BIGINT)"

/** A row of the answer. */
type PolledRow = Readonly<Record<string, SqlValue>>

/** What one poll found: its rows, of which there is at least one, how long it took, and what parts knew before it asked. */
export type Observation = {
  readonly rows: readonly [PolledRow, ...PolledRow[]]
  readonly tookMs: number
  readonly known: Readonly<Record<string, number>>
}

/** What one part asks with each poll, as columns of the one statement, and what it does with the answer. */
export type PolledPart = {
  /** Expressions in the SQL of both engines, by the name of their column. */
  readonly columns: Readonly<Record<string, string>>
  /** Tables that they need beside `change_head`. */
  readonly joins?: string
  /** What this process knows to be in the database, by names of its own. */
  readonly knows?: () => Readonly<Record<string, number>>
  readonly observe: (observation: Observation) => unknown
  /** The poll of this process failed. */
  readonly miss?: () => void
}

type DatabasePollDeps = {
  readonly store: OpenStore
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly runInterval: RunInterval
  readonly claims: NodeClaims
  /** Tells the other processes of the node what was found; null: this process could not ask. Absent: there are none. */
  readonly share?: ((observation: Observation | null) => void) | undefined
  readonly onError: (error: unknown) => void
}

/**
 * Asks the database with one statement what has changed and what is due, for all parts of all processes of a node, and once more when
 * the database notifies this process of a change (DECISIONS 171). Parts ask further statements only when it found something for them.
 */
export class DatabasePoll {
  readonly #deps: DatabasePollDeps
  readonly #parts: PolledPart[] = []
  readonly #runs = new CoalescedRuns(() => this.#run())
  readonly #intervals: { readonly start: () => void; readonly stop: () => void }
  #sql: string | null = null
  /** When this process last told the others that it could not ask. */
  #missSharedAtMs = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(deps: DatabasePollDeps) {
    this.#deps = deps
    this.#intervals = createIntervals(deps.runInterval, [
      [POLL_BOUNDS.lookMs, () => deps.claims.take("poll", POLL_BOUNDS.everyMs) && this.poll()],
    ])
  }

  /** Adds what a part asks, before the first poll. */
  add(part: PolledPart): void {
    this.#parts.push(part)
    this.#sql = null
  }

  start(): void {
    this.#intervals.start()
    this.#deps.store.onChange(() => void this.poll())
    void this.poll()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#intervals.stop()
    await this.#runs.stop()
  }

  /** Asks now. Resolves when every part has been told; never rejects. A call during a poll causes one more after it. */
  async poll(): Promise<void> {
    this.#runs.request()
    await this.#runs.idle()
  }

  /** Takes what another process of the node has found; null: it could not ask, so this one finds out by itself whether it can. */
  observe(observation: Observation | null): void {
    if (this.#isStopped) return
    if (observation === null) void this.poll()
    else this.#tell(observation)
  }

  #tell(observation: Observation): void {
    for (const part of this.#parts) part.observe(observation)
  }

  async #run(): Promise<void> {
    const { store, clock, stopwatch, share, onError } = this.#deps
    this.#sql ??= statementOf(this.#parts)
    const startedAtMs = stopwatch()
    const known: Record<string, number> = Object.assign({}, ...this.#parts.map(part => part.knows?.()))
    try {
      const [first, ...others] = await store.all<PolledRow>(this.#sql, [clock()])
      if (first === undefined) return
      const observation: Observation = { rows: [first, ...others], tookMs: stopwatch() - startedAtMs, known }
      this.#tell(observation)
      share?.(observation)
    } catch (error) {
      for (const part of this.#parts) part.miss?.()
      onError(error)
      // Each of the others then asks by itself, and fails as well if the database is away: this bounds how often they ask each other.
      if (startedAtMs - this.#missSharedAtMs < POLL_BOUNDS.everyMs) return
      this.#missSharedAtMs = startedAtMs
      share?.(null)
    }
  }
}

/** One statement for all parts. Its one parameter is the time. */
function statementOf(parts: readonly PolledPart[]): string {
  const columns = parts.flatMap(({ columns }) => Object.entries(columns).map(([name, sql]) => `${sql} AS "${name}"`))
  const joins = parts.flatMap(({ joins = [] }) => joins).join(" ")
  return `SELECT ${[`${POLLED_AT} AS "polledAtMs"`, ...columns].join(", ")} FROM change_head ${joins} WHERE singleton = 1`
}
