import type { Log } from "../../base/log.ts"
import type { Stopwatch } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import { METRIC_LABELS } from "../../contract/metrics.ts"
import { allowedMethods, ROUTES, routeLabel } from "../../contract/routes.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import { pathOf } from "../request/request-url.ts"
import type { RefusalHeaders } from "../response/caller-headers.ts"
import type { AccountLog } from "./account-log.ts"
import { labelIndex } from "./counter-layout.ts"
import { LineLimit, type OmittedLines } from "./line-limit.ts"
import type { Meter } from "./meter.ts"

/** Which responses are logged. */
export type RequestLogging = {
  /** Responses that took so long or longer; null: none is slow. */
  readonly slowMs: () => number | null
  /** Every so many-th response without an error; null: none. */
  readonly sampleEvery: () => number | null
  /** Whether every refused request is logged now: on level debug, and after SIGUSR2. */
  readonly logsEveryRefusal: () => boolean
}

type RequestObserverDeps = {
  readonly meter: Meter
  readonly stopwatch: Stopwatch
  readonly log: Log
  readonly logging: RequestLogging
  /** Logs requests for their accounts; null or absent: they are not logged. */
  readonly accountLog?: AccountLog | null
  /** What requests were refused with. */
  readonly refusals: Pick<RefusalHeaders, "codeOf" | "faultOf">
}

type LoggedVerdict = { readonly category: string; readonly isDegraded: boolean }

const routeIndex = ({ method, path }: (typeof ROUTES)[keyof typeof ROUTES]): number =>
  labelIndex("route", `${method} ${path}`)

/** Indexes of the two routes of single checks in the metric label `route`. */
export const GET_CHECK_ROUTE: number = routeIndex(ROUTES.getCheck)
export const POST_CHECK_ROUTE: number = routeIndex(ROUTES.postCheck)

const HEALTH_ROUTE: number = routeIndex(ROUTES.getHealth)

/** How long an upload takes, its sender decides: no time of it is slow. */
const UPLOAD_ROUTES: ReadonlySet<number> = new Set(
  [ROUTES.postJob, ROUTES.postDashboardJob, ROUTES.postJobEstimate].map(routeIndex),
)

/** The index of every other path and method. */
export const ELSEWHERE_ROUTE: number = labelIndex("route", "")

/** The value of the metric label `tier` for a caller: the tier's number, or `publishable`. */
export const tierLabel = ({ kind }: CallerCredentials["key"], { tier }: CallerCredentials["account"]): string =>
  kind === "publishable" ? kind : String(tier)

/**
 * Counts every response, and logs slow ones, failed ones and a sample of the others, by which a request can be found: its id, route, time,
 * tier and verdict, or the problem and the ids of key and account. A log line never holds the input. Anybody can cause slow and failed
 * responses, also without a key, so their lines are bounded, and one line a second counts the rest.
 */
export class RequestObserver {
  readonly stopwatch: Stopwatch
  readonly #meter: Meter
  readonly #log: Log
  readonly #logging: RequestLogging
  /** How many responses without an error since the last one that was logged. */
  #sinceSample = 0
  readonly #slow: LineLimit
  readonly #failures: LineLimit
  readonly #refusals: RequestObserverDeps["refusals"]
  readonly #accountLog: AccountLog | null
  readonly #callers = new WeakMap<Request, CallerCredentials>()

