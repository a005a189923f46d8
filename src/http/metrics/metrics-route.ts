import { Elysia } from "elysia"
import { ROUTES } from "../../contract/routes.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { noSuchRoute } from "../response/problem-response.ts"
import type { Exposition } from "./exposition.ts"

/** The content of `/metrics`, and who may read it. */
export type MetricsEndpoint = {
  readonly read: () => Promise<Exposition>
  /** Whether the sender of the request may read it, by its address. */
  readonly mayRead: (request: Request) => boolean
}

type MetricsRouteDeps = { readonly metrics: MetricsEndpoint; readonly responses: JsonResponses }

/** GET /metrics: the counters of the server in Prometheus's text format. For all others the path does not exist. */
export function metricsRoute({ metrics: { read, mayRead }, responses }: MetricsRouteDeps) {
  return new Elysia({ normalize: false }).get(ROUTES.metrics.path, async ({ request }) => {
    if (!mayRead(request)) throw noSuchRoute(request)
    return metricsResponse(await read(), { "X-Request-Id": responses.requestId(request) })
  })
}

/** The response with the metrics in Prometheus's text format. */
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
