import { logError } from "../base/log.ts"
import { createIntervals } from "../base/time.ts"
import type { Measure } from "../customers/usage/measures.ts"
import { STATUS_CLASSES, type TrafficMeasure, TrafficRecorder } from "../customers/usage/traffic.ts"
import type { UsageMeter } from "../customers/usage/usage-meter.ts"
import type { Meter } from "../http/metrics/meter.ts"
import type { StoreContext } from "./context.ts"

/** How often the traffic of this process is added to that of the hour. */
const TRAFFIC_FLUSH_MS = 10_000

/** Records the traffic of this process by the hour, for the administration. */
export function createTrafficService(
  { system, store, log }: StoreContext,
  usage: Pick<UsageMeter, "total">,
  meter: Pick<Meter, "apiResponses">,
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

const totalOf = (usage: Pick<UsageMeter, "total">, meter: Pick<Meter, "apiResponses">) => {
  const classes = new Map<string, number>(STATUS_CLASSES.map(statusClass => [`status_${statusClass}`, statusClass]))
  return (measure: TrafficMeasure): number => {
    const statusClass = classes.get(measure)
    return statusClass === undefined ? usage.total(measure as Measure) : meter.apiResponses(statusClass) // the others are measures
  }
}
