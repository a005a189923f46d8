import type { Log } from "../base/log.ts"
import type { Stopwatch } from "../base/outside-world.ts"
import type { Check } from "../check/check.ts"
import { allowedMethods, pageOfForm, pagePathWithoutSlash, ROUTES } from "../contract/routes.ts"
import type { Health } from "../contract/schemas.ts"
import type { Usage } from "../contract/usage-schema.ts"
import type { KeyAuthenticator } from "../customers/keys/key-authenticator.ts"
import type { CallerAccount } from "../customers/keys/key-cache.ts"
import type { LeakedKeyRevocation } from "../customers/keys/keys.ts"
import type { AllowedOrigins } from "../customers/keys/origins.ts"
import type { OwnListCache } from "../customers/own-lists/own-list-cache.ts"
import type { RateLimiter } from "../customers/quota/rate/rate-limiter.ts"
import { type AdmissionDeps, createAdmission } from "./admission/admission.ts"
import type { LoadShedder } from "./admission/load-shedder.ts"
import { Exchange } from "./exchange.ts"
import type { FindReporterKey } from "./hooks/reporter-keys.ts"
import { secretScanningRoute } from "./hooks/secret-scanning.ts"
import { mcpRoute } from "./mcp/mcp-route.ts"
import { AccountLog } from "./metrics/account-log.ts"
import { RequestObserver } from "./metrics/request-observer.ts"
import { prefersHtml } from "./request/accept.ts"
import { guardedRoutes } from "./request/path-guard.ts"
import type { NextTick } from "./request/request-batcher.ts"
import { pathOf, queryOf } from "./request/request-url.ts"
import type { UploadDeps } from "./request/upload.ts"
import { createShareWithPage, isKeylessPreflight, preflightHeaders } from "./response/cors.ts"
import type { JsonResponses } from "./response/json-responses.ts"
import { createToProblemResponse, noSuchPath, noSuchRoute } from "./response/problem-response.ts"
import { createRouter, type Handler, type Handlers } from "./router.ts"
import { createRefusal, isRefusedByPage } from "./site/error-page.tsx"
import { withoutForm } from "./site/links.ts"
import { createSiteContext, type SiteContext, type SiteDeps } from "./site/site-context.ts"
import { siteRoutes } from "./site/site-routes.ts"
import { type StageDeps, serve } from "./stages.ts"
import { batchRoute } from "./v1/batch.ts"
import { createCheckEndpoints } from "./v1/check.ts"
import { type FeedbackDeps, feedbackRoute } from "./v1/feedback.ts"
import { healthRoute } from "./v1/health.ts"
import { type JobsAccess, jobRoutes } from "./v1/jobs.ts"
import { ownListRoutes } from "./v1/own-lists.ts"
import { rulesRoutes } from "./v1/rules.ts"
import { usageRoute } from "./v1/usage.ts"

type AppDeps = AdmissionDeps &
  UploadDeps &
  Omit<SiteDeps, "toProblemResponse" | "admit"> & {
    readonly responses: JsonResponses
    readonly check: Check
    readonly keys: KeyAuthenticator
    readonly knownOrigins: AllowedOrigins
    readonly keyless: RateLimiter
    readonly ownLists: OwnListCache
    readonly roleOf: (localPart: string) => string | null
    readonly usageOf: (account: CallerAccount, day?: number | null) => Promise<Usage>
    readonly report: FeedbackDeps["report"]
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
    /** From how many milliseconds on a response is logged as slow; null: never. */
    readonly slowMs: () => number | null
    /** Whether every response is logged now. */
    readonly logsEveryResponse: () => boolean
    readonly loadShedder: LoadShedder
  }

