import { type EventLoopLag, measureEventLoopLag } from "../base/event-loop-lag.ts"
import { derived } from "../base/lazy.ts"
import { logError } from "../base/log.ts"
import { createIntervals, HOUR_MS } from "../base/time.ts"
import { askedAtMs } from "../check/refresh/refresh-state.ts"
import type { Settings } from "../config/settings.ts"
import { METRIC_LABELS } from "../contract/metrics.ts"
import { countCallbacks } from "../customers/jobs/callback-queue.ts"
import { countJobs } from "../customers/jobs/job-row.ts"
import { countOutbox, oldestWaitingAtMs } from "../customers/notices/outbox.ts"
import type { OpenStore, Store } from "../customers/store/core/store.ts"
import { LOAD_LIMITS, LoadShedder } from "../http/admission/load-shedder.ts"
import { createCounterShard } from "../http/metrics/counter-layout.ts"
import { type Exposition, renderExposition } from "../http/metrics/exposition.ts"
import { Meter } from "../http/metrics/meter.ts"
import { createClientAddressResolver, createIpMatcher } from "../http/request/client-address.ts"
import { knownBackupAtMs } from "../process/backup-scheduler.ts"
import {
  type MetricsListener,
  startMetricsListener,
  startMetricsListenerWithRetry,
} from "../process/metrics-listener.ts"
import type { System } from "../system/system.ts"
import type { ListsService } from "./check/lists-service.ts"
import type { NetworkService } from "./check/network.ts"
import type { AppContext } from "./context.ts"
import type { CustomersService } from "./customers/customers.ts"
import { BUILD } from "./program.ts"

/** How often a process writes its gauges. A scrape through another worker sees them this late at most. */
const GAUGES_WRITE_MS = 1000
/** How often mails, jobs and callbacks are counted, which takes queries. */
const STORE_GAUGES_WRITE_MS = 15_000

/** Where the settings want a listener for metrics alone, as `host:port`; `null` if nowhere. */
const metricsAddress = ({ MAILKIND_METRICS }: Settings): string | null =>
  MAILKIND_METRICS === "off" ? null : MAILKIND_METRICS

/** Whether anybody may read metrics. */
const areMetricsEnabled = (settings: Settings): boolean =>
  metricsAddress(settings) !== null || settings.MAILKIND_METRICS_ALLOW.length > 0

/** What the gauges are read from. */
export type GaugeDeps = {
  readonly store: OpenStore
  readonly lists: ListsService
  readonly network: NetworkService
  readonly customers: Pick<CustomersService, "keys" | "units" | "usage" | "requestLog" | "nodesCount">
  readonly isClockInDoubt: () => boolean
}

/** The counters of a process, and the exposition of the counters of all processes. */
export type Instrumentation = {
  readonly meter: Meter
  readonly loadShedder: LoadShedder
  /** Renders the counters of all processes. */
  readonly readExposition: () => Promise<Exposition>
  /**
   * Writes gauges in the background and before each exposition, unless metrics are off. `start` also opens the listener for
   * metrics, if the settings want one and this process is not a worker. It throws `StartupError` if it cannot listen, except
   * beside a server that is replaced: then it listens as soon as the port is free.
   */
  readonly createGaugeWriter: (deps: GaugeDeps) => { readonly start: () => void; readonly stop: () => Promise<void> }
}

/** The part of a worker's mode that concerns metrics: each worker counts in its own shard. */
type WorkerCounters = { readonly workerIndex: number; readonly counterShards: readonly Float64Array[] }

/** Creates the instrumentation of a single process, of one that takes over, or of a worker. */
export function createInstrumentation(context: AppContext, mode: "alone" | object | WorkerCounters): Instrumentation {
  const { system, settings } = context
  const worker = typeof mode === "object" && "counterShards" in mode ? mode : null
  const shards = worker?.counterShards ?? [createCounterShard()]
  const meter = new Meter(shards[worker?.workerIndex ?? 0] ?? createCounterShard())
  const lag = measureEventLoopLag(system.stopwatch, system.runInterval)
  const bounds = { ...LOAD_LIMITS, inFlightMax: settings.MAILKIND_IN_FLIGHT_MAX }
  const loadShedder = new LoadShedder(bounds, lag.sustainedMs, meter, system.nextTick, system.setTimer)
  let writeGauges = (): void => undefined
  const readExposition = async (): Promise<Exposition> => {
    writeGauges()
    return renderExposition(shards, BUILD)
  }
  const createGaugeWriter: Instrumentation["createGaugeWriter"] = deps => {
    if (!areMetricsEnabled(settings)) return { start: () => undefined, stop: async () => lag.stop() }
    const writers = [networkGauges, customerGauges, listGauges].map(create => create(meter, deps))
    writers.push(processGauges(system, meter, lag, loadShedder))
    writeGauges = () => {
      for (const write of writers) write()
    }
    const work = createGaugeWork(context, meter, deps.store, writeGauges)
    let listener: Pick<MetricsListener, "stop"> | null = null
    return {
      start: () => {
        // The supervisor listens for all workers.
        listener = worker === null ? listenForMetrics(context, readExposition, mode !== "alone") : null
        work.start()
      },
      stop: async () => {
        work.stop()
        lag.stop()
        await listener?.stop()
      },
    }
  }
  return { meter, loadShedder, readExposition, createGaugeWriter }
}

