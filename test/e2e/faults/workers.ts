import { statusBytes } from "../../../bench/servers/process-stats.ts"
import { askLoopback } from "../../support/loopback.ts"
import { sendSignal } from "../../support/send-signal.ts"
import { startWorkersServer } from "../workers/workers-server.ts"
import { below, type Doing, type Found, type LeftOut, tookMs } from "./fault.ts"

const CLIENTS = 16
const BETWEEN_MAX = 200

/** Kills one worker of two, again and again, while clients check on connections of their own. */
export async function killedWorkers({ times, random, program }: Doing): Promise<Found | LeftOut> {
  if (program.length === 1) return { leftOut: "workers are killed from the checkout" }
  await using crew = await startWorkersServer()
  const url = `http://127.0.0.1:${crew.port}/v1/check?domain=gmail.com`
  const headers = { Authorization: `Bearer ${crew.firstKey}` }
  const breaches: string[] = []
  let [answered, brokenOffCount, backMs, isOver] = [0, 0, 0, false]
  const check = async (): Promise<boolean> => {
    const status = await askLoopback(url, { headers }).then(
      answer => answer.status,
      () => 0,
    )
    if (status === 200) answered++
    else if (status === 0) brokenOffCount++
    else breaches.push(`a check was answered ${status}`)
    return status === 200
  }
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) await check()
  })
  const before = statusBytes(crew.pid, "VmRSS")
  for (let kill = 0; kill < times; kill++) {
    const until = answered + 20 + below(random, BETWEEN_MAX)
    while (answered < until) await new Promise(resolve => setImmediate(resolve))
    const pids = crew.workers()
    sendSignal(pids[below(random, pids.length)], "SIGKILL")
    // Whoever comes at once finds the other one.
    backMs = Math.max(
      backMs,
      await tookMs(async () => {
        while (!(await check()));
      }),
    )
    await crew.logged(({ msg }) => msg === "a worker listens", 2 + kill + 1)
  }
  isOver = true
  await Promise.all(clients)
  // A kill breaks off what that worker has in hand, and what the system has promised it.
  const mayBreak = times * CLIENTS * 2
  if (brokenOffCount > mayBreak) breaches.push(`${brokenOffCount} requests had no answer`)
  return {
    did: `one of two workers was killed under ${CLIENTS} clients; ${brokenOffCount} of ${answered} requests were broken off with it, and its seat was taken again`,
    ...{ times, acknowledged: answered, breaches, backMs, memory: { before, after: statusBytes(crew.pid, "VmRSS") } },
  }
}
