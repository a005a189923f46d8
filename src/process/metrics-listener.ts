import type { Log } from "../base/log.ts"
import type { Settings } from "../config/settings.ts"
import { ROUTES } from "../contract/routes.ts"
import type { Exposition } from "../http/metrics/exposition.ts"
import { metricsResponse } from "../http/metrics/metrics-route.ts"
import type { System } from "../system/system.ts"
import { StartupError } from "./startup-error.ts"

/** How often it is tried to listen where another server does still. */
const RETRY_MS = 1000

/** A listener for metrics alone; whoever reaches it may read them. */
export type MetricsListener = { readonly port: number; readonly end: () => Promise<void> }

/**
 * Serves metrics, and nothing else, where the settings want it; null: they want it nowhere. Throws `StartupError` when it
 * cannot listen there.
 */
export function startMetricsListener(
  { MAILKIND_METRICS: at }: Settings,
  read: () => Promise<Exposition>,
): MetricsListener | null {
  if (at === "off") return null
  const colon = at.lastIndexOf(":")
  const hostname = at.slice(0, colon).replace(/^\[|\]$/g, "")
  try {
    const server = Bun.serve({
      hostname,
      port: Number(at.slice(colon + 1)),
      reusePort: false,
      development: false,
      routes: { [ROUTES.metrics.path]: { GET: async () => metricsResponse(await read()) } },
    })
    return { port: server.port ?? 0, end: () => server.stop(true) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new StartupError(
      `Cannot listen on ${at} for metrics: ${error.message.replace(/\.$/, "")}. Set MAILKIND_METRICS.`,
    )
  }
}

/** As `startMetricsListener`, but that it waits, logging so once, while it cannot listen: the server before this one does. */
export function startMetricsListenerWithRetry(
  world: Pick<System, "runInterval">,
  settings: Settings,
  read: () => Promise<Exposition>,
  log: Log,
): { readonly end: () => Promise<void> } {
  const state: { listener: MetricsListener | null; hasWarned: boolean } = { listener: null, hasWarned: false }
  const listens = (): boolean => {
    try {
      state.listener = startMetricsListener(settings, read)
      return true
    } catch (refused) {
      if (!(refused instanceof StartupError)) throw refused
      if (!state.hasWarned) log("warn", "metrics are told as soon as their port is free", { why: refused.message })
      state.hasWarned = true
      return false
    }
  }
  let callOff: () => void = () => undefined
  if (!listens())
    callOff = world.runInterval(RETRY_MS, () => {
      if (!listens()) return
      callOff()
      log("info", "metrics are told now")
    })
  return {
    end: async () => {
      callOff()
      await state.listener?.end()
    },
  }
}
