import type { Category } from "../../contract/categories.ts"
import { METRIC_LABELS, METRICS, type MetricName, type Sample } from "../../contract/metrics.ts"
import type { ProblemCode } from "../../contract/problems.ts"
import type { Reason } from "../../contract/reasons.ts"
import { ROUTES } from "../../contract/routes.ts"
import { cellIndex, labelIndex, metricLayout } from "./counter-layout.ts"

type Histogram = { readonly offset: number; readonly seriesCells: number; readonly boundsMs: Float64Array }

function histogramOf(name: MetricName): Histogram {
  const { bucketsS, ...layout } = metricLayout(name)
  return { ...layout, boundsMs: Float64Array.from(bucketsS, s => s * 1000) }
}

const LATENCY = histogramOf("mailkind_http_request_duration_seconds")
const DATABASE = histogramOf("mailkind_database_operation_duration_seconds")

const REQUESTS_OFFSET = metricLayout("mailkind_http_requests_total").offset
const CODE_COUNT = METRIC_LABELS.code.length
const VERDICTS_OFFSET = metricLayout("mailkind_verdicts_total").offset
/** Maps of their own for verdicts: `cellIndex` takes twice the time. */
const CATEGORY_OFFSETS = new Map(
  METRIC_LABELS.category.map((category, index) => [category, VERDICTS_OFFSET + index * METRIC_LABELS.reason.length]),
)
const REASON_INDEXES = new Map(METRIC_LABELS.reason.map((reason, index) => [reason, index]))
const CACHED_CELL = cellIndex("mailkind_verdicts_cached_total")
const DEGRADED_CELL = cellIndex("mailkind_verdicts_degraded_total")

/** The indexes of the routes of the API in the label `route`. */
const API_ROUTE_INDEXES = Object.values(ROUTES)
  .filter(({ kind }) => kind === "api")
  .map(({ method, path }) => labelIndex("route", `${method} ${path}`))

/** The label index of each status: an array, because every response looks its status up. */
const CODE_INDEXES = Uint8Array.from({ length: 600 }, (_, status) => labelIndex("code", String(status)))

type CountedVerdict = { readonly category: Category; readonly reasons: readonly Reason[]; readonly isDegraded: boolean }

/** Counts in the shard of this process. A call changes a few numbers in place and allocates nothing. */
export class Meter {
  readonly #isDnsOff: boolean
  readonly #shard: Float64Array
  /** What stood in a cell before this process showed a total in it. */
  readonly #before = new Map<number, number>()

  /** `shard` has `SHARD_CELLS` cells and no other writer. `isDnsOff`: no verdict counts as degraded, since the operator wants them all without DNS. */
  constructor(shard: Float64Array, isDnsOff = false) {
    this.#shard = shard
    this.#isDnsOff = isDnsOff
  }

  /** Counts a response. `route` is the index of the route in the label `route`. */
  recordResponse(route: number, status: number, tookMs: number): void {
    const shard = this.#shard
    const code = REQUESTS_OFFSET + route * CODE_COUNT + (CODE_INDEXES[status] ?? CODE_COUNT - 1)
    shard[code] = (shard[code] ?? 0) + 1
    this.#observe(LATENCY, route, tookMs)
  }

  /** Counts an operation on the database, whether it succeeded or not. */
  recordDatabaseOperation(tookMs: number): void {
    this.#observe(DATABASE, 0, tookMs)
  }

  #observe({ offset, seriesCells, boundsMs }: Histogram, series: number, tookMs: number): void {
    const shard = this.#shard
    const first = offset + series * seriesCells
    const sum = first + seriesCells - 1
    let bucket = 0
    while (bucket < boundsMs.length && tookMs > (boundsMs[bucket] ?? 0)) bucket++
    shard[first + bucket] = (shard[first + bucket] ?? 0) + 1
    shard[sum] = (shard[sum] ?? 0) + tookMs / 1000
  }

  /** How many responses of the API this shard has counted with a status of this class: 2 for 200 to 299. */
  apiResponses(statusClass: number): number {
    let sum = 0
    for (const route of API_ROUTE_INDEXES)
      for (const [index, code] of METRIC_LABELS.code.entries())
        if (code.startsWith(String(statusClass))) sum += this.#shard[REQUESTS_OFFSET + route * CODE_COUNT + index] ?? 0
    return sum
  }

  /** Counts a verdict that was sent to a caller. */
  recordVerdict({ category, reasons, isDegraded }: CountedVerdict, isCached: boolean): void {
    const shard = this.#shard
    const cell = (CATEGORY_OFFSETS.get(category) ?? 0) + (REASON_INDEXES.get(reasons[0] ?? "no_evidence") ?? 0)
    shard[cell] = (shard[cell] ?? 0) + 1
    if (isCached) shard[CACHED_CELL] = (shard[CACHED_CELL] ?? 0) + 1
    if (isDegraded && !this.#isDnsOff) shard[DEGRADED_CELL] = (shard[DEGRADED_CELL] ?? 0) + 1
  }

  recordProblem(code: ProblemCode): void {
    this.increment("mailkind_problems_total", 1, code)
  }

  /** Adds to the series with these label values, given in the order of the metric's labels. */
  increment(name: MetricName, by: number, ...values: readonly string[]): void {
    const cell = cellIndex(name, ...values)
    this.#shard[cell] = (this.#shard[cell] ?? 0) + by
  }

  /**
   * Shows what other parts measure. A total that one counts from zero is added to what an earlier process has shown in this shard, unless
   * the metric tells processes apart.
   */
  show(samples: readonly Sample[]): void {
    for (const [name, value, ...values] of samples) {
      const cell = cellIndex(name, ...values)
      const { kind, aggregation } = METRICS[name]
      this.#shard[cell] = value + (kind === "counter" && aggregation === "sum" ? this.#shownBefore(cell) : 0)
    }
  }

  #shownBefore(cell: number): number {
    const before = this.#before.get(cell) ?? this.#shard[cell] ?? 0
    this.#before.set(cell, before)
    return before
  }
}
