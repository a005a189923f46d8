import type { Log } from "../../base/log.ts"
import type { Stopwatch } from "../../base/outside-world.ts"
import { METRIC_LABELS } from "../../contract/metrics.ts"
import { allowedMethods, ROUTES, routeLabel } from "../../contract/routes.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import { pathOf } from "../response/problem-response.ts"
import { labelIndex } from "./counter-layout.ts"
import type { Meter } from "./meter.ts"

/** Which answers are logged. */
export type RequestLogging = {
  /** From so many milliseconds on; null: none is slow. */
  readonly slowMs: number | null
  /** One of so many that went well; null: none. */
  readonly sampleEvery: number | null
}

type RequestObserverDeps = {
  readonly meter: Meter
  readonly stopwatch: Stopwatch
  readonly log: Log
  readonly logging: RequestLogging
}

type LoggedVerdict = { readonly category: string; readonly isDegraded: boolean }

const routeIndex = ({ method, path }: (typeof ROUTES)[keyof typeof ROUTES]): number =>
  labelIndex("route", `${method} ${path}`)

/** The positions of the routes of single checks among all. */
export const GET_CHECK_ROUTE: number = routeIndex(ROUTES.getCheck)
export const POST_CHECK_ROUTE: number = routeIndex(ROUTES.postCheck)

/** What callers are counted under: the tier's number, or `publishable`. */
export const tierLabel = ({ kind }: CallerCredentials["key"], { tier }: CallerCredentials["account"]): string =>
  kind === "publishable" ? kind : String(tier)

/**
 * Counts every answer, and logs those that are slow and a sample of those that went well: which route, how long, of which
 * tier, to what end. Nothing of what was asked, and nobody who asked, is in a line.
 */
export class RequestObserver {
  readonly stopwatch: Stopwatch
  readonly #meter: Meter
  readonly #log: Log
  readonly #slowMs: number
  readonly #sampleEvery: number
  /** How many more go well until one is logged. */
  #untilSample: number
  readonly #callers = new WeakMap<Request, CallerCredentials>()

  constructor({ meter, stopwatch, log, logging: { slowMs, sampleEvery } }: RequestObserverDeps) {
    this.stopwatch = stopwatch
    this.#meter = meter
    this.#log = log
    this.#slowMs = slowMs ?? Number.POSITIVE_INFINITY
    this.#sampleEvery = sampleEvery ?? Number.POSITIVE_INFINITY
    this.#untilSample = this.#sampleEvery
  }

  /** An answer that took so long: by whom it was asked and what it told, where that is known. */
  recordResponse(
    route: number,
    response: Response,
    tookMs: number,
    known: CallerCredentials | null,
    told: LoggedVerdict | null,
  ): void {
    const { status } = response
    this.#meter.recordResponse(route, status, tookMs)
    const isSample = status < 400 && --this.#untilSample <= 0
    if (isSample) this.#untilSample = this.#sampleEvery
    if (isSample || tookMs >= this.#slowMs)
      this.#logResponse(route, response, tookMs, known === null ? null : tierLabel(known.key, known.account), told)
  }

  /** The request is of somebody who was let in; kept until it is answered. */
  setCaller(request: Request, known: CallerCredentials): void {
    this.#callers.set(request, known)
  }

  /**
   * Watches over everything but single checks, which tell of themselves. Each request of another path or method counts as
   * one `elsewhere`.
   */
  wrap<S extends (request: Request) => Response | Promise<Response>>(serve: S, request: Request) {
    const path = pathOf(request)
    // HEAD goes with GET (RFC 9110 §9.3.2); where no GET is, it is answered by asking for GET, which is watched then.
    const label = routeLabel(request.method === "HEAD" ? "GET" : request.method, path)
    if (label === null && request.method === "HEAD" && allowedMethods(path) !== null) return serve
    const route = labelIndex("route", label ?? "")
    if (route === GET_CHECK_ROUTE || route === POST_CHECK_ROUTE) return serve
    const sinceMs = this.stopwatch()
    const tell = (response: Response): Response => {
      this.recordResponse(route, response, this.stopwatch() - sinceMs, this.#callers.get(request) ?? null, null)
      return response
    }
    return (asked: Request) => {
      const response = serve(asked)
      return response instanceof Promise ? response.then(tell) : tell(response)
    }
  }

  #logResponse(
    route: number,
    response: Response,
    tookMs: number,
    tier: string | null,
    told: LoggedVerdict | null,
  ): void {
    const isSlow = tookMs >= this.#slowMs
    this.#log(isSlow ? "warn" : "info", isSlow ? "an answer was slow" : "a request was answered", {
      request_id: response.headers.get("x-request-id"),
      route: METRIC_LABELS.route[route] ?? null,
      status: response.status,
      took_ms: Math.round(tookMs * 1000) / 1000,
      tier,
      category: told?.category ?? null,
      degraded: told?.isDegraded ?? null,
    })
  }
}
