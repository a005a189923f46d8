import { type Log, logError } from "../../base/log.ts"
import { createIntervals } from "../../base/time.ts"
import type { Settings } from "../../config/settings.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Usage } from "../../contract/usage-schema.ts"
import { CorrectionCache } from "../../customers/feedback/correction-cache.ts"
import { type FeedbackReport, type FeedbackReportResult, recordFeedback } from "../../customers/feedback/feedback.ts"
import { createFreeChecks, type FreeChecks } from "../../customers/free-checks/free-checks.ts"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "../../customers/keys/key-authenticator.ts"
import type { CallerAccount } from "../../customers/keys/key-cache.ts"
import { listKeys } from "../../customers/keys/keys.ts"
import { AllowedOrigins } from "../../customers/keys/origins.ts"
import { Heartbeat } from "../../customers/nodes/heartbeat.ts"
import { NODE_BOUNDS } from "../../customers/nodes/live-nodes.ts"
import { OWN_LIST_CACHE_BOUNDS, OwnListCache } from "../../customers/own-lists/own-list-cache.ts"
import {
  type CallerLimits,
  createLocalLimits,
  createNodeLimits,
  NodeShare,
} from "../../customers/quota/caller-limits.ts"
import { type TierLimits, tierLimits } from "../../customers/quota/tier-limits.ts"
import {
  SHARED_UNIT_QUOTA_BOUNDS,
  UNIT_QUOTA_BOUNDS,
  UnitQuota,
  type UnitQuotaBounds,
} from "../../customers/quota/units/unit-quota.ts"
import { type Change, latestChangeId } from "../../customers/store/change-log/change-log.ts"
import { type ChangeListener, createChangePoller } from "../../customers/store/change-log/change-poller.ts"
import { newId } from "../../customers/store/core/id.ts"
import type { OpenStore, Store } from "../../customers/store/core/store.ts"
import { TermsCache } from "../../customers/terms/terms-cache.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "../../customers/usage/usage-meter.ts"
import { createUsageReport } from "../../customers/usage/usage-report.ts"
import { createUsagePruning } from "../../customers/usage/usage-rows.ts"
import type { System } from "../../system/system.ts"

/** How often this process looks for what others changed: how long a revocation elsewhere goes unnoticed. */
const CHANGES_POLL_MS = 2000
/** How precise the age of a held key and the time of its last use are. */
const COARSE_CLOCK_MS = 100
/** How often the last use of keys is written: as often as usage, beside which it is told. */
const LAST_USE_FLUSH_MS = 1000
/** How often usage is written, and units that lie idle are given back. */
const USAGE_FLUSH_MS = 1000
/** How often some of the usage that is too old to be told is deleted. */
const USAGE_PRUNE_MS = 60_000
/** How often what is over of free checks is deleted: passes, bans, and what clients had on days before. */
const FREE_CHECKS_PRUNE_MS = 600_000
/** How many keys a report of usage looks at: the active ones and the latest revoked. */
const REPORTED_KEYS_MAX = 100

/** Everything that callers are known, admitted and metered by. */
export type CustomersService = CallerLimits & {
  readonly keys: KeyAuthenticator
  readonly knownOrigins: AllowedOrigins
  readonly terms: TermsCache
  readonly tiers: readonly TierLimits[]
  readonly units: UnitQuota
  readonly usage: UsageMeter
  readonly ownLists: OwnListCache
  readonly corrections: CorrectionCache
  /** How many nodes share the limits of callers, this one included. */
  readonly nodesCount: () => number
  /** Null: the operator offers none. */
  readonly freeChecks: FreeChecks | null
  readonly usageOf: (account: CallerAccount) => Promise<Usage>
  readonly report: (report: FeedbackReport) => Promise<FeedbackReportResult>
  /** Tells all that is in memory of changes that this process made. */
  readonly publishChanges: (changes: readonly Change[]) => void
  /** Learns now what other processes changed; it is learnt some time later anyway. */
  readonly pollChanges: () => void
  /** Starts what is done in the background. */
  readonly start: () => void
  /** Ends it, writes what is held, and gives back what was leased. The store is still open. */
  readonly stop: () => Promise<void>
}

/** What a process has in common with others that serve the same callers. */
export type SharedCallerState = {
  readonly limits: CallerLimits
  /** What all of them together are counted by among the nodes over one database. */
  readonly nodeId: string
  /** Tells the others that this process made changes. */
  readonly notifyChange: () => void
}

