import type { Clock } from "../../base/outside-world.ts"
import type { Folder } from "./refresh-state.ts"

/** The longest that a refresh holds its turn: well above what its downloads and the making of a pack may take. */
const LOCK_MAX_MS = 15 * 60_000
const LOCK_FILE = "turn.lock"
/** Who holds this one ends a turn that is over. */
const TAKEOVER_LOCK_FILE = "turn.end.lock"

/** Who takes turns: processes of one host. */
export type RefreshLockDeps = {
  readonly folder: Folder
  readonly clock: Clock
  readonly pid: number
  /** Whether a process runs on this host. */
  readonly isRunning: (pid: number) => boolean
}

/**
 * Does the work while no other process does such work on the folder; null: another one does. A turn whose process is gone,
 * or that is older than any refresh, is over.
 */
export async function withRefreshLock<T>(
  { folder, clock, pid, isRunning }: RefreshLockDeps,
  work: () => Promise<T>,
): Promise<T | null> {
  const mine = `${pid} ${clock()}\n`
  const isOver = (held: string): boolean => {
    const [holder = 0, sinceMs = 0] = held.split(" ").map(Number)
    return !isRunning(holder) || Math.abs(clock() - sinceMs) >= LOCK_MAX_MS
  }
  if (!(await folder.createExclusive(LOCK_FILE, mine))) {
    const held = await readText(folder, LOCK_FILE)
    if (!isOver(held) || !(await breakStaleLock(folder, held, mine, isOver))) return null
    if (!(await folder.createExclusive(LOCK_FILE, mine))) return null
  }
  try {
    return await work()
  } finally {
    // One that took too long was ended, and the turn is another's.
    if ((await readText(folder, LOCK_FILE)) === mine) await folder.remove(LOCK_FILE)
  }
}

/**
 * Ends a turn that is over; false: another process is at it. Of several that have seen the same turn one alone may remove it:
 * the next to come would remove the turn that the first has taken since.
 */
async function breakStaleLock(
  folder: Folder,
  held: string,
  mine: string,
  isOver: (held: string) => boolean,
): Promise<boolean> {
  if (!(await folder.createExclusive(TAKEOVER_LOCK_FILE, mine))) {
    if (isOver(await readText(folder, TAKEOVER_LOCK_FILE))) await folder.remove(TAKEOVER_LOCK_FILE)
    return false
  }
  try {
    if ((await readText(folder, LOCK_FILE)) === held) await folder.remove(LOCK_FILE)
    return true
  } finally {
    await folder.remove(TAKEOVER_LOCK_FILE)
  }
}

const readText = async (folder: Folder, name: string): Promise<string> =>
  new TextDecoder().decode((await folder.read(name)) ?? undefined)
