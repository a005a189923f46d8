import type { Log } from "../../base/log.ts"
import { decodeBundle } from "../../check/lists/sources/source-bundle.ts"
import { type RefreshDeps, type RefreshResult, refresh } from "../../check/refresh/refresh.ts"
import { type RefreshLockDeps, withRefreshLock } from "../../check/refresh/refresh-lock.ts"
import { type RollBackResult, rollBack } from "../../check/refresh/refresh-state.ts"
import type { Settings } from "../../config/settings.ts"
import { startRefreshScheduler } from "../../process/refresh-scheduler.ts"
import { StartupError } from "../../process/startup-error.ts"
import type { System } from "../../system/system.ts"
import { LISTS_NOT_BUILT, readRefreshState, refreshFolder, sourceBundleId } from "./lists.ts"

const REFRESH_USER_AGENT = "mailkind (refreshes its lists)"
const HOUR_MS = 3_600_000

/** Refreshes the lists as often as the settings say. The returned function stops it. */
export function startScheduledRefresh(system: System, settings: Settings, log: Log): () => void {
  const hours = settings.MAILKIND_LISTS_REFRESH_HOURS
  if (hours === "off") return () => undefined
  return startRefreshScheduler({
    system,
    log,
    intervalMs: hours * HOUR_MS,
    bundleId: () => sourceBundleId(system),
    readState: () => readRefreshState(system, settings),
  })
}

/** Refreshes the lists of the data directory; `busy` means that another process is refreshing them. */
export async function refreshLists(
  system: System,
  settings: Settings,
  only: string | null,
): Promise<RefreshResult | "unknown" | "busy"> {
  const bundle = system.files.bundled("sources.stock")
  if (bundle === null) throw new StartupError(LISTS_NOT_BUILT)
  const deps: RefreshDeps = {
    ...system,
    folder: refreshFolder(system, settings),
    bundle: decodeBundle(await bundle.bytes()),
    bundleId: await sourceBundleId(system),
    userAgent: REFRESH_USER_AGENT,
    sourceUrls: settings.MAILKIND_LISTS_SOURCES,
  }
  return (await withRefreshLock(refreshLockDeps(system, settings), () => refresh(deps, only))) ?? "busy"
}

/** Returns to the previous lists; `busy` means that another process is refreshing them. */
export async function rollBackLists(system: System, settings: Settings): Promise<RollBackResult | "busy"> {
  const deps = refreshLockDeps(system, settings)
  const bundleId = await sourceBundleId(system)
  const locked = await withRefreshLock(deps, async () => ({ result: await rollBack(deps.folder, bundleId) }))
  return locked === null ? "busy" : locked.result
}

const refreshLockDeps = (system: System, settings: Settings): RefreshLockDeps => ({
  folder: refreshFolder(system, settings),
  clock: system.clock,
  pid: system.processes.pid,
  isRunning: system.processes.isRunning,
})
