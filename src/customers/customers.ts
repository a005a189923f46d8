import { logError } from "../base/log.ts"
import { lazyPromise } from "../base/single-flight.ts"
import { createIntervals, HOUR_MS, type PeriodicWork } from "../base/time.ts"
import { cacheSamples, type Sample } from "../contract/metrics.ts"
import type { Usage } from "../contract/usage-schema.ts"
import { readAccountUsage } from "./account-usage.ts"
import { CorrectionCache } from "./feedback/correction-cache.ts"
import { type FeedbackReport, type RecordReceipt, recordFeedback } from "./feedback/feedback.ts"
import { createFreeChecks } from "./free-checks/free-checks.ts"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "./keys/key-authenticator.ts"
import type { CallerAccount } from "./keys/key-cache.ts"
import { NetworkWatch } from "./keys/network-watch.ts"
import { AllowedOrigins } from "./keys/origins.ts"
import { createNodeService, type NodeContext, type NodeSettings, type SharedNode } from "./node-service.ts"
import { UnitNotices } from "./notices/unit-notices.ts"
import { OWN_LIST_CACHE_BOUNDS, OwnListCache } from "./own-lists/own-list-cache.ts"
import type { CallerLimits } from "./quota/caller-limits.ts"
import { widerNetworks } from "./quota/client-networks.ts"
import { tierLimits } from "./quota/tier-limits.ts"
import { SHARED_UNIT_QUOTA_BOUNDS, UNIT_QUOTA_BOUNDS, UnitQuota } from "./quota/units/unit-quota.ts"
import { RequestLog } from "./request-log/request-log.ts"
import { RequestLogBudget } from "./request-log/request-log-budget.ts"
import { createRequestLogPruning, type RequestLogPruning } from "./request-log/request-log-pruning.ts"
import { ROW_BYTES } from "./request-log/request-log-sizes.ts"
import { ensureInstallationSecret, keyedHash } from "./sign-in/installation-secret.ts"
import type { Actor } from "./store/change-log/actor.ts"
import {
  type Change,
  type ChangeCursor,
  cursorOf,
  LATEST_CHANGE_POLLED,
  type LatestChangeRow,
  latestChangeId,
} from "./store/change-log/change-log.ts"
import { type ChangeListener, createChangePoller } from "./store/change-log/change-poller.ts"
import { KnownChanges } from "./store/change-log/known-changes.ts"
import type { Store } from "./store/core/store.ts"
import type { Observation, PolledPart } from "./store/poll/database-poll.ts"
import type { StoredContext } from "./stored-context.ts"
import { TermsCache } from "./terms/terms-cache.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "./usage/usage-meter.ts"

/** The precision of the age of a cached key and of the time of its last use. */
const COARSE_CLOCK_MS = 100
/** How often buffers are written (usage and the last use of keys, which are shown together, networks of keys, logged requests), and idle units are returned. */
const FLUSH_MS = 1000
/** How often some accounts are visited whose logs of requests have grown too old or too long, and how often all of them are. */
const REQUEST_LOG_VISIT_MS = 5000
const REQUEST_LOG_ROUND_MS = HOUR_MS

/** The settings that the service reads. */
type CustomersSettings = NodeSettings & {
  readonly MAILKIND_TIERS: readonly string[]
  readonly MAILKIND_REQUEST_LOG: string
  readonly MAILKIND_REQUEST_LOG_BYTES_MAX: number
  readonly MAILKIND_PUBLIC_CHECKER: string
  readonly MAILKIND_FREE_CHECKS_PER_DAY: number | "off"
}

type CustomersContext = NodeContext & StoredContext<CustomersSettings>

/** Everything that authenticates, limits and meters callers. */
export type CustomersService = Awaited<ReturnType<typeof createCustomersService>>

/** What workers of one server share. */
export type SharedCallerState = {
  readonly limits: CallerLimits
  /** The server among the nodes of one database. */
  readonly node: SharedNode
  /** Notifies the other workers that this process wrote to the change log. */
  readonly notifyChange: () => void
  /** Tells the other workers what this process found in the database; null: it could not ask. */
  readonly shareObservation: (observation: Observation | null) => void
}

