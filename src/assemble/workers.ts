import { withTimeout } from "../base/concurrency.ts"
import { StartupError } from "../base/errors.ts"
import type { DnsSuspicionReason } from "../check/dns/resolver/circuit-breaker.ts"
import { CommandError, type Output } from "../cli/output.ts"
import { printStart, WORKER_ARGUMENTS } from "../cli/serve.ts"
import { findNodeIdentity, formatIdentity, parseIdentity } from "../customers/node-service.ts"
import {
  clearWorkerSlot,
  createRowClaim,
  createSharedClaims,
  createSharedLimits,
  createSharedLimitsMemory,
  readNode,
} from "../customers/quota/shared-limits.ts"
import type { Observation } from "../customers/store/poll/database-poll.ts"
import { clearGauges, prependCounterShards, splitSharedMemory } from "../http/metrics/counter-layout.ts"
import { renderExposition } from "../http/metrics/exposition.ts"
import { Meter } from "../http/metrics/meter.ts"
import { BEAT_MS } from "../process/hang-watch.ts"
import { DRAIN_TIMEOUT_MS, type DrainRequest } from "../process/http-listener.ts"
import { delayStop, reportReady } from "../process/service-state.ts"
import { operatorMessage } from "../process/startup-error.ts"
import {
  acceptTakeovers,
  type ConnectionRouting,
  NEXT_SERVER,
  socketsPerProcess,
  type TakeoverHooks,
  type TakeoverListener,
} from "../process/takeover.ts"
import { WorkerPool, type WorkerPoolDeps } from "../process/worker-pool.ts"
import type { WorkerStart } from "../process/worker-slot.ts"
import type { SupervisorLink, SupervisorMessage } from "../system/child-processes.ts"
import { type System, verboseMessage } from "../system/system.ts"
import { startSchedules } from "./backups.ts"
import { type AppContext, workerContext } from "./context.ts"
import { ensureBootstrapAccount } from "./customers/bootstrap-account.ts"
import { listenForMetrics } from "./metrics.ts"
import { BUILD, VERSION } from "./program.ts"
import { findReplacedServer } from "./replaced-server.ts"
import { prepareForWorkers, type RunningServer, startServer } from "./server.ts"
import { createReloads, reloadSettings, type SettingsSource, settingsOfTexts, takeReloaded } from "./settings.ts"

/** How long a worker may take to stop: to answer requests in flight and to write buffered data. */
const WORKER_STOP_TIMEOUT_MS = DRAIN_TIMEOUT_MS + 5000

/**
 * Serves with several workers, which run this same program and share the port, until a signal or a takeover stops it. The
 * supervisor answers no request itself. Rejects with `StartupError` or `StoreError` if the server cannot start.
 */
export async function supervise(
  context: AppContext,
  source: SettingsSource,
  workerCount: number,
  replace: boolean,
  output: Output,
): Promise<void> {
  const { system, settings, log } = context
  const stopSignal = system.stopSignal()
  const reloads = createReloads(system)
  let toldPool: WorkerPool | null = null
  system.verbose.toggleOnSignal(isOn => {
    log("info", verboseMessage(isOn))
    toldPool?.broadcast({ kind: "verbose", isOn })
  })
  const location = { dataDirectory: settings.MAILKIND_DATA_DIR, port: settings.MAILKIND_PORT }
  const previous = replace ? await findReplacedServer(context, location) : null
  const prepared = await prepareForWorkers(context, previous !== null, stopSignal)
  if (prepared === null) return
  const { store, budget } = prepared
  let isStarting = true
  const databaseWaitMs = () => (isStarting ? budget.leftMs : null)
  const socketsPerWorker = socketsPerProcess(previous, workerCount)
  const { pool, shards } = await createWorkerPool(context, workerCount, { socketsPerWorker, databaseWaitMs })
  const metrics = listenForMetrics(context, async () => renderExposition(shards, BUILD), previous !== null)
  reloads.handle(() => reloadWorkers(context, source, pool))
  toldPool = pool
  if (system.verbose.isOn()) pool.broadcast({ kind: "verbose", isOn: true })
  const start = await Promise.race([pool.start(), stopSignal])
  isStarting = false
  let takeovers: TakeoverListener | null = null
  if (typeof start !== "string") {
    const server = requireListening(start)
    const first = await ensureBootstrapAccount(context, store)
    await previous?.assertWaiting()
    const previousEnded = previous?.takeOver(log, poolRouting(pool)) ?? Promise.resolve()
    takeovers = acceptTakeovers(system, location, poolHooks(system, pool), previousEnded, log)
    // Printed last: whoever reads that the server listens may replace it at once.
    printStart(output, VERSION, server, first, workerCount, settings.MAILKIND_FIRST_KEY !== null)
    reportReady(system)
  }
  await store.close()
  const stopSchedules = startSchedules(context)
  const stopCause = await Promise.race([stopSignal, ...(takeovers === null ? [] : [takeovers.drainRequested])])
  log("info", "stopping", { asked_by: typeof stopCause === "string" ? stopCause : NEXT_SERVER })
  system.serviceManager.notify("STOPPING=1")
  stopSchedules()
  await stopWorkers(context, pool, stopCause, stopSignal, metrics)
  takeovers?.stop()
}

