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
  #port: number

  constructor(needs: CrewNeeds) {
    this.#port = needs.port
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
