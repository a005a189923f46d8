import type { SupervisorMessage } from "../system/child-processes.ts"
import { NOT_STARTED, WorkerSlot, type WorkerSlotDeps, type WorkerStart } from "./worker-slot.ts"

/** What a crew needs of the world. */
export type WorkerPoolDeps = Omit<WorkerSlotDeps, "port" | "onChange"> & {
  /** How many workers there are, one at least. */
  readonly workerCount: number
  /** The port that they share; 0: the first one picks it. */
  readonly port: number
}

/** The workers of one server. */
export class WorkerPool {
  readonly #slots: readonly WorkerSlot[]
  readonly #socketsPerWorker: number
  #port: number

  constructor(needs: WorkerPoolDeps) {
    this.#port = needs.port
    this.#socketsPerWorker = needs.socketsPerWorker
    const port = (): number => this.#port
    const onChange = (by: number): void => this.#notifyOthers(by)
    this.#slots = Array.from({ length: needs.workerCount }, (_, at) => new WorkerSlot(at, { ...needs, port, onChange }))
  }

  /**
   * Starts the first worker, alone, so that what is wrong is told once, and then the others. Resolves with how it went for
   * the first, when each has been started once; from then on all are replaced when they end.
   */
  async start(): Promise<WorkerStart> {
    const [first, ...others] = this.#slots
    const start = await first?.start(true)
    if (start?.kind !== "listens") return start ?? NOT_STARTED
    this.#port = start.port
    await Promise.all(others.map(seat => seat.start(false)))
    return start
  }

  /**
   * On how many sockets the workers listen: those stay the ones that they are until `release`, unless one ends. Resolves when
   * no worker is about to listen.
   */
  async freeze(): Promise<number> {
    await Promise.all(this.#slots.map(seat => seat.freeze()))
    return this.socketCount
  }

  /** Ends what `hold` began: workers are replaced again. */
  unfreeze(): void {
    for (const seat of this.#slots) seat.unfreeze()
  }

  /** On how many sockets the workers listen now. */
  get socketCount(): number {
    return this.#slots.filter(seat => seat.isListening).length * this.#socketsPerWorker
  }

  /** Has the system give new connections to these of the sockets on the port, by way of any worker; false: none could. */
  async route(position: number, count: number): Promise<boolean> {
    for (const seat of this.#slots) if (await seat.route(position, count)) return true
    return false
  }

  /** Has callers go to another crew, and resolves when all workers are gone. */
  async drain({
    mayClose,
    onClosed,
  }: {
    readonly mayClose: Promise<void>
    readonly onClosed: () => void
  }): Promise<void> {
    for (const seat of this.#slots) seat.drain()
    await mayClose
    await Promise.all(this.#slots.map(seat => seat.closeListener()))
    onClosed()
    await Promise.all(this.#slots.map(seat => seat.exited()))
  }

  /** Tells all workers. */
  broadcast(message: SupervisorMessage): void {
    for (const seat of this.#slots) seat.send(message)
  }

  /** Asks all to finish what is in flight, and resolves when they are gone: true when each ended by itself. */
  async stop(): Promise<boolean> {
    const ends = await Promise.all(this.#slots.map(seat => seat.stop()))
    return ends.every(isWell => isWell)
  }

  /** Ends all at once. */
  kill(): void {
    for (const seat of this.#slots) seat.kill()
  }

  #notifyOthers(by: number): void {
    for (const [at, seat] of this.#slots.entries()) if (at !== by) seat.send({ kind: "look" })
  }
}
