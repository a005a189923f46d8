import { errorCode } from "../base/errors.ts"
import { type Fetch, readTextBody } from "../base/fetch.ts"
import { parseJson } from "../base/text.ts"
import { ownMember } from "../base/untrusted-text.ts"
import { ROUTES } from "../contract/routes.ts"
import { type DiagnosticResult, failed, ok, warning } from "./diagnostics.ts"

/** Where the server listens or would listen. */
export type DiagnosedPort = {
  readonly host: string
  readonly port: number
  /** The operator turned DNS off, so that health is always degraded. */
  readonly isOffline: boolean
  /** A server must be running: a free port is a failure. */
  readonly isRunning: boolean
  readonly dataDirectory: string
}

/** How long our own server may take to report its health, which it reads from memory. */
export const HEALTH_TIMEOUT_MS = 5000
const HEALTH_BYTES_MAX = 1024 * 1024

/** Who answers on a port: a server of this product, another program, a program that does not answer in time, or nobody. */
export type PortOwner =
  | { readonly kind: "ours"; readonly version: string; readonly status: string }
  | { readonly kind: "stranger" | "silent" | "nobody" }

/** How a port is looked at. */
type PortLook = {
  /** Listens there for a moment, and returns why it cannot, or `null`. */
  readonly listenError: () => string | null
  /** Whether a server with the data directory is there. */
  readonly isServedFrom: () => Promise<boolean>
}

/**
 * Checks who answers on the port and, if nobody does, whether the port is available. Settles within `HEALTH_TIMEOUT_MS`.
 */
export async function diagnosePort(
  { host, port, isOffline, isRunning, dataDirectory }: DiagnosedPort,
  web: Fetch,
  deadline: AbortSignal,
  { listenError, isServedFrom }: PortLook,
): Promise<DiagnosticResult> {
  if (port === 0) return ok("The server picks a free port when it starts.")
  const asked = await identifyServer({ host, port }, web, deadline)
  const place = `${host} port ${port}`
  const remedy = "Stop the other program, or set MAILKIND_HOST and MAILKIND_PORT."
  switch (asked.kind) {
    case "ours":
      // Health checks ask with --running, and a server of the data directory may have no socket there, of which its log warns.
      if (!isRunning && !(await isServedFrom()))
        return failed(
          `mailkind ${asked.version} answers on ${place}, and no server with the data directory ${dataDirectory} does.`,
          "Set MAILKIND_DATA_DIR to that of the server, or MAILKIND_HOST and MAILKIND_PORT. If it is the same, the log of the server says why none can take over from it.",
        )
      if (asked.status === "ok" || isOffline) return ok(`mailkind ${asked.version} answers on ${place}.`)
      return warning(
        `mailkind ${asked.version} answers on ${place}, with the status ${asked.status}.`,
        "`doctor --only dns` says more.",
      )
    case "stranger":
      return failed(`Another program answers on ${place}.`, remedy)
    case "silent":
      return failed(
        `A program listens on ${place} but does not answer within ${HEALTH_TIMEOUT_MS / 1000} s.`,
        "If it is mailkind, look at its log and its load, and restart it.",
      )
    case "nobody":
      if (isRunning) return failed(`No server answers on ${place}.`, "Start the server. If it ended, its log says why.")
      return freePort(place, listenError(), remedy)
  }
}

function freePort(place: string, why: string | null, remedy: string): DiagnosticResult {
  if (why === null) return ok(`${place} is free.`)
  return failed(
    `${place} cannot be used (${why}).`,
    why.includes("EADDRINUSE") ? remedy : "Set MAILKIND_HOST and MAILKIND_PORT.",
  )
}

/** Asks a port for the health of a server, until the signal aborts. Never rejects. The version is empty if it is not one. */
export async function identifyServer(
  { host, port }: Pick<DiagnosedPort, "host" | "port">,
  web: Fetch,
  signal: AbortSignal,
): Promise<PortOwner> {
  const url = `http://${reachableHost(host)}:${port}${ROUTES.getHealth.path}`
  try {
    const response = await web(url, { signal, headers: { accept: "application/json" } })
    return parseHealth(parseJson((await readTextBody(response, HEALTH_BYTES_MAX)) ?? ""))
  } catch (fault) {
    if (signal.aborted) return { kind: "silent" }
    return { kind: NO_LISTENER_CODES.has(errorCode(fault)) ? "nobody" : "stranger" }
  }
}

/** Errors of a connection to a port without a listener, or to a host that cannot be reached. */
const NO_LISTENER_CODES: ReadonlySet<string> = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
])

function parseHealth(body: unknown): PortOwner {
  const version = ownMember(body, "version")
  if (typeof version !== "string" || typeof ownMember(body, "uptime_seconds") !== "number") return { kind: "stranger" }
  // The answer of another program is not printed, because it could be anything.
  return {
    kind: "ours",
    version: /^[\w.-]{1,40}$/.test(version) ? version : "",
    status: ownMember(body, "status") === "ok" ? "ok" : "degraded",
  }
}

/** The host to connect to. A wildcard address is reached at loopback. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1"
  if (host === "::") return "[::1]"
  return host.includes(":") ? `[${host}]` : host
}
