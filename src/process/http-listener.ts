import { type AnyElysia, Elysia } from "elysia"
import { assert, errorCode, isSystemError, StartupError } from "../base/errors.ts"
import { asSentence } from "../base/text.ts"
import { LIMITS } from "../contract/limits.ts"
import { guardedRoutes } from "../http/request/path-guard.ts"
import { portHolder } from "../system/host-state.ts"
import type { System } from "../system/system.ts"

/** How long a stop waits for requests in flight. */
export const DRAIN_TIMEOUT_MS = 10_000
const DRAIN_POLL_MS = 10
/** How long no request must have come before the remaining connections of a replaced server are closed. */
const QUIET_PERIOD_MS = 1000
/**
 * How long a server that stops still answers, so that keep-alive clients such as proxies see `Connection: close`. A client
 * that sends a request on a closed connection cannot know whether it was processed.
 */
const CLOSE_NOTICE_MS = 250

/**
 * The body limit of Bun, which would answer 413 with an empty body. It is out of reach: our own limit applies before the body
 * is read, or at its first byte too many, and answers with a problem document.
 */
const SERVER_BODY_BYTES_MAX = 2 ** 40

/**
 * How long a connection may be idle, in seconds: longer than any response takes. A body must arrive within this time however
 * slowly it is sent, and a head within `LIMITS.requestHeadSeconds`. Only the system bounds the number of connections; each has
 * at most one request in flight.
 */
export const IDLE_TIMEOUT_S: number = LIMITS.connectionIdleSeconds

/** Where to listen. `isShared`: other processes of this user may listen on the port too, and the kernel distributes connections. */
export type ListenAddress = { readonly hostname: string; readonly port: number; readonly isShared: boolean }

/** A listening socket. */
export type HttpListener = ReturnType<typeof listen>

/** Listens through Elysia, which registers its routes with Bun's own router, so that the path of a hot request is parsed once. */
export function listen({ hostname, port, isShared }: ListenAddress, app: AnyElysia, idleTimeout = IDLE_TIMEOUT_S) {
  try {
    // In development mode Bun always shares the port.
    const options = {
      maxRequestBodySize: SERVER_BODY_BYTES_MAX,
      development: false,
      idleTimeout,
      reusePort: isShared,
    }
    const { server } = app.listen({ hostname, port, ...options })
    assert(server !== null, "an app that listens has a server")
    return server
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new StartupError(
      `Cannot listen on ${hostname} port ${port}: ${whyNotListening(error, port)} Set MAILKIND_HOST and MAILKIND_PORT.`,
    )
  }
}

/** Ports below this one need a right of their own, unless `net.ipv4.ip_unprivileged_port_start` says otherwise. */
const UNPRIVILEGED_PORT_MIN = 1024

const TAKEOVER_HINT = " `serve --replace` takes over from a server with the same data directory."

/** Why the system refuses to listen on a port, who has it, and what to do. */
export function whyNotListening(
  error: Error,
  port: number,
  holderOf = portHolder,
  takeoverHint = TAKEOVER_HINT,
): string {
  if (isSystemError(error, "EACCES") && port < UNPRIVILEGED_PORT_MIN)
    return `Ports below ${UNPRIVILEGED_PORT_MIN} need a right (EACCES). Use a higher one behind a proxy, or give the service CAP_NET_BIND_SERVICE (\`AmbientCapabilities\` of systemd).`
  if (isSystemError(error, "EACCES", "EPERM", "EMFILE", "ENFILE", "ENOMEM")) return asSentence(error.message)
  // For a name that is not known the runtime gives the code of whatever failed before.
  if (!isSystemError(error, "EADDRINUSE"))
    return `No network interface of this host has the address, or the name is not known (${errorCode(error)}).`
  const holder = holderOf(port)
  const who =
    holder === null
      ? `See who has it: \`ss -ltnp 'sport = :${port}'\`.`
      : `It is taken by process ${holder.pid} (${holder.name}).`
  const isOwn = holder?.name === "mailkind"
  return `The port is in use (EADDRINUSE). ${who}${isOwn ? takeoverHint : ""}`
}

