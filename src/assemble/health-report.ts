import type { ListsService } from "../check/active-lists/lists-service.ts"
import type { LoadedLists } from "../check/domain-lookup.ts"
import { isDnsOff } from "../config/settings.ts"
import type { Health } from "../contract/schemas.ts"
import type { CustomersService } from "../customers/customers.ts"
import { healthReport } from "../http/v1/health.ts"
import { waitingHere } from "./check/lists-in-force.ts"
import { refreshHours } from "./check/refresh.ts"
import type { StoreContext } from "./context.ts"
import { COMMIT, VERSION } from "./program.ts"

/** What may be wrong, as parts of the server know it. */
export type HealthFaults = Readonly<Record<"isDnsUnavailable" | "isInDoubt" | "isBehind", () => boolean>> &
  Pick<CustomersService, "databaseAnsweredMsAgo">

/** Reports health from memory. The uptime counts from this call on. */
export function createHealthReport(
  context: StoreContext,
  lists: ListsService,
  { isDnsUnavailable, isInDoubt, isBehind, databaseAnsweredMsAgo }: HealthFaults,
): () => Health {
  const { system, settings, store } = context
  const { stopwatch, clock } = system
  const startedAtMs = stopwatch()
  return () =>
    healthReport({
      version: VERSION,
      commit: COMMIT,
      activeLists: lists.current(),
      listsDamage: lists.damage(),
      isBehind: isBehind(),
      waitingUntilMs: waitingUntilMs(context, lists.current()),
      isRefreshScheduled: refreshHours(settings) !== null,
      dnsStatus: isDnsOff(settings) ? "off" : isDnsUnavailable() ? "unavailable" : "ok",
      isDatabaseAway: store.isUnavailable(),
      databaseAnsweredMsAgo: databaseAnsweredMsAgo(),
      isClockInDoubt: isInDoubt(),
      uptimeMs: stopwatch() - startedAtMs,
      nowMs: clock(),
    })
}

/** Until when this node waits for newer lists; null: it waits for none. A state of another version of the program has none for it. */
function waitingUntilMs(context: StoreContext, { refreshState: state, manifest }: LoadedLists): number | null {
  const isOwn = state.in_use !== null || state.stock === manifest.pack.sha256
  return isOwn ? (waitingHere(context, state)?.untilMs ?? null) : null
}
