import type { SetTimer } from "../../base/outside-world.ts"
import type { Meter } from "../metrics/meter.ts"
import type { NextTick } from "../request/request-batcher.ts"
import { Problem } from "../response/problem.ts"
import { KeylessBodies } from "./keyless-bodies.ts"

/** How much work one process accepts. */
export type LoadLimits = {
  /** Accepted requests without a response yet. Each holds its headers, its body and what it waits for. */
  readonly inFlightMax: number
  /** Bytes of their long bodies. */
  readonly bodyBytesMax: number
  /** How late the event loop may be, lastingly. */
  readonly lagMaxMs: number
}

/** The limits of a server. The bytes are those of 256 batches of the largest size. */
export const LOAD_LIMITS = { inFlightMax: 4096, bodyBytesMax: 67_108_864, lagMaxMs: 1000 } as const satisfies LoadLimits

/** Shorter bodies are bounded by the number of requests alone, because counting their bytes would slow down each of them. */
export const LONG_BODY_BYTES_MIN = 8192

/** Heavy requests and background work are shed at this share of each limit. */
const HEAVY_WORK_SHARE = { inFlight: 1 / 2, lag: 1 / 4 } as const

/**
 * At so many times `inFlightMax` a request is refused unread. Below that its key and its own limits are checked first, which
 * costs a fraction of a response and holds no memory.
 */
const HARD_LIMIT_FACTOR = 2

const RETRY_AFTER_S = 1

/**
 * Refuses requests when one process has too much to do (DECISIONS 28). It limits what requests hold, and refuses before a body is
 * read. Requests that are served from memory are not limited: a refusal costs nearly as much as such a response, and
 * each connection has only one request at a time.
 */
export class LoadShedder {
  /** Passed on to the readers of bodies. */
  readonly nextTick: NextTick
  readonly #limits: LoadLimits
  readonly #lagMs: () => number
  readonly #meter: Meter
  /** Heavy requests are accepted up to this number in flight; at least one always is. */
  readonly #heavyInFlightMax: number
  readonly #keylessBodies: KeylessBodies
  #inFlight = 0
  #liveCount = 0
  #bodyBytes = 0

  /** `lagMs` gives the lasting delay of the event loop. */
  constructor(limits: LoadLimits, lagMs: () => number, meter: Meter, nextTick: NextTick, setTimer: SetTimer) {
    this.nextTick = nextTick
    this.#limits = limits
    this.#heavyInFlightMax = Math.max(1, limits.inFlightMax * HEAVY_WORK_SHARE.inFlight)
    this.#lagMs = lagMs
    this.#meter = meter
    this.#keylessBodies = new KeylessBodies(limits.inFlightMax, {
      nextTick,
      setTimer,
      leave: () => this.release(),
      rejoin: () => void this.#inFlight++,
      shed: () => this.#shed("in_flight"),
    })
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** The number of requests that were accepted so far, without those about uploaded lists: whoever watches a list must not slow it down. */
  get liveCount(): number {
    return this.#liveCount
  }

  get bodyBytes(): number {
    return this.#bodyBytes
  }

  /** Accepts a request, which must be released once. Gives a problem instead when the server is far over its limit; then there is nothing to release. */
  acquire(isLive = true): Problem | null {
    if (this.#inFlight >= this.#limits.inFlightMax * HARD_LIMIT_FACTOR) return this.#shed("in_flight")
    this.#inFlight++
    if (isLive) this.#liveCount++
    return null
  }

  /** The response to an accepted request is ready. */
  release(): void {
    this.#inFlight--
  }

  /** Why an accepted request is shed; null: it is served. Heavy requests are shed first. */
  refusalFor(isHeavy: boolean): Problem | null {
    const { inFlightMax, lagMaxMs } = this.#limits
    if (this.#inFlight > (isHeavy ? this.#heavyInFlightMax : inFlightMax)) return this.#shed("in_flight")
    return this.#lagMs() > (isHeavy ? lagMaxMs * HEAVY_WORK_SHARE.lag : lagMaxMs) ? this.#shed("lag") : null
  }

  /** Throws what `refusalFor` gives. */
  assertCapacity(isHeavy: boolean): void {
    const refusal = this.refusalFor(isHeavy)
    if (refusal !== null) throw refusal
  }

  /** Whether background work and optional parts of a response should wait. */
  isUnderPressure(): boolean {
    return this.#inFlight > this.#heavyInFlightMax || this.#lagMs() > this.#limits.lagMaxMs * HEAVY_WORK_SHARE.lag
  }

  /** Reserves memory for a long body, which must be released once. Throws `overloaded` when none is left. */
  reserveBody(byteCount: number): void {
    if (this.#bodyBytes + byteCount > this.#limits.bodyBytesMax) throw this.#shed("body_bytes")
    this.#bodyBytes += byteCount
  }

  releaseBody(byteCount: number): void {
    this.#bodyBytes -= byteCount
  }

  /**
   * Gives what `read` gives, which reads the body of an accepted request without a key. While the body is awaited, the request
   * is not in flight. Rejects with `rate_limited`, `overloaded` or `invalid_input` when the client has too many unfinished
   * bodies, all clients have, or the body takes too long.
   */
  readKeylessBody<T>(client: string, read: () => Promise<T>): Promise<T> {
    return this.#keylessBodies.read(client, read)
  }

  #shed(strain: "in_flight" | "body_bytes" | "lag"): Problem {
    this.#meter.increment("mailkind_shed_total", 1, strain)
    return overloaded()
  }
}

/** The problem 503 `overloaded`, with `Retry-After`. */
export const overloaded = (): Problem =>
  new Problem("overloaded", "The server is overloaded. Your request is correct.", {
    retry_after: RETRY_AFTER_S,
  })
