import { Elysia } from "elysia"
import type { KnownLists } from "../../check/lists.ts"
import type { RefreshState } from "../../check/refresh/refresh-state.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { Health } from "../../contract/schemas.ts"
import type { Answers } from "../answer.ts"

type Needs = {
  readonly answers: Answers
  /** The state of the house, told from memory. */
  readonly health: () => Health
  readonly isStopping: () => boolean
}

/** GET /v1/health: 200 with the state, 503 with the same body while the server shuts down. It waits for nothing. */
export function healthRoute({ answers, health, isStopping }: Needs) {
  return new Elysia({ normalize: false }).get(ROUTES.getHealth.path, ({ request }) =>
    answers.json(health(), answers.requestId(request), isStopping() ? 503 : 200),
  )
}

/** The state of the house as health tells it: without DNS every verdict rests on lists alone, and the house says so. */
export function healthOf({ version, known, refreshes, isDnsAway, uptimeMs }: Told): Health {
  const { pack } = known.lists
  const refresh = refreshHealth(known.state, refreshes)
  return {
    status: isDnsAway ? "degraded" : "ok",
    version,
    uptime_seconds: Math.floor(uptimeMs / 1000),
    lists: { version: pack.version, built_at: pack.builtAt, entries: pack.entries, refresh },
    dns: { status: isDnsAway ? "unavailable" : "ok" },
  }
}

/** What health is told from. */
type Told = {
  /** The version of this program. */
  readonly version: string
  readonly known: KnownLists
  /** Whether lists are refreshed on schedule. */
  readonly refreshes: boolean
  readonly isDnsAway: boolean
  readonly uptimeMs: number
}

function refreshHealth(state: RefreshState, refreshes: boolean): Health["lists"]["refresh"] {
  const sources = Object.entries(state.sources).map(
    ([id, { outcome, changed_at_ms }]) => [id, { outcome, changed_at: instantOf(changed_at_ms) }] as const,
  )
  return {
    status: refreshStatus(state, refreshes),
    refreshed_at: instantOf(state.refreshed_at_ms === 0 ? null : state.refreshed_at_ms),
    sources: Object.fromEntries(sources),
  }
}

function refreshStatus(state: RefreshState, refreshes: boolean): Health["lists"]["refresh"]["status"] {
  if (!refreshes) return "off"
  if (state.is_paused) return "paused"
  if (state.refreshed_at_ms === 0) return "pending"
  const isOfNoUse = Object.values(state.sources).some(({ outcome }) => outcome === "refused" || outcome === "failed")
  return isOfNoUse ? "failing" : "ok"
}

const instantOf = (atMs: number | null): string | null => (atMs === null ? null : new Date(atMs).toISOString())
