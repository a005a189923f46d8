import { statusBytes } from "./process-stats.ts"
import type { ServerProcess } from "./server-process.ts"

/** How often a server is looked at. */
const LOOK_MS = 100

/**
 * What a server has resident from `quietMs` on and for as long again, the least that is seen in several looks: garbage is
 * collected, and freed memory given back, some time after the last answer.
 */
export async function restingBytes(server: ServerProcess, quietMs: number): Promise<number> {
  await Bun.sleep(quietMs)
  return Math.min(...(await residentLooks(server, () => Bun.sleep(quietMs))))
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
