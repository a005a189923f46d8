import { BUILD_METRIC, LATENCY_BUCKETS_S, METRICS, type MetricName } from "../../contract/metrics.ts"
import { cellIndex, metricLayout, seriesLabels } from "./counter-layout.ts"

/** What runs. */
export type BuildInfo = { readonly version: string; readonly bun: string }

/** The counters of all processes in Prometheus's text format, and its media type. */
export type Exposition = { readonly text: string; readonly mediaType: string }

type Sample = {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

const START_TIME_CELL = cellIndex("mailkind_process_start_time_seconds")

/** How many series a metric may have and still tell of those that are zero. */
const ZERO_SERIES_MAX = 64

/** Media type of the text format, version 0.0.4. */
const MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** Renders the counters of all processes as Prometheus's text. A metric without any sample is printed as zero. */
export function renderExposition(columns: readonly Float64Array[], build: BuildInfo): Exposition {
  const metrics = (Object.keys(METRICS) as MetricName[]).map(name => {
    // the keys are those of METRICS
    const { kind, description } = METRICS[name]
    if (kind === "histogram") return renderMetric(name, description, kind, histogramSamples(name, columns))
    const samples = numberSamples(name, columns)
    return renderMetric(name, description, kind, samples.length > 0 ? samples : [{ labels: {}, value: 0 }])
  })
  const { name, description } = BUILD_METRIC
  metrics.push(renderMetric(name, description, "gauge", [{ labels: { ...build }, value: 1 }]))
  return { text: `${metrics.join("\n\n")}\n`, mediaType: MEDIA_TYPE }
}

function renderMetric(name: string, description: string, kind: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ metricName = name, labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(String(text))}"`)
    return `${metricName}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`
  })
  return [`# HELP ${name} ${escapeHelp(description)}`, `# TYPE ${name} ${kind}`, ...lines].join("\n")
}

const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')

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