/** Writes gauges in the background. `start` writes them for the first time. */
function createGaugeWork({ system, settings, log }: AppContext, meter: Meter, store: Store, writeGauges: WriteGauges) {
  const writeBackups = backupGauges(system, settings, meter)
  const countRows = (): void => {
    void writeBackups().catch(logError(log, "the backups were not counted"))
    void writeLatencyGauge(system, meter, store).catch(() => undefined) // `mailkind_database_up` tells it
    void writeOutboxGauges(system, meter, store).catch(logError(log, "the mails in the outbox were not counted"))
    void writeJobGauges(meter, store).catch(logError(log, "the jobs were not counted"))
  }
  const intervals = createIntervals(system.runInterval, [
    [GAUGES_WRITE_MS, writeGauges],
    [STORE_GAUGES_WRITE_MS, countRows],
  ])
  return {
    start: () => {
      writeGauges()
      countRows()
      intervals.start()
    },
    stop: intervals.stop,
  }
}

/**
 * Opens the listener for metrics alone if the settings want one; otherwise returns `null`. Throws `StartupError` if it cannot
 * listen, except beside a server that is replaced: then it listens as soon as the port is free.
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

/** Skips deep checks under load as it does while DNS is unavailable. */
export const skipDeepChecksUnderLoad = (
  network: NetworkService,
  { loadShedder }: Pick<Instrumentation, "loadShedder">,
): NetworkService => ({
  ...network,
  isDnsUnavailable: () => network.isDnsUnavailable() || loadShedder.isUnderPressure(),
})

/** Decides whether the sender of a request may read metrics from the public listener. */
export function metricsReaderGuard(settings: Settings, peerAddress: (request: Request) => string | null) {
  const isAllowed = derived(() => settings.MAILKIND_METRICS_ALLOW, createIpMatcher)
  const clientAddress = derived(() => settings.MAILKIND_TRUSTED_PROXIES, createClientAddressResolver)
  return (request: Request): boolean => isAllowed()(clientAddress()(peerAddress(request), request.headers))
}

type WriteGauges = () => void

function networkGauges(meter: Meter, { network }: GaugeDeps): WriteGauges {
  const queryCounters = METRIC_LABELS.dns_outcome.map(
    outcome => [outcome, meter.mirror("mailkind_dns_questions_total", outcome)] as const,
  )
  const lookupCounters = METRIC_LABELS.tenant_outcome.map(
    outcome => [outcome, meter.mirror("mailkind_tenant_lookups_total", outcome)] as const,
  )
  const dnsCache = cacheMetrics(meter, "dns")
  const tenantCache = cacheMetrics(meter, "tenants")
  return () => {
    meter.setGauge("mailkind_dns_up", network.isDnsUnavailable() ? 0 : 1)
    const stats = network.stats()
    if (stats === null) return
    meter.setGauge("mailkind_dns_breaker_open", stats.isBreakerOpen ? 1 : 0)
    for (const [outcome, mirror] of queryCounters) mirror(stats.queryCounts[outcome])
    dnsCache(stats.answerCache)
    if (stats.tenantStats === null) return
    for (const [outcome, mirror] of lookupCounters) mirror(stats.tenantStats[outcome])
    meter.setGauge("mailkind_tenant_breakers_open", stats.tenantStats.openBreakerCount)
    tenantCache(stats.tenantStats)
  }
}

function cacheMetrics(meter: Meter, cache: (typeof METRIC_LABELS.cache)[number]) {
  const hits = meter.mirror("mailkind_cache_hits_total", cache)
  const misses = meter.mirror("mailkind_cache_misses_total", cache)
  return (stats: { readonly entries: number; readonly hits: number; readonly misses: number }): void => {
    meter.setGauge("mailkind_cache_entries", stats.entries, cache)
    hits(stats.hits)
    misses(stats.misses)
  }
}

function customerGauges(
  meter: Meter,
  { store, isClockInDoubt, customers: { keys, units, usage, requestLog, nodesCount } }: GaugeDeps,
): WriteGauges {
  const keyCache = cacheMetrics(meter, "keys")
  const failures = meter.mirror("mailkind_quota_store_failures_total")
  const dropped = meter.mirror("mailkind_request_log_dropped_total")
  return () => {
    keyCache(keys.stats())
    const leases = units.stats()
    meter.setGauge("mailkind_database_up", store.isUnavailable() ? 0 : 1)
    meter.setGauge("mailkind_database_connections_in_use", store.connectionsInUse())
    meter.setGauge("mailkind_clock_trusted", isClockInDoubt() ? 0 : 1)
    meter.setGauge("mailkind_nodes", nodesCount())
    meter.setGauge("mailkind_leases_held", leases.subjects)
    failures(leases.failures)
    const { unwritten, lagMs } = usage.stats()
    meter.setGauge("mailkind_usage_unwritten", unwritten)
    meter.setGauge("mailkind_usage_flush_lag_seconds", lagMs / 1000)
    dropped(requestLog?.stats().dropped ?? 0)
  }
}

