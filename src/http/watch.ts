import type { Stopwatch } from "../base/clock.ts"
import type { Log } from "../base/log.ts"
import { LABELS } from "../contract/metrics.ts"
import { allowedMethods, ROUTES, routeOf } from "../contract/routes.ts"
import type { KnownKey } from "../customers/keys/held-keys.ts"
import { pathOf } from "./errors.ts"
import { positionOf } from "./metrics/layout.ts"
import type { Meter } from "./metrics/meter.ts"

/** Which answers are logged. */
export type Logging = {
  /** From so many milliseconds on; null: none is slow. */
  readonly slowMs: number | null
  /** One of so many that went well; null: none. */
  readonly sampleEvery: number | null
}

type Needs = { readonly meter: Meter; readonly stopwatch: Stopwatch; readonly log: Log; readonly logging: Logging }

type Told = { readonly category: string; readonly isDegraded: boolean }

const placeOf = ({ method, path }: (typeof ROUTES)[keyof typeof ROUTES]): number =>
  positionOf("route", `${method} ${path}`)

/** The positions of the routes of single checks among all. */
export const GET_CHECK: number = placeOf(ROUTES.getCheck)
export const POST_CHECK: number = placeOf(ROUTES.postCheck)

/** What callers are counted under: the tier's number, or `publishable`. */
export const tierOf = ({ kind }: KnownKey["key"], { tier }: KnownKey["account"]): string =>
  kind === "publishable" ? kind : String(tier)

/**
 * Counts every answer, and logs those that are slow and a sample of those that went well: which route, how long, of which
 * tier, to what end. Nothing of what was asked, and nobody who asked, is in a line.
 */
export class Watch {
  readonly stopwatch: Stopwatch
  readonly #meter: Meter
  readonly #log: Log
  readonly #slowMs: number
  readonly #sampleEvery: number
  /** How many more go well until one is logged. */
  #left: number
  readonly #known = new WeakMap<Request, KnownKey>()

  constructor({ meter, stopwatch, log, logging: { slowMs, sampleEvery } }: Needs) {
    this.stopwatch = stopwatch
    this.#meter = meter
    this.#log = log
    this.#slowMs = slowMs ?? Number.POSITIVE_INFINITY
    this.#sampleEvery = sampleEvery ?? Number.POSITIVE_INFINITY
    this.#left = this.#sampleEvery
  }

  /** An answer that took so long: by whom it was asked and what it told, where that is known. */
  answered(route: number, response: Response, tookMs: number, known: KnownKey | null, told: Told | null): void {
    const { status } = response
    this.#meter.answered(route, status, tookMs)
    const isSample = status < 400 && --this.#left <= 0
    if (isSample) this.#left = this.#sampleEvery
    if (isSample || tookMs >= this.#slowMs)
      this.#line(route, response, tookMs, known === null ? null : tierOf(known.key, known.account), told)
  }

  /** The request is of somebody who was let in; kept until it is answered. */
  admitted(request: Request, known: KnownKey): void {
    this.#known.set(request, known)
  }

  /**
   * Watches over everything but single checks, which tell of themselves. Each request of another path or method counts as
   * one `elsewhere`.
   */
  over<S extends (request: Request) => Response | Promise<Response>>(serve: S, request: Request) {
    const path = pathOf(request)
    // HEAD goes with GET (RFC 9110 §9.3.2); where no GET is, it is answered by asking for GET, which is watched then.
    const label = routeOf(request.method === "HEAD" ? "GET" : request.method, path)
    if (label === null && request.method === "HEAD" && allowedMethods(path) !== null) return serve
    const route = positionOf("route", label ?? "")
    if (route === GET_CHECK || route === POST_CHECK) return serve
    const sinceMs = this.stopwatch()
    const tell = (response: Response): Response => {
      this.answered(route, response, this.stopwatch() - sinceMs, this.#known.get(request) ?? null, null)
      return response
    }
    return (asked: Request) => {
      const response = serve(asked)
      return response instanceof Promise ? response.then(tell) : tell(response)
    }
  }

  #line(route: number, response: Response, tookMs: number, tier: string | null, told: Told | null): void {
    const isSlow = tookMs >= this.#slowMs
    this.#log(isSlow ? "warn" : "info", isSlow ? "an answer was slow" : "a request was answered", {
      request_id: response.headers.get("x-request-id"),
      route: LABELS.route[route] ?? null,
      status: response.status,
      took_ms: Math.round(tookMs * 1000) / 1000,
      tier,
      category: told?.category ?? null,
      degraded: told?.isDegraded ?? null,
    })
  }
}
