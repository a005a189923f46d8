import { Elysia } from "elysia"
import type { Log } from "../base/log.ts"
import type { Stopwatch } from "../base/outside-world.ts"
import type { Check } from "../check/check.ts"
import { allowedMethods, pagePathWithoutSlash, ROUTES } from "../contract/routes.ts"
import type { Health } from "../contract/schemas.ts"
import type { Usage } from "../contract/usage-schema.ts"
import type { FeedbackReport, FeedbackReportResult } from "../customers/feedback/feedback.ts"
import type { KeyAuthenticator } from "../customers/keys/key-authenticator.ts"
import type { CallerAccount } from "../customers/keys/key-cache.ts"
import type { LeakedKeyRevocation } from "../customers/keys/keys.ts"
import type { AllowedOrigins } from "../customers/keys/origins.ts"
import type { OwnListCache } from "../customers/own-lists/own-list-cache.ts"
import type { RateLimiter } from "../customers/quota/rate/rate-limiter.ts"
import type { Actor } from "../customers/store/change-log/actor.ts"
import { type AdmissionDeps, createAdmission, createWithSecretKey } from "./admission/admission.ts"
import type { LoadShedder } from "./admission/load-shedder.ts"
import type { FindReporterKey } from "./hooks/reporter-keys.ts"
import { secretScanningRoute } from "./hooks/secret-scanning.ts"
import { mcpRoute } from "./mcp/mcp-route.ts"
import { AccountLog } from "./metrics/account-log.ts"
import { type MetricsEndpoint, metricsRoute } from "./metrics/metrics-route.ts"
import { ELSEWHERE_ROUTE, type RequestLogging, RequestObserver } from "./metrics/request-observer.ts"
import { hostProblem } from "./request/host.ts"
import { guardedRoutes } from "./request/path-guard.ts"
import type { NextTick } from "./request/request-batcher.ts"
import { pathOf, queryOf } from "./request/request-url.ts"
import type { UploadDeps } from "./request/upload.ts"
import { RefusalHeaders } from "./response/caller-headers.ts"
import { createShareWithPage, isKeylessPreflight, preflightHeaders, type ShareWithPage } from "./response/cors.ts"
import type { JsonResponses } from "./response/json-responses.ts"
import {
  createToProblemResponse,
  noSuchPath,
  noSuchRoute,
  type ToProblemResponse,
} from "./response/problem-response.ts"
import { createRefusal } from "./site/error-page.tsx"
import { createPageResponses, type PageResponses } from "./site/page-responses.ts"
import type { SiteDeps } from "./site/site-context.ts"
import { siteRoutes } from "./site/site-routes.ts"
import { batchRoute } from "./v1/batch.ts"
import { createCheckEndpoints } from "./v1/check.ts"
import { feedbackRoute } from "./v1/feedback.ts"
import { healthRoute } from "./v1/health.ts"
import { type JobsAccess, jobRoutes } from "./v1/jobs.ts"
import { usageRoute } from "./v1/usage.ts"

type AppDeps = Omit<AdmissionDeps, "refusalHeaders"> &
  UploadDeps &
  Omit<SiteDeps, "toProblemResponse" | "admit" | "observer" | "accountLog" | "refusals" | "extras"> & {
    readonly responses: JsonResponses
    readonly check: Check
    readonly keys: KeyAuthenticator
    readonly knownOrigins: AllowedOrigins
    readonly keyless: RateLimiter
    readonly ownLists: OwnListCache
    readonly roleOf: (localPart: string) => string | null
    readonly usageOf: (account: CallerAccount, day?: number | null) => Promise<Usage>
    readonly report: (report: FeedbackReport, actor: Actor) => Promise<FeedbackReportResult>
    readonly findReporterKey: FindReporterKey
    readonly revokeLeaked: (text: string) => Promise<LeakedKeyRevocation>
    readonly log: Log
    readonly nextTick: NextTick
    readonly jobs: JobsAccess
    readonly testDomain: string
    /** The public base URL. A function, because the system may pick the port when the server starts. */
    readonly baseUrl: () => string
    readonly health: () => Health
    readonly isStopping: () => boolean
    readonly isCutOff: () => boolean
    readonly stopwatch: Stopwatch
    readonly logging: RequestLogging
    readonly loadShedder: LoadShedder
    readonly metrics: MetricsEndpoint
  }

type WrapperDeps = Pick<AppDeps, "loadShedder"> & {
  readonly observer: RequestObserver
  readonly shareWithPage: ShareWithPage
  readonly toProblemResponse: ToProblemResponse
}

/**
 * Builds the HTTP server. Every request gets a response; no handler rejects.
 *
 * Two wrappers are around every route but `/v1/check`, whose pipeline does both itself: the observer is the outer one, so
 * that it also records what the load shedder refuses. Around both, pages are let read what they may.
 */
