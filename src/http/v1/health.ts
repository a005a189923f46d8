import { Elysia } from "elysia"
import type { Lists } from "../../check/lists.ts"
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
export const healthOf = (version: string, { pack }: Lists, isDnsAway: boolean, uptimeMs: number): Health => ({
  status: isDnsAway ? "degraded" : "ok",
  version,
  uptime_seconds: Math.floor(uptimeMs / 1000),
  lists: { version: pack.version, built_at: pack.builtAt, entries: pack.entries },
  dns: { status: isDnsAway ? "unavailable" : "ok" },
})
