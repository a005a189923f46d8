import { type Log, type LogFields, withFields } from "./log.ts"
import type { LogMessage } from "./log-events.ts"
import type { Stopwatch } from "./outside-world.ts"

/** Where a fault was, how long it went on, and how many requests and tasks in the background failed by it, as fields of a log line. */
export type FaultCost = {
  readonly where?: string
  readonly lasted_s: number
  readonly failed_requests: number
  readonly failed_tasks: number
}

/** How often a log is reminded of a fault that goes on. One that nothing has failed by for so long is over. */
export const REMINDER_MS = 60_000

/** How many faults go on at the same time at most. Their names come from tables. */
const FAULTS_MAX = 50

/** The line of a failed request, also on level debug where there are too many. */
const FAILED_REQUEST: LogMessage = "a request failed"

type OngoingFault = {
  sinceMs: number
  /** How long it went on before `sinceMs`, without the pauses in which nothing failed by it. */
  beforeMs: number
  /** When something last failed by it. */
  failedAtMs: number
  /** Where it is and why, as its first line tells. */
  readonly place: LogFields
  requests: number
  tasks: number
  /** A line has told that requests fail by it. */
  failsRequests: boolean
  isRecent: boolean
  isHeld: boolean
}

/** An outage, as its line in the log tells it: of what (a host, a path), the error and its code, and what an operator does about it. */
export type Outage = {
  readonly fault: string
  readonly where: string
  readonly why: string
  readonly remedy: string
}

type FaultLogDeps = {
  readonly stopwatch: Stopwatch
  readonly runInterval: (everyMs: number, work: () => void) => () => void
  /** What a fault is and what an operator does about it, as fields of a log line. */
  readonly describe: (fault: string) => LogFields
}

/**
 * A log that does not repeat a fault. The first warning or error with a field `fault` begins it, or the first failed request with one. Later lines
 * with it are of level debug and are counted, as requests if they have a `request_id`. Failed requests keep their lines, by which they are found,
 * and before the first one a line of level error tells that requests fail by it;
 * each minute one line tells that it goes on, with where and why, and one at last that it is over. A fault lasts from its first failure to its
 * last one, and an outage to the answer that ends it.
 */
export class FaultLog {
  readonly #log: Log
  readonly #deps: FaultLogDeps
  readonly #ongoing = new Map<string, OngoingFault>()
  #stopReminders: (() => void) | null = null

  constructor(log: Log, deps: FaultLogDeps) {
    this.#log = log
    this.#deps = deps
  }

  readonly log: Log = (level, message, fields = {}) => {
    const { fault, request_id: requestId } = fields
    if (typeof fault !== "string") return this.#log(level, message, fields)
    const ongoing = this.#failing(fault)
    if (message === FAILED_REQUEST) {
      this.#noteFailedRequest(fault, ongoing, fields)
      this.#log(level, message, fields)
    } else if (ongoing !== undefined) {
      this.#noteFailure(ongoing)
      if (requestId === undefined) ongoing.tasks++
      else ongoing.requests++
      this.#log("debug", message, fields)
    } else if (level === "warn" || level === "error") {
      const described = { ...fields, ...this.#described(fault, fields) }
      this.#log(level, message, this.#begin(fault, described) ? described : fields)
    } else this.#log(level, message, fields)
  }

  /** Counts a failed request. Before the first one by a fault a line describes that, whatever has begun it. */
  #noteFailedRequest(fault: string, known: OngoingFault | undefined, { why }: LogFields): void {
    const described = { ...this.#deps.describe(fault), ...(why !== undefined && { why }) }
    if (known === undefined && !this.#begin(fault, described)) return
    const ongoing = this.#ongoing.get(fault)
    if (ongoing === undefined) return
    // It has failed at its beginning.
    if (known !== undefined) this.#noteFailure(known)
    ongoing.requests++
    if (ongoing.failsRequests) return
    ongoing.failsRequests = true
    this.#log("error", "requests fail", { fault, ...described })
  }

  /**
   * Logs outages of one thing: gives what is called with the fault of one that begins, and with null when it has ended. However little
   * fails by it meanwhile, it lasts. It may be known as a fault already. `quietMs`: how long after the answer it is called with null.
   */
  outages(level: "warn" | "error", begins: LogMessage, ends: LogMessage, quietMs = 0) {
    let current = ""
    return (outage: Outage | null): void => {
      if (outage === null) {
        this.#log("info", ends, { fault: current, ...this.end(current, quietMs) })
        current = ""
        return
      }
      // Another one has taken its place.
      if (current !== outage.fault) this.#tellOver(current)
      current = outage.fault
      this.#hold(current, outage)
      this.#log(level, begins, outage)
    }
  }

  #hold(fault: string, outage: Outage): void {
    if (this.#failing(fault) === undefined) this.#begin(fault, outage)
    const ongoing = this.#ongoing.get(fault)
    if (ongoing === undefined) return
    if (!ongoing.isHeld) {
      ongoing.beforeMs += ongoing.failedAtMs - ongoing.sinceMs
      ongoing.sinceMs = this.#deps.stopwatch()
    }
    Object.assign(ongoing, { isHeld: true, place: placeOf(outage) })
  }

  /** A fault that goes on. One that nothing has failed by for too long is over, and begins anew. */
  #failing(fault: string): OngoingFault | undefined {
    const ongoing = this.#ongoing.get(fault)
    if (ongoing !== undefined && this.#isPast(ongoing)) this.#tellOver(fault)
    return this.#ongoing.get(fault)
  }

  #isPast({ isHeld, failedAtMs }: OngoingFault): boolean {
    return !isHeld && this.#deps.stopwatch() - failedAtMs >= REMINDER_MS
  }

  #tellOver(fault: string): void {
    const cost = this.end(fault)
    if (cost !== null) this.#log("info", "a fault is over", { fault, ...cost })
  }

