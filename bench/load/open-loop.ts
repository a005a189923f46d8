import { Arrivals } from "./arrivals.ts"
import type { Connection } from "./connection.ts"
import { Histogram } from "./histogram.ts"
import { Ring } from "./ring.ts"

/** How an open loop loads: so many requests a second, and so many that may wait for a free connection. */
export type Pace = { readonly perSecond: number; readonly waitingMax: number }

type Sinks = {
  /** Sends a request on a free lane; it was due at `dueAt`. */
  readonly send: (lane: Connection, dueAt: number) => void
  /** A request was given up when it became due, since too many others waited. */
  readonly givenUp: (dueAt: number) => void
}

/** Timers come up to a millisecond late, so the last stretch before a request is due is spent awake. */
const AWAKE_MS = 2

/**
 * Sends requests when they are due and not when the server is ready for them. One that finds no free lane waits, and its
 * time runs from when it was due: what a slow answer does to those behind it is part of their latency.
 */
export class OpenLoop {
  /** How late, in microseconds, requests left that had a free lane: the share of this program in their latency. */
  readonly late = new Histogram()
  readonly #arrivals: Arrivals
  readonly #send: Sinks["send"]
  /** Lanes without work, the longest rest first: so all connections get their share. */
  readonly #resting: Ring<Connection>
  readonly #rests: boolean[]
  #countedFrom = Number.POSITIVE_INFINITY
  #isAlarmSet = false
  #isOver = false

  constructor({ perSecond, waitingMax }: Pace, connections: number, { send, givenUp }: Sinks) {
    this.#arrivals = new Arrivals(perSecond, waitingMax, givenUp)
    this.#send = send
    this.#resting = new Ring(connections)
    this.#rests = new Array<boolean>(connections).fill(false)
  }

  /** The first request is due now. */
  start(now: number): void {
    this.#arrivals.start(now)
  }

  /** Lateness counts from now on. */
  count(now: number): void {
    this.#countedFrom = now
  }

  /** Gives a free lane the request that has waited longest, or lets it rest until the next one is due. */
  free(lane: Connection, now: number): void {
    const dueAt = this.#arrivals.take(now)
    if (dueAt === undefined) this.#rest(lane, now)
    else this.#send(lane, dueAt)
  }

  /** Sends no more. Gives when each request was due that still waited, and the lanes that rested. */
  end(now: number): { readonly waiting: readonly number[]; readonly resting: readonly Connection[] } {
    this.#isOver = true
    const waiting: number[] = []
    for (let dueAt = this.#arrivals.take(now); dueAt !== undefined; dueAt = this.#arrivals.take(now))
      waiting.push(dueAt)
    const resting: Connection[] = []
    for (let lane = this.#resting.take(); lane !== undefined; lane = this.#resting.take()) resting.push(lane)
    return { waiting, resting }
  }

  #rest(lane: Connection, now: number): void {
    // A lane whose connection was renewed while it rested still has its place.
    if (!this.#rests[lane.number]) {
      this.#rests[lane.number] = true
      this.#resting.put(lane)
    }
    if (this.#isAlarmSet || this.#isOver) return
    this.#isAlarmSet = true
    const restMs = this.#arrivals.nextAt - now
    if (restMs > AWAKE_MS) setTimeout(() => this.#wake(), Math.floor(restMs - AWAKE_MS) + 1)
    else setImmediate(() => this.#wake())
  }

  #wake(): void {
    this.#isAlarmSet = false
    if (this.#isOver) return
    const now = performance.now()
    for (let lane = this.#rested(); lane !== undefined; lane = this.#rested()) {
      const dueAt = this.#arrivals.take(now)
      if (dueAt === undefined) {
        this.#rest(lane, now)
        return
      }
      if (dueAt >= this.#countedFrom) this.late.record((now - dueAt) * 1000)
      this.#send(lane, dueAt)
    }
  }

  /** The next resting lane that still has its connection. */
  #rested(): Connection | undefined {
    for (let lane = this.#resting.take(); lane !== undefined; lane = this.#resting.take()) {
      this.#rests[lane.number] = false
      if (lane.isFree) return lane
    }
    return undefined
  }
}
