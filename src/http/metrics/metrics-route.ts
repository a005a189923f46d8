import { Elysia } from "elysia"
import { ROUTES } from "../../contract/routes.ts"
import type { Answers } from "../answer.ts"
import { unrouted } from "../errors.ts"
import type { Exposition } from "./exposition.ts"

/** What `/metrics` tells, and whom. */
export type MetricsFace = {
  readonly read: () => Promise<Exposition>
  /** Whether whoever sent the request may read it. */
  readonly mayRead: (request: Request) => boolean
}

type Needs = { readonly metrics: MetricsFace; readonly answers: Answers }

/** GET /metrics: what the server has counted, in Prometheus's text. Who may not read it is told that there is no such path. */
export function metricsRoute({ metrics: { read, mayRead }, answers }: Needs) {
  return new Elysia({ normalize: false }).get(ROUTES.metrics.path, async ({ request }) => {
    if (!mayRead(request)) throw unrouted(request)
    return metricsAnswer(await read(), { "X-Request-Id": answers.requestId(request) })
  })
}

/** The answer that a scrape gets. */
export const metricsAnswer = (
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
