import type { Category } from "../../contract/categories.ts"
import { LATENCY_BUCKETS_S, METRIC_LABELS, type MetricName } from "../../contract/metrics.ts"
import type { ProblemCode } from "../../contract/problems.ts"
import type { Reason } from "../../contract/reasons.ts"
import { cellIndex, labelIndex, metricLayout } from "./counter-layout.ts"

const BUCKETS_MS = Float64Array.from(LATENCY_BUCKETS_S, s => s * 1000)
const SUM_OFFSET = BUCKETS_MS.length + 1
const LATENCY_SERIES_CELLS = SUM_OFFSET + 1

const REQUESTS_OFFSET = metricLayout("mailkind_http_requests_total").offset
const CODE_COUNT = METRIC_LABELS.code.length
const LATENCY_OFFSET = metricLayout("mailkind_http_request_duration_seconds").offset
const VERDICTS_OFFSET = metricLayout("mailkind_verdicts_total").offset
/** Two maps of their own: by way of the tables' it would take twice the time. */
const CATEGORY_OFFSETS = new Map(
  METRIC_LABELS.category.map((category, at) => [category, VERDICTS_OFFSET + at * METRIC_LABELS.reason.length]),
)
const REASON_INDEXES = new Map(METRIC_LABELS.reason.map((reason, at) => [reason, at]))
const CACHED_CELL = cellIndex("mailkind_verdicts_cached_total")
const DEGRADED_CELL = cellIndex("mailkind_verdicts_degraded_total")

/** The position of each status among codes; found by index, since every answer asks. */
const CODE_INDEXES = Uint8Array.from({ length: 600 }, (_, status) => labelIndex("code", String(status)))

type CountedVerdict = { readonly category: Category; readonly reasons: readonly Reason[]; readonly isDegraded: boolean }

/** Counts into the column of one process. Each call raises a few numbers in place: nothing is allocated, nothing waits. */
export class Meter {
  readonly #shard: Float64Array

  /** `column` has `COLUMN_CELLS`; nobody else writes it. */
  constructor(column: Float64Array) {
    this.#shard = column
  }

  /** One answer to a request of the route, by its position among routes. */
  recordResponse(route: number, status: number, tookMs: number): void {
    const column = this.#shard
    const code = REQUESTS_OFFSET + route * CODE_COUNT + (CODE_INDEXES[status] ?? CODE_COUNT - 1)
    column[code] = (column[code] ?? 0) + 1
    const latency = LATENCY_OFFSET + route * LATENCY_SERIES_CELLS
    let bucket = 0
    while (bucket < BUCKETS_MS.length && tookMs > (BUCKETS_MS[bucket] ?? 0)) bucket++
    column[latency + bucket] = (column[latency + bucket] ?? 0) + 1
    column[latency + SUM_OFFSET] = (column[latency + SUM_OFFSET] ?? 0) + tookMs / 1000
  }

  /** One verdict that a caller was told. */
  recordVerdict({ category, reasons, isDegraded }: CountedVerdict, isCached: boolean): void {
    const column = this.#shard
    const at = (CATEGORY_OFFSETS.get(category) ?? 0) + (REASON_INDEXES.get(reasons[0] ?? "no_evidence") ?? 0)
    column[at] = (column[at] ?? 0) + 1
    if (isCached) column[CACHED_CELL] = (column[CACHED_CELL] ?? 0) + 1
    if (isDegraded) column[DEGRADED_CELL] = (column[DEGRADED_CELL] ?? 0) + 1
  }

  /** One refusal. */
  recordProblem(code: ProblemCode): void {
    this.increment("mailkind_problems_total", 1, code)
  }

  /** Raises the series of a metric with these values of its labels, in their order. */
  increment(name: MetricName, by: number, ...values: readonly string[]): void {
    const at = cellIndex(name, ...values)
    this.#shard[at] = (this.#shard[at] ?? 0) + by
  }

  /** Sets a gauge, as `raise` does. */
  setGauge(name: MetricName, value: number, ...values: readonly string[]): void {
    this.#shard[cellIndex(name, ...values)] = value
  }

  /**
   * Follows a total that is counted elsewhere from zero: the returned function takes it as it is now. What the column had
   * before, of a process that is gone, is kept.
   */
  mirror(name: MetricName, ...values: readonly string[]): (total: number) => void {
    const at = cellIndex(name, ...values)
    const before = this.#shard[at] ?? 0
    return total => {
      this.#shard[at] = before + total
    }
  }
}
