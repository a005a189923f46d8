import { type NodesAtWork, nodesAtWork } from "./assemble-nodes.ts"
import { failing, type Log } from "./base/log.ts"
import { repeating } from "./base/repeating.ts"
import type { Settings } from "./config/settings.ts"
import { LIMITS } from "./contract/limits.ts"
import type { Usage } from "./contract/usage-schema.ts"
import { Corrections } from "./customers/feedback/corrections.ts"
import { type Report, type Reporting, reportVerdict } from "./customers/feedback/feedback.ts"
import { type FreeChecks, freeChecks } from "./customers/free-checks/free-checks.ts"
import type { HeldAccount } from "./customers/keys/held-keys.ts"
import { KEY_RING_BOUNDS, KeyRing } from "./customers/keys/key-ring.ts"
import { listKeys } from "./customers/keys/keys.ts"
import { KnownOrigins } from "./customers/keys/known-origins.ts"
import { OWN_LISTS_BOUNDS, OwnLists } from "./customers/own-lists/held-own-lists.ts"
import type { CallerLimits } from "./customers/quota/caller-limits.ts"
import { type TierLimits, tierLimits } from "./customers/quota/tier-limits.ts"
import { Units } from "./customers/quota/units.ts"
import { SHARED_UNITS_BOUNDS, UNITS_BOUNDS, type UnitsBounds } from "./customers/quota/units-bounds.ts"
import { changeReader, type Follower } from "./customers/store/change-reader.ts"
import { type Change, latestChange } from "./customers/store/changes.ts"
import type { OpenStore, Store } from "./customers/store/store.ts"
import { HeldTerms } from "./customers/terms/held-terms.ts"
import { USAGE_METER_BOUNDS, UsageMeter } from "./customers/usage/usage-meter.ts"
import { usageReport } from "./customers/usage/usage-report.ts"
import { usagePruning } from "./customers/usage/usage-rows.ts"
import type { World } from "./world.ts"

/** How often this process looks for what others changed: how long a revocation elsewhere goes unnoticed. */
const CHANGES_POLL_MS = 2000
/** How precise the age of a held key and the time of its last use are. */
const COARSE_MS = 100
/** How often the last use of keys is written: as often as usage, beside which it is told. */
const LAST_USE_FLUSH_MS = 1000
/** How often usage is written, and units that lie idle are given back. */
const USAGE_FLUSH_MS = 1000
/** How often some of the usage that is too old to be told is deleted. */
const PRUNE_MS = 60_000
/** How often what is over of free checks is deleted: passes, bans, and what clients had on days before. */
const FREE_PRUNE_MS = 600_000
/** How many keys a report of usage looks at: the active ones and the latest revoked. */
const KEYS_REPORTED_MAX = 100

/** Everything that callers are known, admitted and metered by. */
export type CustomersAtWork = CallerLimits & {
  readonly keys: KeyRing
  readonly knownOrigins: KnownOrigins
  readonly terms: HeldTerms
  readonly tiers: readonly TierLimits[]
  readonly units: Units
  readonly usage: UsageMeter
  readonly ownLists: OwnLists
  readonly corrections: Corrections
  /** How many nodes share the limits of callers, this one included. */
  readonly nodesCount: () => number
  /** Null: the operator offers none. */
  readonly freeChecks: FreeChecks | null
  readonly usageOf: (account: HeldAccount) => Promise<Usage>
  readonly report: (report: Report) => Promise<Reporting>
  /** Tells all that is in memory of changes that this process made. */
  readonly hear: (changes: readonly Change[]) => void
  /** Learns now what other processes changed; it is learnt some time later anyway. */
  readonly readChanges: () => void
  /** Starts what is done in the background. */
  readonly begin: () => void
  /** Ends it, writes what is held, and gives back what was leased. The store is still open. */
  readonly end: () => Promise<void>
}

/** What a process has in common with others that serve the same callers. */
export type Shared = {
  readonly limits: CallerLimits
  /** What all of them together are counted by among the nodes over one database. */
  readonly nodeId: string
  /** Tells the others that this process made changes. */
  readonly changed: () => void
}

/** Builds all of it over an open store, and reads what requests must find in memory. `shared` null: nobody else serves. */
export async function customersAtWork(
  world: World,
  settings: Settings,
  store: OpenStore,
  log: Log,
  shared: Shared | null = null,
): Promise<CustomersAtWork> {
  const { clock, random } = world
  const coarse = coarsely(world)
  const failed = (says: string) => failing(log, says)
  const nodes = await nodesAtWork(world, settings, store, log, shared)
  const parts = {
    keys: new KeyRing(store, coarse.clock, coarse.stopwatch, KEY_RING_BOUNDS),
    knownOrigins: new KnownOrigins(store, coarse.stopwatch),
    terms: new HeldTerms(store, clock, failed("terms were not read")),
    tiers: tierLimits(settings.MAILKIND_TIERS),
    ...nodes.limits,
    nodesCount: nodes.nodesCount,
    units: new Units(store, clock, unitsBoundsOf(settings), failed("units were not leased ahead, or not given back")),
    usage: new UsageMeter(store, clock, () => void world.later(0, () => works.writeUsage()), USAGE_METER_BOUNDS),
    ownLists: new OwnLists(store, OWN_LISTS_BOUNDS),
    corrections: new Corrections(store, world.later, failed("corrections were not read")),
  }
  const { keys, terms, ownLists, corrections } = parts
  const all = { ...parts, freeChecks: freeChecksOf(world, settings, store, parts) }
  const followers = [keys, terms, corrections, ownLists, forgetting(parts.units)]
  const hear = tellingAll(followers, shared)
  const since = await latestChange(store)
  await Promise.all([terms.load(), corrections.load(), ownLists.load()])
  const readChanges = changeReader(store, followers, since, failed("changes of other processes were not read"))
  const works = background(world, store, { ...all, nodes }, readChanges, failed)
  return {
    ...all,
    usageOf: account => usageOf({ ...parts, store, clock }, account),
    report: report => reportVerdict({ store, clock, hear }, random, report),
    hear,
    readChanges,
    begin: works.begin,
    end: async () => {
      works.end()
      coarse.end()
      corrections.stop()
      await putAway({ ...parts, nodes }, failed)
    },
  }
}

