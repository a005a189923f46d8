import { assert } from "../../base/assert.ts"
import { LABELS, LATENCY_BUCKETS_S, type Label, METRICS, type MetricName } from "../../contract/metrics.ts"

/*
 * What one process counts is one column of numbers. Its length follows from the tables alone:
 *
 *     | metric 0: a cell for each combination of its labels | metric 1 | …
 *
 * A cell is one number, or for a latency the count of each bucket, the count past the last bucket and the sum in seconds.
 */
const LATENCY_CELLS = LATENCY_BUCKETS_S.length + 2

type Place = { readonly at: number; readonly seriesCount: number; readonly width: number }

const places = new Map<MetricName, Place>()
let cells = 0
for (const [name, { kind, labels }] of Object.entries(METRICS)) {
  const seriesCount = labels.reduce((count, label: Label) => count * LABELS[label].length, 1)
  const width = kind === "histogram" ? LATENCY_CELLS : 1
  places.set(name as MetricName, { at: cells, seriesCount, width }) // the keys are those of METRICS
  cells += seriesCount * width
}

/** How many numbers a column has. */
export const COLUMN_CELLS: number = cells

/** Where a metric stands in a column: its first cell, how many series it has, and how many cells each of them takes. */
export function placeOf(name: MetricName): Place {
  const place = places.get(name)
  assert(place !== undefined, "every metric has a place")
  return place
}

const positions = Object.fromEntries(
  Object.entries(LABELS).map(([label, values]) => [label, new Map(values.map((value: string, at) => [value, at]))]),
) as unknown as Readonly<Record<Label, ReadonlyMap<string, number>>> // the keys are those of LABELS

/** The position of a value among those of its label; of one that is none, the last, which stands for all others. */
export const positionOf = (label: Label, value: string): number =>
  positions[label].get(value) ?? LABELS[label].length - 1

/** The first cell of the series with these values, in the order of the metric's labels. */
export function cellOf(name: MetricName, ...values: readonly string[]): number {
  const { at, width } = placeOf(name)
  const labels: readonly Label[] = METRICS[name].labels
  return (
    at + width * labels.reduce((sum, label, n) => sum * LABELS[label].length + positionOf(label, values[n] ?? ""), 0)
  )
}

/** The values of each series of a metric, in the order of its cells. */
export function seriesOf(name: MetricName): readonly Readonly<Record<string, string>>[] {
  const labels: readonly Label[] = METRICS[name].labels
  return labels.reduce<readonly Readonly<Record<string, string>>[]>(
    (series, label) => series.flatMap(one => LABELS[label].map(value => ({ ...one, [label]: value }))),
    [{}],
  )
}

/** The cells that a process that is gone leaves at zero: what it held, not what it counted. */
export const GAUGE_CELLS: readonly number[] = Object.entries(METRICS).flatMap(([name, { kind }]) => {
  const { at, seriesCount } = placeOf(name as MetricName) // the keys are those of METRICS
  return kind === "gauge" ? Array.from({ length: seriesCount }, (_, n) => at + n) : []
})
