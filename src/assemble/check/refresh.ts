import { StartupError } from "../../base/errors.ts"
import {
  LISTS_NOT_BUILT,
  pathOf,
  readListsDamage,
  readRefreshState,
  sourceBundleId,
} from "../../check/active-lists/lists-in-place.ts"
import { decodeBundle } from "../../check/lists/sources/source-bundle.ts"
import { type RefreshDeps, type RefreshResult, refresh } from "../../check/refresh/refresh.ts"
import { isLocal } from "../../check/refresh/requested-sources.ts"
import type { Settings } from "../../config/settings.ts"
import { startRefreshScheduler } from "../../process/refresh-scheduler.ts"
import type { AppContext } from "../context.ts"
import { withListsFolder } from "./lists-folder.ts"
import { createLazyResolver } from "./network.ts"

const REFRESH_USER_AGENT = "mailkind (refreshes its lists)"
const HOUR_MS = 3_600_000

/** Refreshes the lists as often as the settings say at each moment. The returned function stops it. */
export function startScheduledRefresh(context: AppContext): () => void {
  const { system, settings, log } = context
  return startRefreshScheduler({
    system,
    log,
    folder: pathOf(context, ""),
    intervalMs: () => {
      const hours = refreshHours(settings)
      return hours === null ? null : hours * HOUR_MS
    },
    bundleId: () => sourceBundleId(system),
    readState: () => readRefreshState(context),
    damagedAtMs: async () => {
      const damage = await readListsDamage(context)
      return damage?.is_replaced === false ? damage.noticed_at_ms : null
    },
  })
}

/** How often the lists are refreshed, in hours; null: never. */
export function refreshHours(settings: Settings): number | null {
  const { MAILKIND_LISTS_REFRESH_HOURS: hours, MAILKIND_OUTSIDE: outside, MAILKIND_LISTS_SOURCES: sources } = settings
  if (hours === "off" || (outside === "off" && !sources.values().some(isLocal))) return null
  return hours
}

/** Refreshes the lists of the data directory, or of all nodes that share the database; `busy` means that another process changes them. */
export async function refreshLists(
  context: AppContext,
  only: string | null,
): Promise<RefreshResult | "unknown" | "busy"> {
  const { system, settings } = context
  const stock = system.files.bundled("sources.stock")
  if (stock === null) throw new StartupError(LISTS_NOT_BUILT)
  const { resolver, stop } = createLazyResolver(context)
  const bundle = decodeBundle(await stock.bytes())
  const deps: Omit<RefreshDeps, "folder" | "bundleId" | "clock"> = {
    ...system,
    readTexts: system.files.readTexts,
    readParts: system.files.readParts,
    isOutsideOff: settings.MAILKIND_OUTSIDE === "off",
    resolver,
    bundle,
    userAgent: REFRESH_USER_AGENT,
    sourceUrls: settings.MAILKIND_LISTS_SOURCES,
  }
  return await withListsFolder(context, lists => refresh({ ...deps, ...lists }, only)).finally(stop)
}
