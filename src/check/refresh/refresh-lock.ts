import type { Clock } from "../../base/outside-world.ts"
import type { Folder } from "./refresh-state.ts"

/** A lock that is older is stale: its downloads and the build of a pack take far less time. */
const LOCK_MAX_MS = 15 * 60_000
const LOCK_FILE = "turn.lock"
/** Only the process that holds this second lock may remove a stale lock. */
const TAKEOVER_LOCK_FILE = "turn.end.lock"

/** The processes that compete for the lock run on one host. */
export type RefreshLockDeps = {
  readonly folder: Folder
  readonly clock: Clock
  readonly pid: number
  /** Whether a process runs on this host. */
  readonly isRunning: (pid: number) => boolean
}

/**
 * Runs `work` while no other process holds the refresh lock of the folder; null: another process holds it. A lock is stale
 * if its process is gone or if it is older than any refresh.
 */
export async function withRefreshLock<T>(
  { folder, clock, pid, isRunning }: RefreshLockDeps,
  work: () => Promise<T>,
): Promise<T | null> {
  const own = `${pid} ${clock()}\n`
  const isStale = (lock: string): boolean => {
    const [holder = 0, sinceMs = 0] = lock.split(" ").map(Number)
    return !isRunning(holder) || Math.abs(clock() - sinceMs) >= LOCK_MAX_MS
  }
  if (!(await folder.createExclusive(LOCK_FILE, own))) {
    const lock = await readText(folder, LOCK_FILE)
    if (!isStale(lock) || !(await breakStaleLock(folder, lock, own, isStale))) return null
    if (!(await folder.createExclusive(LOCK_FILE, own))) return null
  }
  try {
    return await work()
  } finally {
    // If the work took too long, the lock was broken and may belong to another process.
    if ((await readText(folder, LOCK_FILE)) === own) await folder.remove(LOCK_FILE)
  }
}

/**
 * Removes a stale lock; false: another process is doing so. Of several processes that have seen the same lock only one may
 * remove it, since a second one would remove the lock that the first has created in the meantime.
 */
async function breakStaleLock(
  folder: Folder,
  stale: string,
  own: string,
  isStale: (lock: string) => boolean,
): Promise<boolean> {
  if (!(await folder.createExclusive(TAKEOVER_LOCK_FILE, own))) {
    if (isStale(await readText(folder, TAKEOVER_LOCK_FILE))) await folder.remove(TAKEOVER_LOCK_FILE)
    return false
  }
  try {
    if ((await readText(folder, LOCK_FILE)) === stale) await folder.remove(LOCK_FILE)
    return true
  } finally {
    await folder.remove(TAKEOVER_LOCK_FILE)
  }
}

const readText = async (folder: Folder, name: string): Promise<string> =>
  new TextDecoder().decode((await folder.read(name)) ?? undefined)
