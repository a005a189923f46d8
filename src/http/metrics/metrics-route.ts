import { Elysia } from "elysia"
import { ROUTES } from "../../contract/routes.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { noSuchRoute } from "../response/problem-response.ts"
import type { Exposition } from "./exposition.ts"

/** What `/metrics` tells, and whom. */
export type MetricsEndpoint = {
  readonly read: () => Promise<Exposition>
  /** Whether whoever sent the request may read it. */
  readonly mayRead: (request: Request) => boolean
}

type MetricsRouteDeps = { readonly metrics: MetricsEndpoint; readonly responses: JsonResponses }

/** GET /metrics: what the server has counted, in Prometheus's text. Who may not read it is told that there is no such path. */
export function metricsRoute({ metrics: { read, mayRead }, responses }: MetricsRouteDeps) {
  return new Elysia({ normalize: false }).get(ROUTES.metrics.path, async ({ request }) => {
    if (!mayRead(request)) throw noSuchRoute(request)
    return metricsResponse(await read(), { "X-Request-Id": responses.requestId(request) })
  })
}

/** The answer that a scrape gets. */
export const metricsResponse = (
  { text, mediaType }: Exposition,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(text, {
    headers: {
      ...headers,
      "Cache-Control": "no-store",
      "Content-Type": mediaType,
      "X-Content-Type-Options": "nosniff",
    },
  })
