import type { Stopwatch } from "../base/clock.ts"
import type { Log, LogFields } from "../base/log.ts"
import type { Later } from "../base/timer.ts"
import { BackOff } from "./back-off.ts"
import type { Child, Ended, StartChild } from "./child.ts"
import type { SupervisorMessage, WorkerMessage } from "./message.ts"

/** How a worker's start went: it listens, or it ended before, perhaps with a sentence that says why. */
export type Start =
  | { readonly kind: "listens"; readonly port: number; readonly address: string; readonly baseUrl: string }
  | ({ readonly kind: "ended"; readonly sentence: string | null } & Ended)

/** How it went where nobody was started. */
export const NOBODY: Start = { kind: "ended", sentence: null, exitCode: null, killedBy: null }

/** What a seat needs of the world, and of the crew that it belongs to. */
export type SeatNeeds = {
  readonly start: StartChild
  readonly later: Later
  readonly stopwatch: Stopwatch
  readonly log: Log
  /** How long a worker that was asked to stop may take. */
  readonly stopMs: number
  /** The port that the next worker gets. */
  readonly port: () => number
  /** The worker of the seat made changes. */
  readonly changed: (seat: number) => void
  /** On how many sockets each worker listens. */
  readonly listenersCount: number
  /** The worker of the seat is gone, and the next one not there yet. */
  readonly left: (seat: number) => void
}

/**
 * What happens when the worker of a seat ends: a trial is over, or the worker is replaced, at once or when the seat is no
 * longer held, or the seat stays empty.
 */
type Stage = "trial" | "kept" | "held" | "closed"

/** What is waited for of one worker: whether it has come to pass, false when the worker has ended before. */
type Waits = Record<"settled" | "steered" | "closed", PromiseWithResolvers<boolean>>

/** The place of one worker. One that ends without having been asked to is replaced, at once or after a while. */
export class Seat {
  readonly #number: number
  readonly #needs: SeatNeeds
  readonly #backOff = new BackOff()
  readonly #start = Promise.withResolvers<Start>()
  /** The end of the worker after which there is none. */
  readonly #last = Promise.withResolvers<void>()
  #stage: Stage = "kept"
  #child: Child | null = null
  #startedAtMs = 0
  #hasAsked = false
  #isListening = false
  #waits = newWaits()
  /** Why the worker says that it cannot start. */
  #sentence: string | null = null
  #endedWell = true
  #callOff: () => void = () => undefined

  constructor(number: number, needs: SeatNeeds) {
    this.#number = number
    this.#needs = needs
  }