  /** What is known of a fault and stands in no field yet. */
  #described(fault: string, fields: LogFields): LogFields {
    const known = Object.entries(this.#deps.describe(fault)).filter(([name]) => !Object.hasOwn(fields, name))
    return Object.fromEntries(known)
  }

  /** The same log, whose lines all have these fields. It has faults of its own. */
  withFields(added: LogFields): FaultLog {
    return new FaultLog(withFields(this.#log, added), this.#deps)
  }

  /** Counts a task that failed by a fault that goes on, without a line. */
  countTask(fault: string): void {
    const ongoing = this.#ongoing.get(fault)
    if (ongoing === undefined) return
    this.#noteFailure(ongoing)
    ongoing.tasks++
  }

  #noteFailure(ongoing: OngoingFault): void {
    ongoing.isRecent = true
    ongoing.failedAtMs = this.#deps.stopwatch()
  }

  /** Ends a fault that goes on, and gives what it has cost; null: it does not go on. `quietMs`: how long ago an outage has ended. */
  end(fault: string, quietMs = 0): FaultCost | null {
    const ongoing = this.#ongoing.get(fault)
    if (ongoing === undefined) return null
    this.#ongoing.delete(fault)
    if (this.#ongoing.size === 0) {
      this.#stopReminders?.()
      this.#stopReminders = null
    }
    return this.#costOf(ongoing, quietMs)
  }

  /** False: so many others go on that this one is not remembered. */
  #begin(fault: string, fields: LogFields): boolean {
    if (this.#ongoing.size >= FAULTS_MAX) return false
    const sinceMs = this.#deps.stopwatch()
    const place = placeOf(fields)
    this.#ongoing.set(fault, {
      sinceMs,
      beforeMs: 0,
      failedAtMs: sinceMs,
      place,
      requests: 0,
      tasks: 0,
      failsRequests: false,
      isRecent: false,
      isHeld: false,
    })
    this.#stopReminders ??= this.#deps.runInterval(REMINDER_MS, () => this.#remind())
    return true
  }

  #remind(): void {
    for (const [fault, ongoing] of [...this.#ongoing]) {
      if (this.#isPast(ongoing)) this.#tellOver(fault)
      else if (ongoing.isRecent)
        this.#log("warn", "a fault continues", { fault, ...ongoing.place, ...this.#costOf(ongoing) })
      ongoing.isRecent = false
    }
  }

  /** Of what is no outage it is not known when it ended: its last failure is what is known. */
  #costOf({ sinceMs, beforeMs, failedAtMs, isHeld, place, requests, tasks }: OngoingFault, quietMs = 0): FaultCost {
    const { where } = place
    const untilMs = isHeld ? this.#deps.stopwatch() - quietMs : failedAtMs
    const lasted_s = Math.round((beforeMs + untilMs - sinceMs) / 1000)
    return { ...(typeof where === "string" && { where }), lasted_s, failed_requests: requests, failed_tasks: tasks }
  }
}

const placeOf = ({ where, why }: LogFields): LogFields => ({
  ...(where !== undefined && { where }),
  ...(why !== undefined && { why }),
})
