import { lazy } from "../../base/lazy.ts"
import { type Log, logError } from "../../base/log.ts"
import type { LogMessage } from "../../base/log-events.ts"
import { Mutex } from "../../base/mutex.ts"
import { createIntervals, utcDay } from "../../base/time.ts"
import { candidateHosts } from "../../check/learned/candidate-hosts.ts"
import { hashDomain, LEARNED_BOUNDS, LearnedHosts, OBSERVATION_DAYS_MAX } from "../../check/learned/learned-hosts.ts"
import type { Pack } from "../../check/lists/pack/pack.ts"
import {
  OBSERVATIONS_PER_READ_MAX,
  OBSERVATIONS_PER_WRITE_MAX,
  OBSERVATIONS_START,
  pruneHostObservations,
  readHostObservations,
  writeHostObservations,
} from "../../customers/evidence/host-observations.ts"
import type { System } from "../../system/system.ts"
import type { StoreContext } from "../context.ts"

/** How often what was seen is written: a crash forgets no more than that. */
const WRITE_MS = 5000
/** How often the observations of other processes are read. */
const READ_MS = 120_000
/** How often is looked whether there are other lists. */
const RELIST_MS = 60_000
/** How many names of the lists are compared before other events are handled: a millisecond or two of a third of a second in all. */
const NAMES_PER_TICK = 1000
/** How often expired observations are deleted. */
const PRUNE_MS = 600_000

/**
 * Creates learned mail hosts over an open store, and the background work that synchronises them with it. The server does not wait for it:
 * until observations are read, no host is learned. `read` and `write` exchange observations with other processes, `relist` counts domains as
 * listed that lists name by now (one that was taken off stays listed until it is checked again), and `prune` deletes observations that are too
 * old or too many. None of them rejects: a failure is logged, and the next run continues there.
 */
export function createLearnedHostsService(
  { system, store, log, trustedTime }: Omit<StoreContext, "settings">,
  activePack: () => Pack,
) {
  const hosts = new LearnedHosts(LEARNED_BOUNDS, candidatesOnDemand())
  const today = (): number => utcDay(system.clock())
  const inBatches = createBatchRunner(system, log)
  let cursor = OBSERVATIONS_START
  let isStopping = false
  const read = inBatches("observations of mail hosts were not read", async () => {
    const page = await readHostObservations(store, cursor)
    hosts.load(page.observations, today())
    cursor = page.cursor
    return page.observations.length === OBSERVATIONS_PER_READ_MAX && !isStopping
  })
  const write = inBatches("observations of mail hosts were not written", async () => {
    const observations = hosts.unwritten(OBSERVATIONS_PER_WRITE_MAX)
    await writeHostObservations(store, observations)
    hosts.markWritten(observations)
    return observations.length === OBSERVATIONS_PER_WRITE_MAX
  })
  const relistNext = createRelisting(hosts, activePack, today)
  const relist = inBatches("listed domains were not compared", async () => !isStopping && relistNext())
  const prune = inBatches("old observations of mail hosts were not deleted", async () => {
    const retention = { rowsMax: LEARNED_BOUNDS.observationsMax, daysMax: OBSERVATION_DAYS_MAX }
    return (await pruneHostObservations(store, trustedTime.now(), retention)) > 0 && !isStopping
  })
  const intervals = createIntervals(system.runInterval, [
    [WRITE_MS, write],
    [READ_MS, read],
    [RELIST_MS, relist],
    [PRUNE_MS, prune],
  ])
  return {
    ...{ hosts, read, write, relist, prune },
    start: () => {
      void read()
      intervals.start()
    },
    stop: async () => {
      isStopping = true
      intervals.stop()
      await write()
    },
  }
}

/**
 * Returns a function that marks domains as listed which were seen on no list, by the next names of the lists; false: all names of these
 * lists were compared.
 */
function createRelisting(hosts: LearnedHosts, activePack: () => Pack, today: () => number): () => boolean {
  let version: string | null = null
  let names: Iterator<string> = [].values()
  return () => {
    const pack = activePack()
    if (pack.version !== version) names = pack.names()
    version = pack.version
    for (let count = 0; count < NAMES_PER_TICK; count++) {
      const { done, value: name } = names.next()
      if (done === true) return false
      const hash = hashDomain(name)
      // Only registrable domains are observed, so a name that was is registrable.
      if (hosts.isUnlisted(hash) && pack.match(name, name).has("disposable")) hosts.markListed(hash, today())
    }
    return true
  }
}

/**
 * Returns a function that wraps work on one batch so that it is repeated while there is more. Other events are handled between
 * two batches, but no other batch work of this runner: two concurrent reads would read the same rows.
 */
function createBatchRunner({ nextTick }: System, log: Log) {
  const mutex = new Mutex()
  return (failureMessage: LogMessage, runBatch: () => Promise<boolean>) => (): Promise<void> =>
    mutex.runExclusive(async () => {
      try {
        while (await runBatch()) await new Promise<void>(resolve => nextTick(resolve))
      } catch (error) {
        logError(log, failureMessage)(error)
      }
    })
}

/** The candidates, parsed on the first question: their names are split by the Public Suffix List, which a start does not wait for. */
function candidatesOnDemand(): Pick<ReadonlySet<string>, "has"> {
  const candidates = lazy(candidateHosts)
  return { has: key => candidates().has(key) }
}
