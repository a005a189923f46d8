import { KeyedSemaphore, type Release, Semaphore, withTimeout } from "../../base/concurrency.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { NextTick } from "../request/request-batcher.ts"
import { Problem, rateLimited } from "../response/problem.ts"

/** Bodies of callers without a key that have not arrived are at most this share of the requests in flight, and at least so many. */
const KEYLESS_BODIES = { inFlightShare: 1 / 8, min: 16 } as const

/**
 * A body counts only if it is unread after so many ticks. Nearly every body arrives together with the headers, and is then
 * read and parsed by then.
 */
const ARRIVAL_TICKS = 4

const RETRY_AFTER_S = 1

/** What the bodies need of the load shedder. */
type KeylessBodiesDeps = {
  readonly nextTick: NextTick
  readonly setTimer: SetTimer
  /** Gives back the place of a request in flight while its body is awaited. */
  readonly leave: () => void
  /** Takes the place again. */
  readonly rejoin: () => void
  /** Counts the refusal, and gives the problem 503 `overloaded`. */
  readonly shed: () => Problem
}

/**
 * Waits for the bodies of requests without a key, which anybody may begin and never end. They are bounded for each client and
 * in total, are awaited for `LIMITS.keylessBodySeconds`, and are not in flight meanwhile: so they take no place from callers
 * with a key.
 */
export class KeylessBodies {
  readonly #deps: KeylessBodiesDeps
  readonly #slots: Semaphore
  readonly #clientSlots = new KeyedSemaphore<string>(LIMITS.keylessBodiesPerClientMax, 0)

  /** `inFlightMax` is that of the load shedder. */
  constructor(inFlightMax: number, deps: KeylessBodiesDeps) {
    const slotsMax = Math.max(KEYLESS_BODIES.min, Math.floor(inFlightMax * KEYLESS_BODIES.inFlightShare))
    this.#slots = new Semaphore(slotsMax, 0)
    this.#deps = deps
  }

  /**
   * Gives what `read` gives, which reads the body of an accepted request. Rejects with `rate_limited` when the client has too
   * many unfinished bodies, with `overloaded` when all clients have, and with `invalid_input` when the body takes too long.
   */
  async read<T>(client: string, read: () => Promise<T>): Promise<T> {
    const reading = read()
    // The runtime rejects the read of a body that was refused or is late as soon as the request is answered.
    reading.catch(() => undefined)
    if (await this.#isDoneSoon(reading)) return await reading
    const release = this.#acquire(client)
    this.#deps.leave()
    try {
      const outcome = await withTimeout(
        this.#deps.setTimer,
        LIMITS.keylessBodySeconds * 1000,
        reading.then(value => ({ value })),
        null,
      )
      if (outcome === null) throw bodyTooSlow()
      return outcome.value
    } finally {
      this.#deps.rejoin()
      release()
    }
  }

  async #isDoneSoon(reading: Promise<unknown>): Promise<boolean> {
    let isDone = false
    const finish = (): void => {
      isDone = true
    }
    reading.then(finish, finish)
    for (let tick = 0; tick < ARRIVAL_TICKS && !isDone; tick++)
      await new Promise<void>(resolve => this.#deps.nextTick(resolve))
    return isDone
  }

  /** Never waits: who waits would hold a place too. */
  #acquire(client: string): Release {
    const releaseClient = this.#clientSlots.tryAcquire(client)
    if (releaseClient === null) {
      const limit = LIMITS.keylessBodiesPerClientMax
      throw rateLimited(`Without a key, the limit is ${limit} bodies at once.`, RETRY_AFTER_S, limit, "concurrent")
    }
    const release = this.#slots.tryAcquire()
    if (release === null) {
      releaseClient()
      throw this.#deps.shed()
    }
    return () => {
      release()
      releaseClient()
    }
  }
}

/** The connection is closed, because the rest of the body may still come on it. */
const bodyTooSlow = (): Problem =>
  new Problem("invalid_input", TOO_SLOW, { errors: [{ pointer: "", detail: TOO_SLOW }] }, { Connection: "close" })

const TOO_SLOW = `The body did not arrive within ${LIMITS.keylessBodySeconds} seconds.`
