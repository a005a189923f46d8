import { ROUTES } from "../contract/routes.ts"
import type { Soon } from "./cohort.ts"
import { pathOf, type Refuse } from "./errors.ts"
import type { Meter } from "./metrics/meter.ts"
import { Problem } from "./problem.ts"

/** How much a process takes upon itself. */
export type LoadBounds = {
  /** Requests that are taken in and not answered; each holds its head, its body and what it waits for. */
  readonly inFlightMax: number
  /** Octets of the long bodies among them. */
  readonly bodyBytesMax: number
  /** How late the event loop may last to be. */
  readonly lagMaxMs: number
}

/** The bounds beside the one that is set: bodies of 256 batches of the largest kind. */
export const LOAD_BOUNDS = { bodyBytesMax: 67_108_864, lagMaxMs: 1000 } as const

/** Bodies up to here are bounded by the count of their requests; to count their octets would cost each a part of its time. */
export const LONG_BODY_BYTES = 8192

/** Work that others can do without gives way at this part of each bound. */
const STRAINED = { inFlight: 1 / 2, lag: 1 / 4 } as const

/**
 * Beyond so many times the bound nobody is looked at any more. Up to there a caller is told first what is wrong with its key
 * or that it is over its own limits, which costs a part of an answer and holds nothing.
 */
const UNSEEN_FACTOR = 2

const RETRY_AFTER_S = 1

/** Paths that answer whatever else there is to do: who looks after the server must see it. */
const NEVER_SHED: readonly string[] = [ROUTES.getHealth.path, ROUTES.metrics.path]

type Serve = (request: Request) => Response | Promise<Response>

/**
 * How much one process has to do. It refuses by what a request would hold, before it is read: an answer that comes from memory
 * costs little more than a refusal, so refusing those would help nobody. What keeps them in bounds is that a connection has
 * one request under way.
 */
export class Load {
  /** Calls the work when all that has arrived by now was taken in. */
  readonly soon: Soon
  readonly #bounds: LoadBounds
  readonly #lagMs: () => number
  readonly #meter: Meter
  /** Up to so many requests nothing has to give way; one alone always has room. */
  readonly #inFlightCalm: number
  #inFlight = 0
  #bodyBytes = 0

  /** `lagMs` tells for how long the event loop has lasted to be late. */
  constructor(bounds: LoadBounds, lagMs: () => number, meter: Meter, soon: Soon) {
    this.soon = soon
    this.#bounds = bounds
    this.#inFlightCalm = Math.max(1, bounds.inFlightMax * STRAINED.inFlight)
    this.#lagMs = lagMs
    this.#meter = meter
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get bodyBytes(): number {
    return this.#bodyBytes
  }

  /** Takes a request in; it leaves once. Null, or why it is not even looked at: then it has not been taken in. */
  enter(): Problem | null {
    if (this.#inFlight >= this.#bounds.inFlightMax * UNSEEN_FACTOR) return this.#overloaded("in_flight")
    this.#inFlight++
    return null
  }

  /** Ends a request that was taken in. */
  leave(): void {
    this.#inFlight--
  }

  /** Why a request that was taken in is not served; null: it is. What is heavy gives way first. */
  refusal(isHeavy: boolean): Problem | null {
    const { inFlightMax, lagMaxMs } = this.#bounds
    if (this.#inFlight > (isHeavy ? this.#inFlightCalm : inFlightMax)) return this.#overloaded("in_flight")
    return this.#lagMs() > (isHeavy ? lagMaxMs * STRAINED.lag : lagMaxMs) ? this.#overloaded("lag") : null
  }

  /** Throws the refusal of a request that was taken in, where there is one. */
  refuseShed(isHeavy: boolean): void {
    const shed = this.refusal(isHeavy)
    if (shed !== null) throw shed
  }

  /** Whether work in the background, and what can be left out of an answer, is to give way. */
  isStrained(): boolean {
    return this.#inFlight > this.#inFlightCalm || this.#lagMs() > this.#bounds.lagMaxMs * STRAINED.lag
  }

  /** Makes room for octets of a long body, which are given back once. Throws `overloaded` when there is none. */
  takeBody(octets: number): void {
    if (this.#bodyBytes + octets > this.#bounds.bodyBytesMax) throw this.#overloaded("body_bytes")
    this.#bodyBytes += octets
  }

  /** Gives octets back. */
  leaveBody(octets: number): void {
    this.#bodyBytes -= octets
  }

  /** Bounds everything but single checks, which enter by themselves, and what is never refused. */
  over(serve: Serve, request: Request, refuse: Refuse): Serve {
    const path = pathOf(request)
    if (path === ROUTES.postCheck.path || NEVER_SHED.includes(path)) return serve
    return async asked => {
      const refusal = this.enter()
      if (refusal !== null) return refuse(refusal, asked)
      try {
        return await serve(asked)
      } finally {
        this.leave()
      }
    }
  }

  #overloaded(strain: "in_flight" | "body_bytes" | "lag"): Problem {
    this.#meter.raise("mailkind_shed_total", 1, strain)
    return overloaded()
  }
}

/** The refusal of a request by a server that has more to do than it can. */
export const overloaded = (): Problem =>
  new Problem("overloaded", "The server has more to do than it can; nothing is wrong with the request.", {
    retry_after: RETRY_AFTER_S,
  })
