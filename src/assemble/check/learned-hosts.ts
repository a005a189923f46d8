import { type Log, logError } from "../../base/log.ts"
import { Mutex } from "../../base/mutex.ts"
import { createIntervals, utcDay } from "../../base/time.ts"
import { LEARNED_BOUNDS, LearnedHosts, OBSERVATION_DAYS_MAX } from "../../check/learned/learned-hosts.ts"
import {
  OBSERVATIONS_PER_READ_MAX,
  OBSERVATIONS_PER_WRITE_MAX,
  OBSERVATIONS_START,
  pruneHostObservations,
  readHostObservations,
  writeHostObservations,
} from "../../customers/evidence/host-observations.ts"
import type { Store } from "../../customers/store/core/store.ts"
import type { System } from "../../system/system.ts"

/** How often what was seen is written: a crash forgets no more than that. */
const WRITE_MS = 5000
/** How often what other processes saw is read. */
const READ_MS = 120_000
/** How often rows that are not kept any more are deleted. */
const PRUNE_MS = 600_000

/** The mail hosts that are learned, and the work that keeps them with the store. */
export type LearnedHostsService = {
  readonly hosts: LearnedHosts
  /** Starts to read what is stored, in the background, and all that is done there from then on. */
  readonly start: () => void
  /** Reads what this process has not read yet. It never rejects: a failure is logged, and the next turn goes on there. */
  readonly read: () => Promise<void>
  /** Writes what is not written yet. It never rejects, and what could not be written is written the next time. */
  readonly write: () => Promise<void>
  /** Deletes what is too old, and what is too much. It never rejects. */
  readonly prune: () => Promise<void>
  /** Ends the work, and writes what is held. The store is still open. */
  readonly stop: () => Promise<void>
}

/** Builds learned hosts over an open store. A start waits for none of it: until they are read, nothing is learned. */
export function createLearnedHostsService(system: System, store: Store, log: Log): LearnedHostsService {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  const today = (): number => utcDay(system.clock())
  const piecewise = createBatchRunner(system, log)
  let upTo = OBSERVATIONS_START
  let isEnding = false
  const read = piecewise("what others saw of mail hosts was not read", async () => {
    const page = await readHostObservations(store, upTo)
    hosts.load(page.observations, today())
    upTo = page.cursor
    return page.observations.length === OBSERVATIONS_PER_READ_MAX && !isEnding
  })
  const write = piecewise("what was seen of mail hosts was not written", async () => {
    const sightings = hosts.unwritten(OBSERVATIONS_PER_WRITE_MAX)
    await writeHostObservations(store, sightings)
    hosts.markWritten(sightings)
    return sightings.length === OBSERVATIONS_PER_WRITE_MAX
  })
  const prune = piecewise("what was seen of mail hosts long ago was not deleted", async () => {
    const kept = { rowsMax: LEARNED_BOUNDS.sightingsMax, fromDay: today() - OBSERVATION_DAYS_MAX }
    return (await pruneHostObservations(store, kept)) > 0 && !isEnding
  })
  const repeated = createIntervals(system.runInterval, [
    [WRITE_MS, () => void write()],
    [READ_MS, () => void read()],
    [PRUNE_MS, () => void prune()],
  ])
  return {
    hosts,
    start: () => {
      void read()
      repeated.start()
    },
    read,
    write,
    prune,
    stop: async () => {
      isEnding = true
      repeated.stop()
      await write()
    },
  }
}

/**
 * Builds works that are done piece by piece, as long as a piece says that there is more: between two of them everything
 * else has its turn, but no other of these works has, since two readings at once would read the same.
 */
function createBatchRunner({ nextTick }: System, log: Log) {
  const turns = new Mutex()
  return (failure: string, piece: () => Promise<boolean>) => (): Promise<void> =>
    turns.runExclusive(async () => {
      try {
        while (await piece()) await new Promise<void>(resume => nextTick(resume))
      } catch (error) {
        logError(log, failure)(error)
      }
    })
}
