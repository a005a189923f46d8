import type { Log, LogFields } from "../base/log.ts"
import type { SetTimer, Stopwatch } from "../base/outside-world.ts"
import type {
  StartWorker,
  SupervisorMessage,
  WorkerExit,
  WorkerMessage,
  WorkerProcess,
} from "../system/child-processes.ts"

/** How a worker's start went: it listens, or it ended before, perhaps with a sentence that says why. */
export type WorkerStart =
  | { readonly kind: "listens"; readonly port: number; readonly address: string; readonly baseUrl: string }
  | ({ readonly kind: "ended"; readonly message: string | null } & WorkerExit)

/** How it went where nobody was started. */
export const NOT_STARTED: WorkerStart = { kind: "ended", message: null, exitCode: null, killedBy: null }

/** What a seat needs of the world, and of the crew that it belongs to. */
export type WorkerSlotDeps = {
  readonly startWorker: StartWorker
  readonly setTimer: SetTimer
  readonly stopwatch: Stopwatch
  readonly log: Log
  /** How long a worker that was asked to stop may take. */
  readonly stopTimeoutMs: number
  /** The port that the next worker gets. */
  readonly port: () => number
  /** The worker of the seat made changes. */
  readonly onChange: (seat: number) => void
  /** On how many sockets each worker listens. */
  readonly socketsPerWorker: number
  /** The worker of the seat is gone, and the next one not there yet. */
  readonly onExit: (seat: number) => void
}

/**
 * What happens when the worker of a seat ends: a trial is over, or the worker is replaced, at once or when the seat is no
 * longer held, or the seat stays empty.
 */
type SlotState = "trial" | "kept" | "held" | "closed"

/** What is waited for of one worker: whether it has come to pass, false when the worker has ended before. */
type PendingEvents = Record<"settled" | "steered" | "closed", PromiseWithResolvers<boolean>>

/** The place of one worker. One that ends without having been asked to is replaced, at once or after a while. */
export class WorkerSlot {
  readonly #index: number
  readonly #deps: WorkerSlotDeps
  readonly #backoff = new RestartBackoff()
  readonly #startResult = Promise.withResolvers<WorkerStart>()
  /** The end of the worker after which there is none. */
  readonly #finalExit = Promise.withResolvers<void>()
  #state: SlotState = "kept"
  #worker: WorkerProcess | null = null
  #startedAtMs = 0
  #isReady = false
  #isListening = false
  #pending = newPendingEvents()
  /** Why the worker says that it cannot start. */
  #failureMessage: string | null = null
  #hasExitedCleanly = true
  #cancelRestart: () => void = () => undefined

  constructor(number: number, needs: WorkerSlotDeps) {
    this.#index = number
    this.#deps = needs
  }