/** Creates the service over an open store and loads the caches that requests need. `shared` is `null` without workers. */
export async function createCustomersService(context: CustomersContext, shared: SharedCallerState | null = null) {
  const { system, store, log, poll } = context
  const { clock, random } = system
  const coarse = coarseClocks(system)
  const nodes = await createNodeService(context, shared, () => invalidateAll())
  const known = new KnownChanges({ ...system, ask: () => poll.poll().then(() => pollChanges.idle()) })
  const { nodesCount, isCutOff, databaseAnsweredMsAgo } = nodes
  const parts = { ...createParts(context, coarse, nodes.limits, known), nodesCount, isCutOff, databaseAnsweredMsAgo }
  const { keys, terms, ownLists, corrections, units } = parts
  const listeners = [keys, terms, corrections, ownLists, unitsInvalidator(units)]
  const invalidateAll = (): void => {
    for (const listener of listeners) listener.invalidateAll()
  }
  /** Applies changes of this process to its caches and notifies other workers. */
  const publishChanges = (changes: readonly Change[]): void => {
    for (const listener of listeners) listener.applyChanges(changes)
    shared?.notifyChange()
  }
  const since = await latestChangeId(store)
  await Promise.all([terms.load(), corrections.load(), ownLists.load()])
  const onPollError = logError(log, "changes of other processes were not read")
  const pollChanges = createChangePoller(store, listeners, since, onPollError, known)
  poll.add(latestChangePart(pollChanges, known, nodes.observeChange))
  const background = createBackground(context, parts)
  return {
    ...parts,
    /** The usage of an account. `day` null: today, which is the day whose units are taken now. */
    usageOf: (account: CallerAccount, day?: number | null): Promise<Usage> =>
      accountUsage(context, parts, account, day ?? units.today()),
    report: (report: FeedbackReport, actor: Actor, record: RecordReceipt | null = null) =>
      recordFeedback({ store, clock, notify: publishChanges, actor }, random, report, record),
    publishChanges,
    /** Reads the changes of other processes now instead of at the next poll. */
    pollChanges,
    samples: () => callerSamples(parts),
    start: () => {
      background.start()
      nodes.start()
    },
    /** An unavailable database does not prevent the stop. */
    stop: async () => {
      background.stop()
      coarse.stop()
      corrections.stop()
      await nodes.stop()
      await flushAll(context, parts)
    },
  }
}

/** What the poll of the database tells of changes. One that fails says that nothing can be known. */
const latestChangePart = (
  changes: ReturnType<typeof createChangePoller>,
  known: KnownChanges,
  observeChange: (cursor: ChangeCursor) => void,
): PolledPart => ({
  ...LATEST_CHANGE_POLLED,
  observe: ({ rows: [row] }) => {
    const latest = row as LatestChangeRow // the columns of a row are those of the statement
    changes.observe(latest)
    observeChange(cursorOf(latest))
  },
  miss: () => known.note(known.now()),
})

type Parts = ReturnType<typeof createParts>

