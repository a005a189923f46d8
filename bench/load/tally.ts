import type { AnswerReader } from "./answer-reader.ts"
import { Histogram } from "./histogram.ts"
import { problemCode } from "./problem-code.ts"

/** Why a request had no answer that could be counted. */
export const FAILURES = {
  refused: "a connection could not be opened",
  closed: "the connection closed before the answer's end",
  unreadable: "the answer was not HTTP/1.1 with a Content-Length or chunks",
  unanswered: "no answer had come when the run was over",
  skipped: "never sent, since as many as may waited already (--waiting)",
  unsent: "due, but still waiting to be sent when the run was over",
} as const
export type Failure = keyof typeof FAILURES

const STATUS_END = 600
/** A server that makes up codes is told under one. */
const PROBLEMS_MAX = 100
const OTHER_PROBLEMS = "other problems"

/** What a run has counted so far. Its size does not grow with the run. */
export class Tally {
  readonly latency = new Histogram()
  readonly failures: Record<Failure, number> = {
    refused: 0,
    closed: 0,
    unreadable: 0,
    unanswered: 0,
    skipped: 0,
    unsent: 0,
  }
  bodyBytes = 0
  readonly #statuses = new Uint32Array(STATUS_END)
  readonly #problems = new Map<string, number>()

  /** Counts one whole answer. Its status is from 200 to 599. */
  answered({ status, bodyBytes, body }: AnswerReader, latencyMs: number): void {
    this.latency.record(latencyMs * 1000)
    this.bodyBytes += bodyBytes
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (body !== null) this.#problem(status, body)
  }

  /** Whole answers by their status; a status without an answer is not there. */
  byStatus(): Record<string, number> {
    const counts = [...this.#statuses.entries()].filter(([, count]) => count > 0)
    return Object.fromEntries(counts.map(([status, count]) => [String(status), count]))
  }

  /** Answers with a problem for a body by `status code`, the most frequent first. */
  byProblem(): Record<string, number> {
    return Object.fromEntries([...this.#problems].sort(([, one], [, other]) => other - one))
  }

  #problem(status: number, body: string): void {
    const code = problemCode(body)
    if (code === null) return
    const name = `${status} ${code}`
    const kept = this.#problems.has(name) || this.#problems.size < PROBLEMS_MAX ? name : OTHER_PROBLEMS
    this.#problems.set(kept, (this.#problems.get(kept) ?? 0) + 1)
  }
}