  /**
   * Starts a worker and resolves with how that went. A trial that fails is not tried again; anything else that ends is
   * replaced from now on. A seat that was asked to stop starts nobody.
   */
  start(isTrial: boolean): Promise<WorkerStart> {
    if (this.#state === "closed") return Promise.resolve(NOT_STARTED)
    if (isTrial) this.#state = "trial"
    this.#startWorker()
    return this.#startResult.promise
  }

  /** Tells the worker. One that has not asked yet needs no telling: it reads everything when it starts. */
  send(message: SupervisorMessage): void {
    if (this.#isReady) this.#worker?.send(message)
  }

  /** Asks the worker to stop, kills it when it does not in time, and resolves when it is gone: true when it ended by itself. */
  async stop(): Promise<boolean> {
    this.#stopReplacing()
    if (this.#worker === null) return this.#hasExitedCleanly
    this.#worker.stop()
    const callOff = this.#deps.setTimer(this.#deps.stopTimeoutMs, () => {
      this.#log("error", "a worker did not stop in time and is killed")
      this.kill()
    })
    await this.#finalExit.promise
    callOff()
    return this.#hasExitedCleanly
  }

  /** Ends the worker at once, and nobody takes its place. */
  kill(): void {
    this.#stopReplacing()
    this.#worker?.kill()
  }

  /** Whether the worker listens. */
  get isListening(): boolean {
    return this.#isListening
  }

  /**
   * Has nobody replace the worker until the seat is released, and resolves with whether one listens, as soon as it does or has
   * ended: the sockets on the port stay the ones that they are.
   */
  async freeze(): Promise<boolean> {
    if (this.#state === "kept") this.#state = "held"
    this.#cancelRestart()
    if (this.#worker !== null) await this.#pending.settled.promise
    return this.#isListening
  }

  /** Ends what `hold` began, and starts a worker where one has ended meanwhile. */
  unfreeze(): void {
    if (this.#state !== "held") return
    this.#state = "kept"
    if (this.#worker === null) this.#startWorker()
  }

  /** Has the worker steer new connections; resolves with whether it has. */
  async route(position: number, count: number): Promise<boolean> {
    if (!this.#isListening) return false
    this.#pending.steered = Promise.withResolvers()
    this.send({ kind: "steer", position, count })
    return await this.#pending.steered.promise
  }

  /** Has the callers of the worker go, and nobody take its place. One that does not listen yet is asked to stop. */
  drain(): void {
    this.#stopReplacing()
    if (this.#isListening) this.send({ kind: "leave" })
    else this.#worker?.stop()
  }

  /** Has the worker, which leaves, listen no longer, and resolves when it does not. */
  async closeListener(): Promise<void> {
    if (this.#worker === null) return
    this.send({ kind: "close" })
    await this.#pending.closed.promise
  }

  /** Resolves when the worker, which was asked to leave, is gone. */
  async exited(): Promise<void> {
    if (this.#worker !== null) await this.#finalExit.promise
  }

  #stopReplacing(): void {
    this.#state = "closed"
    this.#cancelRestart()
  }

  #startWorker(): void {
    this.#startedAtMs = this.#deps.stopwatch()
    this.#isReady = false
    this.#failureMessage = null
    this.#pending = newPendingEvents()
    try {
      this.#worker = this.#deps.startWorker(
        message => this.#onMessage(message),
        ended => this.#onExit(ended),
      )
    } catch (error) {
      // As when the program was moved elsewhere while it ran.
      this.#failureMessage = `A worker cannot be started: ${error instanceof Error ? error.message : "unknown"}.`
      this.#onExit({ exitCode: null, killedBy: null })
    }
  }

  #onMessage(message: WorkerMessage): void {
    const [port, { socketsPerWorker: socketCount }] = [this.#deps.port(), this.#deps]
    switch (message.kind) {
      case "asks":
        this.#isReady = true
        this.#worker?.send({ kind: "begin", seat: this.#index, port, socketCount })
        break
      case "listens":
        if (this.#state === "trial") this.#state = "kept"
        this.#log("info", "a worker listens", { pid: this.#worker?.pid ?? null })
        this.#isListening = true
        this.#pending.settled.resolve(true)
        this.#startResult.resolve(message)
        break
      case "fails":
        this.#failureMessage = message.message
        break
      case "changed":
        this.#deps.onChange(this.#index)
        break
      case "steered":
        this.#pending.steered.resolve(message.isRouted)
        break
      case "closed":
        this.#pending.closed.resolve(true)
        break
    }
  }

  #onExit(ended: WorkerExit): void {
    const pid = this.#worker?.pid ?? null
    this.#worker = null
    this.#isListening = false
    for (const wait of Object.values(this.#pending)) wait.resolve(false)
    this.#deps.onExit(this.#index)
    if (this.#state === "kept") this.#scheduleRestart(pid, ended)
    if (this.#state === "held")
      this.#log("error", "a worker ended while another server takes over", exitFields(pid, ended))
    if (this.#state === "closed") this.#finish(pid, ended)
    this.#startResult.resolve({ kind: "ended", message: this.#failureMessage, ...ended })
  }

  #scheduleRestart(pid: number | null, ended: WorkerExit): void {
    const waitMs = this.#backoff.nextDelayMs(this.#deps.stopwatch() - this.#startedAtMs)
    this.#log("error", "a worker ended and is replaced", {
      ...exitFields(pid, ended),
      why: this.#failureMessage,
      after_ms: waitMs,
    })
    this.#cancelRestart = this.#deps.setTimer(waitMs, () => this.#startWorker())
  }

  #finish(pid: number | null, ended: WorkerExit): void {
    // A worker that was asked to stop before it could hear of that is ended by it.
    this.#hasExitedCleanly = ended.exitCode === 0 || ended.killedBy === "SIGTERM"
    if (!this.#hasExitedCleanly) this.#log("error", "a worker did not finish what it had to do", exitFields(pid, ended))
    this.#finalExit.resolve()
  }

  #log(level: "info" | "error", says: string, fields: LogFields = {}): void {
    this.#deps.log(level, says, { worker: this.#index, ...fields })
  }
}

const newPendingEvents = (): PendingEvents => ({
  settled: Promise.withResolvers(),
  steered: Promise.withResolvers(),
  closed: Promise.withResolvers(),
})

const exitFields = (pid: number | null, { exitCode, killedBy }: WorkerExit): LogFields => ({
  pid,
  exit_code: exitCode,
  killed_by: killedBy,
})

/** A worker that lived as long as this did not die of how it starts. */
const STABLE_RUN_MS = 10_000
/** How long a seat stays empty after the second death in a row; each further one doubles it. */
const FIRST_DELAY_MS = 250
const DELAY_MS_MAX = 30_000

/** Tells how long a seat stays empty after a death. */
export class RestartBackoff {
  #earlyExitCount = 0

  /** The time until the next worker starts, after one that lived so long: none at first, then more with each quick death in a row. */
  nextDelayMs(livedMs: number): number {
    if (livedMs >= STABLE_RUN_MS) this.#earlyExitCount = 0
    const count = this.#earlyExitCount++
    return count === 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (count - 1), DELAY_MS_MAX)
  }
}
