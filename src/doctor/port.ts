import { faultCode } from "../base/fault-code.ts"
import { jsonIn } from "../base/json.ts"
import { bodyText, type Web } from "../base/web.ts"
import { ROUTES } from "../contract/routes.ts"
import { doubtful, type Examined, failing, well } from "./examined.ts"

/** Where the server listens, or would. */
export type Place = {
  readonly host: string
  readonly port: number
  /** Without DNS every server is degraded, by the operator's will. */
  readonly isOffline: boolean
  /** A server is to be there: a port that is free is a failure. */
  readonly isRunning: boolean
}

/** How long our own server may take to tell its health, which it does from memory. */
export const HEALTH_MS_MAX = 5000
const HEALTH_BYTES_MAX = 1024 * 1024

type Asked =
  | { readonly kind: "ours"; readonly version: string; readonly status: string }
  | { readonly kind: "stranger" | "silent" | "nobody" }

/**
 * Asks who answers on the port, and where nobody does, whether it can be had: `refusal` listens there for a moment and gives
 * why it cannot, or null. Settles within `HEALTH_MS_MAX`.
 */
export async function examinePort(
  { host, port, isOffline, isRunning }: Place,
  web: Web,
  deadline: AbortSignal,
  refusal: () => string | null,
): Promise<Examined> {
  if (port === 0) return well("Any free port is taken at the start.")
  const asked = await whoAnswers(`http://${reachable(host)}:${port}${ROUTES.getHealth.path}`, web, deadline)
  const place = `${host} port ${port}`
  const remedy = "Stop the other program, or set MAILKIND_HOST and MAILKIND_PORT."
  switch (asked.kind) {
    case "ours":
      if (asked.status === "ok" || isOffline) return well(`mailkind ${asked.version} answers on ${place}.`)
      return doubtful(
        `mailkind ${asked.version} answers on ${place}, and says that it is ${asked.status}.`,
        "See what is told here of dns.",
      )
    case "stranger":
      return failing(`Another program answers on ${place}.`, remedy)
    case "silent":
      return failing(
        `Something listens on ${place}, and does not answer within ${HEALTH_MS_MAX / 1000} s.`,
        "If it is mailkind, look at its log and its load and start it again.",
      )
    case "nobody":
      if (isRunning)
        return failing(`Nobody answers on ${place}.`, "Start the server, or look at its log for why it ended.")
      return freedom(place, refusal(), remedy)
  }
}

const freedom = (place: string, why: string | null, remedy: string): Examined =>
  why === null ? well(`${place} is free.`) : failing(`${place} cannot be had (${why}).`, remedy)

async function whoAnswers(url: string, web: Web, signal: AbortSignal): Promise<Asked> {
  try {
    const response = await web(url, { signal, headers: { accept: "application/json" } })
    return healthIn(jsonIn((await bodyText(response, HEALTH_BYTES_MAX)) ?? ""))
  } catch (fault) {
    if (signal.aborted) return { kind: "silent" }
    return { kind: NOBODY.has(faultCode(fault)) ? "nobody" : "stranger" }
  }
}

/** What connecting fails by where nobody listens, or no host of this name or address is reached. */
const NOBODY: ReadonlySet<string> = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "FailedToOpenSocket",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
])

function healthIn(body: unknown): Asked {
  if (typeof body !== "object" || body === null) return { kind: "stranger" }
  const {
    version,
    status,
    uptime_seconds: uptime,
  }: { version?: unknown; status?: unknown; uptime_seconds?: unknown } = body
  if (typeof version !== "string" || typeof uptime !== "number") return { kind: "stranger" }
  // What a stranger says is not repeated: it could be anything.
  return {
    kind: "ours",
    version: /^[\w.-]{1,40}$/.test(version) ? version : "",
    status: status === "ok" ? "ok" : "degraded",
  }
}

/** An address that listens everywhere is reached on this host. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1"
  if (host === "::") return "[::1]"
  return host.includes(":") ? `[${host}]` : host
}
