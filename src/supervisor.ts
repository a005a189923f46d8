import { BUILD, firstAccountIn, logOf, prepare, type Running, VERSION } from "./assemble.ts"
import { CannotStart } from "./cannot-start.ts"
import { CommandFailure, type Output } from "./cli/output.ts"
import { announce, WORKER_WORDS } from "./cli/serve.ts"
import type { Settings } from "./config/settings.ts"
import { clearSeat, sharedLimitsMemory } from "./customers/quota/shared-limits.ts"
import { clearGauges, columnsIn, withColumns } from "./http/metrics/columns.ts"
import { exposition } from "./http/metrics/exposition.ts"
import { DRAIN_MS } from "./listening.ts"
import { metricsListener } from "./metrics-listener.ts"
import { refreshing } from "./refreshing.ts"
import { Crew } from "./workers/crew.ts"
import type { Start } from "./workers/seat.ts"
import type { World } from "./world.ts"

/** How long a worker may take to stop: to answer what is in flight, and to write what it holds. */
const STOP_MS = DRAIN_MS + 5000

/**
 * Serves by so many workers, which are this same program and share the port, until this process is asked to stop; it
 * answers no request itself. Rejects with `CannotStart` or a `StoreFault` when no server comes of it.
 */
export async function supervise(world: World, settings: Settings, count: number, output: Output): Promise<void> {
  const asked = world.stopAsked()
  const store = await prepare(world, settings)
  const { crew, columns } = await crewOf(world, settings, count)
  const metrics = metricsListener(settings, () => exposition(columns, BUILD))
  world.onReload(() => crew.tell({ kind: "reload" }))
  world.detail.follow(isWanted => crew.tell({ kind: "detail", isWanted }))
  const start = await Promise.race([crew.start(), asked])
  if (typeof start !== "string") announce(output, VERSION, placeOf(start), await firstAccountIn(world, store), count)
  await store.close()
  const log = logOf(world, settings)
  const endRefreshing = refreshing(world, settings, log)
  log("info", "stopping", { asked_by: await asked })
  endRefreshing()
  await metrics?.end()
  // Who asks twice does not want to wait.
  void world.stopAsked().then(() => crew.kill())
  if (!(await crew.stop())) throw new CommandFailure("Not every worker has finished what it had to do.")
}

async function crewOf(world: World, settings: Settings, count: number) {
  const { clock, random, later, stopwatch, others } = world
  const [seed = 0] = new Uint32Array(random(4).buffer)
  const memory = await others.share(
    settings.MAILKIND_DATA_DIR,
    withColumns(count, sharedLimitsMemory(count, clock(), seed)),
  )
  const { columns, rest } = columnsIn(memory.bytes)
  const crew = new Crew({
    count,
    port: settings.MAILKIND_PORT,
    start: others.starter(WORKER_WORDS, memory),
    later,
    stopwatch,
    log: logOf(world, settings),
    stopMs: STOP_MS,
    left: seat => {
      clearSeat(rest, seat)
      clearGauges(columns[seat])
    },
  })
  return { crew, columns }
}

function placeOf(start: Start): Pick<Running, "address" | "baseUrl"> {
  if (start.kind === "listens") return start
  const how = start.killedBy ?? `exit code ${start.exitCode}`
  throw new CannotStart(start.sentence ?? `The first worker ended before it listened (${how}).`)
}