/** Builds all of it over an open store, and reads what requests must find in memory. `shared` null: nobody else serves. */
export async function createCustomersService(
  system: System,
  settings: Settings,
  store: OpenStore,
  log: Log,
  shared: SharedCallerState | null = null,
): Promise<CustomersService> {
  const { clock, random } = system
  const coarse = coarseClocks(system)
  const failed = (says: string) => logError(log, says)
  const nodes = await createNodeService(system, settings, store, log, shared)
  const parts = {
    keys: new KeyAuthenticator(store, coarse.clock, coarse.stopwatch, KEY_AUTHENTICATOR_BOUNDS),
    knownOrigins: new AllowedOrigins(store, coarse.stopwatch),
    terms: new TermsCache(store, clock, failed("terms were not read")),
    tiers: tierLimits(settings.MAILKIND_TIERS),
    ...nodes.limits,
    nodesCount: nodes.nodesCount,
    units: new UnitQuota(store, clock, unitsBounds(settings), failed("units were not leased ahead, or not given back")),
    usage: new UsageMeter(store, clock, () => void system.setTimer(0, () => works.writeUsage()), USAGE_METER_BOUNDS),
    ownLists: new OwnListCache(store, OWN_LIST_CACHE_BOUNDS),
    corrections: new CorrectionCache(store, system.setTimer, failed("corrections were not read")),
  }
  const { keys, terms, ownLists, corrections } = parts
  const all = { ...parts, freeChecks: freeChecksFor(system, settings, store, parts) }
  const followers = [keys, terms, corrections, ownLists, unitsInvalidator(parts.units)]
  const publishChanges = createChangePublisher(followers, shared)
  const since = await latestChangeId(store)
  await Promise.all([terms.load(), corrections.load(), ownLists.load()])
  const pollChanges = createChangePoller(store, followers, since, failed("changes of other processes were not read"))
  const works = createBackgroundWork(system, store, { ...all, nodes }, pollChanges, failed)
  return {
    ...all,
    usageOf: account => accountUsage({ ...parts, store, clock }, account),
    report: report => recordFeedback({ store, clock, notify: publishChanges }, random, report),
    publishChanges,
    pollChanges,
    start: works.begin,
    stop: async () => {
      works.end()
      coarse.end()
      corrections.stop()
      await flushAll({ ...parts, nodes }, failed)
    },
  }
}

/** Tells all who hold anything of what changed, and has other workers look. */
const createChangePublisher =
  (followers: readonly ChangeListener[], shared: { readonly notifyChange: () => void } | null) =>
  (changes: readonly Change[]): void => {
    for (const follower of followers) follower.applyChanges(changes)
    shared?.notifyChange()
  }

/** No change is about units; but another database than before knows nothing of those in hand. */
const unitsInvalidator = (units: UnitQuota): ChangeListener => ({
  applyChanges: () => undefined,
  invalidateAll: () => units.discardAll(),
})

const unitsBounds = ({ MAILKIND_DATABASE_URL: url }: Settings): UnitQuotaBounds =>
  url === null ? UNIT_QUOTA_BOUNDS : SHARED_UNIT_QUOTA_BOUNDS

type WithNodes = { readonly nodes: NodeService }

/** Has other nodes take over, writes what is held and gives back what was leased. A database that is away keeps nobody from ending. */
async function flushAll(
  { keys, usage, units, nodes }: Pick<CustomersService, "keys" | "usage" | "units"> & WithNodes,
  failed: (says: string) => (error: unknown) => void,
): Promise<void> {
  await nodes.stop()
  await flushUntilEmpty(() => keys.flush()).catch(failed("the last use of keys is lost"))
  await flushUntilEmpty(() => usage.flush()).catch(failed("usage that was not written is lost"))
  await units.releaseAll()
}

/** The checks without a key for the visitors of the first page; null: the operator offers none. */
function freeChecksFor(
  { clock, random }: System,
  { MAILKIND_FREE_CHECKS_PER_DAY: perDay }: Settings,
  store: Store,
  { keyless: rates, units }: Pick<CustomersService, "keyless" | "units">,
): FreeChecks | null {
  return perDay === "off" ? null : createFreeChecks({ store, clock, random, rates, units, perDay })
}

