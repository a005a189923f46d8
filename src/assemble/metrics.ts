import { type EventLoopLag, measureEventLoopLag } from "../base/event-loop-lag.ts"
import { type Log, logError } from "../base/log.ts"
import { createIntervals } from "../base/time.ts"
import type { Settings } from "../config/settings.ts"
import { METRIC_LABELS } from "../contract/metrics.ts"
import { countOutbox, oldestWaitingAtMs } from "../customers/notices/outbox.ts"
import type { Store } from "../customers/store/core/store.ts"
import { LOAD_LIMITS, LoadShedder } from "../http/admission/load-shedder.ts"
import { createCounterShard } from "../http/metrics/counter-layout.ts"
import { type BuildInfo, type Exposition, renderExposition } from "../http/metrics/exposition.ts"
import { Meter } from "../http/metrics/meter.ts"
import { createClientAddressResolver, createIpMatcher } from "../http/request/client-address.ts"
import { startMetricsListener, startMetricsListenerWithRetry } from "../process/metrics-listener.ts"
import type { System } from "../system/system.ts"
import type { ListsService } from "./check/lists.ts"
import type { NetworkService } from "./check/network.ts"
import type { CustomersService } from "./customers/customers.ts"

/** How often a process writes down what it holds: a scrape by way of another worker sees it so late at most. */
const GAUGES_WRITE_MS = 1000
/** How often the outbox is counted, and descriptors are. */
const OUTBOX_GAUGES_WRITE_MS = 15_000

/** Whether anybody may ever read metrics. */
const areMetricsEnabled = ({ MAILKIND_METRICS, MAILKIND_METRICS_ALLOW }: Settings): boolean =>
  MAILKIND_METRICS !== "off" || MAILKIND_METRICS_ALLOW.length > 0

/** What a server tells of itself. */
export type GaugeDeps = {
  readonly store: Store
  readonly lists: ListsService
  readonly outside: NetworkService
  readonly customers: Pick<CustomersService, "keys" | "units" | "usage" | "nodesCount">
}

/** What a process counts with, and what tells of all that was counted. */
export type Instrumentation = {
  readonly meter: Meter
  readonly loadShedder: LoadShedder
  /** Reads what all processes have counted. */
  readonly readExposition: () => Promise<Exposition>
  /**
   * Writes down in the background how the server stands, and before each reading here; nothing of it where metrics are off.
   * `begin` listens for metrics apart, if the settings want that and this process is no worker. Alone it throws
   * `StartupError`; beside the server that it replaces it listens as soon as that one does not.
   */
  readonly createGaugeWriter: (needs: GaugeDeps) => { readonly start: () => void; readonly stop: () => Promise<void> }
}

/** What workers share: each counts in the column of its seat. */
type WorkerCounters = { readonly seat: number; readonly columns: readonly Float64Array[] }

/** Builds what a process observes itself with: one that serves alone, one beside the server that it replaces, or a worker. */
export function createInstrumentation(
  world: System,
  settings: Settings,
  log: Log,
  place: "alone" | object | WorkerCounters,
  build: BuildInfo,
): Instrumentation {
  const shared = typeof place === "object" && "seat" in place ? place : null
  const columns = shared?.columns ?? [createCounterShard()]
  const meter = new Meter(columns[shared?.seat ?? 0] ?? createCounterShard())
  const lag = measureEventLoopLag(world.stopwatch, world.runInterval)
  const bounds = { ...LOAD_LIMITS, inFlightMax: settings.MAILKIND_IN_FLIGHT_MAX }
  const loadShedder = new LoadShedder(bounds, lag.sustainedMs, meter, world.nextTick)
  let hold = (): void => undefined
  const readExposition = async (): Promise<Exposition> => {
    hold()
    return renderExposition(columns, build)
  }
  const createGaugeWriter = (needs: GaugeDeps) => {
    if (!areMetricsEnabled(settings)) return { start: () => undefined, stop: async () => lag.stop() }
    const writes = [networkGauges, customerGauges, listGauges].map(writing => writing(meter, needs))
    writes.push(processGauges(world, meter, lag, loadShedder))
    hold = () => {
      for (const write of writes) write()
    }
    const seldom = (): void =>
      void writeOutboxGauges(world, meter, needs.store).catch(logError(log, "what lies in the outbox was not counted"))
    const repeated = createIntervals(world.runInterval, [
      [GAUGES_WRITE_MS, hold],
      [OUTBOX_GAUGES_WRITE_MS, seldom],
    ])
    let listener: { readonly end: () => Promise<void> } | null = null
    return {
      start: () => {
        // Of workers it is the supervisor that listens, for all.
        if (place === "alone") listener = startMetricsListener(settings, readExposition)
        else if (shared === null) listener = startMetricsListenerWithRetry(world, settings, readExposition, log)
        hold()
        seldom()
        repeated.start()
      },
      stop: async () => {
        repeated.stop()
        lag.stop()
        await listener?.end()
      },
    }
  }
  return { meter, loadShedder, readExposition, createGaugeWriter }
}

/** What is deep about a check is left out while the server has much to do, as it is while DNS is away. */
export const skipDeepChecksUnderLoad = (
  asked: NetworkService,
  { loadShedder }: Pick<Instrumentation, "loadShedder">,
): NetworkService => ({
  ...asked,
  isDnsUnavailable: () => asked.isDnsUnavailable() || loadShedder.isUnderPressure(),
})