/** Tells all who hold anything of what changed, and has other workers look. */
const tellingAll =
  (followers: readonly Follower[], shared: { readonly changed: () => void } | null) =>
  (changes: readonly Change[]): void => {
    for (const follower of followers) follower.apply(changes)
    shared?.changed()
  }

/** No change is about units; but another database than before knows nothing of those in hand. */
const forgetting = (units: Units): Follower => ({ apply: () => undefined, forget: () => units.forget() })

const unitsBoundsOf = ({ MAILKIND_DATABASE_URL: url }: Settings): UnitsBounds =>
  url === null ? UNITS_BOUNDS : SHARED_UNITS_BOUNDS

type Served = { readonly nodes: NodesAtWork }

/** Has other nodes take over, writes what is held and gives back what was leased. A database that is away keeps nobody from ending. */
async function putAway(
  { keys, usage, units, nodes }: Pick<CustomersAtWork, "keys" | "usage" | "units"> & Served,
  failed: (says: string) => (error: unknown) => void,
): Promise<void> {
  await nodes.end()
  await writtenAtLast(() => keys.flush()).catch(failed("the last use of keys is lost"))
  await writtenAtLast(() => usage.flush()).catch(failed("usage that was not written is lost"))
  await units.release()
}

/** The checks without a key for the visitors of the first page; null: the operator offers none. */
function freeChecksOf(
  { clock, random }: World,
  { MAILKIND_FREE_CHECKS_PER_DAY: perDay }: Settings,
  store: Store,
  { keyless: rates, units }: Pick<CustomersAtWork, "keyless" | "units">,
): FreeChecks | null {
  return perDay === "off" ? null : freeChecks({ store, clock, random, rates, units, perDay })
}

/** What is done in the background, each piece of work by its time. */
function background(
  world: World,
  store: OpenStore,
  { keys, usage, units, freeChecks, nodes }: Pick<CustomersAtWork, "keys" | "usage" | "units" | "freeChecks"> & Served,
  readChanges: () => void,
  failed: (says: string) => (error: unknown) => void,
) {
  const prune = usagePruning(store, world.clock)
  const writeUsage = (): void => void writtenOut(usage).catch(failed("usage was not written"))
  const repeated = repeating(world.every, [
    [CHANGES_POLL_MS, readChanges],
    [LAST_USE_FLUSH_MS, () => void keys.flush().catch(failed("the last use of keys was not written"))],
    [USAGE_FLUSH_MS, writeUsage],
    [USAGE_FLUSH_MS, () => void units.tidy()],
    [PRUNE_MS, () => void prune().catch(failed("old usage was not deleted"))],
    [FREE_PRUNE_MS, () => void freeChecks?.prune().catch(failed("what is over of free checks was not deleted"))],
  ])
  return {
    writeUsage,
    begin: () => {
      repeated.begin()
      store.onChange(readChanges)
      nodes.begin()
    },
    end: repeated.end,
  }
}

/** Writes all that is held. A flush writes a bounded batch, so there may be another. */
async function writtenAtLast(flush: () => Promise<number>): Promise<void> {
  while ((await flush()) > 0);
}

/** Writes what was counted until now; what comes meanwhile may wait for the next time. */
async function writtenOut(usage: UsageMeter): Promise<void> {
  while ((await usage.flush()) === USAGE_METER_BOUNDS.rowsMax);
}

type Reported = Pick<CustomersAtWork, "keys" | "usage" | "tiers"> & {
  readonly store: Store
  readonly clock: World["clock"]
}

async function usageOf(
  { store, usage, clock, tiers, keys: ring }: Reported,
  { id, tier }: HeldAccount,
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
  const keys = await listKeys(store, id, KEYS_REPORTED_MAX)
  return await usageReport(usage, clock, { accountId: id, tier, limits, keys })
}

/** Clocks that are read every `COARSE_MS` only: keys are held for seconds, and asking the time is dearer than finding one. */
function coarsely(world: World): Pick<World, "clock" | "stopwatch"> & { readonly end: () => void } {
  let [time, passed] = [world.clock(), world.stopwatch()]
  const end = world.every(COARSE_MS, () => {
    time = world.clock()
    passed = world.stopwatch()
  })
  return { clock: () => time, stopwatch: () => passed, end }
}
