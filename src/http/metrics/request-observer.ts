import type { Log } from "../../base/log.ts"
import type { Stopwatch } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import { METRIC_LABELS } from "../../contract/metrics.ts"
import { allowedMethods, ROUTES, routeLabel } from "../../contract/routes.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import { pathOf } from "../request/request-url.ts"
import type { AccountLog } from "./account-log.ts"
import { labelIndex } from "./counter-layout.ts"
import type { Meter } from "./meter.ts"

/** Which responses are logged. */
export type RequestLogging = {
  /** Responses that took so long or longer; null: none is slow. */
  readonly slowMs: number | null
  /** Every so many-th response without an error; null: none. */
  readonly sampleEvery: number | null
}

type RequestObserverDeps = {
  readonly meter: Meter
  readonly stopwatch: Stopwatch
  readonly log: Log
  readonly logging: RequestLogging
  /** Logs requests for their accounts; null or absent: they are not logged. */
  readonly accountLog?: AccountLog | null
}

type LoggedVerdict = { readonly category: string; readonly isDegraded: boolean }

const routeIndex = ({ method, path }: (typeof ROUTES)[keyof typeof ROUTES]): number =>
  labelIndex("route", `${method} ${path}`)

/** Indexes of the two routes of single checks in the metric label `route`. */
export const GET_CHECK_ROUTE: number = routeIndex(ROUTES.getCheck)
export const POST_CHECK_ROUTE: number = routeIndex(ROUTES.postCheck)

/** The index of every other path and method. */
export const ELSEWHERE_ROUTE: number = labelIndex("route", "")

/** The value of the metric label `tier` for a caller: the tier's number, or `publishable`. */
export const tierLabel = ({ kind }: CallerCredentials["key"], { tier }: CallerCredentials["account"]): string =>
  kind === "publishable" ? kind : String(tier)

const SECOND_MS = 1000

/**
 * Counts every response, and logs slow ones and a sample of the others: route, time, tier and verdict. A log line holds
 * neither the input nor the caller. Anybody can cause slow responses, also without a key, so
 * their lines are bounded, and one line a second counts the rest.
 */
export class RequestObserver {
  readonly stopwatch: Stopwatch
  readonly #meter: Meter
  readonly #log: Log
  readonly #slowMs: number
  readonly #sampleEvery: number
  /** How many further responses without an error until the next one is logged. */
  #untilSample: number
  /** The second of the latest slow responses, by the stopwatch, and how many of them were logged. */
  #slowSinceMs = Number.NEGATIVE_INFINITY
  #slowLoggedCount = 0
  /** Those of that second that were not logged. */
  #slowUnloggedCount = 0
  #slowestUnloggedMs = 0
  readonly #accountLog: AccountLog | null
  readonly #callers = new WeakMap<Request, CallerCredentials>()

  constructor({ meter, stopwatch, log, logging: { slowMs, sampleEvery }, accountLog = null }: RequestObserverDeps) {
    this.#accountLog = accountLog
    this.stopwatch = stopwatch
    this.#meter = meter
    this.#log = log
    this.#slowMs = slowMs ?? Number.POSITIVE_INFINITY
    this.#sampleEvery = sampleEvery ?? Number.POSITIVE_INFINITY
    this.#untilSample = this.#sampleEvery
  }

  /** Records a response. `caller` and `verdict` are null where there is none. */
  recordResponse(
    route: number,
    response: Response,
    tookMs: number,
    caller: CallerCredentials | null,
    verdict: LoggedVerdict | null,
  ): void {
    const { status } = response
    this.#meter.recordResponse(route, status, tookMs)
    const isSample = status < 400 && --this.#untilSample <= 0
    if (isSample) this.#untilSample = this.#sampleEvery
    const isSlow = tookMs >= this.#slowMs
    if (isSlow || this.#slowUnloggedCount > 0) this.#beginSecond()
    if (isSlow ? this.#mayLogSlow(tookMs) : isSample)
      this.#logResponse(
        route,
        response,
        tookMs,
        caller === null ? null : tierLabel(caller.key, caller.account),
        verdict,
      )
  }

  /** Remembers the caller of a request until its response is recorded. */
  setCaller(request: Request, caller: CallerCredentials): void {
    this.#callers.set(request, caller)
  }

  /** Records the responses of a handler, except single checks, which record their own. A path or method without a route counts as `elsewhere`. */
  wrap<H extends (request: Request) => Response | Promise<Response>>(handle: H, request: Request) {
    const path = pathOf(request)
    // HEAD counts as GET (RFC 9110 §9.3.2). A HEAD request that has no route is served by a GET request, which is recorded itself.
    const label = routeLabel(request.method === "HEAD" ? "GET" : request.method, path)
    if (label === null && request.method === "HEAD" && allowedMethods(path) !== null) return handle
    const route = labelIndex("route", label ?? "")
    if (route === GET_CHECK_ROUTE || route === POST_CHECK_ROUTE) return handle
    const startedAtMs = this.stopwatch()
    const record = (response: Response): Response => {
      const tookMs = this.stopwatch() - startedAtMs
      const caller = this.#callers.get(request) ?? null
      this.recordResponse(route, response, tookMs, caller, null)
      if (caller !== null) this.#accountLog?.record(request, route, response, tookMs, caller)
      return response
    }
    return (wrappedRequest: Request) => {
      const response = handle(wrappedRequest)
      return response instanceof Promise ? response.then(record) : record(response)
    }
  }

  /** Begins a new second for slow responses if the last one is over, and says how many of that were not logged. */
  #beginSecond(): void {
    const nowMs = this.stopwatch()
    if (nowMs - this.#slowSinceMs < SECOND_MS) return
    if (this.#slowUnloggedCount > 0)
      this.#log("warn", "more slow responses", {
        count: this.#slowUnloggedCount,
        slowest_ms: Math.round(this.#slowestUnloggedMs * 1000) / 1000,
      })
    this.#slowSinceMs = nowMs
    this.#slowLoggedCount = 0
    this.#slowUnloggedCount = 0
    this.#slowestUnloggedMs = 0
  }

  #mayLogSlow(tookMs: number): boolean {
    if (this.#slowLoggedCount < LIMITS.slowLinesPerSecondMax) {
      this.#slowLoggedCount++
      return true
    }
    this.#slowUnloggedCount++
    this.#slowestUnloggedMs = Math.max(this.#slowestUnloggedMs, tookMs)
    return false
  }

  #logResponse(
    route: number,
    response: Response,
    tookMs: number,
    tier: string | null,
    verdict: LoggedVerdict | null,
  ): void {
    const isSlow = tookMs >= this.#slowMs
    this.#log(isSlow ? "warn" : "info", isSlow ? "slow response" : "response sent", {
      request_id: response.headers.get("x-request-id"),
      route: METRIC_LABELS.route[route] ?? null,
      status: response.status,
      took_ms: Math.round(tookMs * 1000) / 1000,
      tier,
      category: verdict?.category ?? null,
      degraded: verdict?.isDegraded ?? null,
    })
  }
}