/** The caches, limits and meters over the store. */
function createParts(
  { system, settings, store, log, trustedTime }: CustomersContext,
  coarse: CoarseClocks,
  limits: CallerLimits,
  known: KnownChanges,
) {
  const { clock, random, setTimer } = system
  const tiers = [...tierLimits(settings.MAILKIND_TIERS)]
  const unitNotices = new UnitNotices({ store, clock, unitsPerDayOf: tier => tiers[tier]?.unitsPerDay ?? null })
  const units = new UnitQuota(
    store,
    trustedTime.reference,
    settings.MAILKIND_DATABASE_URL === null ? UNIT_QUOTA_BOUNDS : SHARED_UNIT_QUOTA_BOUNDS,
    logError(log, "units were not leased ahead, or not given back"),
    leased => unitNotices.noteLeased(leased),
  )
  const today = (): number => units.today()
  const writeUsage = () => void flushFullBatches(usage).catch(logError(log, "usage was not written"))
  const usage: UsageMeter = new UsageMeter(store, clock, () => void setTimer(0, writeUsage), USAGE_METER_BOUNDS, today)
  const perDay = settings.MAILKIND_PUBLIC_CHECKER === "off" ? "off" : settings.MAILKIND_FREE_CHECKS_PER_DAY
  return {
    ...limits,
    keys: new KeyAuthenticator(
      store,
      coarse.clock,
      coarse.stopwatch,
      KEY_AUTHENTICATOR_BOUNDS,
      trustedTime.rowClock,
      known,
    ),
    knownOrigins: new AllowedOrigins(store, coarse.stopwatch),
    keyNetworks: createNetworkWatch(store, system),
    terms: new TermsCache(store, clock, logError(log, "terms were not read")),
    /** The limits by tier. Settings that are reloaded replace its members. */
    tiers,
    takeTiers: (next: Pick<CustomersSettings, "MAILKIND_TIERS">) =>
      void tiers.splice(0, tiers.length, ...tierLimits(next.MAILKIND_TIERS)),
    units,
    unitNotices,
    usage,
    ownLists: new OwnListCache(store, OWN_LIST_CACHE_BOUNDS),
    /** Null if the operator turned request logs off. */
    requestLog: settings.MAILKIND_REQUEST_LOG === "off" ? null : new RequestLog(store, clock, random),
    requestLogBudget: settings.MAILKIND_REQUEST_LOG === "off" ? null : createRequestLogBudget(store, system, settings),
    corrections: new CorrectionCache(store, setTimer, logError(log, "corrections were not read")),
    /** Null if the operator turned free checks off. */
    freeChecks:
      perDay === "off" ? null : createFreeChecks({ store, clock, random, rates: limits.keyless, units, perDay }),
  }
}

const createRequestLogBudget = (
  store: Store,
  { stopwatch }: StoredContext["system"],
  { MAILKIND_DATABASE_URL: url, MAILKIND_REQUEST_LOG_BYTES_MAX: bytesMax }: CustomersSettings,
): RequestLogBudget =>
  new RequestLogBudget({ store, stopwatch, rowBytes: ROW_BYTES[url === null ? "sqlite" : "postgres"], bytesMax })

/** Watches from which networks keys are used, which are stored under a hash of this installation. */
const createNetworkWatch = (store: Store, { clock, random }: StoredContext["system"]): NetworkWatch =>
  new NetworkWatch({
    store,
    clock,
    networkOf: client => widerNetworks(client).at(-1)?.name ?? null,
    hashKey: lazyPromise(async () => keyedHash(await ensureInstallationSecret(store, random), "key networks")),
  })

/** Changes do not concern units, but a restored or replaced database does not know the leased ones. */
const unitsInvalidator = (units: UnitQuota): ChangeListener => ({
  applyChanges: () => undefined,
  invalidateAll: () => units.discardAll(),
})

/** What is written in the background, and the visits of the logs of all accounts, by one process of the node. */
function createBackground(context: CustomersContext, parts: Parts) {
  const { system, store, log, trustedTime, claims } = context
  const pruning = createRequestLogPruning(store, trustedTime, parts.requestLog !== null)
  let nextRoundAtMs = Number.NEGATIVE_INFINITY
  const visit = async (): Promise<void> => {
    await parts.requestLogBudget?.step()
    const nowMs = system.stopwatch()
    if (pruning.isRoundOver() && nowMs < nextRoundAtMs) return
    // A round deletes nothing for its age while the clock is in doubt, and is made again.
    if (pruning.isRoundOver() && trustedTime.now() !== null) nextRoundAtMs = nowMs + REQUEST_LOG_ROUND_MS
    await pruning.visitNext()
  }
  const groups = [
    createIntervals(system.runInterval, writing(context, parts, pruning)),
    createIntervals(claims.intervals("request_log", system.runInterval), [
      [REQUEST_LOG_VISIT_MS, visit, logError(log, "old logged requests were not deleted")],
    ]),
  ]
  return {
    start: () => {
      for (const group of groups) group.start()
    },
    stop: () => {
      for (const group of groups) group.stop()
    },
  }
}