/** Drains the workers for the server that takes over, or announces their stop; then stops them. Rejects if one did not stop cleanly. */
async function stopWorkers(
  context: AppContext,
  pool: WorkerPool,
  stopCause: DrainRequest | string,
  stopSignal: Promise<string>,
  metrics: ReturnType<typeof listenForMetrics>,
): Promise<void> {
  const { system, log } = context
  if (typeof stopCause !== "string") await drainWorkers(system, pool, stopCause, stopSignal)
  else await delayStop(context, stopCause, () => pool.broadcast({ kind: "announce_stop" }))
  await metrics?.stop()
  // A second signal means: do not wait.
  void system.stopSignal().then(asked_by => {
    log("warn", "stopping at once", { asked_by })
    pool.kill()
  })
  if (!(await pool.stop())) throw new CommandError("Not every worker stopped cleanly.")
}

/** Reads the settings again, and has the workers take them and the lists. */
function reloadWorkers({ settings, log }: AppContext, source: SettingsSource, pool: WorkerPool): void {
  const reload = reloadSettings(source, log)
  if (reload !== null) takeReloaded(settings, reload.settings)
  pool.broadcast({ kind: "reload", settings: reload?.texts ?? null })
}

const poolRouting = (pool: WorkerPool): ConnectionRouting => ({
  socketCount: () => pool.socketCount,
  route: (firstIndex, count) => pool.route(firstIndex, count),
})

const poolHooks = (system: System, pool: WorkerPool): TakeoverHooks => ({
  sharePort: async () => (system.reusePort.isSupported() ? await pool.freeze() : null),
  onAbort: () => pool.unfreeze(),
})

/** Drains all workers. A stop signal or the timeout ends the wait. */
async function drainWorkers(
  { setTimer }: System,
  pool: WorkerPool,
  drainRequest: DrainRequest,
  stopSignal: Promise<string>,
): Promise<void> {
  const drained = Promise.race([pool.drain(drainRequest), stopSignal])
  await withTimeout(setTimer, WORKER_STOP_TIMEOUT_MS + DRAIN_TIMEOUT_MS, drained, undefined)
}

async function createWorkerPool(
  context: AppContext,
  workerCount: number,
  starts: Pick<WorkerPoolDeps, "socketsPerWorker" | "databaseWaitMs">,
) {
  const { system, settings, log } = context
  const { clock, random, setTimer, stopwatch, processes } = system
  const [seed = 0] = new Uint32Array(random(4).buffer)
  const limitsMemory = createSharedLimitsMemory(
    workerCount,
    clock(),
    seed,
    formatIdentity(await findNodeIdentity(context)),
  )
  const memory = await processes.createSharedMemory(
    settings.MAILKIND_DATA_DIR,
    prependCounterShards(workerCount, limitsMemory),
  )
  const { shards, rest } = splitSharedMemory(memory.bytes)
  const pool = new WorkerPool({
    workerCount,
    port: settings.MAILKIND_PORT,
    ...starts,
    startWorker: processes.workerStarter(WORKER_ARGUMENTS, memory),
    setTimer,
    stopwatch,
    outOfMemoryKills: system.outOfMemoryKills,
    processWaits: system.processWaits,
    log,
    stopTimeoutMs: WORKER_STOP_TIMEOUT_MS,
    onExit: (workerIndex, isUnasked) => {
      clearWorkerSlot(rest, workerIndex)
      const shard = shards[workerIndex]
      if (shard === undefined) return
      clearGauges(shard)
      // Nobody else writes to the shard until the next worker starts.
      if (isUnasked) new Meter(shard).increment("mailkind_workers_ended_total", 1)
    },
  })
  return { pool, shards }
}

function requireListening(start: WorkerStart): Pick<RunningServer, "address" | "baseUrl"> {
  if (start.kind === "listening") return start
  const how = start.killedBy ?? `exit code ${start.exitCode}`
  throw new StartupError(start.message ?? `The first worker ended before it listened (${how}).`)
}

/**
 * Serves as a worker until the supervisor asks it to stop or has ended, since nobody would replace or stop an orphaned worker.
 * A start that fails is reported to the supervisor if the operator can fix it.
 */