/** Listens with `count` sockets on the same address, which must be shared if there is more than one. */
export function listenOnSockets(address: ListenAddress, app: AnyElysia, count: number) {
  const first = listen(address, app)
  return { first, all: [first, ...Array.from({ length: count - 1 }, () => listen(address, app))] }
}

/**
 * Throws `StartupError` if the port is taken or may not be used. A shared port also admits other programs of the same user, so
 * this check listens exclusively for a moment beforehand.
 */
export function assertPortFree(hostname: string, port: number): void {
  const server = listen({ hostname, port, isShared: false }, new Elysia())
  void server.stop(true)
}

/** The URL of the server. A wildcard address becomes `localhost`. */
export function listenerUrl(server: HttpListener): string {
  const host = server.hostname ?? "localhost"
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host
  return `http://${name}:${server.port}`
}

/** Asks a server that is being replaced to drain. */
export type DrainRequest = {
  /** Resolves when no new connection can be on its way to the listening sockets. */
  readonly mayClose: Promise<void>
  /** Call it when the sockets are closed. */
  readonly onClosed: () => void
}

/** Answers every request. */
type RequestHandler = (request: Request) => Response | Promise<Response>

/**
 * Drains a server that another one replaces and resolves when its clients are gone: new connections go to the other server, and
 * every response tells its connection to close.
 */
export async function drainForTakeover(
  system: System,
  servers: readonly HttpListener[],
  handler: RequestHandler,
  { mayClose, onClosed }: DrainRequest,
) {
  const lastResponseAtMs = closeAfterResponses(system, servers, handler)
  await mayClose
  for (const server of servers) void server.stop()
  onClosed()
  const deadlineMs = system.stopwatch() + DRAIN_TIMEOUT_MS
  const isQuiet = (): boolean =>
    !hasPendingRequests(servers) && system.stopwatch() - lastResponseAtMs() >= QUIET_PERIOD_MS
  while (!isQuiet() && system.stopwatch() < deadlineMs) await system.sleep(DRAIN_POLL_MS)
}

/**
 * Drains a server that stops: tells connections to close for a moment, then accepts none, waits for requests in flight and
 * closes. It does not wait for idle connections.
 */
export async function drainAndClose(
  system: System,
  servers: readonly HttpListener[],
  handler: RequestHandler,
): Promise<void> {
  closeAfterResponses(system, servers, handler)
  await system.sleep(CLOSE_NOTICE_MS)
  for (const server of servers) void server.stop()
  const deadlineMs = system.stopwatch() + DRAIN_TIMEOUT_MS
  while (hasPendingRequests(servers) && system.stopwatch() < deadlineMs) await system.sleep(DRAIN_POLL_MS)
  await Promise.all(servers.map(server => server.stop(true)))
}

/** Adds `Connection: close` to every response from now on. Returns a function that gives the time of the last response. */
export function closeAfterResponses(
  system: System,
  servers: readonly HttpListener[],
  handler: RequestHandler,
): () => number {
  let lastResponseAtMs = system.stopwatch()
  const respondAndClose = async (request: Request): Promise<Response> => {
    const response = await handler(request)
    response.headers.set("Connection", "close")
    lastResponseAtMs = system.stopwatch()
    return response
  }
  const refuseAndClose = () => new Response(null, { status: 404, headers: { Connection: "close" } })
  const routes = { "/": respondAndClose, ...guardedRoutes(respondAndClose, refuseAndClose) }
  for (const server of servers) server.reload({ routes, fetch: respondAndClose })
  return () => lastResponseAtMs
}

const hasPendingRequests = (servers: readonly HttpListener[]): boolean =>
  servers.some(server => server.pendingRequests > 0)
