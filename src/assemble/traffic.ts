import { logError } from "../base/log.ts"
import { createIntervals } from "../base/time.ts"
import { whenTrusted } from "../base/trusted-clock.ts"
import type { Measure } from "../customers/usage/measures.ts"
import { pruneTraffic, STATUS_CLASSES, type TrafficMeasure, TrafficRecorder } from "../customers/usage/traffic.ts"
import type { UsageMeter } from "../customers/usage/usage-meter.ts"
import type { Meter } from "../http/metrics/meter.ts"
import type { StoreContext } from "./context.ts"

/** How often the traffic of this process is added to that of the hour. */
const TRAFFIC_FLUSH_MS = 10_000
/** How often hours are deleted that are no longer shown. */
const TRAFFIC_PRUNE_MS = 3_600_000

/** Records the traffic of this process by the hour, for the administration. */
export function createTrafficService(
  { system, store, log, trustedTime }: StoreContext,
  usage: Pick<UsageMeter, "total">,
  meter: Pick<Meter, "apiResponses">,
) {
  const recorder = new TrafficRecorder(store, system.clock, totalOf(usage, meter))
  const flush = () => recorder.flush().catch(logError(log, "traffic was not written"))
  const prune = () =>
    whenTrusted(trustedTime, nowMs => pruneTraffic(store, nowMs)).catch(logError(log, "old traffic was not deleted"))
  const intervals = createIntervals(system.runInterval, [
    [TRAFFIC_FLUSH_MS, () => void flush()],
    [TRAFFIC_PRUNE_MS, () => void prune()],
  ])
  return {
    start: intervals.start,
    stop: async () => {
      intervals.stop()
      await flush()
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
