import type { SupervisorMessage } from "./message.ts"
import { NOBODY, Seat, type SeatNeeds, type Start } from "./seat.ts"

/** What a crew needs of the world. */
export type CrewNeeds = Omit<SeatNeeds, "port" | "changed"> & {
  /** How many workers there are, one at least. */
  readonly count: number
  /** The port that they share; 0: the first one picks it. */
  readonly port: number
}

/** The workers of one server. */
export class Crew {
  readonly #seats: readonly Seat[]
  readonly #listenersCount: number
  #port: number

  constructor(needs: CrewNeeds) {
    this.#port = needs.port
    this.#listenersCount = needs.listenersCount
    const port = (): number => this.#port
    const changed = (by: number): void => this.#look(by)
    this.#seats = Array.from({ length: needs.count }, (_, at) => new Seat(at, { ...needs, port, changed }))
  }

  /**
   * Starts the first worker, alone, so that what is wrong is told once, and then the others. Resolves with how it went for
   * the first, when each has been started once; from then on all are replaced when they end.
   */
  async start(): Promise<Start> {
    const [first, ...others] = this.#seats
    const start = await first?.start(true)
    if (start?.kind !== "listens") return start ?? NOBODY
    this.#port = start.port
    await Promise.all(others.map(seat => seat.start(false)))
    return start
  }

  /**
   * On how many sockets the workers listen: those stay the ones that they are until `release`, unless one ends. Resolves when
   * no worker is about to listen.
   */
  async hold(): Promise<number> {
    await Promise.all(this.#seats.map(seat => seat.hold()))
    return this.listenersCount
  }

  /** Ends what `hold` began: workers are replaced again. */
  release(): void {
    for (const seat of this.#seats) seat.release()
  }

  /** On how many sockets the workers listen now. */
  get listenersCount(): number {
    return this.#seats.filter(seat => seat.isListening).length * this.#listenersCount
  }

  /** Has the system give new connections to these of the sockets on the port, by way of any worker; false: none could. */
  async steer(position: number, count: number): Promise<boolean> {
    for (const seat of this.#seats) if (await seat.steer(position, count)) return true
    return false
  }

  /** Has callers go to another crew, and resolves when all workers are gone. */
  async leave({ mayClose, closed }: { readonly mayClose: Promise<void>; readonly closed: () => void }): Promise<void> {
    for (const seat of this.#seats) seat.leave()
    await mayClose
    await Promise.all(this.#seats.map(seat => seat.close()))
    closed()
    await Promise.all(this.#seats.map(seat => seat.gone()))
  }

  /** Tells all workers. */
  tell(message: SupervisorMessage): void {
    for (const seat of this.#seats) seat.tell(message)
  }

  /** Asks all to finish what is in flight, and resolves when they are gone: true when each ended by itself. */
  async stop(): Promise<boolean> {
    const ends = await Promise.all(this.#seats.map(seat => seat.stop()))
    return ends.every(isWell => isWell)
  }

  /** Ends all at once. */
  kill(): void {
    for (const seat of this.#seats) seat.kill()
  }

  #look(by: number): void {
    for (const [at, seat] of this.#seats.entries()) if (at !== by) seat.tell({ kind: "look" })
  }
}
