import type { Log } from "../base/log.ts"
import { CommandError, type Output } from "../cli/output.ts"
import { printStart, WORKER_ARGUMENTS } from "../cli/serve.ts"
import type { Settings } from "../config/settings.ts"
import {
  clearWorkerSlot,
  createSharedLimits,
  createSharedLimitsMemory,
  readNodeId,
} from "../customers/quota/shared-limits.ts"
import { newId } from "../customers/store/core/id.ts"
import { clearGauges, prependCounterShards, splitSharedMemory } from "../http/metrics/counter-layout.ts"
import { type Exposition, renderExposition } from "../http/metrics/exposition.ts"
import { DRAIN_TIMEOUT_MS, type DrainRequest } from "../process/http-listener.ts"
import { startMetricsListener, startMetricsListenerWithRetry } from "../process/metrics-listener.ts"
import { startRefreshScheduler } from "../process/refresh-scheduler.ts"
import { operatorMessage, StartupError } from "../process/startup-error.ts"
import {
  acceptTakeover,
  type ConnectionRouting,
  findPreviousServer,
  NEXT_SERVER,
  type PreviousServer,
  socketsPerProcess,
  type TakeoverHooks,
} from "../process/takeover.ts"
import { WorkerPool } from "../process/worker-pool.ts"
import type { WorkerStart } from "../process/worker-slot.ts"
import type { SupervisorLink, SupervisorMessage } from "../system/child-processes.ts"
import { type System, verboseMessage } from "../system/system.ts"
import {
  BUILD,
  createLog,
  ensureBootstrapAccount,
  prepareForWorkers,
  type RunningServer,
  startServer,
  VERSION,
} from "./server.ts"

/** How long a worker may take to stop: to answer what is in flight, and to write what it holds. */
const WORKER_STOP_TIMEOUT_MS = DRAIN_TIMEOUT_MS + 5000

/**
 * Serves by so many workers, which are this same program and share the port, until this process is asked to stop; it
 * answers no request itself. Rejects with `StartupError` or a `StoreError` when no server comes of it.
 */
export async function supervise(
  world: System,
  settings: Settings,
  count: number,
  replace: boolean,
  output: Output,
): Promise<void> {
  const [asked, log] = [world.stopSignal(), createLog(world, settings)]
  const before = replace ? await findPreviousServer(world, settings) : null
  const store = await prepareForWorkers(world, settings, before !== null)
  const { crew, columns } = await createWorkerPool(world, settings, count, socketsPerProcess(before, count))
  const read = async (): Promise<Exposition> => renderExposition(columns, BUILD)
  const metrics =
    before === null ? startMetricsListener(settings, read) : startMetricsListenerWithRetry(world, settings, read, log)
  world.onReload(() => crew.broadcast({ kind: "reload" }))
  world.verbose.toggleOnSignal(isOn => {
    log("info", verboseMessage(isOn))
    crew.broadcast({ kind: "detail", isOn })
  })
  const start = await Promise.race([crew.start(), asked])
  const at = typeof start === "string" ? null : requireListening(start)
  // Who reads that it listens can replace it, too.
  const after = at && acceptNextServer(world, settings, crew, before, log)
  if (at !== null) printStart(output, VERSION, at, await ensureBootstrapAccount(world, store), count)
  await store.close()
  const endRefreshing = startRefreshScheduler(world, settings, log)
  const askedBy = await Promise.race([asked, ...(after === null ? [] : [after.asked])])
  log("info", "stopping", { asked_by: typeof askedBy === "string" ? askedBy : NEXT_SERVER })
  endRefreshing()
  if (typeof askedBy !== "string") await drainWorkers(world, crew, askedBy, asked)
  await metrics?.end()
  // Who asks twice does not want to wait.
  void world.stopSignal().then(() => crew.kill())
  if (!(await crew.stop())) throw new CommandError("Not every worker has finished what it had to do.")
  after?.end()
}

function acceptNextServer(
  world: System,
  settings: Settings,
  crew: WorkerPool,
  before: PreviousServer | null,
  log: Log,
) {
  const steering: ConnectionRouting = {
    socketCount: () => crew.socketCount,
    route: (position, count) => crew.route(position, count),
  }
  const place: TakeoverHooks = {
    sharePort: async () => (world.reusePort.isSupported() ? await crew.freeze() : null),
    onAbort: () => crew.unfreeze(),
  }
  return acceptTakeover(world, settings, place, before?.takeOver(log, steering) ?? Promise.resolve(), log)
}

