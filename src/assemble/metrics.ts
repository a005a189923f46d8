import { type EventLoopLag, measureEventLoopLag } from "../base/event-loop-lag.ts"
import { logError } from "../base/log.ts"
import { createIntervals } from "../base/time.ts"
import { isDnsOff, type Settings } from "../config/settings.ts"
import type { METRIC_LABELS } from "../contract/metrics.ts"
import { LOAD_LIMITS, LoadShedder } from "../http/admission/load-shedder.ts"
import { createCounterShard } from "../http/metrics/counter-layout.ts"
import { type Exposition, renderExposition } from "../http/metrics/exposition.ts"
import { Meter } from "../http/metrics/meter.ts"
import { jobsDirectory } from "../jobs/jobs-part.ts"
import {
  type MetricsListener,
  startMetricsListener,
  startMetricsListenerWithRetry,
} from "../process/metrics-listener.ts"
import type { AppContext } from "./context.ts"
import type { Part, QueriedSamples } from "./part.ts"
import { BUILD } from "./program.ts"
import { isWorker, type ServeMode } from "./serve-mode.ts"

/** How often a process shows its samples. A scrape through another worker sees them this late at most. */
const SHOW_MS = 1000
/** How often samples are shown that take queries. */
const QUERY_MS = 15_000

/** Where the settings want a listener for metrics alone, as `host:port`; `null` if nowhere. */
export const metricsAddress = ({ MAILKIND_METRICS }: Settings): string | null =>
  MAILKIND_METRICS === "off" ? null : MAILKIND_METRICS

/** The counters of a process, and the exposition of the counters of all processes. */
export type Instrumentation = {
  readonly meter: Meter
  readonly loadShedder: LoadShedder
  /** Renders the counters of all processes. */
  readonly readExposition: () => Promise<Exposition>
  /**
   * Shows the samples of parts in the background and before each exposition, unless metrics are off. `start` also opens the listener for
   * metrics, if the settings want one and this process is not a worker. It throws `StartupError` if it cannot listen, except
   * beside a server that is replaced: then it listens as soon as the port is free.
   */
  readonly createMetricsPart: (parts: () => readonly Part[]) => Required<Pick<Part, "start" | "stop">>
}

const STALL_REMEDY =
  "Look whether it was stopped (SIGSTOP, a debugger), or its host paused, moved or short of processor time or memory."

/** Creates the instrumentation of a process. Each worker counts in a shard of its own. */
export function createInstrumentation(context: AppContext, mode: ServeMode): Instrumentation {
  const { system, settings, log } = context
  const shards = isWorker(mode) ? mode.counterShards : [createCounterShard()]
  const shard = (isWorker(mode) ? shards[mode.workerIndex] : shards[0]) ?? createCounterShard()
  const meter = new Meter(shard, isDnsOff(settings))
  const lag = measureEventLoopLag(system.stopwatch, system.runInterval, stalledMs =>
    log("warn", "this process stood still", { lasted_s: Math.round(stalledMs / 1000), remedy: STALL_REMEDY }),
  )
  const loadShedder = new LoadShedder(LOAD_LIMITS, lag.sustainedMs, meter, system.nextTick, system.setTimer)
  let show = (): void => undefined
  const readExposition = async (): Promise<Exposition> => {
    show()
    return renderExposition(shards, BUILD)
  }
  return {
    meter,
    loadShedder,
    readExposition,
    createMetricsPart: parts => {
      if (metricsAddress(settings) === null) return { start: () => undefined, stop: lag.stop }
      const process = createProcessPart(context, lag, loadShedder)
      const showing = showSamples(context, meter, () => [...parts(), process])
      show = showing.show
      let listener: Pick<MetricsListener, "stop"> | null = null
      return {
        start: () => {
          // The supervisor listens for all workers.
          listener = isWorker(mode) ? null : listenForMetrics(context, readExposition, mode !== "alone")
          showing.start()
        },
        stop: async () => {
          showing.stop()
          lag.stop()
          await listener?.stop()
        },
      }
    },
  }
}

/** Shows samples in the background. `start` shows them for the first time. */
function showSamples({ system, log }: AppContext, meter: Meter, parts: () => readonly Part[]) {
  const show = (): void => {
    for (const { samples } of parts()) if (samples !== undefined) meter.show(samples())
  }
  /** What is still read: a disk of the network may not answer for long. */
  const reading = new Set<QueriedSamples["read"]>()
  const showQueried = (): void => {
    for (const { read, failure } of parts().flatMap(({ queriedSamples }) => queriedSamples ?? [])) {
      if (reading.has(read)) continue
      reading.add(read)
      void read()
        .then(samples => meter.show(samples))
        .catch(failure === null ? () => undefined : logError(log, failure))
        .finally(() => reading.delete(read))
    }
  }
  const { start, stop } = createIntervals(system.runInterval, [
    [SHOW_MS, show],
    [QUERY_MS, showQueried],
  ])
  return {
    show,
    start: () => {
      show()
      showQueried()
      start()
    },
    stop,
  }
}

/**
 * Opens the listener for metrics alone if the settings want one; otherwise returns `null`. Throws `StartupError` if it cannot
 * listen, except while the server that is replaced has the port: then it listens as soon as that is free.
 */
export function listenForMetrics(
  { system, settings, log }: AppContext,
  readExposition: () => Promise<Exposition>,
  isTakeover: boolean,
): Pick<MetricsListener, "stop"> | null {
  const address = metricsAddress(settings)
  if (address === null) return null
  return isTakeover
    ? startMetricsListenerWithRetry(system, address, readExposition, log)
    : startMetricsListener(address, readExposition)
}

/** What the process takes, and what is left on the disks that it writes to. */
const createProcessPart = ({ system, settings }: AppContext, lag: EventLoopLag, loadShedder: LoadShedder): Part => ({
  samples: () => {
    const stats = system.processStats()
    return [
      ["mailkind_http_in_flight", loadShedder.inFlight],
      ["mailkind_http_body_bytes", loadShedder.bodyBytes],
      ["mailkind_event_loop_lag_seconds", lag.takeMaxMs() / 1000],
      ["mailkind_log_lines_lost_total", stats.lostLineCount],
      ["mailkind_process_resident_memory_bytes", stats.residentBytes],
      ["mailkind_process_heap_bytes", stats.heapBytes],
      ["mailkind_process_cpu_seconds_total", stats.cpuS],
      ["mailkind_process_open_descriptors", stats.descriptorCount],
      ["mailkind_process_descriptors_max", stats.descriptorsMax],
      ["mailkind_process_start_time_seconds", stats.startedAtMs / 1000],
    ]
  },
  queriedSamples: Object.entries(writtenDirectories(settings)).map(([directory, path]) => ({
    read: async () => {
      const space = path === null ? null : await system.files.diskSpace(path)
      return [
        ["mailkind_disk_free_bytes", space?.freeBytes ?? 0, directory],
        ["mailkind_disk_size_bytes", space?.sizeBytes ?? 0, directory],
      ]
    },
    failure: null, // what is written there tells it
  })),
})

/** The directories that the server writes to, by the label of metrics; null: it has none. */
const writtenDirectories = (
  settings: Settings,
): Readonly<Record<(typeof METRIC_LABELS.directory)[number], string | null>> => ({
  data: settings.MAILKIND_DATA_DIR,
  jobs: jobsDirectory(settings),
  backups: settings.MAILKIND_BACKUP_DIR,
})
