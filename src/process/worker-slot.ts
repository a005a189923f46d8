import { backoffMs } from "../base/backoff.ts"
import { type Log, type LogFields, withFields } from "../base/log.ts"
import type {
  StartWorker,
  SupervisorMessage,
  WorkerExit,
  WorkerMessage,
  WorkerProcess,
} from "../system/child-processes.ts"
import { HangWatch, type HangWatchDeps } from "./hang-watch.ts"

/** The result of starting a worker: it listens, or it ended before, with a message if it could tell why. */
export type WorkerStart =
  | { readonly kind: "listening"; readonly port: number; readonly address: string; readonly baseUrl: string }
  | ({ readonly kind: "ended"; readonly message: string | null } & WorkerExit)

/** The result when no worker was started. */
export const NOT_STARTED: WorkerStart = { kind: "ended", message: null, exitCode: null, killedBy: null }

/** The dependencies of a worker slot. */
export type WorkerSlotDeps = HangWatchDeps & {
  readonly startWorker: StartWorker
  readonly log: Log
  /** How long a worker may take to stop. */
  readonly stopTimeoutMs: number
  /** The port that the next worker gets. */
  readonly port: () => number
  /** Sends a message to the other workers: this one has written to the change log, or found something in the database. */
  readonly tellOthers: (workerIndex: number, message: SupervisorMessage) => void
  /** What a worker that starts has to know besides: what was sent to all before. */
  readonly lastingMessages: () => Iterable<SupervisorMessage>
  /** The number of sockets on which each worker listens. */
  readonly socketsPerWorker: number
  /** What is left of the time that a worker may wait for the database, in milliseconds; null: all of it. */
  readonly databaseWaitMs: () => number | null
  /** How many processes the kernel has killed for lack of memory; null: it does not tell. */
  readonly outOfMemoryKills: () => number | null
  /** Called when the worker has ended, before the next one starts. `isUnasked`: it served, and nobody wanted it to end. */
  readonly onExit: (workerIndex: number, isUnasked: boolean) => void
}

/**
 * What the end of a worker means: `starting`: the first start has failed; `running`: another worker replaces it; `frozen`: it is
 * replaced after `unfreeze`; `stopped`: the slot stays empty.
 */
type SlotState = "starting" | "running" | "frozen" | "stopped"

/** Events of one worker that are awaited. They resolve with false if the worker ends first. */
type PendingEvents = Record<"listening" | "routed" | "closed", PromiseWithResolvers<boolean>>

/** One worker and its replacements. A worker that ends unasked is replaced, at once or after a backoff. */
export class WorkerSlot {
  readonly #index: number
  readonly #deps: WorkerSlotDeps
  readonly #log: Log
  readonly #backoff = new RestartBackoff()
  readonly #startResult = Promise.withResolvers<WorkerStart>()
  /** Resolves when the last worker has ended. */
  readonly #finalExit = Promise.withResolvers<void>()
  #state: SlotState = "running"
  #worker: WorkerProcess | null = null
  #startedAtMs = 0
  /** How many processes the kernel had killed for lack of memory when the worker started. */
  #killsBefore: number | null = null
  #isReady = false
  #isListening = false
  #pending = newPendingEvents()
  /** Why the worker could not start, in its own words. */
  #failureMessage: string | null = null
  #hasExitedCleanly = true
  #cancelRestart: () => void = () => undefined
  #hangWatch: HangWatch | null = null

  constructor(index: number, deps: WorkerSlotDeps) {
    this.#index = index
    this.#deps = deps
    this.#log = withFields(deps.log, { worker: index })
  }

