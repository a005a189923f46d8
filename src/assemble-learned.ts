import { failing, type Log } from "./base/log.ts"
import { repeating } from "./base/repeating.ts"
import { dayOf } from "./base/utc-day.ts"
import { LEARNED_BOUNDS, LearnedHosts, SIGHTING_DAYS_MAX } from "./check/learned/learned-hosts.ts"
import {
  NOTHING_READ,
  pruneSightings,
  READ_MAX,
  sightingsAfter,
  WRITTEN_MAX,
  writeSightings,
} from "./customers/sightings/host-sightings.ts"
import type { Store } from "./customers/store/store.ts"
import { Turns } from "./customers/store/turns.ts"
import type { World } from "./world.ts"

/** How often what was seen is written: a crash forgets no more than that. */
const WRITE_MS = 5000
/** How often what other processes saw is read. */
const READ_MS = 120_000
/** How often rows that are not kept any more are deleted. */
const PRUNE_MS = 600_000

/** The mail hosts that are learned, and the work that keeps them with the store. */
export type LearnedAtWork = {
  readonly hosts: LearnedHosts
  /** Starts to read what is stored, in the background, and all that is done there from then on. */
  readonly begin: () => void
  /** Reads what this process has not read yet. It never rejects: a failure is logged, and the next turn goes on there. */
  readonly read: () => Promise<void>
  /** Writes what is not written yet. It never rejects, and what could not be written is written the next time. */
  readonly write: () => Promise<void>
  /** Deletes what is too old, and what is too much. It never rejects. */
  readonly prune: () => Promise<void>
  /** Ends the work, and writes what is held. The store is still open. */
  readonly end: () => Promise<void>
}

/** Builds learned hosts over an open store. A start waits for none of it: until they are read, nothing is learned. */
export function learnedAtWork(world: World, store: Store, log: Log): LearnedAtWork {
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  const today = (): number => dayOf(world.clock())
  const piecewise = inPieces(world, log)
  let upTo = NOTHING_READ
  let isEnding = false
  const read = piecewise("what others saw of mail hosts was not read", async () => {
    const page = await sightingsAfter(store, upTo)
    hosts.load(page.sightings, today())
    upTo = page.upTo
    return page.sightings.length === READ_MAX && !isEnding
  })
  const write = piecewise("what was seen of mail hosts was not written", async () => {
    const sightings = hosts.unwritten(WRITTEN_MAX)
    await writeSightings(store, sightings)
    hosts.wrote(sightings)
    return sightings.length === WRITTEN_MAX
  })
  const prune = piecewise("what was seen of mail hosts long ago was not deleted", async () => {
    const kept = { rowsMax: LEARNED_BOUNDS.sightingsMax, fromDay: today() - SIGHTING_DAYS_MAX }
    return (await pruneSightings(store, kept)) > 0 && !isEnding
  })
  const repeated = repeating(world.every, [
    [WRITE_MS, () => void write()],
    [READ_MS, () => void read()],
    [PRUNE_MS, () => void prune()],
  ])
  return {
    hosts,
    begin: () => {
      void read()
      repeated.begin()
    },
    read,
    write,
    prune,
    end: async () => {
      isEnding = true
      repeated.end()
      await write()
    },
  }
}

/**
 * Builds works that are done piece by piece, as long as a piece says that there is more: between two of them everything
 * else has its turn, but no other of these works has, since two readings at once would read the same.
 */
function inPieces({ soon }: World, log: Log) {
  const turns = new Turns()
  return (failure: string, piece: () => Promise<boolean>) => (): Promise<void> =>
    turns.take(async () => {
      try {
        while (await piece()) await new Promise<void>(resume => soon(resume))
      } catch (error) {
        failing(log, failure)(error)
      }
    })
}
