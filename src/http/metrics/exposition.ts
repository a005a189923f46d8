import { BUILD_METRIC, LATENCY_BUCKETS_S, METRICS, type MetricName } from "../../contract/metrics.ts"
import { cellIndex, metricLayout, seriesLabels } from "./counter-layout.ts"

/** What runs. */
export type BuildInfo = { readonly version: string; readonly bun: string }

/** Prometheus's text of what all processes have counted, and its media type. */
export type Exposition = { readonly text: string; readonly mediaType: string }

type Sample = {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

const START_TIME_CELL = cellIndex("mailkind_process_start_time_seconds")

/** How many series a metric may have and still tell of those that are zero. */
const ZERO_SERIES_MAX = 64

/** Tells what the columns hold. It reads numbers and waits for nobody; `prom-client` is loaded when it is first asked. */
export async function renderExposition(columns: readonly Float64Array[], build: BuildInfo): Promise<Exposition> {
  const { Counter, Gauge, Histogram, Registry } = await import("prom-client")
  const registry = new Registry()
  /** A latency is counted here, and only written by the library. */
  class Latency extends Histogram {
    readonly #values: readonly Sample[]
    constructor(name: string, help: string, values: readonly Sample[]) {
      super({ name, help, registers: [] })
      this.#values = values
    }
    async getForPromString() {
      return { name: this.name, help: this.help, type: "histogram", values: this.#values }
    }
    declare readonly name: string
    declare readonly help: string
  }
  for (const name of Object.keys(METRICS) as MetricName[]) {
    // the keys are those of METRICS
    const { kind, description: help } = METRICS[name]
    if (kind === "histogram") {
      registry.registerMetric(new Latency(name, help, histogramSamples(name, columns)))
      continue
    }
    const values = numberSamples(name, columns)
    const labelNames = Object.keys(values[0]?.labels ?? {})
    const config = { name, help, labelNames, registers: [registry] }
    const metric = kind === "counter" ? new Counter(config) : new Gauge(config)
    for (const { labels, value } of values) metric.inc(labels, value)
  }
  const { name, description: help, labels: labelNames } = BUILD_METRIC
  new Gauge({ name, help, labelNames, registers: [registry] }).set({ ...build }, 1)
  return { text: await registry.metrics(), mediaType: registry.contentType }
}

function numberSamples(name: MetricName, all: readonly Float64Array[]): readonly Sample[] {
  const { offset: at } = metricLayout(name)
  const { aggregation, kind } = METRICS[name]
  // What nobody holds is nothing, and not zero: a seat is empty until its worker writes down how it stands.
  const columns =
    kind === "counter" && aggregation === "sum" ? all : all.filter(column => (column[START_TIME_CELL] ?? 0) > 0)
  const series = seriesLabels(name)
  if (aggregation === "each") {
    return columns.flatMap(column =>
      series.map((labels, n) => ({ labels: { worker: all.indexOf(column), ...labels }, value: column[at + n] ?? 0 })),
    )
  }
  if (columns.length === 0) return []
  return series
    .map((labels, n) => ({ labels, value: AGGREGATIONS[aggregation](columns.map(column => column[at + n] ?? 0)) }))
    .filter(({ value }) => value !== 0 || series.length <= ZERO_SERIES_MAX)
}

const AGGREGATIONS = {
  sum: (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0),
  min: (values: readonly number[]) => Math.min(...values),
  max: (values: readonly number[]) => Math.max(...values),
} as const

/** Of each series that was counted: its buckets, each with all below it, its sum and its count. */
function histogramSamples(name: MetricName, columns: readonly Float64Array[]): readonly Sample[] {
  const { offset: at, seriesCells } = metricLayout(name)
  return seriesLabels(name).flatMap((labels, n) => {
    const cell = (offset: number): number =>
      columns.reduce((sum, column) => sum + (column[at + n * seriesCells + offset] ?? 0), 0)
    let count = 0
    const buckets = [...LATENCY_BUCKETS_S, "+Inf"].map((le, offset) => {
      count += cell(offset)
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
    })
    if (count === 0) return []
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: cell(seriesCells - 1) },
      { metricName: `${name}_count`, labels, value: count },
    ]
  })
}
