import { StartupError } from "../base/errors.ts"
import type { Log } from "../base/log.ts"
import type { Exposition } from "../http/metrics/exposition.ts"
import type { System } from "../system/system.ts"
import { whyNotListening } from "./http-listener.ts"

/** How often it tries to listen while the previous server still has the port. */
const RETRY_MS = 1000

/** A listener that serves only metrics, to everybody who can reach it. */
export type MetricsListener = { readonly port: number; readonly stop: () => Promise<void> }

/** Serves metrics at `address` (`host:port`). Throws `StartupError` if it cannot listen there. */
export function startMetricsListener(address: string, readExposition: () => Promise<Exposition>): MetricsListener {
  const colon = address.lastIndexOf(":")
  const port = Number(address.slice(colon + 1))
  try {
    const server = Bun.serve({
      hostname: address.slice(0, colon).replace(/^\[|\]$/g, ""),
      port,
      reusePort: false,
      development: false,
      routes: { "/metrics": { GET: async () => metricsResponse(await readExposition()) } },
    })
    return { port: server.port ?? 0, stop: () => server.stop(true) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new StartupError(
      `Cannot listen on ${address} for metrics: ${whyNotListening(error, port)} Set MAILKIND_METRICS.`,
    )
  }
}

/** The response with the metrics in Prometheus's text format. */
const metricsResponse = ({ text, mediaType }: Exposition): Response =>
  new Response(text, {
    headers: { "Cache-Control": "no-store", "Content-Type": mediaType, "X-Content-Type-Options": "nosniff" },
  })

/** Like `startMetricsListener`, but keeps trying while the port is taken by the server that this one replaces. Logs that once. */
export function startMetricsListenerWithRetry(
  { runInterval }: Pick<System, "runInterval">,
  address: string,
  readExposition: () => Promise<Exposition>,
  log: Log,
): Pick<MetricsListener, "stop"> {
  const state: { listener: MetricsListener | null; hasWarned: boolean } = { listener: null, hasWarned: false }
  const tryListening = (): boolean => {
    try {
      state.listener = startMetricsListener(address, readExposition)
      return true
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      if (!state.hasWarned) log("warn", "metrics are served as soon as their port is free", { why: error.message })
      state.hasWarned = true
      return false
    }
  }
  let stopRetrying: () => void = () => undefined
  if (!tryListening())
    stopRetrying = runInterval(RETRY_MS, () => {
      if (!tryListening()) return
      stopRetrying()
      log("info", "metrics are served now")
    })
  return {
    stop: async () => {
      stopRetrying()
      await state.listener?.stop()
    },
  }
}
