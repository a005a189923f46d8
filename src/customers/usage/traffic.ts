import { logError } from "../../base/log.ts"
import { Mutex } from "../../base/mutex.ts"
import type { Clock } from "../../base/outside-world.ts"
import type { PartContext } from "../../base/part-context.ts"
import { createIntervals, HOUR_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import type { Store } from "../store/core/store.ts"
import { isWriteUnsure } from "../store/core/store-error.ts"
import { MEASURE_NAMES, type Measure } from "./measures.ts"
import type { UsageMeter } from "./usage-meter.ts"

/** Classes of statuses whose responses are counted: 2 for 200 to 299. */
export const STATUS_CLASSES = [2, 3, 4, 5] as const
export type StatusClass = (typeof STATUS_CLASSES)[number]

/** What is counted by the hour over all accounts: responses of the API by class of their status, and the measures of the usage. */
export type TrafficMeasure = `status_${StatusClass}` | Measure

/** All of them. */
export const TRAFFIC_MEASURES: readonly TrafficMeasure[] = [
  ...STATUS_CLASSES.map(statusClass => `status_${statusClass}` as const),
  ...MEASURE_NAMES,
]

/** How many hours are kept: 31 days, so that 30 whole days can be shown. */
export const TRAFFIC_HOURS = 744

/** Adds what this process counted to the counts of the hour. A crash loses what was not written. */
export class TrafficRecorder {
  readonly #store: Store
  readonly #clock: Clock
  readonly #totalOf: (measure: TrafficMeasure) => number
  /** The totals that are written. */
  readonly #written: Map<TrafficMeasure, number>
  readonly #mutex = new Mutex()

  /** `totalOf` is what this process counted of a measure; it only rises. What it was before is not written. */
  constructor(store: Store, clock: Clock, totalOf: (measure: TrafficMeasure) => number) {
    this.#store = store
    this.#clock = clock
    this.#totalOf = totalOf
    this.#written = new Map(TRAFFIC_MEASURES.map(measure => [measure, totalOf(measure)]))
  }

  /** Writes what was counted since the last call. When the store fails it rejects, and nothing is counted twice. */
  flush(): Promise<void> {
    return this.#mutex.runExclusive(async () => {
      const hour = Math.floor(this.#clock() / HOUR_MS)
      const totals = TRAFFIC_MEASURES.map(measure => [measure, this.#totalOf(measure)] as const)
      const added = totals.filter(([measure, total]) => total > (this.#written.get(measure) ?? 0))
      if (added.length === 0) return
      const markWritten = (): void => {
        for (const [measure, total] of added) this.#written.set(measure, total)
      }
      try {
        await this.#store.transaction(async inner => {
          // One order of rows: two processes never deadlock.
          for (const [measure, total] of added)
            await inner.run(ADD_TRAFFIC, [hour, measure, total - (this.#written.get(measure) ?? 0)])
        }, "unsynced")
      } catch (error) {
        if (isWriteUnsure(error)) markWritten()
        throw error
      }
      markWritten()
    })
  }
}

const ADD_TRAFFIC = `INSERT INTO traffic (hour, measure, count) VALUES ($1, $2, $3)
  ON CONFLICT (hour, measure) DO UPDATE SET count = traffic.count + excluded.count`

/** A count of one hour, in hours since 1 January 1970 UTC. Another version may have written measures that this one does not know. */
export type HourCount = { readonly hour: number; readonly measure: string; readonly count: number }

/** The counts from `fromHour` on. */
export async function readTraffic(store: Store, fromHour: number): Promise<readonly HourCount[]> {
  return await store.all<HourCount>("SELECT hour, measure, count FROM traffic WHERE hour >= $1 ORDER BY hour", [
    fromHour,
  ])
}

/** Deletes the counts of hours that are over for more than `TRAFFIC_HOURS`. */
export async function pruneTraffic(store: Store, nowMs: TrustedInstant): Promise<number> {
  return await store.run("DELETE FROM traffic WHERE hour < $1", [Math.floor(nowMs / HOUR_MS) - TRAFFIC_HOURS])
}

/** How often the traffic of this process is added to that of the hour. */
const TRAFFIC_FLUSH_MS = 10_000

/** Records the traffic of this process by the hour, for the administration. */
export function createTrafficPart(
  { system, store, log }: PartContext & { readonly store: Store },
  usage: Pick<UsageMeter, "total">,
  meter: ResponseCounter,
) {
  const recorder = new TrafficRecorder(store, system.clock, totalOf(usage, meter))
  const onError = logError(log, "traffic was not written")
  const flush = () => recorder.flush()
  const { start, stop } = createIntervals(system.runInterval, [[TRAFFIC_FLUSH_MS, flush, onError]])
  return {
    start,
    stop: async () => {
      stop()
      await flush().catch(onError)
    },
  }
}

/** Counts responses of the API by the class of their status: 2 for 200 to 299. */
type ResponseCounter = { readonly apiResponses: (statusClass: number) => number }

const totalOf = (usage: Pick<UsageMeter, "total">, meter: ResponseCounter) => {
  const classes = new Map<string, number>(STATUS_CLASSES.map(statusClass => [`status_${statusClass}`, statusClass]))
  return (measure: TrafficMeasure): number => {
    const statusClass = classes.get(measure)
    return statusClass === undefined ? usage.total(measure as Measure) : meter.apiResponses(statusClass) // the others are measures
  }
}
