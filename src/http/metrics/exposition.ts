import { BUILD_METRIC, METRICS, type MetricName } from "../../contract/metrics.ts"
import { cellIndex, metricLayout, seriesLabels } from "./counter-layout.ts"

/** The version of this program, the commit that it was built from (empty: not known), and the version of Bun. */
export type BuildInfo = { readonly version: string; readonly commit: string; readonly bun: string }

/** The counters of all processes in Prometheus's text format, and its media type. */
export type Exposition = { readonly text: string; readonly mediaType: string }

type Sample = {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

const START_TIME_CELL = cellIndex("mailkind_process_start_time_seconds")

/** A metric with at most so many series also prints those that are zero. */
const ZERO_SERIES_MAX = 64

/** Media type of the text format, version 0.0.4. */
const MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/**
 * Renders the counters of all processes as Prometheus's text. A counter without any sample is printed as zero. A gauge is left out while no
 * process serves: that nobody measures it does not mean that the database or DNS is away.
 */
export function renderExposition(shards: readonly Float64Array[], build: BuildInfo): Exposition {
  const names = Object.keys(METRICS) as MetricName[] // the keys are those of METRICS
  const metrics = names.map(name => {
    const { kind, description } = METRICS[name]
    if (kind === "histogram") return renderMetric(name, description, kind, histogramSamples(name, shards))
    const samples = numberSamples(name, shards)
    const none = kind === "counter" ? [{ labels: {}, value: 0 }] : []
    return renderMetric(name, description, kind, samples.length > 0 ? samples : none)
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

/** The samples of a counter or a gauge, added up over processes as its row of `METRICS` says. */
function numberSamples(name: MetricName, all: readonly Float64Array[]): readonly Sample[] {
  const { offset } = metricLayout(name)
  const { aggregation, kind } = METRICS[name]
  // A worker that has not written its gauges yet is left out, because its zeros would be taken for values.
  const shards =
    kind === "counter" && aggregation === "sum" ? all : all.filter(shard => (shard[START_TIME_CELL] ?? 0) > 0)
  if (aggregation === "missing") return [{ labels: {}, value: all.length - shards.length }]
  const series = seriesLabels(name)
  if (aggregation === "each") {
    return shards.flatMap(shard =>
      series.map((labels, n) => ({ labels: { worker: all.indexOf(shard), ...labels }, value: shard[offset + n] ?? 0 })),
    )
  }
  if (shards.length === 0) return []
  return series
    .map((labels, n) => ({ labels, value: AGGREGATIONS[aggregation](shards.map(shard => shard[offset + n] ?? 0)) }))
    .filter(({ value }) => value !== 0 || series.length <= ZERO_SERIES_MAX)
}

const AGGREGATIONS = {
  sum: (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0),
  min: (values: readonly number[]) => Math.min(...values),
  max: (values: readonly number[]) => Math.max(...values),
} as const

/** The cumulative buckets, the sum and the count of each series with at least one observation. */
function histogramSamples(name: MetricName, shards: readonly Float64Array[]): readonly Sample[] {
  const { offset, seriesCells, bucketsS } = metricLayout(name)
  return seriesLabels(name).flatMap((labels, n) => {
    const cell = (index: number): number =>
      shards.reduce((sum, shard) => sum + (shard[offset + n * seriesCells + index] ?? 0), 0)
    let count = 0
    const buckets = [...bucketsS, "+Inf"].map((le, index) => {
      count += cell(index)
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