/** Has the crew leave, for so long as it may take; who is told to stop meanwhile, stops. */
async function drainWorkers(
  { setTimer }: System,
  crew: WorkerPool,
  leaving: DrainRequest,
  asked: Promise<string>,
): Promise<void> {
  const { promise: isLate, resolve } = Promise.withResolvers<void>()
  const callOff = setTimer(WORKER_STOP_TIMEOUT_MS + DRAIN_TIMEOUT_MS, resolve)
  await Promise.race([crew.drain(leaving), asked, isLate]).finally(callOff)
}

async function createWorkerPool(world: System, settings: Settings, workerCount: number, socketsPerWorker: number) {
  const { clock, random, setTimer, stopwatch, processes } = world
  const [seed = 0] = new Uint32Array(random(4).buffer)
  const memory = await processes.createSharedMemory(
    settings.MAILKIND_DATA_DIR,
    prependCounterShards(workerCount, createSharedLimitsMemory(workerCount, clock(), seed, newId("node", random))),
  )
  const { shards, rest } = splitSharedMemory(memory.bytes)
  const crew = new WorkerPool({
    workerCount,
    port: settings.MAILKIND_PORT,
    socketsPerWorker,
    startWorker: processes.workerStarter(WORKER_ARGUMENTS, memory),
    setTimer,
    stopwatch,
    log: createLog(world, settings),
    stopTimeoutMs: WORKER_STOP_TIMEOUT_MS,
    onExit: seat => {
      clearWorkerSlot(rest, seat)
      clearGauges(shards[seat])
    },
  })
  return { crew, columns: shards }
}

function requireListening(start: WorkerStart): Pick<RunningServer, "address" | "baseUrl"> {
  if (start.kind === "listens") return start
  const how = start.killedBy ?? `exit code ${start.exitCode}`
  throw new StartupError(start.message ?? `The first worker ended before it listened (${how}).`)
}

/**
 * Serves as one of several workers until the supervisor asks to stop, or is gone: nobody would replace this worker or stop
 * it then. A start that fails is told to the supervisor, in words when an operator can mend it.
 */
export async function runWorker(world: System, settings: Settings, supervisor: SupervisorLink): Promise<void> {
  const asked = supervisor.stopSignal()
  const begun = Promise.withResolvers<StartMessage>()
  const running = Promise.withResolvers<RunningServer>()
  const [leaving, mayClose] = [Promise.withResolvers<typeof NEXT_SERVER>(), Promise.withResolvers<void>()]
  const steer = ({ port }: RunningServer, { position, count }: RouteMessage): void =>
    supervisor.send({ kind: "steered", isRouted: world.reusePort.route(port, position, count) })
  supervisor.onMessage(message => {
    if (message.kind === "begin") begun.resolve(message)
    else if (message.kind === "detail") world.verbose.set(message.isOn)
    else if (message.kind === "leave") leaving.resolve(NEXT_SERVER)
    else if (message.kind === "close") mayClose.resolve()
    else if (message.kind === "steer") void running.promise.then(server => steer(server, message))
    else void running.promise.then(server => (message.kind === "reload" ? server.reloadLists() : server.pollChanges()))
  })
  supervisor.send({ kind: "asks" })
  const begin = await Promise.race([begun.promise, asked])
  if (typeof begin === "string") return
  const server = await startWorkerServer(world, settings, supervisor, begin)
  if (server === null) return
  running.resolve(server)
  world.onReload(server.reloadLists)
  const { address, baseUrl, port } = server
  supervisor.send({ kind: "listens", address, baseUrl, port })
  const askedBy = await Promise.race([asked, leaving.promise])
  createLog(world, settings, begin.seat)("info", "stopping", { asked_by: askedBy })
  const onClosed = (): void => supervisor.send({ kind: "closed" })
  if (askedBy === NEXT_SERVER)
    await Promise.race([server.drainForTakeover({ mayClose: mayClose.promise, onClosed }), asked])
  await server.stop()
}

type StartMessage = Extract<SupervisorMessage, { readonly kind: "begin" }>
type RouteMessage = Extract<SupervisorMessage, { readonly kind: "steer" }>

/** The server; null: it cannot start, and the supervisor was told why. */
async function startWorkerServer(world: System, settings: Settings, supervisor: SupervisorLink, begin: StartMessage) {
  const { seat, port, socketCount } = begin
  const { shards, rest } = splitSharedMemory(supervisor.memory)
  const limits = createSharedLimits(rest, seat, world.clock)
  try {
    return await startServer(world, settings, {
      seat,
      port,
      socketCount,
      limits,
      nodeId: readNodeId(rest),
      columns: shards,
      notifyChange: () => supervisor.send({ kind: "changed" }),
    })
  } catch (error) {
    const sentence = operatorMessage(error)
    if (sentence === null) throw error
    supervisor.send({ kind: "fails", message: sentence })
    return null
  }
}