  constructor({ meter, stopwatch, log, logging, accountLog = null, refusals }: RequestObserverDeps) {
    this.#accountLog = accountLog
    this.stopwatch = stopwatch
    this.#meter = meter
    this.#log = log
    this.#logging = logging
    this.#refusals = refusals
    this.#slow = new LineLimit(LIMITS.slowLinesPerSecondMax, omitted => this.#logOmitted("warn", "slow", omitted))
    this.#failures = new LineLimit(LIMITS.failureLinesPerSecondMax, omitted =>
      this.#logOmitted("info", "failed", omitted),
    )
  }

  /** Records a response. `caller` and `verdict` are null where there is none. */
  recordResponse(
    request: Request,
    route: number,
    response: Response,
    tookMs: number,
    caller: CallerCredentials | null,
    verdict: LoggedVerdict | null,
  ): void {
    const { status } = response
    this.#meter.recordResponse(route, status, tookMs)
    const isSample = status < 400 && ++this.#sinceSample >= (this.#logging.sampleEvery() ?? Number.POSITIVE_INFINITY)
    if (isSample) this.#sinceSample = 0
    const isSlow = this.#isSlow(route, tookMs)
    if (this.#slow.hasOmitted || this.#failures.hasOmitted) this.#tellOmitted(this.stopwatch())
    // What failed by us is told as that, however long it took.
    if (status >= 500 || (status >= 400 && !isSlow)) this.#recordRefusal(request, route, response, tookMs, caller)
    else if (isSlow ? this.#slow.admits(this.stopwatch(), tookMs) : isSample)
      this.#logResponse(
        route,
        response,
        { tookMs, isSlow },
        caller === null ? null : tierLabel(caller.key, caller.account),
        verdict,
      )
  }

  #tellOmitted(nowMs: number): void {
    for (const limit of [this.#slow, this.#failures]) if (limit.hasOmitted) limit.tick(nowMs)
  }

  #isSlow(route: number, tookMs: number): boolean {
    return tookMs >= (this.#logging.slowMs() ?? Number.POSITIVE_INFINITY) && !UPLOAD_ROUTES.has(route)
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
      this.recordResponse(request, route, response, tookMs, caller, null)
      if (caller !== null) this.#accountLog?.record(request, route, response, tookMs, caller)
      return response
    }
    return (wrappedRequest: Request) => {
      const response = handle(wrappedRequest)
      return response instanceof Promise ? response.then(record) : record(response)
    }
  }

  #logOmitted(level: "warn" | "info", what: "slow" | "failed", { count, slowestMs }: OmittedLines): void {
    this.#log(level, `more ${what} responses`, { count, slowest_ms: rounded(slowestMs) })
  }

  /** Logs a refused request: all of them while every line is logged, else some of those that failed by us. */
  #recordRefusal(
    request: Request,
    route: number,
    response: Response,
    tookMs: number,
    caller: CallerCredentials | null,
  ): void {
    // A health check that fails is an answer as it should be, and is asked for every few seconds.
    const isFailure = response.status >= 500 && route !== HEALTH_ROUTE
    const fault = this.#refusals.faultOf(request)
    if (!this.#logging.logsEveryRefusal()) {
      if (!isFailure) return
      // What a fault of the database refuses is counted with that.
      if (fault === null && !this.#failures.admits(this.stopwatch(), tookMs)) return
    }
    this.#log(isFailure ? "info" : "debug", isFailure ? "a request failed" : "a request was refused", {
      request_id: response.headers.get("x-request-id"),
      route: METRIC_LABELS.route[route] ?? null,
      status: response.status,
      code: this.#refusals.codeOf(request),
      key_id: caller?.key.id ?? null,
      account_id: caller?.account.id ?? null,
      took_ms: rounded(tookMs),
      ...fault,
    })
  }

  #logResponse(
    route: number,
    response: Response,
    { tookMs, isSlow }: { readonly tookMs: number; readonly isSlow: boolean },
    tier: string | null,
    verdict: LoggedVerdict | null,
  ): void {
    this.#log(isSlow ? "warn" : "info", isSlow ? "slow response" : "response sent", {
      request_id: response.headers.get("x-request-id"),
      route: METRIC_LABELS.route[route] ?? null,
      status: response.status,
      took_ms: rounded(tookMs),
      tier,
      category: verdict?.category ?? null,
      degraded: verdict?.isDegraded ?? null,
    })
  }
}

/** Milliseconds with three digits after the point. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
