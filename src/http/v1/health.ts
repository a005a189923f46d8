import { isoInstant } from "../../base/time.ts"
import type { LoadedLists } from "../../check/domain-lookup.ts"
import type { ListsDamage } from "../../check/refresh/list-files.ts"
import { askedAtMs, isUseless, type RefreshState } from "../../check/refresh/refresh-state.ts"
import type { Health } from "../../contract/schemas.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { handlers } from "../router.ts"

type HealthRouteDeps = {
  readonly responses: JsonResponses
  /** Reads only memory. */
  readonly health: () => Health
  readonly isStopping: () => boolean
  /** Whether this node cannot serve metered callers, and others can. */
  readonly isCutOff: () => boolean
}

/**
 * GET /v1/health: 200, or 503 with the same body while the server shuts down. With `ready=1` it is 503 also while this node is cut off
 * from a database that others reach. It waits for nothing.
 */
export const healthRoute = ({ responses, health, isStopping, isCutOff }: HealthRouteDeps) =>
  handlers({
    getHealth: ({ request, id }) => {
      const isUnready = isStopping() || (READY.test(request.url) && isCutOff())
      return responses.json(health(), id, isUnready ? 503 : 200)
    },
  })

/** The parameter by which a load balancer asks whether to send requests here. */
const READY = /[?&]ready=1(?:&|$)/

/** The health of the server. It is `degraded` while DNS is unavailable, since verdicts then rest on lists alone, and not where the operator turned DNS off. */
export function healthReport({
  version,
  commit,
  activeLists,
  listsDamage,
  isBehind,
  waitingUntilMs,
  isRefreshScheduled,
  dnsStatus,
  isDatabaseAway,
  databaseAnsweredMsAgo,
  isClockInDoubt,
  uptimeMs,
  nowMs,
}: HealthInput): Health {
  const { pack } = activeLists.lists
  const freshAtMs = Math.max(Date.parse(pack.builtAt), activeLists.refreshState.refreshed_at_ms)
  const refresh = refreshHealth(activeLists.refreshState, isRefreshScheduled)
  return {
    status: dnsStatus === "unavailable" ? "degraded" : "ok",
    version,
    commit,
    uptime_seconds: Math.floor(uptimeMs / 1000),
    lists: {
      version: pack.version,
      built_at: pack.builtAt,
      age_seconds: Math.max(0, Math.floor((nowMs - freshAtMs) / 1000)),
      entries: pack.entryCounts,
      pinned: activeLists.refreshState.pinned,
      is_behind: isBehind,
      waiting_until: isoInstant(waitingUntilMs),
      refresh,
      files: filesHealth(listsDamage),
    },
    dns: { status: dnsStatus },
    database: { status: isDatabaseAway ? "away" : "ok", answered_ms_ago: databaseAnsweredMsAgo },
    clock: { status: isClockInDoubt ? "in_doubt" : "ok" },
  }
}

type HealthInput = {
  /** The version of this program. */
  readonly version: string
  readonly commit: string | null
  readonly activeLists: LoadedLists
  /** The last damage of their files; null: none for a week. */
  readonly listsDamage: ListsDamage | null
  /** Whether other lists are in force, for longer than it takes to get them. */
  readonly isBehind: boolean
  /** Until when this node waits for newer lists; null: it waits for none. */
  readonly waitingUntilMs: number | null
  /** Whether lists are refreshed on schedule. */
  readonly isRefreshScheduled: boolean
  readonly dnsStatus: Health["dns"]["status"]
  readonly isDatabaseAway: boolean
  /** How long ago this node had its last answer of a database that others share; null: it had none, or shares none. */
  readonly databaseAnsweredMsAgo: number | null
  readonly isClockInDoubt: boolean
  readonly uptimeMs: number
  readonly nowMs: number
}

function filesHealth(damage: ListsDamage | null): Health["lists"]["files"] {
  if (damage === null) return { status: "ok", noticed_at: null }
  return { status: damage.is_replaced ? "replaced" : "damaged", noticed_at: isoInstant(damage.noticed_at_ms) }
}

function refreshHealth(state: RefreshState, isRefreshScheduled: boolean): Health["lists"]["refresh"] {
  const sources = Object.entries(state.sources).map(
    ([id, { outcome, changed_at_ms, left_out, unreadable }]) =>
      [
        id,
        { outcome, changed_at: isoInstant(changed_at_ms), left_out: (left_out?.count ?? 0) + (unreadable?.count ?? 0) },
      ] as const,
  )
  return {
    status: refreshStatus(state, isRefreshScheduled),
    refreshed_at: isoInstant(state.refreshed_at_ms || null),
    asked_at: isoInstant(askedAtMs(state) || null),
    sources: Object.fromEntries(sources),
  }
}

function refreshStatus(state: RefreshState, isRefreshScheduled: boolean): Health["lists"]["refresh"]["status"] {
  if (!isRefreshScheduled) return "off"
  if (state.pinned !== null) return "pinned"
  if (askedAtMs(state) === 0) return "pending"
  return Object.values(state.sources).some(isUseless) ? "failing" : "ok"
}
