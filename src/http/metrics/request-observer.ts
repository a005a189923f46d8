import type { Finding } from "../../base/finding.ts"
import type { Log } from "../../base/log.ts"
import type { Stopwatch } from "../../base/outside-world.ts"
import type { CheckOutcome } from "../../check/result/result.ts"
import { LIMITS } from "../../contract/limits.ts"
import { METRIC_LABELS } from "../../contract/metrics.ts"
import { ROUTES, type RouteId } from "../../contract/routes.ts"
import type { CallerCredentials } from "../../customers/keys/key-cache.ts"
import { type Exchange, requestFields } from "../exchange.ts"
import { labelIndex } from "./counter-layout.ts"
import { LineLimit, type OmittedLines } from "./line-limit.ts"
import type { Meter } from "./meter.ts"

type RequestObserverDeps = {
  readonly meter: Meter
  readonly stopwatch: Stopwatch
  readonly log: Log
  /** Responses that took so long or longer are logged as slow; null: none is slow. */
  readonly slowMs: () => number | null
  /** Whether every response is logged now: on level debug, and after SIGUSR2. */
  readonly logsEveryResponse: () => boolean
  /** No verdict is logged as degraded, since the operator wants them all without DNS. */
  readonly isDnsOff: boolean
}

/** The index of every other path and method. */
const ELSEWHERE_ROUTE: number = labelIndex("route", "")

const ROUTE_INDEXES = Object.fromEntries(
  Object.entries(ROUTES).map(([id, { method, path }]) => [id, labelIndex("route", `${method} ${path}`)]),
) as { readonly [R in RouteId]: number } // a number for each row of the table

/** The index of a route in the metric label `route`; null: of what no route serves. */
export const routeIndex = (route: RouteId | null): number => (route === null ? ELSEWHERE_ROUTE : ROUTE_INDEXES[route])

/** How long an upload takes, its sender decides: no time of it is slow. */
const UPLOAD_ROUTES: ReadonlySet<RouteId | null> = new Set<RouteId>(["postJob", "postDashboardJob", "postJobEstimate"])

/** The value of the metric label `tier` for a caller: the tier's number, or `publishable`. */
export const tierLabel = ({ kind }: CallerCredentials["key"], { tier }: CallerCredentials["account"]): string =>
  kind === "publishable" ? kind : String(tier)

/**
 * Counts every response, and logs slow ones and failed ones, and all on level debug, by which a request can be found: its id, route, time,
 * tier and verdict, or the problem and the ids of key and account. A log line never holds the input. Anybody can cause slow and failed
 * responses, also without a key, so their lines are bounded, and one line a second counts the rest.
 */
export class RequestObserver {
  readonly #stopwatch: Stopwatch
  readonly #meter: Meter
  readonly #log: Log
  readonly #slowMs: () => number | null
  readonly #logsEveryResponse: () => boolean
  readonly #isDnsOff: boolean
  readonly #slow: LineLimit
  readonly #failures: LineLimit

  constructor({ meter, stopwatch, log, slowMs, logsEveryResponse, isDnsOff }: RequestObserverDeps) {
    this.#stopwatch = stopwatch
    this.#meter = meter
    this.#log = log
    this.#slowMs = slowMs
    this.#logsEveryResponse = logsEveryResponse
    this.#isDnsOff = isDnsOff
    this.#slow = new LineLimit(LIMITS.slowLinesPerSecondMax, omitted => this.#logOmitted("warn", "slow", omitted))
    this.#failures = new LineLimit(LIMITS.failureLinesPerSecondMax, omitted =>
      this.#logOmitted("info", "failed", omitted),
    )
  }

  /** Records the response to a request. */
  record(exchange: Exchange, response: Response, tookMs: number): void {
    const { status } = response
    this.#meter.recordResponse(routeIndex(exchange.route), status, tookMs)
    const isSlow = tookMs >= (this.#slowMs() ?? Number.POSITIVE_INFINITY) && !UPLOAD_ROUTES.has(exchange.route)
    if (this.#slow.hasOmitted || this.#failures.hasOmitted) this.#tellOmitted(this.#stopwatch())
    // What failed by us is told as that, however long it took.
    if (status >= 500 || (status >= 400 && !isSlow)) this.#recordRefusal(exchange, status, tookMs)
    else if (isSlow ? this.#slow.admits(this.#stopwatch(), tookMs) : this.#logsEveryResponse())
      this.#logResponse(exchange, status, { tookMs, isSlow })
  }

  #tellOmitted(nowMs: number): void {
    for (const limit of [this.#slow, this.#failures]) if (limit.hasOmitted) limit.tick(nowMs)
  }

  #logOmitted(level: "warn" | "info", what: "slow" | "failed", { count, slowestMs }: OmittedLines): void {
    this.#log(level, `more ${what} responses`, { count, slowest_ms: rounded(slowestMs) })
  }

  /** Logs a refused request: all of them while every line is logged, else some of those that failed by us. */
  #recordRefusal(exchange: Exchange, status: number, tookMs: number): void {
    const { route, caller, refusal, fault } = exchange
    // A health check that fails is an answer as it should be, and is asked for every few seconds.
    const isFailure = status >= 500 && route !== "getHealth"
    const isTold = isFailure && (this.#logsEveryResponse() || this.#failures.admits(this.#stopwatch(), tookMs))
    // A failure by a fault is counted with that, also without a line.
    if (!isTold && !this.#logsEveryResponse() && !(isFailure && fault !== null)) return
    this.#log(isTold ? "info" : "debug", isFailure ? "a request failed" : "a request was refused", {
      ...requestFields(exchange),
      route: METRIC_LABELS.route[routeIndex(route)] ?? null,
      status,
      code: refusal,
      key_id: caller?.key.id ?? null,
      account_id: caller?.account.id ?? null,
      took_ms: rounded(tookMs),
      ...fault,
    })
  }

  #logResponse(
    exchange: Exchange,
    status: number,
    { tookMs, isSlow }: { readonly tookMs: number; readonly isSlow: boolean },
  ): void {
    const { route, caller, result } = exchange
    const verdict = result?.check?.judged.verdict
    this.#log(isSlow ? "warn" : "debug", isSlow ? "slow response" : "response sent", {
      ...requestFields(exchange),
      route: METRIC_LABELS.route[routeIndex(route)] ?? null,
      status,
      took_ms: rounded(tookMs),
      tier: caller === null ? null : tierLabel(caller.key, caller.account),
      category: verdict?.category ?? null,
      degraded: verdict === undefined ? null : verdict.isDegraded && !this.#isDnsOff,
      ...waitOf(result?.check ?? null),
    })
  }
}

/** How long a check has waited for evidence, and what it asked for; null: for nothing, or it is not known. */
function waitOf(check: CheckOutcome | null) {
  if (check === null || check.tookMs === 0) return { waited_ms: check && 0, waited_for: null }
  const { mail, tenant, homepage } = check.judged.evidence
  const asked = [isAsked(mail) && "dns", isAsked(tenant) && "identity", isAsked(homepage) && "homepage and registry"]
  // Mail that nobody needs counts as not asked when it failed.
  return { waited_ms: check.tookMs, waited_for: asked.filter(part => part !== false).join(", ") || "dns" }
}

const isAsked = (finding: Finding<unknown>): boolean => finding.known || finding.cause !== "not_asked"

/** Milliseconds with three digits after the point. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
