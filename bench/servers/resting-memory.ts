import { descriptorsOf, statusBytes } from "./process-stats.ts"
import type { ServerProcess } from "./server-process.ts"

const LOOKS = 10

/** How often a server under load is looked at. */
const LOOK_MS = 100

/** What a server holds when nobody asks it. */
export type RestingMemory = {
  readonly residentBytes: number
  readonly privateBytes: number
  /** The most that it ever had resident. */
  readonly peakBytes: number
  readonly descriptors: number
  readonly sockets: number
  /** CPU time that it takes all the same, as a share of a core. */
  readonly cpuShare: number
}

/**
 * What a server holds from `quietMs` on and for as long again, the least that is seen in several looks: garbage is
 * collected, and freed memory given back, some time after the last answer.
 */
export async function restingMemory(server: ServerProcess, quietMs: number): Promise<RestingMemory> {
  await Bun.sleep(quietMs)
  const cpuBeforeMs = server.cpuMs()
  const looks: Omit<RestingMemory, "cpuShare" | "peakBytes">[] = []
  for (let look = 0; look < LOOKS; look++) {
    await Bun.sleep(quietMs / LOOKS)
    const { all, sockets } = descriptorsOf(server.pid)
    const residentBytes = statusBytes(server.pid, "VmRSS")
    looks.push({ residentBytes, privateBytes: statusBytes(server.pid, "RssAnon"), descriptors: all, sockets })
  }
  const least = (name: keyof (typeof looks)[number]): number => Math.min(...looks.map(look => look[name]))
  return {
    residentBytes: least("residentBytes"),
    privateBytes: least("privateBytes"),
    peakBytes: statusBytes(server.pid, "VmHWM"),
    descriptors: least("descriptors"),
    sockets: least("sockets"),
    cpuShare: (server.cpuMs() - cpuBeforeMs) / quietMs,
  }
}

/** What a server has resident while `work` is done, in many looks. */
export async function residentLooks(server: ServerProcess, work: () => Promise<void>): Promise<readonly number[]> {
  const looks: number[] = []
  const look = (): void => void looks.push(statusBytes(server.pid, "VmRSS"))
  const timer = setInterval(look, LOOK_MS)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  look()
  return looks
}