/** Whether whoever sent a request to the public listener may read metrics. */
export function metricsReaderGuard(settings: Settings, addressOf: (request: Request) => string | null) {
  const isAllowed = createIpMatcher(settings.MAILKIND_METRICS_ALLOW)
  const peerOf = createClientAddressResolver(settings.MAILKIND_TRUSTED_PROXIES)
  return (request: Request): boolean => isAllowed(peerOf(addressOf(request), request.headers))
}

type WriteGauges = () => void

function networkGauges(own: Meter, { outside }: GaugeDeps): WriteGauges {
  const questions = METRIC_LABELS.dns_outcome.map(
    outcome => [outcome, own.mirror("mailkind_dns_questions_total", outcome)] as const,
  )
  const lookUps = METRIC_LABELS.tenant_outcome.map(
    outcome => [outcome, own.mirror("mailkind_tenant_lookups_total", outcome)] as const,
  )
  const dns = cacheMetrics(own, "dns")
  const tenants = cacheMetrics(own, "tenants")
  return () => {
    own.setGauge("mailkind_dns_up", outside.isDnsUnavailable() ? 0 : 1)
    const told = outside.stats()
    if (told === null) return
    own.setGauge("mailkind_dns_breaker_open", told.isBreakerOpen ? 1 : 0)
    for (const [outcome, follow] of questions) follow(told.queryCounts[outcome])
    dns(told.answerCache)
    if (told.tenantStats === null) return
    for (const [outcome, follow] of lookUps) follow(told.tenantStats[outcome])
    own.setGauge("mailkind_tenant_breakers_open", told.tenantStats.openBreakerCount)
    tenants(told.tenantStats)
  }
}

function cacheMetrics(own: Meter, cache: (typeof METRIC_LABELS.cache)[number]) {
  const hits = own.mirror("mailkind_cache_hits_total", cache)
  const misses = own.mirror("mailkind_cache_misses_total", cache)
  return (told: { readonly entries: number; readonly hits: number; readonly misses: number }): void => {
    own.setGauge("mailkind_cache_entries", told.entries, cache)
    hits(told.hits)
    misses(told.misses)
  }
}

function customerGauges(own: Meter, { customers: { keys, units, usage, nodesCount } }: GaugeDeps): WriteGauges {
  const ofKeys = cacheMetrics(own, "keys")
  const failures = own.mirror("mailkind_quota_store_failures_total")
  return () => {
    ofKeys(keys.stats())
    const leases = units.stats()
    own.setGauge("mailkind_nodes", nodesCount())
    own.setGauge("mailkind_leases_held", leases.subjects)
    failures(leases.failures)
    const { unwritten, lagMs } = usage.stats()
    own.setGauge("mailkind_usage_unwritten", unwritten)
    own.setGauge("mailkind_usage_flush_lag_seconds", lagMs / 1000)
  }
}

function listGauges(own: Meter, { lists }: GaugeDeps): WriteGauges {
  return () => {
    const { lists: inUse, refreshState } = lists.current()
    const { builtAt, entryCounts } = inUse.pack
    own.setGauge("mailkind_lists_built_timestamp_seconds", Date.parse(builtAt) / 1000)
    own.setGauge("mailkind_lists_refreshed_timestamp_seconds", refreshState.refreshed_at_ms / 1000)
    for (const set of METRIC_LABELS.set) own.setGauge("mailkind_lists_entries", entryCounts[set], set)
    const sources = Object.values(refreshState.sources)
    for (const outcome of METRIC_LABELS.source_outcome)
      own.setGauge("mailkind_lists_sources", sources.filter(source => source.outcome === outcome).length, outcome)
  }
}

function processGauges(world: System, own: Meter, lag: EventLoopLag, load: LoadShedder): WriteGauges {
  return () => {
    own.setGauge("mailkind_http_in_flight", load.inFlight)
    own.setGauge("mailkind_http_body_bytes", load.bodyBytes)
    own.setGauge("mailkind_event_loop_lag_seconds", lag.takeMaxMs() / 1000)
    const { residentBytes, heapBytes, cpuS, descriptorCount, startedAtMs } = world.processStats()
    own.setGauge("mailkind_process_resident_memory_bytes", residentBytes)
    own.setGauge("mailkind_process_heap_bytes", heapBytes)
    own.setGauge("mailkind_process_cpu_seconds_total", cpuS)
    own.setGauge("mailkind_process_open_descriptors", descriptorCount)
    own.setGauge("mailkind_process_start_time_seconds", startedAtMs / 1000)
  }
}

async function writeOutboxGauges({ clock }: System, own: Meter, store: Store): Promise<void> {
  const counts = await countOutbox(store)
  const oldestMs = await oldestWaitingAtMs(store)
  const known: readonly string[] = METRIC_LABELS.notice
  const labelOf = (notice: string): string => (known.includes(notice) ? notice : "other")
  for (const notice of METRIC_LABELS.notice)
    for (const state of METRIC_LABELS.mail_state) {
      const ofBoth = counts.filter(one => labelOf(one.notice) === notice && one.state === state)
      own.setGauge(
        "mailkind_outbox_mails",
        ofBoth.reduce((sum, { count }) => sum + count, 0),
        notice,
        state,
      )
    }
  own.setGauge("mailkind_outbox_oldest_waiting_seconds", oldestMs === null ? 0 : Math.max(0, clock() - oldestMs) / 1000)
}
