import { CannotStart } from "./cannot-start.ts"
import type { Settings } from "./config/settings.ts"
import { ROUTES } from "./contract/routes.ts"
import type { Exposition } from "./http/metrics/exposition.ts"
import { metricsAnswer } from "./http/metrics/metrics-route.ts"

/** A listener for metrics alone; whoever reaches it may read them. */
export type MetricsListener = { readonly port: number; readonly end: () => Promise<void> }

/**
 * Serves metrics, and nothing else, where the settings want it; null: they want it nowhere. Throws `CannotStart` when it
 * cannot listen there.
 */
export function metricsListener(
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
      routes: { [ROUTES.metrics.path]: { GET: async () => metricsAnswer(await read()) } },
    })
    return { port: server.port ?? 0, end: () => server.stop(true) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new CannotStart(
      `Cannot listen on ${at} for metrics: ${error.message.replace(/\.$/, "")}. Set MAILKIND_METRICS.`,
    )
  }
}
