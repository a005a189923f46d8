import { Elysia } from "elysia"
import type { Stopwatch } from "../base/clock.ts"
import type { Log } from "../base/log.ts"
import type { Check } from "../check/check.ts"
import { allowedMethods, ROUTES } from "../contract/routes.ts"
import type { Health } from "../contract/schemas.ts"
import type { Usage } from "../contract/usage-schema.ts"
import type { Report, Reporting } from "../customers/feedback/feedback.ts"
import type { HeldAccount } from "../customers/keys/held-keys.ts"
import type { KeyRing } from "../customers/keys/key-ring.ts"
import type { KnownOrigins } from "../customers/keys/known-origins.ts"
import type { Leak } from "../customers/keys/leaks.ts"
import type { OwnLists } from "../customers/own-lists/held-own-lists.ts"
import type { RateLimiter } from "../customers/quota/rate-limiter.ts"
import { type AdmissionNeeds, admission } from "./admission.ts"
import type { Answers } from "./answer.ts"
import type { Soon } from "./cohort.ts"
import { preflight } from "./cors.ts"
import { pathOf, type Refuse, refusing, unrouted } from "./errors.ts"
import { ExtraHeaders } from "./extra-headers.ts"
import type { FindReporterKey } from "./hooks/reporter-keys.ts"
import { secretScanningRoute } from "./hooks/secret-scanning.ts"
import { keyed } from "./keyed.ts"
import type { Load } from "./load.ts"
import { type MetricsFace, metricsRoute } from "./metrics/metrics-route.ts"
import { queryOf } from "./query.ts"
import { type PagesNeeds, pageRoutes } from "./site/pages.ts"
import { batchRoute } from "./v1/batch.ts"
import { checkEndpoints } from "./v1/check.ts"
import { feedbackRoute } from "./v1/feedback.ts"
import { healthRoute } from "./v1/health.ts"
import { usageRoute } from "./v1/usage.ts"
import { type Logging, Watch } from "./watch.ts"

type Needs = Omit<AdmissionNeeds, "extras"> &
  Omit<PagesNeeds, "refuse" | "admit" | "extras"> & {
    readonly answers: Answers
    readonly check: Check
    readonly keys: KeyRing
    readonly knownOrigins: KnownOrigins
    readonly keyless: RateLimiter
    readonly ownLists: OwnLists
    readonly roleOf: (localPart: string) => string | null
    readonly usageOf: (account: HeldAccount) => Promise<Usage>
    readonly report: (report: Report) => Promise<Reporting>
    readonly reporterKey: FindReporterKey
    readonly revokeLeaked: (text: string) => Promise<Leak>
    readonly log: Log
    readonly soon: Soon
    readonly testDomain: string
    /** The public base address; asked late, since the port may be picked at the start. */
    readonly baseUrl: () => string
    readonly health: () => Health
    readonly isStopping: () => boolean
    readonly stopwatch: Stopwatch
    readonly logging: Logging
    readonly load: Load
    readonly metrics: MetricsFace
  }

/** Builds the whole HTTP face: it answers every request, and none of its answers rejects. */
export function buildApp(parts: Needs) {
  const extras = new ExtraHeaders()
  const admit = admission({ ...parts, extras })
  const refuse = refusing({ ...parts, extras })
  const watch = new Watch(parts)
  const needs = {
    ...parts,
    extras,
    admit,
    refuse,
    watch,
    keyed: keyed(parts.keys, admit, watch, parts.load),
  }
  const elsewhere = unroutedAnswers(needs)
  const { GET, POST } = checkEndpoints(needs)
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
    .wrap((serve, request) => watch.over(parts.load.over(serve as unknown as Serve, request, refuse), request))
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
    .use(pageRoutes(needs))
  return app
}

/** Answers what no route takes: HEAD goes with GET, OPTIONS with every path; the rest is refused. */
function unroutedAnswers({
  answers,
  knownOrigins,
  refuse,
}: Pick<Needs, "answers" | "knownOrigins"> & { refuse: Refuse }) {
  const options = (request: Request, allow: string, more: Readonly<Record<string, string>> = {}): Response =>
    answers.empty(answers.requestId(request), { Allow: allow, ...more })
  /** Pages ask from elsewhere at one path only; a preflight brings no key, so any key that allows the origin will do. */
  const preflighted = async (request: Request, allow: string): Promise<Response> => {
    const origin = request.headers.get("origin")
    return options(request, allow, preflight((await knownOrigins.has(origin)) ? origin : null, allow))
  }
  return (request: Request, serve: Serve): Response | Promise<Response> => {
    const allow = allowedMethods(pathOf(request))
    if (request.method === "HEAD" && allow !== null) return withoutBody(request, serve)
    if (request.method !== "OPTIONS" || allow === null) return refuse(unrouted(request), request)
    return pathOf(request) === ROUTES.postCheck.path ? preflighted(request, allow) : options(request, allow)
  }
}

type Serve = (request: Request) => Response | Promise<Response>

/** HEAD is GET without the body (RFC 9110 §9.3.2); a path that takes no GET refuses it. */
async function withoutBody(request: Request, serve: Serve): Promise<Response> {
  // Only a whole URL can be asked for, and a host that is missing or cannot be makes none.
  const url = URL.canParse(request.url) ? request.url : `http://localhost${pathOf(request)}?${queryOf(request.url)}`
  const { status, headers, body } = await serve(new Request(url, { headers: request.headers }))
  await body?.cancel()
  return new Response(null, { status, headers })
}
