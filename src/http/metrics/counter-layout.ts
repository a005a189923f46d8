import { assert } from "../../base/errors.ts"
import { METRIC_LABELS, METRICS, type MetricLabel, type MetricName } from "../../contract/metrics.ts"

/*
 * Each process counts in an array of numbers of its own, its shard. The tables of `contract/metrics.ts` determine the layout:
 *
 *     | metric 0: one series for each combination of its labels | metric 1 | …
 *
 * A series is one cell, or for a histogram the count of each bucket, the count above the last bucket and the sum in seconds.
 */

type MetricLayout = {
  readonly offset: number
  readonly seriesCount: number
  readonly seriesCells: number
  /** The upper bounds of the buckets of a histogram; of anything else there are none. */
  readonly bucketsS: readonly number[]
}

const metricLayouts = new Map<MetricName, MetricLayout>()
let cellCount = 0
for (const [name, spec] of Object.entries(METRICS)) {
  const seriesCount = spec.labels.reduce((count, label: MetricLabel) => count * METRIC_LABELS[label].length, 1)
  const bucketsS = spec.kind === "histogram" ? spec.bucketsS : []
  const seriesCells = spec.kind === "histogram" ? bucketsS.length + 2 : 1
  metricLayouts.set(name as MetricName, { offset: cellCount, seriesCount, seriesCells, bucketsS }) // the keys are those of METRICS
  cellCount += seriesCount * seriesCells
}

/** The number of cells in a shard. */
export const SHARD_CELLS: number = cellCount

/** The first cell of a metric in a shard, the number of its series and the cells of each. */
export function metricLayout(name: MetricName): MetricLayout {
  const layout = metricLayouts.get(name)
  assert(layout !== undefined, "every metric has a layout")
  return layout
}

const labelIndexes = Object.fromEntries(
  Object.entries(METRIC_LABELS).map(([label, values]) => [
    label,
    new Map(values.map((value: string, index) => [value, index])),
  ]),
) as unknown as Readonly<Record<MetricLabel, ReadonlyMap<string, number>>> // the keys are those of METRIC_LABELS

/** The index of a value among those of its label. A value that is not in the table gets the last index, which is for all others. */
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
    (series, label) => series.flatMap(labelled => METRIC_LABELS[label].map(value => ({ ...labelled, [label]: value }))),
    [{}],
  )
}

/** The cells of all gauges, which are set to zero when their process ends. */
export const GAUGE_CELLS: readonly number[] = Object.entries(METRICS).flatMap(([name, { kind }]) => {
  const { offset, seriesCount } = metricLayout(name as MetricName) // the keys are those of METRICS
  return kind === "gauge" ? Array.from({ length: seriesCount }, (_, n) => offset + n) : []
})

/*
 * The memory that workers share begins with the shards of all of them, so that every worker and the supervisor can print them:
 *
 *     | number of slots, float64 | shard of slot 0 | shard of slot 1 | … | the rest, for other uses |
 */
const HEADER_CELLS = 1
const CELL_BYTES = Float64Array.BYTES_PER_ELEMENT

/** Views of shared memory: the shards, and what comes after them. */
type SharedCounters = { readonly shards: readonly Float64Array[]; readonly rest: Uint8Array }

/** The shard of a process that serves alone. */
export const createCounterShard = (): Float64Array => new Float64Array(SHARD_CELLS)

/** New memory with a shard for each of `slotCount` workers before a copy of `rest`, whose length is a multiple of eight bytes. */
export function prependCounterShards(slotCount: number, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const cells = HEADER_CELLS + slotCount * SHARD_CELLS
  const memory = new Uint8Array(cells * CELL_BYTES + rest.length)
  new Float64Array(memory.buffer, 0, 1)[0] = slotCount
  memory.set(rest, cells * CELL_BYTES)
  return memory
}

/** The parts of memory that `prependCounterShards` made. Nothing is copied. */
export function splitSharedMemory(memory: Uint8Array): SharedCounters {
  const { buffer, byteOffset } = memory
  const [slotCount = 0] = new Float64Array(buffer, byteOffset, 1)
  const shardOffset = (slot: number): number => byteOffset + (HEADER_CELLS + slot * SHARD_CELLS) * CELL_BYTES
  return {
    shards: Array.from({ length: slotCount }, (_, slot) => new Float64Array(buffer, shardOffset(slot), SHARD_CELLS)),
    rest: memory.subarray(shardOffset(slotCount) - byteOffset),
  }
}

/** Sets the gauges of an ended process to zero. Its counters stay. */
export function clearGauges(shard: Float64Array): void {
  for (const cell of GAUGE_CELLS) shard[cell] = 0
}
