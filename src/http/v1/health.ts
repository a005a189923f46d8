import { Elysia } from "elysia"
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
