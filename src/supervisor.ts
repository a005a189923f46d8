import { BUILD, firstAccountIn, logOf, prepare, type Running, VERSION } from "./assemble.ts"
import type { Log } from "./base/log.ts"
import { CannotStart } from "./cannot-start.ts"
import { CommandFailure, type Output } from "./cli/output.ts"
import { announce, WORKER_WORDS } from "./cli/serve.ts"
import type { Settings } from "./config/settings.ts"
import { clearSeat, sharedLimitsMemory } from "./customers/quota/shared-limits.ts"
import { newId } from "./customers/store/id.ts"
import {
  listenersOfEach,
  type Place,
  type Predecessor,
  predecessor,
  type Steering,
  SUCCESSOR,
  successor,
} from "./hand-over.ts"
import { clearGauges, columnsIn, withColumns } from "./http/metrics/columns.ts"
import { type Exposition, exposition } from "./http/metrics/exposition.ts"
import { DRAIN_MS, type Leaving } from "./listening.ts"
import { metricsListener, metricsListenerInTime } from "./metrics-listener.ts"
import { refreshing } from "./refreshing.ts"
import { Crew } from "./workers/crew.ts"
import type { Start } from "./workers/seat.ts"
import type { World } from "./world.ts"
import { detailWords } from "./world-detail.ts"

/** How long a worker may take to stop: to answer what is in flight, and to write what it holds. */
const STOP_MS = DRAIN_MS + 5000

/**
 * Serves by so many workers, which are this same program and share the port, until this process is asked to stop; it
 * answers no request itself. Rejects with `CannotStart` or a `StoreFault` when no server comes of it.
 */
export async function supervise(
  world: World,
  settings: Settings,
  count: number,
  replace: boolean,
  output: Output,
): Promise<void> {
  const [asked, log] = [world.stopAsked(), logOf(world, settings)]
  const before = replace ? await predecessor(world, settings) : null
  const store = await prepare(world, settings, before !== null)
  const { crew, columns } = await crewOf(world, settings, count, listenersOfEach(before, count))
  const read = (): Promise<Exposition> => exposition(columns, BUILD)
  const metrics = before === null ? metricsListener(settings, read) : metricsListenerInTime(world, settings, read, log)
  world.onReload(() => crew.tell({ kind: "reload" }))
  world.detail.follow(isWanted => {
    log("info", detailWords(isWanted))
    crew.tell({ kind: "detail", isWanted })
  })
  const start = await Promise.race([crew.start(), asked])
  const at = typeof start === "string" ? null : placeOf(start)
  // Who reads that it listens can replace it, too.
  const after = at && successorOf(world, settings, crew, before, log)
  if (at !== null) announce(output, VERSION, at, await firstAccountIn(world, store), count)
  await store.close()
  const endRefreshing = refreshing(world, settings, log)
  const askedBy = await Promise.race([asked, ...(after === null ? [] : [after.asked])])
  log("info", "stopping", { asked_by: typeof askedBy === "string" ? askedBy : SUCCESSOR })
  endRefreshing()
  if (typeof askedBy !== "string") await leave(world, crew, askedBy, asked)
  await metrics?.end()
  // Who asks twice does not want to wait.
  void world.stopAsked().then(() => crew.kill())
  if (!(await crew.stop())) throw new CommandFailure("Not every worker has finished what it had to do.")
  after?.end()
}

function successorOf(world: World, settings: Settings, crew: Crew, before: Predecessor | null, log: Log) {
  const steering: Steering = {
    listenersCount: () => crew.listenersCount,
    steer: (position, count) => crew.steer(position, count),
  }
  const place: Place = {
    share: async () => (world.listeners.canSteer() ? await crew.hold() : null),
    keep: () => crew.release(),
  }
  return successor(world, settings, place, before?.replaced(log, steering) ?? Promise.resolve(), log)
}

/** Has the crew leave, for so long as it may take; who is told to stop meanwhile, stops. */
async function leave({ later }: World, crew: Crew, leaving: Leaving, asked: Promise<string>): Promise<void> {
  const { promise: isLate, resolve } = Promise.withResolvers<void>()
  const callOff = later(STOP_MS + DRAIN_MS, resolve)
  await Promise.race([crew.leave(leaving), asked, isLate]).finally(callOff)
}

async function crewOf(world: World, settings: Settings, count: number, listenersCount: number) {
  const { clock, random, later, stopwatch, others } = world
  const [seed = 0] = new Uint32Array(random(4).buffer)
  const memory = await others.share(
    settings.MAILKIND_DATA_DIR,
    withColumns(count, sharedLimitsMemory(count, clock(), seed, newId("node", random))),
  )
  const { columns, rest } = columnsIn(memory.bytes)
  const crew = new Crew({
    count,
    port: settings.MAILKIND_PORT,
    listenersCount,
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
