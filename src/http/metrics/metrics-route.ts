import { noSuchRoute } from "../response/problem-response.ts"
import { handlers } from "../router.ts"
import type { Exposition } from "./exposition.ts"

/** The content of `/metrics`, and who may read it. */
export type MetricsEndpoint = {
  readonly read: () => Promise<Exposition>
  /** Whether the sender of the request may read it, by its address. */
  readonly mayRead: (request: Request) => boolean
}

type MetricsRouteDeps = { readonly metrics: MetricsEndpoint }

/** GET /metrics: the counters of the server in Prometheus's text format. For all others the path does not exist. */
export const metricsRoute = ({ metrics: { read, mayRead } }: MetricsRouteDeps) =>
  handlers({
    metrics: async ({ request, id }) => {
      if (!mayRead(request)) throw noSuchRoute(request)
      return metricsResponse(await read(), { "X-Request-Id": id })
    },
  })

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
