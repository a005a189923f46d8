import { Histogram } from "./histogram.ts"

/** Why a request had no answer that could be counted. */
export const FAILURES = {
  refused: "a connection could not be opened",
  closed: "the connection closed before the answer's end",
  unreadable: "the answer was not HTTP/1.1 with a Content-Length",
  unanswered: "no answer had come when the run was over",
} as const
export type Failure = keyof typeof FAILURES

const STATUS_END = 600

/** What a run has counted so far. Its size does not grow with the run. */
export class Tally {
  readonly latency = new Histogram()
  readonly failures: Record<Failure, number> = { refused: 0, closed: 0, unreadable: 0, unanswered: 0 }
  bodyBytes = 0
  readonly #statuses = new Uint32Array(STATUS_END)

  /** Counts one whole answer. `status` is from 200 to 599. */
  answered(status: number, bodyBytes: number, latencyMs: number): void {
    this.latency.record(latencyMs * 1000)
    this.bodyBytes += bodyBytes
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
  }

  /** Whole answers by their status; a status without an answer is not there. */
  byStatus(): Record<string, number> {
    const counts = [...this.#statuses.entries()].filter(([, count]) => count > 0)
    return Object.fromEntries(counts.map(([status, count]) => [String(status), count]))
  }
}
