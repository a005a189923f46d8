import { assert } from "../../base/errors.ts"
import { LATENCY_BUCKETS_S, METRIC_LABELS, METRICS, type MetricLabel, type MetricName } from "../../contract/metrics.ts"

/*
 * What one process counts is one column of numbers. Its length follows from the tables alone:
 *
 *     | metric 0: a cell for each combination of its labels | metric 1 | …
 *
 * A cell is one number, or for a latency the count of each bucket, the count past the last bucket and the sum in seconds.
 */
const LATENCY_CELLS = LATENCY_BUCKETS_S.length + 2

type MetricLayout = { readonly offset: number; readonly seriesCount: number; readonly seriesCells: number }

const metricLayouts = new Map<MetricName, MetricLayout>()
let cellCount = 0
for (const [name, { kind, labels }] of Object.entries(METRICS)) {
  const seriesCount = labels.reduce((count, label: MetricLabel) => count * METRIC_LABELS[label].length, 1)
  const seriesCells = kind === "histogram" ? LATENCY_CELLS : 1
  metricLayouts.set(name as MetricName, { offset: cellCount, seriesCount, seriesCells }) // the keys are those of METRICS
  cellCount += seriesCount * seriesCells
}

/** How many numbers a column has. */
export const SHARD_CELLS: number = cellCount

/** Where a metric stands in a column: its first cell, how many series it has, and how many cells each of them takes. */
export function metricLayout(name: MetricName): MetricLayout {
  const place = metricLayouts.get(name)
  assert(place !== undefined, "every metric has a place")
  return place
}

const labelIndexes = Object.fromEntries(
  Object.entries(METRIC_LABELS).map(([label, values]) => [
    label,
    new Map(values.map((value: string, at) => [value, at])),
  ]),
) as unknown as Readonly<Record<MetricLabel, ReadonlyMap<string, number>>> // the keys are those of LABELS

/** The position of a value among those of its label; of one that is none, the last, which stands for all others. */
export const labelIndex = (label: MetricLabel, value: string): number =>
  labelIndexes[label].get(value) ?? METRIC_LABELS[label].length - 1

/** The first cell of the series with these values, in the order of the metric's labels. */
export function cellIndex(name: MetricName, ...values: readonly string[]): number {
  const { offset, seriesCells } = metricLayout(name)
  const labels: readonly MetricLabel[] = METRICS[name].labels
  return (
    offset +
    seriesCells *
      labels.reduce((sum, label, n) => sum * METRIC_LABELS[label].length + labelIndex(label, values[n] ?? ""), 0)
  )
}

/** The values of each series of a metric, in the order of its cells. */
export function seriesLabels(name: MetricName): readonly Readonly<Record<string, string>>[] {
  const labels: readonly MetricLabel[] = METRICS[name].labels
  return labels.reduce<readonly Readonly<Record<string, string>>[]>(
    (series, label) => series.flatMap(one => METRIC_LABELS[label].map(value => ({ ...one, [label]: value }))),
    [{}],
  )
}

/** The cells that a process that is gone leaves at zero: what it held, not what it counted. */
export const GAUGE_CELLS: readonly number[] = Object.entries(METRICS).flatMap(([name, { kind }]) => {
  const { offset, seriesCount } = metricLayout(name as MetricName) // the keys are those of METRICS
  return kind === "gauge" ? Array.from({ length: seriesCount }, (_, n) => offset + n) : []
})

/*
 * The memory that workers share begins with what they count, so that any of them, and the supervisor, can tell of all:
 *
 *     | seats, float64 | column of seat 0 | column of seat 1 | … | the rest, which is others' |
 */
const HEADER_CELLS = 1
const CELL_BYTES = Float64Array.BYTES_PER_ELEMENT

/** Columns in memory, and what of it is left. */
type SharedCounters = { readonly shards: readonly Float64Array[]; readonly rest: Uint8Array }

/** The column of a process that serves alone. */
export const createCounterShard = (): Float64Array => new Float64Array(SHARD_CELLS)

/** Memory with a column for each of `seats` workers in front of `rest`, which is a multiple of eight bytes. */
export function prependCounterShards(seats: number, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const cells = HEADER_CELLS + seats * SHARD_CELLS
  const memory = new Uint8Array(cells * CELL_BYTES + rest.length)
  new Float64Array(memory.buffer, 0, 1)[0] = seats
  memory.set(rest, cells * CELL_BYTES)
  return memory
}

/** The columns of such memory, and the rest, in place. */
export function splitSharedMemory(memory: Uint8Array): SharedCounters {
  const { buffer, byteOffset } = memory
  const [seats = 0] = new Float64Array(buffer, byteOffset, 1)
  const at = (seat: number): number => byteOffset + (HEADER_CELLS + seat * SHARD_CELLS) * CELL_BYTES
  return {
    shards: Array.from({ length: seats }, (_, seat) => new Float64Array(buffer, at(seat), SHARD_CELLS)),
    rest: memory.subarray(at(seats) - byteOffset),
  }
}

/** Forgets what a process that is gone has held; what it has counted is kept. */
export function clearGauges(column: Float64Array | undefined): void {
  if (column !== undefined) for (const cell of GAUGE_CELLS) column[cell] = 0
}