  /**
   * Starts a worker and resolves with how that went. A trial that fails is not tried again; anything else that ends is
   * replaced from now on. A seat that was asked to stop starts nobody.
   */
  start(isTrial: boolean): Promise<Start> {
    if (this.#stage === "closed") return Promise.resolve(NOBODY)
    if (isTrial) this.#stage = "trial"
    this.#fill()
    return this.#start.promise
  }

  /** Tells the worker. One that has not asked yet needs no telling: it reads everything when it starts. */
  tell(message: SupervisorMessage): void {
    if (this.#hasAsked) this.#child?.tell(message)
  }

  /** Asks the worker to stop, kills it when it does not in time, and resolves when it is gone: true when it ended by itself. */
  async stop(): Promise<boolean> {
    this.#close()
    if (this.#child === null) return this.#endedWell
    this.#child.stop()
    const callOff = this.#needs.later(this.#needs.stopMs, () => {
      this.#say("error", "a worker did not stop in time and is killed")
      this.kill()
    })
    await this.#last.promise
    callOff()
    return this.#endedWell
  }

  /** Ends the worker at once, and nobody takes its place. */
  kill(): void {
    this.#close()
    this.#child?.kill()
  }

  /** Whether the worker listens. */
  get isListening(): boolean {
    return this.#isListening
  }

  /**
   * Has nobody replace the worker until the seat is released, and resolves with whether one listens, as soon as it does or has
   * ended: the sockets on the port stay the ones that they are.
   */
  async hold(): Promise<boolean> {
    if (this.#stage === "kept") this.#stage = "held"
    this.#callOff()
    if (this.#child !== null) await this.#waits.settled.promise
    return this.#isListening
  }

  /** Ends what `hold` began, and starts a worker where one has ended meanwhile. */
  release(): void {
    if (this.#stage !== "held") return
    this.#stage = "kept"
    if (this.#child === null) this.#fill()
  }

  /** Has the worker steer new connections; resolves with whether it has. */
  async steer(position: number, count: number): Promise<boolean> {
    if (!this.#isListening) return false
    this.#waits.steered = Promise.withResolvers()
    this.tell({ kind: "steer", position, count })
    return await this.#waits.steered.promise
  }

  /** Has the callers of the worker go, and nobody take its place. One that does not listen yet is asked to stop. */
  leave(): void {
    this.#close()
    if (this.#isListening) this.tell({ kind: "leave" })
    else this.#child?.stop()
  }

  /** Has the worker, which leaves, listen no longer, and resolves when it does not. */
  async close(): Promise<void> {
    if (this.#child === null) return
    this.tell({ kind: "close" })
    await this.#waits.closed.promise
  }

  /** Resolves when the worker, which was asked to leave, is gone. */
  async gone(): Promise<void> {
    if (this.#child !== null) await this.#last.promise
  }

  #close(): void {
    this.#stage = "closed"
    this.#callOff()
  }

  #fill(): void {
    this.#startedAtMs = this.#needs.stopwatch()
    this.#hasAsked = false
    this.#sentence = null
    this.#waits = newWaits()
    try {
      this.#child = this.#needs.start(
        message => this.#hear(message),
        ended => this.#leave(ended),
      )
    } catch (error) {
      // As when the program was moved elsewhere while it ran.
      this.#sentence = `A worker cannot be started: ${error instanceof Error ? error.message : "unknown"}.`
      this.#leave({ exitCode: null, killedBy: null })
    }
  }

  #hear(message: WorkerMessage): void {
    const [port, { listenersCount }] = [this.#needs.port(), this.#needs]
    switch (message.kind) {
      case "asks":
        this.#hasAsked = true
        this.#child?.tell({ kind: "begin", seat: this.#number, port, listenersCount })
        break
      case "listens":
        if (this.#stage === "trial") this.#stage = "kept"
        this.#say("info", "a worker listens", { pid: this.#child?.pid ?? null })
        this.#isListening = true
        this.#waits.settled.resolve(true)
        this.#start.resolve(message)
        break
      case "fails":
        this.#sentence = message.sentence
        break
      case "changed":
        this.#needs.changed(this.#number)
        break
      case "steered":
        this.#waits.steered.resolve(message.isDone)
        break
      case "closed":
        this.#waits.closed.resolve(true)
        break
    }
  }

  #leave(ended: Ended): void {
    const pid = this.#child?.pid ?? null
    this.#child = null
    this.#isListening = false
    for (const wait of Object.values(this.#waits)) wait.resolve(false)
    this.#needs.left(this.#number)
    if (this.#stage === "kept") this.#replace(pid, ended)
    if (this.#stage === "held") this.#say("error", "a worker ended while another server takes over", told(pid, ended))
    if (this.#stage === "closed") this.#part(pid, ended)
    this.#start.resolve({ kind: "ended", sentence: this.#sentence, ...ended })
  }

  #replace(pid: number | null, ended: Ended): void {
    const waitMs = this.#backOff.afterMs(this.#needs.stopwatch() - this.#startedAtMs)
    this.#say("error", "a worker ended and is replaced", { ...told(pid, ended), why: this.#sentence, after_ms: waitMs })
    this.#callOff = this.#needs.later(waitMs, () => this.#fill())
  }

  #part(pid: number | null, ended: Ended): void {
    // A worker that was asked to stop before it could hear of that is ended by it.
    this.#endedWell = ended.exitCode === 0 || ended.killedBy === "SIGTERM"
    if (!this.#endedWell) this.#say("error", "a worker did not finish what it had to do", told(pid, ended))
    this.#last.resolve()
  }

  #say(level: "info" | "error", says: string, fields: LogFields = {}): void {
    this.#needs.log(level, says, { worker: this.#number, ...fields })
  }
}

const newWaits = (): Waits => ({
  settled: Promise.withResolvers(),
  steered: Promise.withResolvers(),
  closed: Promise.withResolvers(),
})

const told = (pid: number | null, { exitCode, killedBy }: Ended): LogFields => ({
  pid,
  exit_code: exitCode,
  killed_by: killedBy,
})