export async function runWorker(context: AppContext, supervisor: SupervisorLink): Promise<void> {
  const { system } = context
  const stopSignal = supervisor.stopSignal()
  // Signals to the whole group reach a worker too, which is told by its supervisor.
  system.verbose.ignoreSignal()
  const reloads = createReloads(system)
  const { started, running, draining, mayClose, isStopAnnounced } = followSupervisor(system, supervisor)
  const start = await Promise.race([started.promise, stopSignal])
  if (typeof start === "string") return
  const worker = workerContext(context, start.workerIndex)
  const server = await startWorkerServer(worker, supervisor, start, stopSignal)
  if (server === null) return
  running.resolve(server)
  reloads.handle(() => void server.reloadLists())
  const { address, baseUrl, port } = server
  supervisor.send({ kind: "listening", address, baseUrl, port })
  const stopCause = await Promise.race([stopSignal, draining.promise])
  worker.log("info", "stopping", { asked_by: stopCause })
  const onClosed = (): void => supervisor.send({ kind: "closed" })
  if (stopCause === NEXT_SERVER)
    await Promise.race([server.drainForTakeover({ mayClose: mayClose.promise, onClosed }), stopSignal])
  // An init system may stop the whole group, this worker before its supervisor.
  else if (!isStopAnnounced()) await delayStop(worker, stopCause, server.announceStop)
  await server.stop()
}

/** Does what the supervisor says from now on, and gives what can be waited for. */
function followSupervisor(system: System, supervisor: SupervisorLink) {
  const started = Promise.withResolvers<StartMessage>()
  const running = Promise.withResolvers<RunningServer>()
  const draining = Promise.withResolvers<typeof NEXT_SERVER>()
  const mayClose = Promise.withResolvers<void>()
  const state = { isStopAnnounced: false }
  supervisor.onMessage(message => {
    switch (message.kind) {
      case "start":
        return started.resolve(message)
      case "verbose":
        return system.verbose.set(message.isOn)
      case "drain":
        return draining.resolve(NEXT_SERVER)
      case "close":
        return mayClose.resolve()
      case "route":
        return void running.promise.then(({ port }) => {
          const isRouted = system.reusePort.route(port, message.firstIndex, message.count)
          supervisor.send({ kind: "routed", isRouted })
        })
      case "reload":
        return void running.promise.then(server => {
          const next = message.settings === null ? null : settingsOfTexts(message.settings)
          if (next !== null) server.takeSettings(next)
          return server.reloadLists()
        })
      case "announce_stop":
        state.isStopAnnounced = true
        return void running.promise.then(server => server.announceStop())
      case "poll_changes":
        return void running.promise.then(server => server.pollChanges())
      case "dns_dead":
        return void running.promise.then(server => server.suspectDns(message.reason))
      case "mail_replies":
        return void running.promise.then(server => server.noteMailReply())
      case "observed":
        return void running.promise.then(server => server.observe(message.observation))
    }
  })
  supervisor.send({ kind: "ready" })
  system.runInterval(BEAT_MS, () => supervisor.send({ kind: "beat" }))
  return { started, running, draining, mayClose, isStopAnnounced: () => state.isStopAnnounced }
}

type StartMessage = Extract<SupervisorMessage, { readonly kind: "start" }>

/** Starts the server; `null` means that it cannot start and the supervisor was told why, or that it was asked to stop. */
async function startWorkerServer(
  context: AppContext,
  supervisor: SupervisorLink,
  { workerIndex, port, socketCount, databaseWaitMs }: StartMessage,
  stopSignal: Promise<string>,
): Promise<RunningServer | null> {
  const { shards, rest } = splitSharedMemory(supervisor.memory)
  try {
    const mode = {
      workerIndex,
      port,
      socketCount,
      databaseWaitMs,
      limits: createSharedLimits(rest, workerIndex, context.system.clock),
      node: {
        identity: parseIdentity(readNode(rest)),
        rowClaim: createRowClaim(rest),
        claims: createSharedClaims(rest, context.system.clock),
      },
      counterShards: shards,
      shareDnsDead: (reason: DnsSuspicionReason) => supervisor.send({ kind: "dns_dead", reason }),
      shareMailReply: () => supervisor.send({ kind: "mail_replies" }),
      notifyChange: () => supervisor.send({ kind: "changed" }),
      shareObservation: (observation: Observation | null) => supervisor.send({ kind: "observed", observation }),
    }
    return await startServer(context, mode, stopSignal)
  } catch (error) {
    const message = operatorMessage(error, context.system)
    if (message === null) throw error
    supervisor.send({ kind: "failed", message })
    return null
  }
}
