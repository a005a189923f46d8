import { readdirSync } from "node:fs"

/** What the process takes of its machine. */
export type Vitals = {
  readonly residentBytes: number
  readonly heapBytes: number
  readonly cpuS: number
  /** Open files and sockets; 0 where the system does not tell. */
  readonly descriptors: number
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number
}

const DESCRIPTORS = "/proc/self/fd"
const STARTED_AT_MS = performance.timeOrigin

/** What this process takes now. It looks at each open descriptor, so it is not for every request. */
export function realVitals(): Vitals {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return {
    residentBytes: rss,
    heapBytes: heapUsed,
    cpuS: (user + system) / 1e6,
    descriptors: descriptorsCount(),
    startedAtMs: STARTED_AT_MS,
  }
}

function descriptorsCount(): number {
  try {
    return readdirSync(DESCRIPTORS).length
  } catch (untold) {
    if (untold instanceof Error && "code" in untold) return 0
    throw untold
  }
}
