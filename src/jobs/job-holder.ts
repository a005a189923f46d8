import { isSystemError } from "../base/errors.ts"
import type { Random } from "../base/outside-world.ts"

/** A name for this process among all that share its database: its process id, and what tells it from an earlier process with the same id. */
export const createHolder = (pid: number, random: Random): string => `${pid}.${Buffer.from(random(12)).toString("hex")}`

/**
 * Whether a holder on this machine has ended, as far as its process id tells. It may say no of one that has, if another process has its id
 * now, and its silence tells then.
 */
export function hasLocalHolderEnded(holder: string, own: string): boolean {
  const [pid, ownPid] = [holder, own].map(name => Number(name.split(".")[0]))
  if (pid === undefined || !Number.isSafeInteger(pid) || pid <= 0) return false
  if (pid === ownPid) return holder !== own
  try {
    return !process.kill(pid, 0)
  } catch (error) {
    return isSystemError(error, "ESRCH")
  }
}