/** What is done in the background, each piece of work by its time. */
function createBackgroundWork(
  system: System,
  store: OpenStore,
  {
    keys,
    usage,
    units,
    freeChecks,
    nodes,
  }: Pick<CustomersService, "keys" | "usage" | "units" | "freeChecks"> & WithNodes,
  readChanges: () => void,
  failed: (says: string) => (error: unknown) => void,
) {
  const prune = createUsagePruning(store, system.clock)
  const writeUsage = (): void => void flushFullBatches(usage).catch(failed("usage was not written"))
  const repeated = createIntervals(system.runInterval, [
    [CHANGES_POLL_MS, readChanges],
    [LAST_USE_FLUSH_MS, () => void keys.flush().catch(failed("the last use of keys was not written"))],
    [USAGE_FLUSH_MS, writeUsage],
    [USAGE_FLUSH_MS, () => void units.maintain()],
    [USAGE_PRUNE_MS, () => void prune().catch(failed("old usage was not deleted"))],
    [FREE_CHECKS_PRUNE_MS, () => void freeChecks?.prune().catch(failed("what is over of free checks was not deleted"))],
  ])
  return {
    writeUsage,
    begin: () => {
      repeated.start()
      store.onChange(readChanges)
      nodes.start()
    },
    end: repeated.stop,
  }
}

/** Writes all that is held. A flush writes a bounded batch, so there may be another. */
async function flushUntilEmpty(flush: () => Promise<number>): Promise<void> {
  while ((await flush()) > 0);
}

/** Writes what was counted until now; what comes meanwhile may wait for the next time. */
async function flushFullBatches(usage: UsageMeter): Promise<void> {
  while ((await usage.flush()) === USAGE_METER_BOUNDS.rowsMax);
}

type UsageReportDeps = Pick<CustomersService, "keys" | "usage" | "tiers"> & {
  readonly store: Store
  readonly clock: System["clock"]
}

async function accountUsage(
  { store, usage, clock, tiers, keys: ring }: UsageReportDeps,
  { id, tier }: CallerAccount,
): Promise<Usage> {
  const { requestsPerSecond = null, inFlight = null, unitsPerDay = null } = tiers[tier] ?? {}
  const limits = {
    requestsPerSecond,
    inFlight,
    unitsPerDay,
    batchItemsMax: LIMITS.batchItemsMax,
    keysMax: LIMITS.keysPerAccountMax,
  }
  // When a key was last used is told as of now.
  await ring.flush()
  const keys = await listKeys(store, id, REPORTED_KEYS_MAX)
  return await createUsageReport(usage, clock, { accountId: id, tier, limits, keys })
}

/** Clocks that are read every `COARSE_MS` only: keys are held for seconds, and asking the time is dearer than finding one. */
function coarseClocks(system: System): Pick<System, "clock" | "stopwatch"> & { readonly end: () => void } {
  let [time, passed] = [system.clock(), system.stopwatch()]
  const end = system.runInterval(COARSE_CLOCK_MS, () => {
    time = system.clock()
    passed = system.stopwatch()
  })
  return { clock: () => time, stopwatch: () => passed, end }
}

/** This server among those that share its database. */
type NodeService = {
  /** What this one admits of what all may together. */
  readonly limits: CallerLimits
  /** How many there are, this one included. */
  readonly nodesCount: () => number
  /** Has the others count this one from now on; to be called when it serves. */
  readonly start: () => void
  /** Has them count it no more. It never rejects. */
  readonly stop: () => Promise<void>
}

/**
 * Looks how many nodes there are, and from then on admits this node's share of what callers may. Where the database is a file
 * nobody else has it, and nothing of this is done. `shared` null: this process is a node by itself.
 */
async function createNodeService(
  system: System,
  settings: Settings,
  store: OpenStore,
  log: Log,
  shared: { readonly limits: CallerLimits; readonly nodeId: string } | null,
): Promise<NodeService> {
  const limits = shared?.limits ?? createLocalLimits(system.clock)
  if (settings.MAILKIND_DATABASE_URL === null)
    return { limits, nodesCount: () => 1, start: () => undefined, stop: async () => undefined }
  const share = new NodeShare()
  let nodesCount = 1
  const heart = new Heartbeat(
    {
      store,
      stopwatch: system.stopwatch,
      id: shared?.nodeId ?? newId("node", system.random),
      onChange: standing => {
        share.setPosition(standing)
        if (standing.count !== nodesCount) log("info", "so many nodes share the limits now", { nodes: standing.count })
        nodesCount = standing.count
      },
      onError: logError(log, "the heartbeats of nodes were not read or written"),
    },
    NODE_BOUNDS,
  )
  await heart.load()
  const repeated = createIntervals(system.runInterval, [[NODE_BOUNDS.intervalMs, () => heart.tick()]])
  return {
    limits: createNodeLimits(limits, share),
    nodesCount: () => nodesCount,
    start: () => {
      repeated.start()
      store.onChange(() => heart.refresh())
      heart.tick()
    },
    stop: async () => {
      repeated.stop()
      await heart
        .stop()
        .catch(logError(log, "the heartbeat of this node was not taken back: it counts until others miss it"))
    },
  }
}
