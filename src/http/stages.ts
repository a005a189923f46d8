import type { Stopwatch } from "../base/outside-world.ts"
import { PROBLEMS } from "../contract/problems.ts"
import { ROUTES, type RouteId } from "../contract/routes.ts"
import type { KeyAuthenticator } from "../customers/keys/key-authenticator.ts"
import type { Admit } from "./admission/admission.ts"
import type { LoadShedder } from "./admission/load-shedder.ts"
import type { Exchange } from "./exchange.ts"
import type { AccountLog } from "./metrics/account-log.ts"
import type { RequestObserver } from "./metrics/request-observer.ts"
import { type Caller, identifyCaller, unauthorized } from "./request/caller.ts"
import type { ShareWithPage } from "./response/cors.ts"
import { Problem } from "./response/problem.ts"
import type { ToProblemResponse } from "./response/problem-response.ts"
import type { Handler } from "./router.ts"

/** What the stages of a request need. */
export type StageDeps = {
  readonly keys: KeyAuthenticator
  readonly admit: Admit
  readonly loadShedder: LoadShedder
  readonly observer: RequestObserver
  /** Null: no requests are logged for their accounts. */
  readonly accountLog: AccountLog | null
  readonly shareWithPage: ShareWithPage
  readonly stopwatch: Stopwatch
  readonly toProblemResponse: ToProblemResponse
  /** The same, or a page for a browser that asks for one. */
  readonly refuse: ToProblemResponse
}

/** Requests about uploaded lists: whoever watches a list must not slow it down. */
const OF_LISTS: ReadonlySet<RouteId | null> = new Set<RouteId>([
  "postJob",
  "getJobs",
  "getJob",
  "getJobResults",
  "deleteJob",
  "dashboardJobs",
  "postDashboardJob",
  "postJobEstimate",
  "dashboardJob",
  "jobProgress",
  "jobResultsFile",
  "postCallbackAgain",
  "jobDeletion",
  "postJobDeletion",
])

/** Requests that do more than others, and are shed earlier. */
const HEAVY: ReadonlySet<RouteId | null> = new Set<RouteId>(["postBatch", "postJob", "mcp"])

/** The first stage of every request. Throws `invalid_input` for several hosts, or `overloaded`. */
export function enter({ loadShedder }: Pick<StageDeps, "loadShedder">, exchange: Exchange): void {
  const { request, route } = exchange
  // Operators need the health most when the server is overloaded.
  const isShed = route !== "getHealth"
  const refusal = hostProblem(request) ?? (isShed ? loadShedder.acquire(!OF_LISTS.has(route)) : null)
  if (refusal !== null) throw refusal
  exchange.isCounted = isShed
}

/** Finds out whose key the request carries. Throws, or rejects with, a problem of the key. A promise only when the database is needed. */
export function identify({ keys }: Pick<StageDeps, "keys">, exchange: Exchange): void | Promise<void> {
  const caller = identifyCaller(exchange.request.headers, keys)
  if (caller instanceof Promise) return identifyLater(exchange, caller)
  exchange.caller = caller
}

async function identifyLater(exchange: Exchange, caller: Promise<Caller>): Promise<void> {
  exchange.caller = await caller
}

/** The last stage: gives back what the request holds, counts it and logs it. Must not throw. */
export function finish(
  { loadShedder, observer, accountLog }: Pick<StageDeps, "loadShedder" | "observer" | "accountLog">,
  exchange: Exchange,
  response: Response,
  tookMs: number,
): void {
  exchange.lease?.release()
  if (exchange.isCounted) loadShedder.release()
  observer.record(exchange, response, tookMs)
  accountLog?.record(exchange, response, tookMs)
}

/**
 * Serves a request of any route but the two of single checks, which pass the same stages in batches. Where the route needs a secret key,
 * `handle` gets an admitted caller.
 */
export async function serve(deps: StageDeps, exchange: Exchange, handle: Handler): Promise<Response> {
  const startedAtMs = deps.stopwatch()
  const response = await answer(deps, exchange, handle)
  finish(deps, exchange, response, deps.stopwatch() - startedAtMs)
  return await deps.shareWithPage(exchange.request, response)
}

async function answer(deps: StageDeps, exchange: Exchange, handle: Handler): Promise<Response> {
  const { route, request } = exchange
  try {
    enter(deps, exchange)
  } catch (error) {
    // What the server has no place for costs no page.
    return deps.toProblemResponse(error, exchange)
  }
  try {
    if (route !== null && ROUTES[route].access === "secret key") {
      await identify(deps, exchange)
      if (exchange.caller === null) throw unauthorized(request.headers)
      deps.admit(exchange, false)
      deps.loadShedder.assertCapacity(HEAVY.has(route))
    }
    return await handle(exchange)
  } catch (error) {
    return refuseSafely(deps, error, exchange)
  }
}

/** Refuses a request. What fails while a refusal is written must not keep the place of the request. */
export function refuseSafely({ refuse }: Pick<StageDeps, "refuse">, error: unknown, exchange: Exchange): Response {
  try {
    return refuse(error, exchange)
  } catch {
    return new Response(null, { status: PROBLEMS.internal_error.status, headers: { "X-Request-Id": exchange.id } })
  }
}

/** Lines of one name, which the runtime joins by a comma and a space. No host contains either; the last line may be empty. */
const JOINED_LINES = /, |,$/

/** `invalid_input` for a request with several `Host` lines (RFC 9112 §3.2), since a proxy may have gone by another one than we do; null: it has not. */
function hostProblem({ headers }: Request): Problem | null {
  const host = headers.get("host")
  if (!host?.includes(",") || !JOINED_LINES.test(host)) return null
  return new Problem("invalid_input", "The request has more than one `Host` header. It must have exactly one.")
}