function listGauges(meter: Meter, { lists }: GaugeDeps): WriteGauges {
  return () => {
    const { lists: active, refreshState } = lists.current()
    const { builtAt, entryCounts } = active.pack
    meter.setGauge("mailkind_lists_built_timestamp_seconds", Date.parse(builtAt) / 1000)
    meter.setGauge("mailkind_lists_refreshed_timestamp_seconds", refreshState.refreshed_at_ms / 1000)
    meter.setGauge("mailkind_lists_asked_timestamp_seconds", askedAtMs(refreshState) / 1000)
    const damage = lists.damage()
    meter.setGauge("mailkind_lists_damaged", damage?.is_replaced === false ? 1 : 0)
    meter.setGauge("mailkind_lists_damage_timestamp_seconds", (damage?.noticed_at_ms ?? 0) / 1000)
    for (const set of METRIC_LABELS.set) meter.setGauge("mailkind_lists_entries", entryCounts[set], set)
    const sources = Object.values(refreshState.sources)
    for (const outcome of METRIC_LABELS.source_outcome)
      meter.setGauge("mailkind_lists_sources", sources.filter(source => source.outcome === outcome).length, outcome)
  }
}

function processGauges(system: System, meter: Meter, lag: EventLoopLag, loadShedder: LoadShedder): WriteGauges {
  return () => {
    meter.setGauge("mailkind_http_in_flight", loadShedder.inFlight)
    meter.setGauge("mailkind_http_body_bytes", loadShedder.bodyBytes)
    meter.setGauge("mailkind_event_loop_lag_seconds", lag.takeMaxMs() / 1000)
    const { residentBytes, heapBytes, cpuS, descriptorCount, descriptorsMax, startedAtMs } = system.processStats()
    meter.setGauge("mailkind_process_resident_memory_bytes", residentBytes)
    meter.setGauge("mailkind_process_heap_bytes", heapBytes)
    meter.setGauge("mailkind_process_cpu_seconds_total", cpuS)
    meter.setGauge("mailkind_process_open_descriptors", descriptorCount)
    meter.setGauge("mailkind_process_descriptors_max", descriptorsMax)
    meter.setGauge("mailkind_process_start_time_seconds", startedAtMs / 1000)
  }
}

function backupGauges({ clock, stopwatch }: System, settings: Settings, meter: Meter): () => Promise<void> {
  const { MAILKIND_BACKUP_DIR: directory, MAILKIND_BACKUP_HOURS: hours } = settings
  if (directory === null) return async () => undefined
  const startedAtMs = stopwatch()
  return async () => {
    const newestAtMs = await knownBackupAtMs(directory, clock())
    const ageMs = newestAtMs === null ? stopwatch() - startedAtMs : clock() - newestAtMs
    meter.setGauge("mailkind_backup_interval_seconds", (hours * HOUR_MS) / 1000)
    meter.setGauge("mailkind_backup_age_seconds", Math.max(0, ageMs) / 1000)
  }
}

async function writeLatencyGauge({ stopwatch }: System, meter: Meter, store: Store): Promise<void> {
  const startedAtMs = stopwatch()
  await store.one("SELECT 1 AS one")
  meter.setGauge("mailkind_database_latency_seconds", (stopwatch() - startedAtMs) / 1000)
}

async function writeOutboxGauges({ clock }: System, meter: Meter, store: Store): Promise<void> {
  const counts = await countOutbox(store)
  const oldestAtMs = await oldestWaitingAtMs(store)
  const known: readonly string[] = METRIC_LABELS.notice
  const labelOf = (notice: string): string => (known.includes(notice) ? notice : "other")
  for (const notice of METRIC_LABELS.notice)
    for (const state of METRIC_LABELS.mail_state) {
      const matching = counts.filter(row => labelOf(row.notice) === notice && row.state === state)
      meter.setGauge(
        "mailkind_outbox_mails",
        matching.reduce((sum, { count }) => sum + count, 0),
        notice,
        state,
      )
    }
  meter.setGauge(
    "mailkind_outbox_oldest_waiting_seconds",
    oldestAtMs === null ? 0 : Math.max(0, clock() - oldestAtMs) / 1000,
  )
}

async function writeJobGauges(meter: Meter, store: Store): Promise<void> {
  const counts = new Map((await countJobs(store)).map(({ state, count }) => [state, count]))
  for (const state of METRIC_LABELS.job_state) meter.setGauge("mailkind_jobs", counts.get(state) ?? 0, state)
  const { waiting, givenUp } = await countCallbacks(store)
  meter.setGauge("mailkind_callbacks_waiting", waiting)
  meter.setGauge("mailkind_callbacks_given_up", givenUp)
}
