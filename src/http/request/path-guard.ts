import { pathOf } from "./request-url.ts"

/*
 * The runtime resolves dot segments (`..`, also as `%2e%2e`) and backslashes before anybody sees the URL of a request, so that
 * `/v1/%2e%2e/admin` looks like `/admin`. A proxy in front that compares paths as they were sent would be passed by. But the runtime's
 * router compares the path as it was sent, too. So a request that it gives to no route of ours, and whose URL names one all the same,
 * was sent with another path.
 */

/** How many segments a path of ours has at most. */
export const PATH_SEGMENTS_MAX = 8

type GuardedRequest = Request & { readonly params?: Readonly<Record<string, string>> }

type RequestHandler = (request: GuardedRequest) => Response | Promise<Response>

/**
 * Routes of the runtime for every path that has no route of its own, or none for the method: `handle` for a path that was sent as the
 * URL of the request has it, `refuse` for any other.
 */
export function guardedRoutes(
  handle: RequestHandler,
  refuse: RequestHandler,
): Readonly<Record<string, RequestHandler>> {
  const guard: RequestHandler = request =>
    Object.values(request.params ?? {}).some(isRewritten) ? refuse(request) : handle(request)
  const patterns = Array.from({ length: PATH_SEGMENTS_MAX }, (_, index) =>
    Array.from({ length: index + 1 }, (_, segment) => `/:segment${segment}`).join(""),
  )
  return {
    ...Object.fromEntries(patterns.map(pattern => [pattern, guard])),
    // Only paths with more segments, or with an empty one, match none of the patterns.
    "/*": request => (matchesPattern(request) ? refuse(request) : handle(request)),
  }
}

/** Whether the runtime does not leave a segment of a path as it is. Segments come decoded. */
const isRewritten = (segment: string): boolean => segment === "." || segment === ".." || segment.includes("\\")

/** Whether the path in the URL of a request would have reached a pattern or, by GET, the route of `/`. */
function matchesPattern(request: Request): boolean {
  const path = pathOf(request)
  if (path === "/") return request.method === "GET"
  const segments = path.slice(1).split("/")
  return segments.length <= PATH_SEGMENTS_MAX && !segments.includes("")
}
