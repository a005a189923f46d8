import { Elysia } from "elysia"
import type { Clock } from "../base/clock.ts"
import type { Log } from "../base/log.ts"
import type { Check } from "../check/check.ts"
import { allowedMethods } from "../contract/routes.ts"
import type { Health } from "../contract/schemas.ts"
import type { KeyRing } from "../customers/keys/key-ring.ts"
import type { RateLimiter } from "../customers/quota/rate-limiter.ts"
import type { Answers } from "./answer.ts"
import { pathOf, refusing, unrouted } from "./errors.ts"
import type { Embedded } from "./site/assets.ts"
import type { ListsInUse } from "./site/lists-page.tsx"
import { siteRoutes } from "./site/site.tsx"
import { checkRoutes } from "./v1/check.ts"
import { healthRoute } from "./v1/health.ts"

type Needs = {
  readonly answers: Answers
  readonly check: Check
  readonly keys: KeyRing
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly clock: Clock
  readonly log: Log
  readonly testDomain: string
  /** The public base address; asked late, since the port may be picked at the start. */
  readonly baseUrl: () => string
  readonly health: () => Health
  readonly isStopping: () => boolean
  readonly isHttps: boolean
  readonly asset: Embedded
  readonly lists: () => ListsInUse
}

/** Builds the whole HTTP face: it answers every request, and none of its answers rejects. */
export function buildApp(needs: Needs) {
  const { answers } = needs
  const refuse = refusing(needs)
  /** What no route takes: HEAD goes with GET, OPTIONS with every path; the rest is refused. */
  const elsewhere = (request: Request): Response | Promise<Response> => {
    const allow = allowedMethods(pathOf(request))
    if (request.method === "HEAD" && allow !== null) return withoutBody(request, app.fetch)
    if (request.method !== "OPTIONS" || allow === null) return refuse(unrouted(request), request)
    return answers.empty(answers.requestId(request), { Allow: allow })
  }
  // A host of one or two letters is a host too: without this the path of `http://mk/v1/check` is not found.
  const app = new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } })
    .onError(({ error, code, request }) => (code === "NOT_FOUND" ? elsewhere(request) : refuse(error, request)))
    .use(checkRoutes(needs))
    .use(healthRoute(needs))
    .use(siteRoutes(needs))
  return app
}

type Serve = (request: Request) => Response | Promise<Response>

/** HEAD is GET without the body (RFC 9110 §9.3.2); a path that takes no GET refuses it. */
async function withoutBody(request: Request, serve: Serve): Promise<Response> {
  const { status, headers, body } = await serve(new Request(request.url, { headers: request.headers }))
  await body?.cancel()
  return new Response(null, { status, headers })
}
