import type { SupervisorMessage } from "../system/child-processes.ts"
import type { DrainRequest } from "./http-listener.ts"
import { NOT_STARTED, WorkerSlot, type WorkerSlotDeps, type WorkerStart } from "./worker-slot.ts"

/** The dependencies of a worker pool. */
export type WorkerPoolDeps = Omit<WorkerSlotDeps, "port" | "tellOthers" | "lastingMessages"> & {
  /** The number of workers, at least one. */
  readonly workerCount: number
  /** The port that they share; 0 lets the first worker pick one. */
  readonly port: number
}

/** The workers of one server. */
export class WorkerPool {
  readonly #slots: readonly WorkerSlot[]
  readonly #socketsPerWorker: number
  /** The last message of each kind that holds for workers that start later too. */
  readonly #lasting = new Map<SupervisorMessage["kind"], SupervisorMessage>()
  #port: number

  constructor(deps: WorkerPoolDeps) {
    this.#port = deps.port
    this.#socketsPerWorker = deps.socketsPerWorker
    const port = (): number => this.#port
    const tellOthers: WorkerSlotDeps["tellOthers"] = (workerIndex, message) => this.#tellOthers(workerIndex, message)
    this.#slots = Array.from(
      { length: deps.workerCount },
      (_, index) => new WorkerSlot(index, { ...deps, port, tellOthers, lastingMessages: () => this.#lasting.values() }),
    )
  }

  /**
   * Starts the first worker alone, so that a configuration error is reported once, and then the others. Resolves with the
   * result of the first worker when each has been started once. From then on every worker that ends is replaced.
   */
  async start(): Promise<WorkerStart> {
    const [first, ...others] = this.#slots
    const start = await first?.start(true)
    if (start?.kind !== "listening") return start ?? NOT_STARTED
    this.#port = start.port
    await Promise.all(others.map(slot => slot.start(false)))
    return start
  }

  /**
   * Keeps the set of listening sockets stable until `unfreeze`: workers that end are not replaced. Resolves with the number of
   * sockets when no worker is about to listen.
   */
  async freeze(): Promise<number> {
    await Promise.all(this.#slots.map(slot => slot.freeze()))
    return this.socketCount
  }

  /** Replaces workers again. */
  unfreeze(): void {
    for (const slot of this.#slots) slot.unfreeze()
  }

  /** The number of sockets on which the workers listen now. */
  get socketCount(): number {
    return this.#slots.filter(slot => slot.isListening).length * this.#socketsPerWorker
  }

  /** Routes new connections to `count` sockets on the port from `firstIndex` on. Any worker can do it; false if none could. */
  async route(firstIndex: number, count: number): Promise<boolean> {
    for (const slot of this.#slots) if (await slot.route(firstIndex, count)) return true
    return false
  }

  /** Drains all workers for a server that takes over, and resolves when they have ended. */
  async drain({ mayClose, onClosed }: DrainRequest): Promise<void> {
    for (const slot of this.#slots) slot.drain()
    await mayClose
    await Promise.all(this.#slots.map(slot => slot.closeListener()))
    onClosed()
    await Promise.all(this.#slots.map(slot => slot.exited()))
  }

  /** Sends a message to all workers. What holds from now on is sent to those too that start later. */
  broadcast(message: SupervisorMessage): void {
    if (isLasting(message)) this.#lasting.set(message.kind, message)
    for (const slot of this.#slots) slot.send(message)
  }

  /** Stops all workers after their requests in flight. Resolves with whether each ended by itself. */
  async stop(): Promise<boolean> {
    const results = await Promise.all(this.#slots.map(slot => slot.stop()))
    return results.every(isClean => isClean)
  }

  /** Kills all workers. */
  kill(): void {
    for (const slot of this.#slots) slot.kill()
  }

  #tellOthers(workerIndex: number, message: SupervisorMessage): void {
    for (const [index, slot] of this.#slots.entries()) if (index !== workerIndex) slot.send(message)
  }
}

/** Whether a worker that starts later has to know it. Settings of before a reload that failed are in its environment. */
const isLasting = (message: SupervisorMessage): boolean =>
  message.kind === "verbose" ||
  message.kind === "announce_stop" ||
  (message.kind === "reload" && message.settings !== null)
