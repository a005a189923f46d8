import { type Log, logError } from "../../base/log.ts"
import type { LogMessage } from "../../base/log-events.ts"
import { lazyPromise } from "../../base/single-flight.ts"
import { createIntervals } from "../../base/time.ts"
import { type TrustedInstant, whenTrusted } from "../../base/trusted-clock.ts"
import type { Settings } from "../../config/settings.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Usage } from "../../contract/usage-schema.ts"
import { pruneFormerUse } from "../../customers/accounts/former-use.ts"
import { pruneFormerSuspensions } from "../../customers/accounts/suspension.ts"
import { unitSubject } from "../../customers/accounts/unit-subjects.ts"
import { pruneActs } from "../../customers/audit/audit.ts"
import { CorrectionCache } from "../../customers/feedback/correction-cache.ts"
import { type FeedbackReport, type FeedbackReportResult, recordFeedback } from "../../customers/feedback/feedback.ts"
import { createFreeChecks, type FreeChecks } from "../../customers/free-checks/free-checks.ts"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "../../customers/keys/key-authenticator.ts"
import type { CallerAccount } from "../../customers/keys/key-cache.ts"
import { listKeys } from "../../customers/keys/keys.ts"
import { NetworkWatch, pruneNetworks } from "../../customers/keys/network-watch.ts"
import { AllowedOrigins } from "../../customers/keys/origins.ts"
import { UnitNotices } from "../../customers/notices/unit-notices.ts"
import { OWN_LIST_CACHE_BOUNDS, OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import type { CallerLimits } from "../../customers/quota/caller-limits.ts"
import { widerNetworks } from "../../customers/quota/client-networks.ts"
import { type TierLimits, tierLimits } from "../../customers/quota/tier-limits.ts"
import {
  SHARED_UNIT_QUOTA_BOUNDS,
  UNIT_QUOTA_BOUNDS,
  UnitQuota,
  type UnitQuotaBounds,
} from "../../customers/quota/units/unit-quota.ts"
import { RequestLog } from "../../customers/request-log/request-log.ts"
import { createRequestLogPruning } from "../../customers/request-log/request-log-pruning.ts"
import { ensureInstallationSecret, keyedHash } from "../../customers/sign-in/installation-secret.ts"
import type { Actor } from "../../customers/store/change-log/actor.ts"
import { type Change, latestChangeId } from "../../customers/store/change-log/change-log.ts"
import { type ChangeListener, createChangePoller } from "../../customers/store/change-log/change-poller.ts"
import type { Store } from "../../customers/store/core/store.ts"
import { TermsCache } from "../../customers/terms/terms-cache.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "../../customers/usage/usage-meter.ts"
import { createUsageReport, type ReportedAccount } from "../../customers/usage/usage-report.ts"
import { createUsagePruning } from "../../customers/usage/usage-rows.ts"
import type { System } from "../../system/system.ts"
import type { StoreContext } from "../context.ts"
import { createNodeService, type NodeService, type SharedNode } from "./nodes.ts"

/** How often this process polls the changes of others, so the longest time that a revocation elsewhere goes unnoticed. */
const CHANGES_POLL_MS = 2000
/** The precision of the age of a cached key and of the time of its last use. */
const COARSE_CLOCK_MS = 100
/** How often the last use of keys is written: as often as usage, since both are shown together. */
const LAST_USE_FLUSH_MS = 1000
/** How often the networks are written that keys are used from. */
const KEY_NETWORKS_FLUSH_MS = 1000
/** How often usage is written and idle units are returned. */
const USAGE_FLUSH_MS = 1000
/** How often logged requests are written, and how often some accounts are visited whose logs have grown too old or too long. */
const REQUEST_LOG_FLUSH_MS = 1000
const REQUEST_LOG_VISIT_MS = 5000
/** How often some of the expired usage is deleted, and the use of deleted accounts when its day is over. */
const USAGE_PRUNE_MS = 60_000
/** How often acts of administrators and suspensions of deleted accounts are deleted that are too old. */
const ADMINISTRATION_PRUNE_MS = 600_000
/** How often expired data of free checks is deleted: passes, bans and the counts of earlier days. */
const FREE_CHECKS_PRUNE_MS = 600_000
/** How often networks are deleted that no key was used from for long, and how many at once. */
const KEY_NETWORKS_PRUNE_MS = 600_000
const KEY_NETWORKS_PRUNED_MAX = 1000
/** The most keys in a usage report: the active ones and the latest revoked ones. */
const REPORTED_KEYS_MAX = 100

/** Everything that authenticates, limits and meters callers. */
export type CustomersService = CallerLimits & {
  readonly keys: KeyAuthenticator
  readonly knownOrigins: AllowedOrigins
  readonly keyNetworks: NetworkWatch
  readonly terms: TermsCache
  /** The limits by tier. Settings that are reloaded replace its members. */
  readonly tiers: readonly TierLimits[]
  readonly takeTiers: (settings: Settings) => void
  readonly units: UnitQuota
  readonly unitNotices: UnitNotices
  readonly usage: UsageMeter
  readonly ownLists: OwnListCache
  /** Null if the operator turned request logs off. */
  readonly requestLog: RequestLog | null
  readonly corrections: CorrectionCache
  /** The number of nodes that share the limits of callers, including this one. */
  readonly nodesCount: () => number
  /** Whether this node cannot reach the database, and another one can. */
  readonly isCutOff: () => boolean
  /** `null` if the operator turned free checks off. */
  readonly freeChecks: FreeChecks | null
  /** The usage of an account. `day` null: today, which is the day whose units are taken now. */
  readonly usageOf: (account: CallerAccount, day?: number | null) => Promise<Usage>
  readonly report: (report: FeedbackReport, actor: Actor) => Promise<FeedbackReportResult>
  /** Applies changes of this process to its caches and notifies other workers. */
  readonly publishChanges: (changes: readonly Change[]) => void
  /** Reads the changes of other processes now instead of at the next poll. */
  readonly pollChanges: () => void
  /** Starts the background work. */
  readonly start: () => void
  /** Stops it, writes buffered data and returns leases. The store must still be open. */
  readonly stop: () => Promise<void>
}

/** What workers of one server share. */
export type SharedCallerState = {
  readonly limits: CallerLimits
  /** The server among the nodes of one database. */
  readonly node: SharedNode
  /** Notifies the other workers that this process wrote to the change log. */
  readonly notifyChange: () => void
}

/** Creates the service over an open store and loads the caches that requests need. `shared` is `null` without workers. */
export async function createCustomersService(
  context: StoreContext,
  shared: SharedCallerState | null = null,
): Promise<CustomersService> {
  const { system, store, log } = context
  const { clock, random } = system
  const coarse = coarseClocks(system)
  const nodes = await createNodeService(context, shared)
  const writeUsageSoon = () => void system.setTimer(0, () => background.writeUsage())
  const parts = {
    ...createParts(context, coarse, writeUsageSoon),
    ...nodes.limits,
    nodesCount: nodes.nodesCount,
    isCutOff: nodes.isCutOff,
  }
  const { keys, terms, ownLists, corrections, units } = parts
  const all = { ...parts, freeChecks: freeChecksFor(context, parts) }
  const listeners = [keys, terms, corrections, ownLists, unitsInvalidator(units)]
  const publishChanges = createChangePublisher(listeners, shared)
  const since = await latestChangeId(store)
  await Promise.all([terms.load(), corrections.load(), ownLists.load()])
  const pollChanges = createChangePoller(
    store,
    listeners,
    since,
    logError(log, "changes of other processes were not read"),
  )
  const background = createBackgroundWork(context, { ...all, nodes }, pollChanges)
  return {
    ...all,
    usageOf: (account, day) => accountUsage({ ...parts, store, clock }, account, day ?? units.today()),
    report: (report, actor) => recordFeedback({ store, clock, notify: publishChanges, actor }, random, report),
    publishChanges,
    pollChanges,
    start: background.start,
    stop: async () => {
      background.stop()
      coarse.stop()
      corrections.stop()
      await flushAll({ ...parts, nodes }, log)
    },
  }
}

/** The caches, limits and meters over the store. Usage calls `writeUsageSoon` when its buffer is full. */
function createParts(
  { system, settings, store, log, trustedTime }: StoreContext,
  coarse: CoarseClocks,
  writeUsageSoon: () => void,
) {
  const { clock, random, setTimer } = system
  const tiers = [...tierLimits(settings.MAILKIND_TIERS)]
  const unitNotices = new UnitNotices({ store, clock, unitsPerDayOf: tier => tiers[tier]?.unitsPerDay ?? null })
  const units = new UnitQuota(
    store,
    trustedTime.reference,
    unitsBounds(settings),
    logError(log, "units were not leased ahead, or not given back"),
    leased => unitNotices.noteLeased(leased),
  )
  return {
    keys: new KeyAuthenticator(store, coarse.clock, coarse.stopwatch, KEY_AUTHENTICATOR_BOUNDS, clock),
    knownOrigins: new AllowedOrigins(store, coarse.stopwatch),
    keyNetworks: createNetworkWatch(store, system),
    terms: new TermsCache(store, clock, logError(log, "terms were not read")),
    tiers,
    takeTiers: (next: Settings) => void tiers.splice(0, tiers.length, ...tierLimits(next.MAILKIND_TIERS)),
    units,
    unitNotices,
    usage: new UsageMeter(store, clock, writeUsageSoon, USAGE_METER_BOUNDS, () => units.today()),
    ownLists: new OwnListCache(store, OWN_LIST_CACHE_BOUNDS),
    requestLog: settings.MAILKIND_REQUEST_LOG === "off" ? null : new RequestLog(store, clock, random),
    corrections: new CorrectionCache(store, setTimer, logError(log, "corrections were not read")),
  }
}

/** Watches from which networks keys are used, which are stored under a hash of this installation. */
const createNetworkWatch = (store: Store, { clock, random }: System): NetworkWatch =>
  new NetworkWatch({
    store,
    clock,
    networkOf: client => widerNetworks(client).at(-1)?.name ?? null,
    hashKey: lazyPromise(async () => keyedHash(await ensureInstallationSecret(store, random), "key networks")),
  })

/** Applies changes to all caches and notifies other workers. */
const createChangePublisher =
  (listeners: readonly ChangeListener[], shared: { readonly notifyChange: () => void } | null) =>
  (changes: readonly Change[]): void => {
    for (const listener of listeners) listener.applyChanges(changes)
    shared?.notifyChange()
  }

/** Changes do not concern units, but a restored or replaced database does not know the leased ones. */
const unitsInvalidator = (units: UnitQuota): ChangeListener => ({
  applyChanges: () => undefined,
  invalidateAll: () => units.discardAll(),
})

const unitsBounds = ({ MAILKIND_DATABASE_URL: url }: Settings): UnitQuotaBounds =>
  url === null ? UNIT_QUOTA_BOUNDS : SHARED_UNIT_QUOTA_BOUNDS

type WithNodes = { readonly nodes: NodeService }

/** Leaves the cluster, writes buffered data and returns leases. An unavailable database does not prevent the stop. */
async function flushAll(
  {
    keys,
    keyNetworks,
    usage,
    units,
    requestLog,
    nodes,
  }: Pick<CustomersService, "keys" | "keyNetworks" | "usage" | "units" | "requestLog"> & WithNodes,
  log: Log,
): Promise<void> {
  await nodes.stop()
  await flushUntilEmpty(() => keys.flush()).catch(logError(log, "the last use of keys is lost"))
  await flushUntilEmpty(() => keyNetworks.flush()).catch(logError(log, "the networks of keys are lost"))
  await flushUntilEmpty(() => usage.flush()).catch(logError(log, "usage that was not written is lost"))
  await requestLog?.flushAll().catch(logError(log, "logged requests that were not written are lost"))
  await units.releaseAll()
}

/** The checks without a key on the first page; `null` if the operator turned them off. */
function freeChecksFor(
  { system: { clock, random }, settings, store }: StoreContext,
  { keyless: rates, units }: Pick<CustomersService, "keyless" | "units">,
): FreeChecks | null {
  const perDay = settings.MAILKIND_FREE_CHECKS_PER_DAY
  return perDay === "off" ? null : createFreeChecks({ store, clock, random, rates, units, perDay })
}

/** Deletes what is too old, each kind with its interval. */
function pruningIntervals(
  { store, log, trustedTime }: StoreContext,
  freeChecks: FreeChecks | null,
): readonly (readonly [everyMs: number, work: () => void])[] {
  const pruneUsage = createUsagePruning(store)
  const pruning = (prune: (nowMs: TrustedInstant) => Promise<unknown>, message: LogMessage) => (): void =>
    void whenTrusted(trustedTime, prune).catch(logError(log, message))
  const pruneAdministration = async (): Promise<void> => {
    await pruneActs(store, trustedTime.now())
    await whenTrusted(trustedTime, nowMs => pruneFormerSuspensions(store, nowMs))
  }
  return [
    [USAGE_PRUNE_MS, pruning(pruneUsage, "old usage was not deleted")],
    [USAGE_PRUNE_MS, pruning(nowMs => pruneFormerUse(store, nowMs), "the use of deleted accounts was not deleted")],
    [
      ADMINISTRATION_PRUNE_MS,
      () =>
        void pruneAdministration().catch(logError(log, "old acts of administrators and suspensions were not deleted")),
    ],
    [
      FREE_CHECKS_PRUNE_MS,
      pruning(async nowMs => freeChecks?.prune(nowMs), "expired data of free checks was not deleted"),
    ],
    [
      KEY_NETWORKS_PRUNE_MS,
      pruning(nowMs => pruneNetworks(store, nowMs, KEY_NETWORKS_PRUNED_MAX), "old networks of keys were not deleted"),
    ],
  ]
}

type BackgroundParts = "keys" | "keyNetworks" | "usage" | "units" | "unitNotices" | "freeChecks" | "requestLog"

/** The background work, each piece with its interval. */
function createBackgroundWork(
  context: StoreContext,
  {
    keys,
    keyNetworks,
    usage,
    units,
    unitNotices,
    freeChecks,
    requestLog,
    nodes,
  }: Pick<CustomersService, BackgroundParts> & WithNodes,
  pollChanges: () => void,
) {
  const { system, store, log } = context
  const requestLogWork = createRequestLogWork(context, requestLog)
  const notifyOfUnits = () =>
    unitNotices.look(units.today()).catch(logError(log, "mails about used units were not queued"))
  const writeUsage = (): void => void flushFullBatches(usage).catch(logError(log, "usage was not written"))
  const intervals = createIntervals(system.runInterval, [
    [CHANGES_POLL_MS, pollChanges],
    [LAST_USE_FLUSH_MS, () => void keys.flush().catch(logError(log, "the last use of keys was not written"))],
    [
      KEY_NETWORKS_FLUSH_MS,
      () => void keyNetworks.flush().catch(logError(log, "the networks of keys were not written")),
    ],
    [USAGE_FLUSH_MS, writeUsage],
    [USAGE_FLUSH_MS, () => void units.maintain()],
    [USAGE_FLUSH_MS, () => void notifyOfUnits()],
    [REQUEST_LOG_FLUSH_MS, () => void requestLogWork.write()],
    [REQUEST_LOG_VISIT_MS, () => void requestLogWork.visit()],
    ...pruningIntervals(context, freeChecks),
  ])
  return {
    writeUsage,
    start: () => {
      intervals.start()
      store.onChange(pollChanges)
      nodes.start()
    },
    stop: intervals.stop,
  }
}

/** Writes logged requests, and deletes those that are too old or too many. Never rejects. */
function createRequestLogWork({ store, log, trustedTime }: StoreContext, requestLog: RequestLog | null) {
  const pruning = createRequestLogPruning(store, trustedTime, requestLog !== null)
  const write = async (): Promise<void> => {
    if (requestLog !== null) await pruning.trimBusy(await requestLog.flush())
  }
  return {
    write: () => write().catch(logError(log, "requests were not logged")),
    visit: () => pruning.visitNext().catch(logError(log, "old logged requests were not deleted")),
  }
}

/** Flushes until the buffer is empty. One flush writes a bounded batch. */
async function flushUntilEmpty(flush: () => Promise<number>): Promise<void> {
  while ((await flush()) > 0);
}

/** Flushes as long as batches are full. Usage that arrives meanwhile may wait for the next interval. */
async function flushFullBatches(usage: UsageMeter): Promise<void> {
  while ((await usage.flush()) === USAGE_METER_BOUNDS.rowsMax);
}

type UsageReportDeps = Pick<CustomersService, "keys" | "usage" | "tiers" | "units"> & {
  readonly store: Store
  readonly clock: System["clock"]
}

async function accountUsage(
  { store, usage, units, clock, tiers, keys: authenticator }: UsageReportDeps,
  { id, tier }: CallerAccount,
  day: number,
): Promise<Usage> {
  const { requestsPerSecond = null, inFlight = null, unitsPerDay = null } = tiers[tier] ?? {}
  const limits = {
    requestsPerSecond,
    inFlight,
    unitsPerDay,
    batchItemsMax: LIMITS.batchItemsMax,
    keysMax: LIMITS.keysPerAccountMax,
  }
  // The report shows the last use of keys up to now.
  await authenticator.flush()
  const keys = await listKeys(store, id, REPORTED_KEYS_MAX)
  const readRemaining: ReportedAccount["readRemaining"] = (of, perDay) =>
    units.readRemaining(typeof of === "string" ? unitSubject(id, of) : of.keyId, perDay)
  return await createUsageReport(usage, clock, { accountId: id, tier, limits, keys, readRemaining }, day)
}

type CoarseClocks = Pick<System, "clock" | "stopwatch"> & { readonly stop: () => void }

/** Clocks that are read every `COARSE_CLOCK_MS`: keys are cached for seconds, and reading the time costs more than finding a key. */
function coarseClocks(system: System): CoarseClocks {
  let nowMs = system.clock()
  let elapsedMs = system.stopwatch()
  const stop = system.runInterval(COARSE_CLOCK_MS, () => {
    nowMs = system.clock()
    elapsedMs = system.stopwatch()
  })
  return { clock: () => nowMs, stopwatch: () => elapsedMs, stop }
}
