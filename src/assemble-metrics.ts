import type { CustomersAtWork } from "./assemble-customers.ts"
import type { ListsAtWork } from "./assemble-lists.ts"
import type { OutsideAsked } from "./assemble-outside.ts"
import { failing, type Log } from "./base/log.ts"
import { type LoopLag, loopLag } from "./base/loop-lag.ts"
import { repeating } from "./base/repeating.ts"
import type { Settings } from "./config/settings.ts"
import { LABELS } from "./contract/metrics.ts"
import { oldestWaitingMs, outboxCounts } from "./customers/notices/outbox-counts.ts"
import type { Store } from "./customers/store/store.ts"
import { addressSet, peerAddress } from "./http/client-address.ts"
import { LOAD_BOUNDS, Load } from "./http/load.ts"
import { ownColumn } from "./http/metrics/columns.ts"
import { type Build, type Exposition, exposition } from "./http/metrics/exposition.ts"
import { Meter } from "./http/metrics/meter.ts"
import { metricsListener, metricsListenerInTime } from "./metrics-listener.ts"
import type { World } from "./world.ts"

/** How often a process writes down what it holds: a scrape by way of another worker sees it so late at most. */
const HOLD_MS = 1000
/** How often the outbox is counted, and descriptors are. */
const SELDOM_MS = 15_000

/** Whether anybody may ever read metrics. */
const areMetricsOn = ({ MAILKIND_METRICS, MAILKIND_METRICS_ALLOW }: Settings): boolean =>
  MAILKIND_METRICS !== "off" || MAILKIND_METRICS_ALLOW.length > 0

/** What a server tells of itself. */
export type MetricsNeeds = {
  readonly store: Store
  readonly lists: ListsAtWork
  readonly outside: OutsideAsked
  readonly customers: Pick<CustomersAtWork, "keys" | "units" | "usage" | "nodesCount">
}

/** What a process counts with, and what tells of all that was counted. */
export type Observing = {
  readonly meter: Meter
  readonly load: Load
  /** Reads what all processes have counted. */
  readonly read: () => Promise<Exposition>
  /**
   * Writes down in the background how the server stands, and before each reading here; nothing of it where metrics are off.
   * `begin` listens for metrics apart, if the settings want that and this process is no worker. Alone it throws
   * `CannotStart`; beside the server that it replaces it listens as soon as that one does not.
   */
  readonly over: (needs: MetricsNeeds) => { readonly begin: () => void; readonly end: () => Promise<void> }
}

/** What workers share: each counts in the column of its seat. */
type Shared = { readonly seat: number; readonly columns: readonly Float64Array[] }

/** Builds what a process observes itself with: one that serves alone, one beside the server that it replaces, or a worker. */
export function observing(
  world: World,
  settings: Settings,
  log: Log,
  place: "alone" | object | Shared,
  build: Build,
): Observing {
  const shared = typeof place === "object" && "seat" in place ? place : null
  const columns = shared?.columns ?? [ownColumn()]
  const meter = new Meter(columns[shared?.seat ?? 0] ?? ownColumn())
  const lag = loopLag(world.stopwatch, world.every)
  const bounds = { ...LOAD_BOUNDS, inFlightMax: settings.MAILKIND_IN_FLIGHT_MAX }
  const load = new Load(bounds, lag.lastingMs, meter, world.soon)
  let hold = (): void => undefined
  const read = (): Promise<Exposition> => {
    hold()
    return exposition(columns, build)
  }
  const over = (needs: MetricsNeeds) => {
    if (!areMetricsOn(settings)) return { begin: () => undefined, end: async () => lag.end() }
    const writes = [outsideOf, customersOf, listsOf].map(writing => writing(meter, needs))
    writes.push(processOf(world, meter, lag, load))
    hold = () => {
      for (const write of writes) write()
    }
    const seldom = (): void =>
      void outboxOf(world, meter, needs.store).catch(failing(log, "what lies in the outbox was not counted"))
    const repeated = repeating(world.every, [
      [HOLD_MS, hold],
      [SELDOM_MS, seldom],
    ])
    let listener: { readonly end: () => Promise<void> } | null = null
    return {
      begin: () => {
        // Of workers it is the supervisor that listens, for all.
        if (place === "alone") listener = metricsListener(settings, read)
        else if (shared === null) listener = metricsListenerInTime(world, settings, read, log)
        hold()
        seldom()
        repeated.begin()
      },
      end: async () => {
        repeated.end()
        lag.end()
        await listener?.end()
      },
    }
  }
  return { meter, load, read, over }
}

/** What is deep about a check is left out while the server has much to do, as it is while DNS is away. */
export const yielding = (asked: OutsideAsked, { load }: Pick<Observing, "load">): OutsideAsked => ({
  ...asked,
  isDnsAway: () => asked.isDnsAway() || load.isStrained(),
})

