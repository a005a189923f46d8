import type { FaultLog, Outage } from "../base/fault-log.ts"
import { createIntervals } from "../base/time.ts"
import type { System } from "../system/system.ts"

/** How often open descriptors are counted. */
export const DESCRIPTORS_COUNT_MS = 5000

/** From this share of the limit on a shortage is reported, and below the second one it is over. */
const SHORTAGE_SHARE = 0.9
const PLENTY_SHARE = 0.8

type DescriptorStats = Pick<System, "processStats" | "runInterval">

/**
 * Reports in the background when nearly all descriptors of the process are open. The system accepts no connection then and tells the process
 * nothing of it, so clients wait without an answer and without a line in the log.
 */
export function createDescriptorWatch({ processStats, runInterval }: DescriptorStats, faults: FaultLog) {
  const tell = faults.outages("error", "files and sockets run out", "files and sockets are free again")
  let isShort = false
  const count = (): void => {
    const { descriptorCount, descriptorsMax } = processStats()
    const share = descriptorsMax === 0 ? 0 : descriptorCount / descriptorsMax
    if (share >= (isShort ? PLENTY_SHARE : SHORTAGE_SHARE) === isShort) return
    isShort = !isShort
    tell(isShort ? shortage(descriptorCount, descriptorsMax) : null)
  }
  return createIntervals(runInterval, [[DESCRIPTORS_COUNT_MS, count]])
}

const shortage = (count: number, max: number): Outage => ({
  fault: "descriptors_short",
  where: "this process",
  why: `${count} of ${max} files and sockets are open; at the limit none can be opened (EMFILE)`,
  remedy:
    "Raise the limit of open files of the service (`LimitNOFILE` of systemd, `ulimit -n`, `--ulimit nofile` of a container), or have proxies and clients keep fewer connections open.",
})
