/** What leaves garbage: rows that are checked, those of them for which the network is asked, and bytes that are read or written. */
export type WorkCounts = { readonly rows: number; readonly lookups: number; readonly bytes: number }

/** What is counted of checked rows. */
export type CheckedCounts = Pick<WorkCounts, "rows" | "lookups">

/** How much of anything is done between two collections: of the young garbage alone, and of all of it. */
export type CollectionBounds = { readonly young: WorkCounts; readonly all: WorkCounts }

/** The bytes of garbage that a row leaves which is read and not checked. */
export const READ_ROW_BYTES = 100

/** The bound of what does not count. */
export const NEVER = Number.POSITIVE_INFINITY

const NO_WORK: WorkCounts = { rows: 0, lookups: 0, bytes: 0 }

const sum = (one: WorkCounts, other: WorkCounts): WorkCounts => ({
  rows: one.rows + other.rows,
  lookups: one.lookups + other.lookups,
  bytes: one.bytes + other.bytes,
})

const reaches = (done: WorkCounts, bound: WorkCounts): boolean =>
  done.rows >= bound.rows || done.lookups >= bound.lookups || done.bytes >= bound.bytes

/** Counts work and collects garbage when it is time. */
export function createCollector(
  collectGarbage: (isAll: boolean) => void,
  boundsNow: () => CollectionBounds,
): (done: Partial<WorkCounts>) => void {
  let sinceYoung = NO_WORK
  let sinceAll = NO_WORK
  return part => {
    const done = { ...NO_WORK, ...part }
    sinceYoung = sum(sinceYoung, done)
    sinceAll = sum(sinceAll, done)
    const bounds = boundsNow()
    const isAll = reaches(sinceAll, bounds.all)
    if (!isAll && !reaches(sinceYoung, bounds.young)) return
    sinceYoung = NO_WORK
    if (isAll) sinceAll = NO_WORK
    collectGarbage(isAll)
  }
}

/** The memory of a process: what it has resident, and what it may have, with all others of its control group or of the machine. */
export type ProcessMemory = { readonly residentBytes: () => number; readonly limitBytes: () => number }

const MEGABYTE = 1_000_000
/** The memory that a command may have, in megabytes. With less than the least it would only collect: the program itself takes 120. */
export const MEMORY_MB = { least: 120, default: 220, most: 65_536 } as const
/** What may be taken of a small machine or control group: 150 MB of 256 MiB. */
const SHARE_OF_LIMIT = 0.55

/** The megabytes that a command may have unless somebody says otherwise. */
export const defaultMemoryMb = ({ limitBytes }: ProcessMemory): number =>
  Math.max(MEMORY_MB.least, Math.min(MEMORY_MB.default, Math.floor((limitBytes() * SHARE_OF_LIMIT) / MEGABYTE)))

/** How many processes with so much memory the machine or the control group has room for, at least one. */
export const processesWithin = (memoryMb: number, { limitBytes }: ProcessMemory): number =>
  Math.max(1, Math.floor((limitBytes() * SHARE_OF_LIMIT) / (memoryMb * MEGABYTE)))

/** The shares of the memory of a command above which it collects its young garbage, and all of it. */
const YOUNG_SHARE = 0.8
const ALL_SHARE = 0.92

/** While there is room, the runtime's own collections do. */
const ROOM: CollectionBounds = {
  young: { rows: NEVER, lookups: NEVER, bytes: NEVER },
  all: { rows: NEVER, lookups: NEVER, bytes: NEVER },
}
const LITTLE_ROOM: CollectionBounds = { ...ROOM, young: { ...ROOM.young, rows: 10_000 } }
/**
 * What is left behind at such rates is collected at least. The runtime's own collections keep whatever is under way in them, and forget it only
 * in a complete one: a list of 100 000 unknown domains took 640 MB without those after look-ups.
 */
const NO_ROOM: CollectionBounds = {
  young: { ...ROOM.young, rows: 2500 },
  all: { ...ROOM.all, rows: 20_000, lookups: 10_000 },
}

/** Counts work, and collects garbage when a process has nearly the memory that it may have (DECISIONS 166). */
export function createMemoryCollector(
  { collectGarbage, memory: { residentBytes } }: CollectorDeps,
  memoryMb: number,
): (done: CheckedCounts) => void {
  const bytesMax = memoryMb * MEGABYTE
  return createCollector(collectGarbage, () => {
    const taken = residentBytes() / bytesMax
    return taken < YOUNG_SHARE ? ROOM : taken < ALL_SHARE ? LITTLE_ROOM : NO_ROOM
  })
}

/** What collecting by memory needs. */
export type CollectorDeps = {
  /** Collects garbage: all of it, or only young objects, which is quick. */
  readonly collectGarbage: (isAll: boolean) => void
  readonly memory: ProcessMemory
}