/** Whether whoever sent a request to the public listener may read metrics. */
export function mayReadMetrics(settings: Settings, addressOf: (request: Request) => string | null) {
  const isAllowed = addressSet(settings.MAILKIND_METRICS_ALLOW)
  const peerOf = peerAddress(settings.MAILKIND_TRUSTED_PROXIES)
  return (request: Request): boolean => isAllowed(peerOf(addressOf(request), request.headers))
}

type Write = () => void

function outsideOf(own: Meter, { outside }: MetricsNeeds): Write {
  const questions = LABELS.dns_outcome.map(
    outcome => [outcome, own.following("mailkind_dns_questions_total", outcome)] as const,
  )
  const lookUps = LABELS.tenant_outcome.map(
    outcome => [outcome, own.following("mailkind_tenant_lookups_total", outcome)] as const,
  )
  const dns = cacheOf(own, "dns")
  const tenants = cacheOf(own, "tenants")
  return () => {
    own.set("mailkind_dns_up", outside.isDnsAway() ? 0 : 1)
    const told = outside.told()
    if (told === null) return
    own.set("mailkind_dns_breaker_open", told.isBreakerOpen ? 1 : 0)
    for (const [outcome, follow] of questions) follow(told.questions[outcome])
    dns(told.answers)
    if (told.tenants === null) return
    for (const [outcome, follow] of lookUps) follow(told.tenants[outcome])
    own.set("mailkind_tenant_breakers_open", told.tenants.breakersOpen)
    tenants(told.tenants)
  }
}

function cacheOf(own: Meter, cache: (typeof LABELS.cache)[number]) {
  const hits = own.following("mailkind_cache_hits_total", cache)
  const misses = own.following("mailkind_cache_misses_total", cache)
  return (told: { readonly entries: number; readonly hits: number; readonly misses: number }): void => {
    own.set("mailkind_cache_entries", told.entries, cache)
    hits(told.hits)
    misses(told.misses)
  }
}

function customersOf(own: Meter, { customers: { keys, units, usage, nodesCount } }: MetricsNeeds): Write {
  const ofKeys = cacheOf(own, "keys")
  const failures = own.following("mailkind_quota_store_failures_total")
  return () => {
    ofKeys(keys.told())
    const leases = units.told()
    own.set("mailkind_nodes", nodesCount())
    own.set("mailkind_leases_held", leases.subjects)
    failures(leases.failures)
    const { unwritten, lagMs } = usage.told()
    own.set("mailkind_usage_unwritten", unwritten)
    own.set("mailkind_usage_flush_lag_seconds", lagMs / 1000)
  }
}

function listsOf(own: Meter, { lists }: MetricsNeeds): Write {
  return () => {
    const { lists: inUse, state } = lists.now()
    const { builtAt, entries } = inUse.pack
    own.set("mailkind_lists_built_timestamp_seconds", Date.parse(builtAt) / 1000)
    own.set("mailkind_lists_refreshed_timestamp_seconds", state.refreshed_at_ms / 1000)
    for (const set of LABELS.set) own.set("mailkind_lists_entries", entries[set], set)
    const sources = Object.values(state.sources)
    for (const outcome of LABELS.source_outcome)
      own.set("mailkind_lists_sources", sources.filter(source => source.outcome === outcome).length, outcome)
  }
}

function processOf(world: World, own: Meter, lag: LoopLag, load: Load): Write {
  return () => {
    own.set("mailkind_http_in_flight", load.inFlight)
    own.set("mailkind_http_body_bytes", load.bodyBytes)
    own.set("mailkind_event_loop_lag_seconds", lag.takeMaxMs() / 1000)
    const { residentBytes, heapBytes, cpuS, descriptors, startedAtMs } = world.vitals()
    own.set("mailkind_process_resident_memory_bytes", residentBytes)
    own.set("mailkind_process_heap_bytes", heapBytes)
    own.set("mailkind_process_cpu_seconds_total", cpuS)
    own.set("mailkind_process_open_descriptors", descriptors)
    own.set("mailkind_process_start_time_seconds", startedAtMs / 1000)
  }
}

async function outboxOf({ clock }: World, own: Meter, store: Store): Promise<void> {
  const counts = await outboxCounts(store)
  const oldestMs = await oldestWaitingMs(store)
  const known: readonly string[] = LABELS.notice
  const labelOf = (notice: string): string => (known.includes(notice) ? notice : "other")
  for (const notice of LABELS.notice)
    for (const state of LABELS.mail_state) {
      const ofBoth = counts.filter(one => labelOf(one.notice) === notice && one.state === state)
      own.set(
        "mailkind_outbox_mails",
        ofBoth.reduce((sum, { count }) => sum + count, 0),
        notice,
        state,
      )
    }
  own.set("mailkind_outbox_oldest_waiting_seconds", oldestMs === null ? 0 : Math.max(0, clock() - oldestMs) / 1000)
}