export function createApp(appDeps: AppDeps) {
  const refusalHeaders = new RefusalHeaders()
  const admit = createAdmission({ ...appDeps, refusalHeaders })
  const toProblemResponse = createToProblemResponse({ ...appDeps, refusalHeaders })
  const { pages, refuse } = createRefusalPages(appDeps, toProblemResponse)
  const accountLog = appDeps.requestLog === null ? null : new AccountLog(appDeps.requestLog, refusalHeaders)
  const observer = new RequestObserver({ ...appDeps, accountLog, refusals: refusalHeaders })
  const deps = {
    ...appDeps,
    refusalHeaders,
    admit,
    toProblemResponse,
    observer,
    accountLog,
    refusals: refusalHeaders,
    shareWithPage: createShareWithPage(appDeps.knownOrigins),
    withSecretKey: createWithSecretKey(appDeps.keys, admit, observer, appDeps.loadShedder),
  }
  const fallback = createFallback(deps, pages, refuse)
  const { GET, POST } = createCheckEndpoints(deps)
  // Bun's router calls the check endpoints directly: through Elysia a response takes 1 to 2 µs longer (DECISIONS 24).
  const routes = {
    ...guardedRoutes((request): Response | Promise<Response> => app.fetch(request), createPathRefusal(deps, refuse)),
    [ROUTES.postCheck.path]: { GET, POST },
  }
  // Without `standardHostname: false` Elysia does not find the path of a URL with a host of one or two letters, such as `http://mk/v1/check`.
  const app = new Elysia({
    serve: { routes },
    normalize: false,
    strictPath: true,
    handler: { standardHostname: false },
  })
    // Elysia's type of `wrap` is wrong: the wrapped function takes a request and returns a response.
    .wrap((handle, request) => wrapHandler(deps, handle as unknown as RequestHandler, request))
    .onError(({ error, code, request }) =>
      code === "NOT_FOUND" ? fallback(request, app.fetch) : refuse(error, request),
    )
    .get(ROUTES.getCheck.path, ({ request }) => GET(request), { parse: "none" })
    .post(ROUTES.postCheck.path, ({ request }) => POST(request), { parse: "none" })
    .use(batchRoute(deps))
    .use(feedbackRoute(deps))
    .use(jobRoutes(deps))
    .use(usageRoute(deps))
    .use(healthRoute(deps))
    .use(metricsRoute(deps))
    .use(mcpRoute(deps))
    .use(secretScanningRoute(deps))
    .use(siteRoutes(deps))
  return app
}

/** What browsers get where no page is. */
function createRefusalPages({ responses, isHttps, baseUrl }: AppDeps, toProblemResponse: ToProblemResponse) {
  const pages = createPageResponses(responses.requestId, isHttps, baseUrl)
  return { pages, refuse: createRefusal(pages, toProblemResponse) }
}

/** What is around every route but `/v1/check`. */
const wrapHandler = (
  { observer, loadShedder, toProblemResponse, shareWithPage }: WrapperDeps,
  handle: RequestHandler,
  request: Request,
): RequestHandler => {
  const wrapped = observer.wrap(
    loadShedder.wrap(withOneHost(handle, toProblemResponse), request, toProblemResponse),
    request,
  )
  return sent => {
    const response = wrapped(sent)
    return response instanceof Promise
      ? response.then(done => shareWithPage(sent, done))
      : shareWithPage(sent, response)
  }
}

/** Wraps a handler so that a request with several hosts is refused. The pipeline of `/v1/check` refuses it by itself. */
const withOneHost =
  (handle: RequestHandler, toProblemResponse: ToProblemResponse): RequestHandler =>
  request => {
    const problem = hostProblem(request)
    return problem === null ? handle(request) : toProblemResponse(problem, request)
  }

/** Refuses a path that the runtime has rewritten: it is none of ours, whatever the URL of the request says now. */
function createPathRefusal({ observer, shareWithPage }: WrapperDeps, refuse: ToProblemResponse) {
  return (request: Request): Response | Promise<Response> => {
    const startedAtMs = observer.stopwatch()
    const response = refuse(noSuchPath(), request)
    observer.recordResponse(request, ELSEWHERE_ROUTE, response, observer.stopwatch() - startedAtMs, null, null)
    return shareWithPage(request, response)
  }
}

/**
 * Handles requests without a route: HEAD where there is GET, OPTIONS on every path, and the path of a page with a slash at its end.
 * All others are refused.
 */
function createFallback(
  { responses, knownOrigins }: Pick<AppDeps, "responses" | "knownOrigins">,
  pages: Pick<PageResponses, "moved">,
  refuse: ToProblemResponse,
) {
  const optionsResponse = (request: Request, allow: string, headers: Readonly<Record<string, string>> = {}): Response =>
    responses.noContent(responses.requestId(request), { Allow: allow, ...headers })
  /**
   * A preflight carries no key, so any active publishable key that allows the origin is enough (DECISIONS 29). Where none will be sent,
   * any origin may ask about test addresses.
   */
  const preflightResponse = async (request: Request, allow: string): Promise<Response> => {
    const origin = request.headers.get("origin") || null
    const mayAsk = isKeylessPreflight(request) || (await knownOrigins.has(origin))
    return optionsResponse(request, allow, preflightHeaders(mayAsk ? origin : null, allow))
  }
  return (request: Request, handle: RequestHandler): Response | Promise<Response> => {
    const path = pathOf(request)
    const allow = allowedMethods(path)
    const isReading = request.method === "GET" || request.method === "HEAD"
    const page = isReading && allow === null ? pagePathWithoutSlash(path) : null
    if (page !== null) return pages.moved(withQueryOf(request, page), request)
    if (request.method === "HEAD" && allow !== null) return headResponse(request, handle)
    if (request.method !== "OPTIONS" || allow === null) return refuse(noSuchRoute(request), request)
    return path === ROUTES.postCheck.path ? preflightResponse(request, allow) : optionsResponse(request, allow)
  }
}

function withQueryOf({ url }: Request, path: string): string {
  const query = queryOf(url)
  return query === "" ? path : `${path}?${query}`
}

type RequestHandler = (request: Request) => Response | Promise<Response>

/** Serves HEAD as GET without the body (RFC 9110 §9.3.2). A path without GET refuses it. */
async function headResponse(request: Request, handle: RequestHandler): Promise<Response> {
  // `new Request` needs a complete URL. A request whose `Host` is missing or invalid has only a path.
  const url = URL.canParse(request.url) ? request.url : `http://localhost${pathOf(request)}?${queryOf(request.url)}`
  const { status, headers, body } = await handle(new Request(url, { headers: request.headers }))
  await body?.cancel()
  return new Response(null, { status, headers })
}
