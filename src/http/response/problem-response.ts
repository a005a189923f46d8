import { InvariantError } from "../../base/errors.ts"
import type { Log } from "../../base/log.ts"
import { PROBLEMS } from "../../contract/problems.ts"
import { allowedMethods } from "../../contract/routes.ts"
import { hasWrittenNothing, StoreError, type StoreErrorCode } from "../../customers/store/core/store-error.ts"
import type { Meter } from "../metrics/meter.ts"
import type { RefusalHeaders } from "./caller-headers.ts"
import type { JsonResponses } from "./json-responses.ts"
import { Problem, problemBody } from "./problem.ts"

type ProblemResponseDeps = {
  readonly responses: JsonResponses
  readonly baseUrl: () => string
  readonly log: Log
  readonly refusalHeaders: RefusalHeaders
  readonly meter: Meter
}

/** Turns whatever was thrown while a request was served into its problem. What is our fault is logged, never sent. */
export type ToProblemResponse = (error: unknown, request: Request) => Response

/** Builds what writes the problems of one server. */
export function createToProblemResponse({
  responses,
  baseUrl,
  log,
  refusalHeaders,
  meter,
}: ProblemResponseDeps): ToProblemResponse {
  return (error, request) => {
    const requestId = responses.requestId(request)
    const problem = error instanceof Problem ? error : (storeOutage(error) ?? internalError(error, requestId, log))
    const { status } = PROBLEMS[problem.code]
    meter.recordProblem(problem.code)
    const retry =
      problem.extensions.retry_after === undefined ? {} : { "Retry-After": String(problem.extensions.retry_after) }
    return responses.problem(problemBody(problem, baseUrl(), requestId), requestId, status, {
      ...retry,
      ...refusalHeaders.get(request),
      ...problem.headers,
    })
  }
}

/** The refusal of a path or method that no route has. */
export function noSuchRoute(request: Request): Problem {
  const allow = allowedMethods(pathOf(request))
  if (allow === null) return noSuchPath()
  return new Problem("method_not_allowed", `This path takes ${allow}.`, {}, { Allow: allow })
}

/** The refusal of a path that does not exist. */
export const noSuchPath = (): Problem => new Problem("not_found", "No such path; the API's paths begin with /v1.")

/** The path of a request, as sent, without its query. Where there is no host that can be, its URL begins with the path. */
export function pathOf({ url }: Request): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3)
  const end = url.indexOf("?", start)
  return url.slice(start, end < 0 ? undefined : end)
}

/** When a caller tries again whose request the database kept from being served, in seconds. */
const DATABASE_RETRY_S = 5

/** What the world is to mend, and not we: a database that is away, that is busy, or that has no room. */
const OUTAGE_CODES: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>([
  "away",
  "unsure",
  "standby",
  "crowded",
  "busy",
  "conflict",
  "full",
])

/** The refusal of a request that needed the database when that could not be had; null: that is not what failed. */
function storeOutage(error: unknown): Problem | null {
  if (!(error instanceof StoreError) || !OUTAGE_CODES.has(error.code)) return null
  const kept = hasWrittenNothing(error)
    ? "nothing was counted or kept of the request"
    : "the request may have been kept or not"
  return new Problem(
    "overloaded",
    `The server's database cannot be had for the moment; ${kept}, and nothing is wrong with it.`,
    { retry_after: DATABASE_RETRY_S },
  )
}

/**
 * Logs where we failed, and of a failure of the store what to do about it. An error's own message may hold what a caller sent, so only our
 * own sentences are written.
 */
function internalError(error: unknown, requestId: string, log: Log): Problem {
  const says = error instanceof InvariantError ? error.message : "a request failed"
  const name = error instanceof Error ? error.name : typeof error
  const frames = error instanceof Error ? (error.stack ?? "").split("\n").filter(line => /^\s*at /.test(line)) : []
  log("error", says, {
    request_id: requestId,
    error: name,
    at: frames
      .slice(0, 8)
      .map(line => line.trim())
      .join(" < "),
    ...(error instanceof StoreError ? { fault: error.code, remedy: error.remedy } : {}),
  })
  return new Problem("internal_error", "The server failed. The request id names this failure in its log.")
}
