import { StartupError } from "../base/errors.ts"
import type { Log } from "../base/log.ts"
import type { Exposition } from "../http/metrics/exposition.ts"
import { parentOf, portHolder, portHolders } from "../system/host-state.ts"
import type { System } from "../system/system.ts"
import { whyNotListening } from "./http-listener.ts"

/** How often it tries to listen while the previous server still has the port. */
const RETRY_MS = 1000
/** A server that is replaced has ended by then, or does not end. */
const TRIES_MAX = 300

/** A listener that serves only metrics, to everybody who can reach it. */
export type MetricsListener = { readonly port: number; readonly stop: () => Promise<void> }

/** Serves metrics at `address` (`host:port`). Throws `StartupError` if it cannot listen there. */
export function startMetricsListener(address: string, readExposition: () => Promise<Exposition>): MetricsListener {
  const listener = listenAt(address, readExposition)
  if (listener instanceof Error) throw new StartupError(describeRefusal(address, listener))
  return listener
}

/** The error with which the system refuses it is returned. */
function listenAt(address: string, readExposition: () => Promise<Exposition>): MetricsListener | Error {
  try {
    const server = Bun.serve({
      hostname: address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, ""),
      port: portIn(address),
      reusePort: false,
      development: false,
      routes: { "/metrics": { GET: async () => metricsResponse(await readExposition()) } },
    })
    return { port: server.port ?? 0, stop: () => server.stop(true) }
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

const describeRefusal = (address: string, error: Error): string =>
  `Cannot listen on ${address} for metrics: ${whyNotListening(error, portIn(address), portHolder, "")} Set MAILKIND_METRICS.`

/** The response with the metrics in Prometheus's text format. */
const metricsResponse = ({ text, mediaType }: Exposition): Response =>
  new Response(text, {
    headers: { "Cache-Control": "no-store", "Content-Type": mediaType, "X-Content-Type-Options": "nosniff" },
  })

/**
 * Like `startMetricsListener`, but keeps trying while the port is taken by the server that this one replaces. Logs that once, and gives up after
 * `TRIES_MAX` tries.
 */
export function startMetricsListenerWithRetry(
  { runInterval }: Pick<System, "runInterval">,
  address: string,
  readExposition: () => Promise<Exposition>,
  log: Log,
): Pick<MetricsListener, "stop"> {
  let listener = listenAt(address, readExposition)
  let tries = 1
  let stopRetrying: () => void = () => undefined
  if (listener instanceof Error) {
    log("warn", "metrics are served as soon as their port is free", { why: describeRefusal(address, listener) })
    stopRetrying = runInterval(RETRY_MS, () => {
      listener = listenAt(address, readExposition)
      if (listener instanceof Error && ++tries < TRIES_MAX) return
      stopRetrying()
      if (!(listener instanceof Error)) log("info", "metrics are served now")
      else
        log("error", "metrics are not served", { why: describeRefusal(address, listener), remedy: NOT_SERVED_REMEDY })
    })
  }
  return {
    stop: async () => {
      stopRetrying()
      if (!(listener instanceof Error)) await listener.stop()
    },
  }
}

const NOT_SERVED_REMEDY = "End the process that has the port, or set MAILKIND_METRICS. Then start the server again."

/**
 * Throws `StartupError` if the port of the metrics is seen to be taken by a process that is neither the server on `serverPort`, which this one
 * replaces, nor its supervisor.
 */
export function assertNoOtherHolder(address: string, serverPort: number): void {
  const port = portIn(address)
  const holder = portHolder(port)
  const servers = [...portHolders(serverPort)].flatMap(({ pid }) => [pid, parentOf(pid)])
  if (holder === null || servers.length === 0 || servers.includes(holder.pid)) return
  throw new StartupError(
    `The port ${port} for metrics is taken by process ${holder.pid} (${holder.name}), which is not the server that this one replaces. Set MAILKIND_METRICS.`,
  )
}

const portIn = (address: string): number => Number(address.slice(address.lastIndexOf(":") + 1))
