import { failing, type Log } from "./base/log.ts"
import { repeating } from "./base/repeating.ts"
import type { Settings } from "./config/settings.ts"
import { type FreeChecks, freeChecks } from "./customers/free-checks/free-checks.ts"
import type { RateLimiter } from "./customers/quota/rate-limiter.ts"
import type { Units } from "./customers/quota/units.ts"
import type { Store } from "./customers/store/store.ts"
import type { World } from "./world.ts"

/** How often some of what is over is deleted. */
const PRUNE_MS = 60_000

/** What all checks of all callers are counted by. */
type Counted = { readonly keyless: RateLimiter; readonly units: Units }

/** Builds the checks without a key for the visitors of the first page; null: the operator offers none. */
export function freeChecksAtWork(
  { clock, random, every }: World,
  { MAILKIND_FREE_CHECKS_PER_DAY: perDay }: Settings,
  store: Store,
  log: Log,
  { keyless, units }: Counted,
): { readonly freeChecks: FreeChecks | null; readonly begin: () => void; readonly end: () => void } {
  if (perDay === "off") return { freeChecks: null, begin: () => undefined, end: () => undefined }
  const free = freeChecks({ store, clock, random, rates: keyless, units, perDay })
  const failed = failing(log, "what is over of free checks was not deleted")
  return { freeChecks: free, ...repeating(every, [[PRUNE_MS, () => void free.prune().catch(failed)]]) }
}
