import { Elysia } from "elysia"
import { isoInstant } from "../../base/time.ts"
import type { LoadedLists } from "../../check/domain-lookup.ts"
import type { RefreshState } from "../../check/refresh/refresh-state.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { Health } from "../../contract/schemas.ts"
import type { JsonResponses } from "../response/json-responses.ts"

type HealthRouteDeps = {
  readonly responses: JsonResponses
  /** Reads only memory. */
  readonly health: () => Health
  readonly isStopping: () => boolean
}

/** GET /v1/health: 200, or 503 with the same body while the server shuts down. It waits for nothing. */
export function healthRoute({ responses, health, isStopping }: HealthRouteDeps) {
  return new Elysia({ normalize: false }).get(ROUTES.getHealth.path, ({ request }) =>
    responses.json(health(), responses.requestId(request), isStopping() ? 503 : 200),
  )
}

/** The health of the server. It is `degraded` while DNS is unavailable, since verdicts then rest on lists alone. */
export function healthReport({
  version,
  activeLists,
  isRefreshScheduled,
  isDnsUnavailable,
  uptimeMs,
}: HealthInput): Health {
  const { pack } = activeLists.lists
  const refresh = refreshHealth(activeLists.refreshState, isRefreshScheduled)
  return {
    status: isDnsUnavailable ? "degraded" : "ok",
    version,
    uptime_seconds: Math.floor(uptimeMs / 1000),
    lists: { version: pack.version, built_at: pack.builtAt, entries: pack.entryCounts, refresh },
    dns: { status: isDnsUnavailable ? "unavailable" : "ok" },
  }
}

type HealthInput = {
  /** The version of this program. */
  readonly version: string
  readonly activeLists: LoadedLists
  /** Whether lists are refreshed on schedule. */
  readonly isRefreshScheduled: boolean
  readonly isDnsUnavailable: boolean
  readonly uptimeMs: number
}

function refreshHealth(state: RefreshState, isRefreshScheduled: boolean): Health["lists"]["refresh"] {
  const sources = Object.entries(state.sources).map(
    ([id, { outcome, changed_at_ms, left_out }]) =>
      [id, { outcome, changed_at: isoInstant(changed_at_ms), left_out: left_out?.count ?? 0 }] as const,
  )
  return {
    status: refreshStatus(state, isRefreshScheduled),
    refreshed_at: isoInstant(state.refreshed_at_ms === 0 ? null : state.refreshed_at_ms),
    sources: Object.fromEntries(sources),
  }
}

function refreshStatus(state: RefreshState, isRefreshScheduled: boolean): Health["lists"]["refresh"]["status"] {
  if (!isRefreshScheduled) return "off"
  if (state.is_paused) return "paused"
  if (state.refreshed_at_ms === 0) return "pending"
  const hasFailedSource = Object.values(state.sources).some(
    ({ outcome }) => outcome === "refused" || outcome === "failed",
  )
  return hasFailedSource ? "failing" : "ok"
}
