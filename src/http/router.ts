import { Elysia } from "elysia"
import { ROUTES, type RouteId } from "../contract/routes.ts"
import type { CallerCredentials } from "../customers/keys/key-cache.ts"
import type { Exchange } from "./exchange.ts"
import { pathOf } from "./request/request-url.ts"
import { noSuchPath } from "./response/problem-response.ts"

/** The names of the parameters in a path. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<Rest>
  : Path extends `${string}:${infer Name}.${string}`
    ? Name
    : Path extends `${string}:${infer Name}`
      ? Name
      : never

/** A request of a route, with the parameters of its path and, where the route needs a secret key, with its caller. */
export type ExchangeOf<R extends RouteId> = Exchange & {
  readonly params: { readonly [N in ParamsOf<(typeof ROUTES)[R]["path"]>]: string }
} & ((typeof ROUTES)[R]["access"] extends "secret key" ? { readonly caller: CallerCredentials } : unknown)

/** Serves the requests of a route. What it throws, or rejects with, becomes a refusal. */
export type Handler<R extends RouteId | null = null> = (
  exchange: R extends RouteId ? ExchangeOf<R> : Exchange,
) => Response | Promise<Response>

/** The handlers of some routes. */
export type Handlers<R extends RouteId = RouteId> = { readonly [Id in R]: Handler<Id> }

/** Gives handlers the types of their routes. */
export const handlers = <R extends RouteId>(own: Handlers<R>): Handlers<R> => own

/** Serves a request of a route, or of none. The promise never rejects. */
export type Serve = (request: Request, route: RouteId, params: Readonly<Record<string, string>>) => Promise<Response>

type RouterDeps = {
  readonly serve: Serve
  /** Serves a request that no route takes. */
  readonly serveElsewhere: (request: Request) => Promise<Response>
  /** Refuses a request that the router could not read. */
  readonly refuse: (request: Request, error: unknown) => Promise<Response>
}

/**
 * Gives the router every route of `ROUTES`. It matches paths and nothing else: bodies are read by handlers, within their bounds, and
 * the description of each route is in `contract/`.
 */
export function createRouter({ serve, serveElsewhere, refuse }: RouterDeps, bunRoutes: BunRoutes) {
  // Without `standardHostname: false` it does not find the path of a URL with a host of one or two letters, such as `http://mk/v1/check`.
  const router = new Elysia({
    serve: { routes: bunRoutes },
    normalize: false,
    strictPath: true,
    handler: { standardHostname: false },
  })
    // An error hook that does not look `async` is not awaited.
    .onError(async ({ error, code, request }) =>
      code === "NOT_FOUND" ? await serveElsewhere(request) : await refuse(request, error),
    )
  for (const id of ROUTE_IDS) {
    const { method, path } = ROUTES[id]
    const [, pattern = path, ending = ""] = /^(.*:\w+)(\.\w+)$/.exec(path) ?? []
    router.route(
      method,
      pattern,
      // The router has no pattern for a part of a segment.
      ({ request, params }) =>
        ending === "" || pathOf(request).endsWith(ending) ? serve(request, id, params) : refuse(request, noSuchPath()),
      { parse: "none" },
    )
  }
  return router
}

/** The routes of the runtime, which come before those of the router. */
export type BunRoutes =
  NonNullable<NonNullable<ConstructorParameters<typeof Elysia>[0]>["serve"]> extends { routes?: infer R } ? R : never

const ROUTE_IDS = Object.keys(ROUTES) as RouteId[] // the keys of a table are its type's
