import type { Clock } from "../../base/clock.ts"
import type { Folder } from "./folder.ts"

/** The longest that a refresh holds its turn: well above what its downloads and the making of a pack may take. */
const TURN_MAX_MS = 15 * 60_000
const TURN_FILE = "turn.lock"
/** Who holds this one ends a turn that is over. */
const END_FILE = "turn.end.lock"

/** Who takes turns: processes of one host. */
export type TurnNeeds = {
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
export async function inTurn<T>(
  { folder, clock, pid, isRunning }: TurnNeeds,
  work: () => Promise<T>,
): Promise<T | null> {
  const mine = `${pid} ${clock()}\n`
  const isOver = (held: string): boolean => {
    const [holder = 0, sinceMs = 0] = held.split(" ").map(Number)
    return !isRunning(holder) || Math.abs(clock() - sinceMs) >= TURN_MAX_MS
  }
  if (!(await folder.claim(TURN_FILE, mine))) {
    const held = await textIn(folder, TURN_FILE)
    if (!isOver(held) || !(await endTurn(folder, held, mine, isOver))) return null
    if (!(await folder.claim(TURN_FILE, mine))) return null
  }
  try {
    return await work()
  } finally {
    // One that took too long was ended, and the turn is another's.
    if ((await textIn(folder, TURN_FILE)) === mine) await folder.remove(TURN_FILE)
  }
}

/**
 * Ends a turn that is over; false: another process is at it. Of several that have seen the same turn one alone may remove it:
 * the next to come would remove the turn that the first has taken since.
 */
async function endTurn(
  folder: Folder,
  held: string,
  mine: string,
  isOver: (held: string) => boolean,
): Promise<boolean> {
  if (!(await folder.claim(END_FILE, mine))) {
    if (isOver(await textIn(folder, END_FILE))) await folder.remove(END_FILE)
    return false
  }
  try {
    if ((await textIn(folder, TURN_FILE)) === held) await folder.remove(TURN_FILE)
    return true
  } finally {
    await folder.remove(END_FILE)
  }
}

const textIn = async (folder: Folder, name: string): Promise<string> =>
  new TextDecoder().decode((await folder.read(name)) ?? undefined)
