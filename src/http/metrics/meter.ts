import type { Category } from "../../contract/categories.ts"
import { LABELS, LATENCY_BUCKETS_S, type MetricName } from "../../contract/metrics.ts"
import type { ProblemCode } from "../../contract/problems.ts"
import type { Reason } from "../../contract/reasons.ts"
import { cellOf, placeOf, positionOf } from "./layout.ts"

const BUCKETS_MS = Float64Array.from(LATENCY_BUCKETS_S, s => s * 1000)
const SUM_AT = BUCKETS_MS.length + 1
const LATENCY_CELLS = SUM_AT + 1

const REQUESTS_AT = placeOf("mailkind_http_requests_total").at
const CODES = LABELS.code.length
const LATENCY_AT = placeOf("mailkind_http_request_duration_seconds").at
const VERDICTS_AT = placeOf("mailkind_verdicts_total").at
/** Two maps of their own: by way of the tables' it would take twice the time. */
const ROW_OF = new Map(LABELS.category.map((category, at) => [category, VERDICTS_AT + at * LABELS.reason.length]))
const REASON_OF = new Map(LABELS.reason.map((reason, at) => [reason, at]))
const CACHED_AT = cellOf("mailkind_verdicts_cached_total")
const DEGRADED_AT = cellOf("mailkind_verdicts_degraded_total")

/** The position of each status among codes; found by index, since every answer asks. */
const CODE_OF = Uint8Array.from({ length: 600 }, (_, status) => positionOf("code", String(status)))

type Judged = { readonly category: Category; readonly reasons: readonly Reason[]; readonly isDegraded: boolean }

/** Counts into the column of one process. Each call raises a few numbers in place: nothing is allocated, nothing waits. */
export class Meter {
  readonly #column: Float64Array

  /** `column` has `COLUMN_CELLS`; nobody else writes it. */
  constructor(column: Float64Array) {
    this.#column = column
  }

  /** One answer to a request of the route, by its position among routes. */
  answered(route: number, status: number, tookMs: number): void {
    const column = this.#column
    const code = REQUESTS_AT + route * CODES + (CODE_OF[status] ?? CODES - 1)
    column[code] = (column[code] ?? 0) + 1
    const latency = LATENCY_AT + route * LATENCY_CELLS
    let bucket = 0
    while (bucket < BUCKETS_MS.length && tookMs > (BUCKETS_MS[bucket] ?? 0)) bucket++
    column[latency + bucket] = (column[latency + bucket] ?? 0) + 1
    column[latency + SUM_AT] = (column[latency + SUM_AT] ?? 0) + tookMs / 1000
  }

  /** One verdict that a caller was told. */
  verdict({ category, reasons, isDegraded }: Judged, isCached: boolean): void {
    const column = this.#column
    const at = (ROW_OF.get(category) ?? 0) + (REASON_OF.get(reasons[0] ?? "no_evidence") ?? 0)
    column[at] = (column[at] ?? 0) + 1
    if (isCached) column[CACHED_AT] = (column[CACHED_AT] ?? 0) + 1
    if (isDegraded) column[DEGRADED_AT] = (column[DEGRADED_AT] ?? 0) + 1
  }

  /** One refusal. */
  problem(code: ProblemCode): void {
    this.raise("mailkind_problems_total", 1, code)
  }

  /** Raises the series of a metric with these values of its labels, in their order. */
  raise(name: MetricName, by: number, ...values: readonly string[]): void {
    const at = cellOf(name, ...values)
    this.#column[at] = (this.#column[at] ?? 0) + by
  }

  /** Sets a gauge, as `raise` does. */
  set(name: MetricName, value: number, ...values: readonly string[]): void {
    this.#column[cellOf(name, ...values)] = value
  }

  /**
   * Follows a total that is counted elsewhere from zero: the returned function takes it as it is now. What the column had
   * before, of a process that is gone, is kept.
   */
  following(name: MetricName, ...values: readonly string[]): (total: number) => void {
    const at = cellOf(name, ...values)
    const before = this.#column[at] ?? 0
    return total => {
      this.#column[at] = before + total
    }
  }
}