  /**
   * Starts a worker and resolves with the result. If `isFirst`, a failed start is not repeated. Any other worker that ends is
   * replaced from now on. After a stop nothing is started.
   */
  start(isFirst: boolean): Promise<WorkerStart> {
    if (this.#state === "stopped") return Promise.resolve(NOT_STARTED)
    if (isFirst) this.#state = "starting"
    this.#startWorker()
    return this.#startResult.promise
  }

  /** Sends a message. A worker that is not ready yet does not get it: what it has to know comes with its start. */
  send(message: SupervisorMessage): void {
    if (this.#isReady) this.#worker?.send(message)
  }

  /** Asks the worker to stop, kills it after the timeout, and resolves when it has ended: true if it ended by itself. */
  async stop(): Promise<boolean> {
    this.#stopReplacing()
    if (this.#worker === null) return this.#hasExitedCleanly
    this.#worker.stop()
    const cancelTimer = this.#deps.setTimer(this.#deps.stopTimeoutMs, () => {
      const after_ms = this.#deps.stopTimeoutMs
      this.#log("error", "a worker did not stop in time and is killed", { pid: this.#worker?.pid ?? null, after_ms })
      this.kill()
    })
    await this.#finalExit.promise
    cancelTimer()
    return this.#hasExitedCleanly
  }

  /** Kills the worker and does not replace it. */
  kill(): void {
    this.#stopReplacing()
    this.#worker?.kill()
  }

  /** Whether the worker listens. */
  get isListening(): boolean {
    return this.#isListening
  }

  /** Stops replacing the worker until `unfreeze`. Resolves with whether a worker listens, once that is certain. */
  async freeze(): Promise<boolean> {
    if (this.#state === "running") this.#state = "frozen"
    this.#cancelRestart()
    if (this.#worker !== null) await this.#pending.listening.promise
    return this.#isListening
  }

  /** Replaces the worker again, at once if it has ended meanwhile. */
  unfreeze(): void {
    if (this.#state !== "frozen") return
    this.#state = "running"
    if (this.#worker === null) this.#startWorker()
  }

  /** Lets the worker route new connections. Resolves with whether it could. */
  async route(firstIndex: number, count: number): Promise<boolean> {
    if (!this.#isListening) return false
    this.#pending.routed = Promise.withResolvers()
    this.send({ kind: "route", firstIndex, count })
    return await this.#pending.routed.promise
  }

  /** Asks the worker to drain and does not replace it. A worker that does not listen yet is asked to stop. */
  drain(): void {
    this.#stopReplacing()
    if (this.#isListening) this.send({ kind: "drain" })
    else this.#worker?.stop()
  }

  /** Asks a draining worker to close its listening sockets, and resolves when it has. */
  async closeListener(): Promise<void> {
    if (this.#worker === null) return
    this.send({ kind: "close" })
    await this.#pending.closed.promise
  }

  /** Resolves when a worker that was asked to drain has ended. */
  async exited(): Promise<void> {
    if (this.#worker !== null) await this.#finalExit.promise
  }

  #stopReplacing(): void {
    this.#state = "stopped"
    this.#cancelRestart()
  }

  #startWorker(): void {
    this.#startedAtMs = this.#deps.stopwatch()
    this.#killsBefore = this.#deps.outOfMemoryKills()
    this.#isReady = false
    this.#failureMessage = null
    this.#pending = newPendingEvents()
    try {
      this.#worker = this.#deps.startWorker(
        message => this.#onMessage(message),
        exit => this.#onExit(exit),
      )
    } catch (error) {
      // For example if the executable was moved while it ran.
      this.#failureMessage = `A worker cannot be started: ${error instanceof Error ? error.message : "unknown"}.`
      this.#onExit({ exitCode: null, killedBy: null })
    }
  }

  #watch(worker: WorkerProcess): void {
    const { pid } = worker
    this.#hangWatch = new HangWatch(this.#deps, pid, {
      onHeldUp: silence => this.#log("warn", "a worker is held up", { pid, ...silence }),
      onHang: silence => {
        this.#log("error", "a worker hangs and is killed", { pid, ...silence })
        this.#failureMessage = "It hung, and was killed for it."
        worker.kill()
      },
    })
  }

  #onMessage(message: WorkerMessage): void {
    this.#hangWatch?.sawLife()
    switch (message.kind) {
      case "ready":
        this.#isReady = true
        if (this.#worker !== null) this.#watch(this.#worker)
        this.#worker?.send({
          kind: "start",
          workerIndex: this.#index,
          port: this.#deps.port(),
          socketCount: this.#deps.socketsPerWorker,
          databaseWaitMs: this.#deps.databaseWaitMs(),
        })
        for (const lasting of this.#deps.lastingMessages()) this.#worker?.send(lasting)
        break
      case "listening":
        if (this.#state === "starting") this.#state = "running"
        this.#log("info", "a worker listens", { pid: this.#worker?.pid ?? null })
        this.#isListening = true
        this.#pending.listening.resolve(true)
        this.#startResult.resolve(message)
        break
      case "beat":
        break
      case "failed":
        this.#failureMessage = message.message
        break
      case "changed":
        this.#deps.tellOthers(this.#index, { kind: "poll_changes" })
        break
      case "observed":
      case "dns_dead":
      case "mail_replies":
        this.#deps.tellOthers(this.#index, message)
        break
      case "routed":
        this.#pending.routed.resolve(message.isRouted)
        break
      case "closed":
        this.#pending.closed.resolve(true)
        break
    }
  }

  #onExit(exit: WorkerExit): void {
    const pid = this.#worker?.pid ?? null
    this.#hangWatch?.stop()
    this.#hangWatch = null
    this.#worker = null
    this.#isListening = false
    for (const event of Object.values(this.#pending)) event.resolve(false)
    this.#deps.onExit(this.#index, this.#state === "running" || this.#state === "frozen")
    if (this.#state === "running") this.#scheduleRestart(pid, exit)
    if (this.#state === "frozen")
      this.#log("error", "a worker ended while another server takes over", exitFields(pid, exit))
    if (this.#state === "stopped") this.#finish(pid, exit)
    this.#startResult.resolve({ kind: "ended", message: this.#failureMessage, ...exit })
  }

  #scheduleRestart(pid: number | null, exit: WorkerExit): void {
    const delayMs = this.#backoff.nextDelayMs(this.#deps.stopwatch() - this.#startedAtMs)
    const { why, remedy } = this.#causeOf(exit)
    this.#log("error", "a worker ended and is replaced", { ...exitFields(pid, exit), why, after_ms: delayMs, remedy })
    this.#cancelRestart = this.#deps.setTimer(delayMs, () => this.#startWorker())
  }

  /** Why the worker has ended, as far as it or the kernel tells, and what an operator does. */
  #causeOf({ exitCode, killedBy }: WorkerExit): { readonly why: string; readonly remedy: string | null } {
    if (this.#failureMessage !== null) return { why: this.#failureMessage, remedy: null }
    if (killedBy === null) return { why: `It ended by itself with the exit code ${exitCode}.`, remedy: DEFECT_REMEDY }
    if (killedBy !== "SIGKILL")
      return { why: `The signal ${killedBy} has ended it.`, remedy: CRASH_SIGNALS.has(killedBy) ? DEFECT_REMEDY : null }
    const [before, now] = [this.#killsBefore, this.#deps.outOfMemoryKills()]
    const isKnown = before !== null && now !== null
    if (isKnown && now > before)
      return { why: "The kernel has killed a process for lack of memory (OOM).", remedy: OUT_OF_MEMORY_REMEDY }
    const why = "Something outside of mailkind has killed it."
    return isKnown
      ? { why: `${why} The kernel counts no kill for lack of memory.`, remedy: KILLED_REMEDY }
      : { why, remedy: `${KILLED_REMEDY} ${LOOK_FOR_KERNEL}` }
  }

  #finish(pid: number | null, exit: WorkerExit): void {
    // SIGTERM ends a worker that has not installed its handler yet.
    this.#hasExitedCleanly = exit.exitCode === 0 || exit.killedBy === "SIGTERM"
    if (!this.#hasExitedCleanly) this.#log("error", "a worker did not stop cleanly", exitFields(pid, exit))
    this.#finalExit.resolve()
  }
}

const newPendingEvents = (): PendingEvents => ({
  listening: Promise.withResolvers(),
  routed: Promise.withResolvers(),
  closed: Promise.withResolvers(),
})

const exitFields = (pid: number | null, { exitCode, killedBy }: WorkerExit): LogFields => ({
  pid,
  exit_code: exitCode,
  killed_by: killedBy,
})

const KILLED_REMEDY = "Look who sends signals to it: the service manager, the container's runtime or a person."
const LOOK_FOR_KERNEL = "Look in the log of the system (`dmesg`) for the out-of-memory killer."
const OUT_OF_MEMORY_REMEDY =
  "Give the service more memory (`MemoryMax` of systemd, `--memory` of a container), or lower the number of workers or MAILKIND_CACHE_BYTES_MAX."
const DEFECT_REMEDY =
  "A defect of mailkind or of its runtime. What it wrote to standard error before this line says more."
/** Signals by which the system ends a process for a fault of its own. */
const CRASH_SIGNALS: ReadonlySet<string> = new Set(["SIGSEGV", "SIGBUS", "SIGILL", "SIGABRT", "SIGTRAP", "SIGFPE"])

/** A worker that ran this long did not fail while starting. */
const STABLE_RUN_MS = 10_000
/** The delay after the second early exit in a row; each further one doubles it. */
const RESTART_DELAYS = { firstMs: 250, maxMs: 30_000 }

/** Computes how long a slot stays empty after its worker has ended. */
export class RestartBackoff {
  #earlyExitCount = 0

  /** The delay before the next worker starts: none after the first early exit in a row, then more with each further one. */
  nextDelayMs(ranMs: number): number {
    if (ranMs >= STABLE_RUN_MS) this.#earlyExitCount = 0
    return backoffMs(this.#earlyExitCount++, RESTART_DELAYS)
  }
}
