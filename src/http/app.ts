import { Elysia } from "elysia"
import type { Log } from "../base/log.ts"
import type { Stopwatch } from "../base/outside-world.ts"
import type { Check } from "../check/check.ts"
import { allowedMethods, ROUTES } from "../contract/routes.ts"
import type { Health } from "../contract/schemas.ts"
import type { Usage } from "../contract/usage-schema.ts"
import type { FeedbackReport, FeedbackReportResult } from "../customers/feedback/feedback.ts"
import type { KeyAuthenticator } from "../customers/keys/key-authenticator.ts"
import type { CallerAccount } from "../customers/keys/key-cache.ts"
import type { LeakedKeyRevocation } from "../customers/keys/keys.ts"
import type { AllowedOrigins } from "../customers/keys/origins.ts"
import type { OwnListCache } from "../customers/own-lists/own-list-cache.ts"
import type { RateLimiter } from "../customers/quota/rate/rate-limiter.ts"
import { type AdmissionDeps, createAdmission, createWithSecretKey } from "./admission/admission.ts"
import type { LoadShedder } from "./admission/load-shedder.ts"
import type { FindReporterKey } from "./hooks/reporter-keys.ts"
import { secretScanningRoute } from "./hooks/secret-scanning.ts"
import { type MetricsEndpoint, metricsRoute } from "./metrics/metrics-route.ts"
import { type RequestLogging, RequestObserver } from "./metrics/request-observer.ts"
import type { NextTick } from "./request/request-batcher.ts"
import { queryParameters } from "./request/request-url.ts"
import { RefusalHeaders } from "./response/caller-headers.ts"
import { preflightHeaders } from "./response/cors.ts"
import type { JsonResponses } from "./response/json-responses.ts"
import { createToProblemResponse, noSuchRoute, pathOf, type ToProblemResponse } from "./response/problem-response.ts"
import { type SiteDeps, siteRoutes } from "./site/site-routes.ts"
import { batchRoute } from "./v1/batch.ts"
import { createCheckEndpoints } from "./v1/check.ts"
import { feedbackRoute } from "./v1/feedback.ts"
import { healthRoute } from "./v1/health.ts"
import { usageRoute } from "./v1/usage.ts"

type AppDeps = Omit<AdmissionDeps, "refusalHeaders"> &
  Omit<SiteDeps, "toProblemResponse" | "admit" | "extras"> & {
    readonly responses: JsonResponses
    readonly check: Check
    readonly keys: KeyAuthenticator
    readonly knownOrigins: AllowedOrigins
    readonly keyless: RateLimiter
    readonly ownLists: OwnListCache
    readonly roleOf: (localPart: string) => string | null
    readonly usageOf: (account: CallerAccount) => Promise<Usage>
    readonly report: (report: FeedbackReport) => Promise<FeedbackReportResult>
    readonly findReporterKey: FindReporterKey
    readonly revokeLeaked: (text: string) => Promise<LeakedKeyRevocation>
    readonly log: Log
    readonly nextTick: NextTick
    readonly testDomain: string
    /** The public base address; asked late, since the port may be picked at the start. */
    readonly baseUrl: () => string
    readonly health: () => Health
    readonly isStopping: () => boolean
    readonly stopwatch: Stopwatch
    readonly logging: RequestLogging
    readonly loadShedder: LoadShedder
    readonly metrics: MetricsEndpoint
  }

/** Builds the whole HTTP face: it answers every request, and none of its answers rejects. */
export function createApp(parts: AppDeps) {
  const refusalHeaders = new RefusalHeaders()
  const admit = createAdmission({ ...parts, refusalHeaders })
  const refuse = createToProblemResponse({ ...parts, refusalHeaders })
  const watch = new RequestObserver(parts)
  const needs = {
    ...parts,
    refusalHeaders,
    admit,
    toProblemResponse: refuse,
    observer: watch,
    withSecretKey: createWithSecretKey(parts.keys, admit, watch, parts.loadShedder),
  }
  const elsewhere = createFallback(needs)
  const { GET, POST } = createCheckEndpoints(needs)
  // Bun's own router calls the way that must be quick: by way of Elysia an answer takes 1 to 2 µs longer.
  const routes = { [ROUTES.postCheck.path]: { GET, POST } }
  // A host of one or two letters is a host too: without this the path of `http://mk/v1/check` is not found.
  const app = new Elysia({
    serve: { routes },
    normalize: false,
    strictPath: true,
    handler: { standardHostname: false },
  })
    // Its types are one call short: what is wrapped gives an answer, and what wraps it a function that does.
    .wrap((serve, request) =>
      watch.wrap(parts.loadShedder.wrap(serve as unknown as RequestHandler, request, refuse), request),
    )
    .onError(({ error, code, request }) =>
      code === "NOT_FOUND" ? elsewhere(request, app.fetch) : refuse(error, request),
    )
    .get(ROUTES.getCheck.path, ({ request }) => GET(request), { parse: "none" })
    .post(ROUTES.postCheck.path, ({ request }) => POST(request), { parse: "none" })
    .use(batchRoute(needs))
    .use(feedbackRoute(needs))
    .use(usageRoute(needs))
    .use(healthRoute(needs))
    .use(metricsRoute(needs))
    .use(secretScanningRoute(needs))
    .use(siteRoutes(needs))
  return app
}

/** Answers what no route takes: HEAD goes with GET, OPTIONS with every path; the rest is refused. */
function createFallback({
  responses,
  knownOrigins,
  toProblemResponse,
}: Pick<AppDeps, "responses" | "knownOrigins"> & { toProblemResponse: ToProblemResponse }) {
  const options = (request: Request, allow: string, more: Readonly<Record<string, string>> = {}): Response =>
    responses.noContent(responses.requestId(request), { Allow: allow, ...more })
  /** Pages ask from elsewhere at one path only; a preflight brings no key, so any key that allows the origin will do. */
  const preflighted = async (request: Request, allow: string): Promise<Response> => {
    const origin = request.headers.get("origin")
    return options(request, allow, preflightHeaders((await knownOrigins.has(origin)) ? origin : null, allow))
  }
  return (request: Request, serve: RequestHandler): Response | Promise<Response> => {
    const allow = allowedMethods(pathOf(request))
    if (request.method === "HEAD" && allow !== null) return headResponse(request, serve)
    if (request.method !== "OPTIONS" || allow === null) return toProblemResponse(noSuchRoute(request), request)
    return pathOf(request) === ROUTES.postCheck.path ? preflighted(request, allow) : options(request, allow)
  }
}

type RequestHandler = (request: Request) => Response | Promise<Response>

/** HEAD is GET without the body (RFC 9110 §9.3.2); a path that takes no GET refuses it. */
async function headResponse(request: Request, serve: RequestHandler): Promise<Response> {
  // Only a whole URL can be asked for, and a host that is missing or cannot be makes none.
  const url = URL.canParse(request.url)
    ? request.url
    : `http://localhost${pathOf(request)}?${queryParameters(request.url)}`
  const { status, headers, body } = await serve(new Request(url, { headers: request.headers }))
  await body?.cancel()
  return new Response(null, { status, headers })
}
