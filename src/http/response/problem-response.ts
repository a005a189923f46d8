import { defectFields, type Log } from "../../base/log.ts"
import { LIMITS } from "../../contract/limits.ts"
import { PROBLEMS } from "../../contract/problems.ts"
import { allowedMethods } from "../../contract/routes.ts"
import { TooManyChanges } from "../../customers/accounts/change-turns.ts"
import { hasWrittenNothing, StoreError, type StoreErrorCode } from "../../customers/store/core/store-error.ts"
import { type Exchange, requestFields } from "../exchange.ts"
import type { Meter } from "../metrics/meter.ts"
import { RefusedKey } from "../request/caller.ts"
import { pathOf } from "../request/request-url.ts"
import { headerFields, withMetLimit } from "./caller-headers.ts"
import type { JsonResponses } from "./json-responses.ts"
import { ForeignForm, Problem, problemBody, rateLimited } from "./problem.ts"

type ProblemResponseDeps = {
  readonly responses: JsonResponses
  readonly baseUrl: () => string
  readonly log: Log
  readonly meter: Meter
}

/** Turns an error that a request caused into a problem response. The detail of an internal error is logged and not sent. */
export type ToProblemResponse = (error: unknown, exchange: Exchange) => Response

/** Creates the function that turns any thrown error into a problem response (RFC 9457). Our own faults are logged and never sent. */
export function createToProblemResponse({ responses, baseUrl, log, meter }: ProblemResponseDeps): ToProblemResponse {
  const logForeignForm = createForeignFormLog(log, baseUrl)
  return (error, exchange) => {
    const { id, lease } = exchange
    logForeignForm(error, exchange)
    const problem = problemOf(error) ?? internalError(error, exchange, log)
    const { status } = PROBLEMS[problem.code]
    meter.recordProblem(problem.code)
    exchange.refusal = problem.code
    if (error instanceof RefusedKey) exchange.caller = error.credentials
    if (error instanceof StoreError) exchange.fault = { fault: error.fault, why: error.reason }
    const retry =
      problem.extensions.retry_after === undefined ? {} : { "Retry-After": String(problem.extensions.retry_after) }
    const callerHeaders = lease === null ? exchange.callerHeaders : lease.headers()
    const ofCaller = callerHeaders === null ? {} : headerFields(callerHeaders)
    return responses.problem(problemBody(problem, baseUrl(), id), id, status, {
      ...retry,
      ...(problem.met === null ? ofCaller : withMetLimit(ofCaller, problem.met)),
      ...problem.headers,
    })
  }
}

/** How many origins of refused forms are logged. Beyond that there is an attack, and no wrong setting. */
const LOGGED_ORIGINS_MAX = 20

/** Logs each origin once whose forms are refused, since mostly `MAILKIND_BASE_URL` is missing or wrong. */
function createForeignFormLog(log: Log, baseUrl: () => string) {
  const logged = new Set<string>()
  return (error: unknown, exchange: Exchange): void => {
    const sentFrom = error instanceof ForeignForm ? error.sentFrom : null
    if (sentFrom === null || logged.has(sentFrom) || logged.size >= LOGGED_ORIGINS_MAX) return
    logged.add(sentFrom)
    log("warn", "a form from another origin was refused", {
      ...requestFields(exchange),
      ...{ route: exchange.route, origin: sentFrom.slice(0, LOGGED_ORIGIN_CHARS_MAX), base_url: baseUrl() },
      remedy:
        "If people open this server at that origin, set it as MAILKIND_BASE_URL. If not, another site sends forms here.",
    })
  }
}

const LOGGED_ORIGIN_CHARS_MAX = 300

/** The problem of a request without a route: `not_found`, or `method_not_allowed` with the methods of the path. */
export function noSuchRoute(request: Request): Problem {
  const allow = allowedMethods(pathOf(request))
  if (allow === null) return noSuchPath()
  return new Problem("method_not_allowed", `Use ${allow} for this path.`, {}, { Allow: allow })
}

/** The problem 404 `not_found`. */
export const noSuchPath = (): Problem => new Problem("not_found", NO_SUCH_PATH)

/** What a program is told of a path that no route has. */
export const NO_SUCH_PATH = "This path does not exist. The paths of the API begin with /v1."

/** The `Retry-After` of a request that failed because of the database. */
const DATABASE_RETRY_S = 5

/** Failures of the database that are not ours: it is unavailable, busy or full. */
const OUTAGE_CODES: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>([
  "away",
  "unknown_host",
  "unsure",
  "standby",
  "crowded",
  "clients_full",
  "pool_full",
  "pool_silent",
  "busy",
  "conflict",
  "full",
])

/** The problem that an error stands for; null: the error is a defect. */
export function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error
  return error instanceof TooManyChanges
    ? rateLimited(TOO_MANY_CHANGES, 1, LIMITS.accountChangesWaitingMax)
    : storeOutage(error)
}

const TOO_MANY_CHANGES = "Too many changes of your account wait for each other already."

/** The problem of a request that failed because the database is unavailable; null: the error has another cause. */
function storeOutage(error: unknown): Problem | null {
  if (!(error instanceof StoreError) || !OUTAGE_CODES.has(error.code)) return null
  const effect = hasWrittenNothing(error)
    ? "The request was not counted or stored."
    : "The request may have been stored."
  return new Problem("overloaded", `The server's database is unavailable. ${effect} Your request is correct.`, {
    retry_after: DATABASE_RETRY_S,
  })
}

/** Logs an internal error with its stack frames, and for a failure of the database the remedy. */
function internalError(error: unknown, exchange: Exchange, log: Log): Problem {
  log("error", "a request failed by a defect", {
    ...requestFields(exchange),
    ...defectFields(error),
    ...(error instanceof StoreError && {
      fault: error.fault,
      where: error.location,
      why: error.reason,
      remedy: error.remedy,
    }),
  })
  return new Problem(
    "internal_error",
    "Something went wrong on the server. The request id identifies the error in its log.",
  )
}
