import { LISTS_NOT_BUILT, readRefreshState, refreshFolder, sourceBundleId } from "../assemble/check/lists.ts"
import type { Log } from "../base/log.ts"
import { decodeBundle } from "../check/lists/sources/source-bundle.ts"
import { type RefreshDeps, type RefreshResult, refresh } from "../check/refresh/refresh.ts"
import { type RefreshLockDeps, withRefreshLock } from "../check/refresh/refresh-lock.ts"
import { nextRefreshAtMs } from "../check/refresh/refresh-schedule.ts"
import { type RollBackResult, rollBack } from "../check/refresh/refresh-state.ts"
import type { Settings } from "../config/settings.ts"
import type { System } from "../system/system.ts"
import { StartupError } from "./startup-error.ts"

/** How we call ourselves where sources are asked for. */
const REFRESH_USER_AGENT = "mailkind (refreshes its lists)"

/** How often it is looked whether a refresh is due. */
const DUE_POLL_MS = 60_000
/** The longest that a refresh may take: several times what its downloads and the making of a pack do. */
const REFRESH_TIMEOUT_MS = 10 * 60_000
const REFRESH_COMMAND = ["lists", "update", "--json"] as const

/**
 * Refreshes the lists on schedule, each time in a process of its own: what that takes of memory and time, no request feels.
 * Servers see by themselves that other lists are in place. The returned function ends the schedule.
 */
export function startRefreshScheduler(world: System, settings: Settings, log: Log): () => void {
  const hours = settings.MAILKIND_LISTS_REFRESH_HOURS
  if (hours === "off") return () => undefined
  const startedAtMs = world.clock()
  let chance = randomFraction(world)
  let triedAtMs: number | null = null
  let isAtIt = false
  const look = async (): Promise<void> => {
    const [stockId, state, nowMs] = [
      await sourceBundleId(world),
      await readRefreshState(world, settings),
      world.clock(),
    ]
    const due = { intervalMs: hours * 3_600_000, stockId, nowMs, startedAtMs, triedAtMs, chance }
    const dueAtMs = nextRefreshAtMs(state, due)
    if (dueAtMs === null || nowMs < dueAtMs) return
    triedAtMs = nowMs
    chance = randomFraction(world)
    logRefreshResult(log, await world.processes.run(REFRESH_COMMAND, REFRESH_TIMEOUT_MS))
  }
  return world.runInterval(DUE_POLL_MS, () => {
    if (isAtIt) return
    isAtIt = true
    look()
      .catch(error => log("error", "the lists were not refreshed", { why: String(error) }))
      .finally(() => {
        isAtIt = false
      })
  })
}

/** From 0 up to 1. */
const randomFraction = ({ random }: System): number => (random(1)[0] ?? 0) / 256

type RefreshCommandResult = Awaited<ReturnType<System["processes"]["run"]>>

/** Logs what the command has said of each source. */
function logRefreshResult(log: Log, ended: RefreshCommandResult): void {
  // What fails before anything was asked has told so itself.
  if (ended === null || !ended.stdout.startsWith("{")) {
    log("error", "the lists were not refreshed", {
      why: ended === null ? "It took too long, or was killed." : "It failed.",
    })
    return
  }
  const { version, sources, faults }: Pick<RefreshResult, "sources" | "faults"> & { readonly version: string | null } =
    JSON.parse(ended.stdout)
  for (const [source, { outcome, says }] of Object.entries(sources))
    if (says !== "") log("warn", "a source of the lists was of no use", { source, outcome, why: says })
  if (faults.length > 0) log("error", "no lists could be made; those in use are kept", { why: faults.join(" ") })
  else log("info", "the lists were refreshed", { version: version ?? "the same" })
}

/** Refreshes the lists of the data directory, as `refresh` does; `busy`: another process is at it. */
export async function refreshLists(
  world: System,
  settings: Settings,
  only: string | null,
): Promise<RefreshResult | "unknown" | "busy"> {
  const stock = world.files.bundled("sources.stock")
  if (stock === null) throw new StartupError(LISTS_NOT_BUILT)
  const needs: RefreshDeps = {
    ...world,
    folder: refreshFolder(world, settings),
    bundle: decodeBundle(await stock.bytes()),
    bundleId: await sourceBundleId(world),
    userAgent: REFRESH_USER_AGENT,
    sourceUrls: settings.MAILKIND_LISTS_SOURCES,
  }
  return (await withRefreshLock(refreshLockDeps(world, settings), () => refresh(needs, only))) ?? "busy"
}

/** Goes back to the lists before those in use; `busy`: another process refreshes them. */
export async function rollBackLists(world: System, settings: Settings): Promise<RollBackResult | "busy"> {
  const needs = refreshLockDeps(world, settings)
  const stockId = await sourceBundleId(world)
  const found = await withRefreshLock(needs, async () => ({ back: await rollBack(needs.folder, stockId) }))
  return found === null ? "busy" : found.back
}

const refreshLockDeps = (world: System, settings: Settings): RefreshLockDeps => ({
  folder: refreshFolder(world, settings),
  clock: world.clock,
  pid: world.processes.pid,
  isRunning: world.processes.isRunning,
})
