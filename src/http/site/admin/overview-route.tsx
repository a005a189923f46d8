/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { ROUTES } from "../../../contract/routes.ts"
import type { Health } from "../../../contract/schemas.ts"
import { countAccounts } from "../../../customers/accounts/accounts.ts"
import { countFeedback } from "../../../customers/feedback/feedback.ts"
import { countKeys } from "../../../customers/keys/keys.ts"
import { outboxState } from "../../../customers/notices/outbox.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import { countUnaccepted } from "../../../customers/terms/terms.ts"
import type { ListsInUse } from "../lists-page.tsx"
import type { Entrances } from "../signed-in.ts"
import type { Standing } from "./attention.ts"
import { OverviewPage } from "./overview-page.tsx"

/** What the overview is built from. */
export type OverviewNeeds = {
  readonly enter: Entrances
  readonly changes: ChangeLog
  readonly health: () => Health
  readonly lists: () => ListsInUse
  /** Whether mails have a server to be sent by. */
  readonly hasMailServer: boolean
}

/** How the server is, and what needs an eye. */
export function overviewRoute(needs: OverviewNeeds) {
  return new Elysia({ normalize: false }).get(ROUTES.admin.path, ({ request }) =>
    needs.enter.admin.page(request, async visitor => (
      <OverviewPage visitor={visitor} standing={await standingOf(needs)} />
    )),
  )
}

async function standingOf({ changes, health, lists, hasMailServer }: OverviewNeeds): Promise<Standing> {
  const { store, clock } = changes
  return {
    health: health(),
    lists: lists(),
    accountCount: (await countAccounts(store)).all,
    activeKeyCount: await countKeys(store),
    reportCount: await countFeedback(store, "received"),
    outbox: await outboxState(store),
    unacceptedCount: await countUnaccepted(store),
    hasMailServer,
    nowMs: clock(),
  }
}