/** Builds the HTTP server. Every request gets a response; no handler rejects. */
export function createApp(appDeps: AppDeps) {
  const { responses, knownOrigins, requestLog } = appDeps
  const toProblemResponse = createToProblemResponse(appDeps)
  const site = createSiteContext({ ...appDeps, toProblemResponse, admit: createAdmission(appDeps) })
  const deps = {
    ...appDeps,
    ...site,
    refuse: createRefusal(site.pages, toProblemResponse),
    observer: new RequestObserver(appDeps),
    accountLog: requestLog === null ? null : new AccountLog(requestLog),
    shareWithPage: createShareWithPage(knownOrigins),
  }
  const check = createCheckEndpoints(deps)
  const handlers: Omit<Handlers, keyof typeof check> = {
    ...batchRoute(deps),
    ...feedbackRoute(deps),
    ...jobRoutes(deps),
    ...ownListRoutes(deps),
    ...usageRoute(deps),
    ...rulesRoutes(deps),
    ...healthRoute(deps),
    ...mcpRoute(deps),
    ...secretScanningRoute(deps),
    ...siteRoutes(site),
  }
  const elsewhere = createElsewhere(deps, (request): Response | Promise<Response> => router.fetch(request))
  // Bun's router calls the check endpoints directly: through Elysia a response takes 1 to 2 µs longer (DECISIONS 24).
  const bunRoutes = {
    ...guardedRoutes((request): Response | Promise<Response> => router.fetch(request), elsewhere.refusePath),
    [ROUTES.postCheck.path]: { GET: check.getCheck, POST: check.postCheck },
  }
  const router = createRouter(
    {
      serve: (request, route, params) =>
        route === "getCheck" || route === "postCheck"
          ? check[route](request)
          : // The router gives the parameters of the path, and the stages a caller to routes that need one.
            serve(deps, new Exchange(request, responses.requestId(request), route, params), handlers[route] as Handler),
      ...elsewhere,
    },
    bunRoutes,
  )
  return router
}

type ElsewhereDeps = StageDeps & Pick<AppDeps, "responses" | "knownOrigins"> & Pick<SiteContext, "pages" | "guards">

/**
 * Serves requests without a route: HEAD where there is GET, OPTIONS on every path, the path of a page with a slash at its end, and the
 * target of a form that a browser reloads. All others are refused.
 */
function createElsewhere(deps: ElsewhereDeps, dispatch: RequestHandler) {
  const { responses, pages, guards } = deps
  const serveBy = (request: Request, handle: Handler) =>
    serve(deps, new Exchange(request, responses.requestId(request), null), handle)
  const refuseWith =
    (error: unknown) =>
    async (exchange: Exchange): Promise<never> => {
      if (isRefusedByPage(exchange)) await guards.findViewer(exchange)
      throw error
    }
  return {
    serveElsewhere: (request: Request): Promise<Response> => {
      const path = pathOf(request)
      const allow = allowedMethods(path)
      // The request with GET is the one that is counted.
      if (request.method === "HEAD" && allow !== null) return headResponse(request, dispatch)
      const isReading = request.method === "GET" || request.method === "HEAD"
      const page = isReading && allow === null ? pagePathWithoutSlash(path) : null
      if (page !== null) return serveBy(request, exchange => pages.moved(withQueryOf(request, page), exchange))
      const holder = reloadedFormPage(request, path)
      if (holder !== null) return serveBy(request, exchange => pages.redirect(withoutForm(holder), exchange))
      if (request.method !== "OPTIONS" || allow === null) return serveBy(request, refuseWith(noSuchRoute(request)))
      return serveBy(request, exchange => optionsResponse(deps, exchange, path, allow))
    },
    /** Refuses a path that the runtime has rewritten: it is none of ours, whatever the URL of the request says now. */
    refusePath: (request: Request): Promise<Response> => serveBy(request, refuseWith(noSuchPath())),
    refuse: (request: Request, error: unknown): Promise<Response> => serveBy(request, refuseWith(error)),
  }
}

/** The page with the form whose target a browser reloads; null: it reloads none. */
const reloadedFormPage = ({ method, headers }: Request, path: string): string | null =>
  method === "GET" && prefersHtml(headers.get("accept")) ? pageOfForm(path) : null

/**
 * The answer to OPTIONS. A preflight carries no key, so any active publishable key that allows the origin is enough (DECISIONS 29). Where
 * none will be sent, any origin may ask about test addresses.
 */
async function optionsResponse(
  { responses, knownOrigins }: ElsewhereDeps,
  { request, id }: Exchange,
  path: string,
  allow: string,
): Promise<Response> {
  if (path !== ROUTES.postCheck.path) return responses.noContent(id, { Allow: allow })
  const origin = request.headers.get("origin") || null
  const mayAsk = isKeylessPreflight(request) || (await knownOrigins.has(origin))
  return responses.noContent(id, { Allow: allow, ...preflightHeaders(mayAsk ? origin : null, allow) })
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
