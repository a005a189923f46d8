import { ROUTES } from "../../contract/routes.ts"
import type { Meter } from "../metrics/meter.ts"
import type { NextTick } from "../request/request-batcher.ts"
import { Problem } from "../response/problem.ts"
import { pathOf, type ToProblemResponse } from "../response/problem-response.ts"

/** How much a process takes upon itself. */
export type LoadLimits = {
  /** Requests that are taken in and not answered; each holds its head, its body and what it waits for. */
  readonly inFlightMax: number
  /** Octets of the long bodies among them. */
  readonly bodyBytesMax: number
  /** How late the event loop may last to be. */
  readonly lagMaxMs: number
}

/** The bounds beside the one that is set: bodies of 256 batches of the largest kind. */
export const LOAD_LIMITS = { bodyBytesMax: 67_108_864, lagMaxMs: 1000 } as const

/** Bodies up to here are bounded by the count of their requests; to count their octets would cost each a part of its time. */
export const LONG_BODY_BYTES_MIN = 8192

/** Work that others can do without gives way at this part of each bound. */
const HEAVY_WORK_SHARE = { inFlight: 1 / 2, lag: 1 / 4 } as const

/**
 * Beyond so many times the bound nobody is looked at any more. Up to there a caller is told first what is wrong with its key
 * or that it is over its own limits, which costs a part of an answer and holds nothing.
 */
const HARD_LIMIT_FACTOR = 2

const RETRY_AFTER_S = 1

/** Paths that answer whatever else there is to do: who looks after the server must see it. */
const NEVER_SHED_PATHS: readonly string[] = [ROUTES.getHealth.path, ROUTES.metrics.path]

type RequestHandler = (request: Request) => Response | Promise<Response>

/**
 * How much one process has to do. It refuses by what a request would hold, before it is read: an answer that comes from memory
 * costs little more than a refusal, so refusing those would help nobody. What keeps them in bounds is that a connection has
 * one request under way.
 */
export class LoadShedder {
  /** Calls the work when all that has arrived by now was taken in. */
  readonly nextTick: NextTick
  readonly #limits: LoadLimits
  readonly #lagMs: () => number
  readonly #meter: Meter
  /** Up to so many requests nothing has to give way; one alone always has room. */
  readonly #heavyInFlightMax: number
  #inFlight = 0
  #bodyBytes = 0

  /** `lagMs` tells for how long the event loop has lasted to be late. */
  constructor(bounds: LoadLimits, lagMs: () => number, meter: Meter, soon: NextTick) {
    this.nextTick = soon
    this.#limits = bounds
    this.#heavyInFlightMax = Math.max(1, bounds.inFlightMax * HEAVY_WORK_SHARE.inFlight)
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
  acquire(): Problem | null {
    if (this.#inFlight >= this.#limits.inFlightMax * HARD_LIMIT_FACTOR) return this.#shed("in_flight")
    this.#inFlight++
    return null
  }

  /** Ends a request that was taken in. */
  release(): void {
    this.#inFlight--
  }

  /** Why a request that was taken in is not served; null: it is. What is heavy gives way first. */
  refusalFor(isHeavy: boolean): Problem | null {
    const { inFlightMax, lagMaxMs } = this.#limits
    if (this.#inFlight > (isHeavy ? this.#heavyInFlightMax : inFlightMax)) return this.#shed("in_flight")
    return this.#lagMs() > (isHeavy ? lagMaxMs * HEAVY_WORK_SHARE.lag : lagMaxMs) ? this.#shed("lag") : null
  }

  /** Throws the refusal of a request that was taken in, where there is one. */
  assertCapacity(isHeavy: boolean): void {
    const shed = this.refusalFor(isHeavy)
    if (shed !== null) throw shed
  }

  /** Whether work in the background, and what can be left out of an answer, is to give way. */
  isUnderPressure(): boolean {
    return this.#inFlight > this.#heavyInFlightMax || this.#lagMs() > this.#limits.lagMaxMs * HEAVY_WORK_SHARE.lag
  }

  /** Makes room for octets of a long body, which are given back once. Throws `overloaded` when there is none. */
  reserveBody(octets: number): void {
    if (this.#bodyBytes + octets > this.#limits.bodyBytesMax) throw this.#shed("body_bytes")
    this.#bodyBytes += octets
  }

  /** Gives octets back. */
  releaseBody(octets: number): void {
    this.#bodyBytes -= octets
  }

  /** Bounds everything but single checks, which enter by themselves, and what is never refused. */
  wrap(serve: RequestHandler, request: Request, refuse: ToProblemResponse): RequestHandler {
    const path = pathOf(request)
    if (path === ROUTES.postCheck.path || NEVER_SHED_PATHS.includes(path)) return serve
    return async asked => {
      const refusal = this.acquire()
      if (refusal !== null) return refuse(refusal, asked)
      try {
        return await serve(asked)
      } finally {
        this.release()
      }
    }
  }

  #shed(strain: "in_flight" | "body_bytes" | "lag"): Problem {
    this.#meter.increment("mailkind_shed_total", 1, strain)
    return overloaded()
  }
}

/** The refusal of a request by a server that has more to do than it can. */
export const overloaded = (): Problem =>
  new Problem("overloaded", "The server has more to do than it can; nothing is wrong with the request.", {
    retry_after: RETRY_AFTER_S,
  })