/** What is written in the background. */
function writing(
  { log }: CustomersContext,
  { keys, keyNetworks, usage, units, unitNotices, requestLog, requestLogBudget }: Parts,
  pruning: RequestLogPruning,
): readonly PeriodicWork[] {
  const writeRequestLog = async (): Promise<void> => {
    if (requestLog === null) return
    const written = await requestLog.flush()
    await pruning.trimBusy(written)
    await requestLogBudget?.stepAfter(written)
  }
  return [
    [FLUSH_MS, () => keys.flush(), logError(log, "the last use of keys was not written")],
    [FLUSH_MS, () => keyNetworks.flush(), logError(log, "the networks of keys were not written")],
    [FLUSH_MS, () => flushFullBatches(usage), logError(log, "usage was not written")],
    [FLUSH_MS, () => units.maintain()],
    [FLUSH_MS, () => unitNotices.look(units.today()), logError(log, "mails about used units were not queued")],
    [FLUSH_MS, writeRequestLog, logError(log, "requests were not logged")],
  ]
}

/** Writes buffered data and returns leases. Never rejects. */
async function flushAll({ log }: StoredContext, { keys, keyNetworks, usage, units, requestLog }: Parts): Promise<void> {
  await flushUntilEmpty(() => keys.flush()).catch(logError(log, "the last use of keys is lost"))
  await flushUntilEmpty(() => keyNetworks.flush()).catch(logError(log, "the networks of keys are lost"))
  await flushUntilEmpty(() => usage.flush()).catch(logError(log, "usage that was not written is lost"))
  await requestLog?.flushAll().catch(logError(log, "logged requests that were not written are lost"))
  await units.releaseAll()
}

/** Flushes until the buffer is empty. One flush writes a bounded batch. */
async function flushUntilEmpty(flush: () => Promise<number>): Promise<void> {
  while ((await flush()) > 0);
}

/** Flushes as long as batches are full. Usage that arrives meanwhile may wait for the next interval. */
async function flushFullBatches(usage: UsageMeter): Promise<void> {
  while ((await usage.flush()) === USAGE_METER_BOUNDS.rowsMax);
}

function callerSamples({
  keys,
  units,
  usage,
  requestLog,
  requestLogBudget,
  nodesCount,
}: Parts & { readonly nodesCount: () => number }): readonly Sample[] {
  const { subjects, failures } = units.stats()
  const { unwritten, lagMs } = usage.stats()
  return [
    ...cacheSamples("keys", keys.stats()),
    ["mailkind_nodes", nodesCount()],
    ["mailkind_leases_held", subjects],
    ["mailkind_quota_store_failures_total", failures],
    ["mailkind_usage_unwritten", unwritten],
    ["mailkind_usage_flush_lag_seconds", lagMs / 1000],
    ["mailkind_request_log_dropped_total", requestLog?.stats().dropped ?? 0],
    ...(requestLogBudget?.samples() ?? []),
  ]
}

async function accountUsage(
  { store, system: { clock } }: CustomersContext,
  { usage, units, tiers, keys: authenticator }: Parts,
  account: CallerAccount,
  day: number,
): Promise<Usage> {
  // The report shows the last use of keys up to now.
  await authenticator.flush()
  const readRemaining = (subject: string, perDay: number) => units.readRemaining(subject, perDay)
  return await readAccountUsage({ store, clock, tiers, usage, readRemaining }, account, day)
}

type CoarseClocks = Pick<StoredContext["system"], "clock" | "stopwatch"> & { readonly stop: () => void }

/** Clocks that are read every `COARSE_CLOCK_MS`: keys are cached for seconds, and reading the time costs more than finding a key. */
function coarseClocks(system: StoredContext["system"]): CoarseClocks {
  let nowMs = system.clock()
  let elapsedMs = system.stopwatch()
  const stop = system.runInterval(COARSE_CLOCK_MS, () => {
    nowMs = system.clock()
    elapsedMs = system.stopwatch()
  })
  return { clock: () => nowMs, stopwatch: () => elapsedMs, stop }
}
