import { type AnyElysia, Elysia } from "elysia"
import { assert } from "../base/errors.ts"
import type { Settings } from "../config/settings.ts"
import { LIMITS } from "../contract/limits.ts"
import type { System } from "../system/system.ts"
import { StartupError } from "./startup-error.ts"

/** How long a stop waits for what is in flight, and how often it looks. */
export const DRAIN_TIMEOUT_MS = 10_000
const DRAIN_POLL_MS = 10
/**
 * What the server itself refuses, with an empty body. It is out of reach, so that our own refusal, which has a problem, is
 * what every caller gets; ours comes before the body is read, or at its first octet too many.
 */
const SERVER_BODY_BYTES_MAX = 2 ** 40

/**
 * How long a connection may stand still, in seconds: longer than any answer takes. A body has to come whole within this time
 * too, however it drips, and a head within `LIMITS.requestHeadSeconds`; who is slower is cut off. How many connections there
 * are is bounded by the system alone: each may have one request under way.
 */
export const IDLE_TIMEOUT_S: number = LIMITS.connectionIdleSeconds

/** What listens. */
export type HttpListener = ReturnType<typeof listen>

/**
 * Listens by way of Elysia, which gives its routes to Bun's own router: the path of a hot request is never cut out again.
 * Other processes of this user may listen on a shared port too, and each gets a part of the connections; `sharedPort` null:
 * this process listens alone, on the port of the settings.
 */
export function listen(settings: Settings, sharedPort: number | null, app: AnyElysia, idleTimeout = IDLE_TIMEOUT_S) {
  const { MAILKIND_HOST: hostname, MAILKIND_PORT } = settings
  const port = sharedPort ?? MAILKIND_PORT
  try {
    // Outside of development mode Bun would share the port whatever we say.
    const options = {
      maxRequestBodySize: SERVER_BODY_BYTES_MAX,
      development: false,
      idleTimeout,
      reusePort: sharedPort !== null,
    }
    const { server } = app.listen({ hostname, port, ...options })
    assert(server !== null, "an app that listens has a server")
    return server
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new StartupError(
      `Cannot listen on ${hostname} port ${port}: ${error.message.replace(/\.$/, "")}. Set MAILKIND_HOST and MAILKIND_PORT.`,
    )
  }
}

/** Listens so many times on the port of the settings, which is shared then, and gives what listens; else as `listen`. */
export function listenOnSockets(settings: Settings, sharedPort: number | null, app: AnyElysia, count: number) {
  const first = listen(settings, sharedPort, app)
  return { first, all: [first, ...Array.from({ length: count - 1 }, () => listen(settings, sharedPort, app))] }
}

/**
 * Throws `StartupError` when somebody listens on the port, or nobody may. Whoever shares a port is let in beside any other
 * program of the same user that does, so this is asked before, by listening alone for a moment.
 */
export function assertPortFree(settings: Settings): void {
  const server = listen(settings, null, new Elysia())
  void server.stop(true)
}

/** Where people reach the server: an address that listens everywhere is reached as localhost. */
export function listenerUrl(server: HttpListener): string {
  const host = server.hostname ?? "localhost"
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host
  return `http://${name}:${server.port}`
}

/** How long no request has come on the connections that are left when they are closed: each answer has told them to go. */
const QUIET_PERIOD_MS = 1000
/**
 * For how long a server that is stopped goes on, so that the connections on which one request follows the other, as a proxy's,
 * are told to go: whoever has sent a request on one that is closed does not know what became of it.
 */
const CLOSE_NOTICE_MS = 250

/** How a server that is replaced gives up its place. */
export type DrainRequest = {
  /** Resolves when nothing can be on its way to the sockets that listen. */
  readonly mayClose: Promise<void>
  /** To be called when they are closed. */
  readonly onClosed: () => void
}

/**
 * Has callers go elsewhere, and resolves when they have: new connections come to another process, and the ones that stand
 * are told by each answer to be closed. `answer` answers every request.
 */
export async function drainForTakeover(
  world: System,
  servers: readonly HttpListener[],
  answer: RequestHandler,
  { mayClose, onClosed }: DrainRequest,
) {
  const latestMs = closeAfterResponses(world, servers, answer)
  await mayClose
  for (const server of servers) void server.stop()
  onClosed()
  const until = world.stopwatch() + DRAIN_TIMEOUT_MS
  const isQuiet = (): boolean => !hasPendingRequests(servers) && world.stopwatch() - latestMs() >= QUIET_PERIOD_MS
  while (!isQuiet() && world.stopwatch() < until) await world.sleep(DRAIN_POLL_MS)
}

/**
 * Has callers go elsewhere for a moment, then takes no more connections, waits for the requests in flight, and closes: a
 * connection that idles keeps nobody waiting. `answer` answers every request.
 */
export async function drainAndClose(
  world: System,
  servers: readonly HttpListener[],
  answer: RequestHandler,
): Promise<void> {
  closeAfterResponses(world, servers, answer)
  await world.sleep(CLOSE_NOTICE_MS)
  for (const server of servers) void server.stop()
  const until = world.stopwatch() + DRAIN_TIMEOUT_MS
  while (hasPendingRequests(servers) && world.stopwatch() < until) await world.sleep(DRAIN_POLL_MS)
  await Promise.all(servers.map(server => server.stop(true)))
}

/** What answers every request. */
type RequestHandler = (request: Request) => Response | Promise<Response>

/** Has each answer from now on tell its connection to be closed; gives when the latest was given. */
function closeAfterResponses(world: System, servers: readonly HttpListener[], answer: RequestHandler): () => number {
  let latestMs = world.stopwatch()
  const answerLast = async (request: Request): Promise<Response> => {
    const response = await answer(request)
    response.headers.set("Connection", "close")
    latestMs = world.stopwatch()
    return response
  }
  for (const server of servers) server.reload({ routes: {}, fetch: answerLast })
  return () => latestMs
}

const hasPendingRequests = (servers: readonly HttpListener[]): boolean =>
  servers.some(server => server.pendingRequests > 0)
