import { NOT_BUILT, refreshFolder, refreshState, stockIdOf } from "./assemble-lists.ts"
import type { Log } from "./base/log.ts"
import { CannotStart } from "./cannot-start.ts"
import { readStockFile } from "./check/lists/stock-file.ts"
import { type Refreshed, type RefreshNeeds, refresh } from "./check/refresh/refresh.ts"
import { type RolledBack, rollBack } from "./check/refresh/roll-back.ts"
import { nextRefreshAtMs } from "./check/refresh/schedule.ts"
import { inTurn, type TurnNeeds } from "./check/refresh/turn.ts"
import type { Settings } from "./config/settings.ts"
import type { World } from "./world.ts"

/** How we call ourselves where sources are asked for. */
const AGENT = "mailkind (refreshes its lists)"

/** How often it is looked whether a refresh is due. */
const LOOK_MS = 60_000
/** The longest that a refresh may take: several times what its downloads and the making of a pack do. */
const REFRESH_MAX_MS = 10 * 60_000
const WORDS = ["lists", "update", "--json"] as const

/**
 * Refreshes the lists on schedule, each time in a process of its own: what that takes of memory and time, no request feels.
 * Servers see by themselves that other lists are in place. The returned function ends the schedule.
 */
export function refreshing(world: World, settings: Settings, log: Log): () => void {
  const hours = settings.MAILKIND_LISTS_REFRESH_HOURS
  if (hours === "off") return () => undefined
  const startedAtMs = world.clock()
  let chance = chanceOf(world)
  let triedAtMs: number | null = null
  let isAtIt = false
  const look = async (): Promise<void> => {
    const [stockId, state, nowMs] = [await stockIdOf(world), await refreshState(world, settings), world.clock()]
    const due = { everyMs: hours * 3_600_000, stockId, nowMs, startedAtMs, triedAtMs, chance }
    const dueAtMs = nextRefreshAtMs(state, due)
    if (dueAtMs === null || nowMs < dueAtMs) return
    triedAtMs = nowMs
    chance = chanceOf(world)
    tell(log, await world.others.run(WORDS, REFRESH_MAX_MS))
  }
  return world.every(LOOK_MS, () => {
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
const chanceOf = ({ random }: World): number => (random(1)[0] ?? 0) / 256

type Ended = Awaited<ReturnType<World["others"]["run"]>>

/** Logs what the command has said of each source. */
function tell(log: Log, ended: Ended): void {
  // What fails before anything was asked has told so itself.
  if (ended === null || !ended.out.startsWith("{")) {
    log("error", "the lists were not refreshed", {
      why: ended === null ? "It took too long, or was killed." : "It failed.",
    })
    return
  }
  const { version, sources, faults }: Pick<Refreshed, "sources" | "faults"> & { readonly version: string | null } =
    JSON.parse(ended.out)
  for (const [source, { outcome, says }] of Object.entries(sources))
    if (says !== "") log("warn", "a source of the lists was of no use", { source, outcome, why: says })
  if (faults.length > 0) log("error", "no lists could be made; those in use are kept", { why: faults.join(" ") })
  else log("info", "the lists were refreshed", { version: version ?? "the same" })
}

/** Refreshes the lists of the data directory, as `refresh` does; `busy`: another process is at it. */
export async function refreshLists(
  world: World,
  settings: Settings,
  only: string | null,
): Promise<Refreshed | "unknown" | "busy"> {
  const stock = world.files.own("sources.stock")
  if (stock === null) throw new CannotStart(NOT_BUILT)
  const needs: RefreshNeeds = {
    ...world,
    folder: refreshFolder(world, settings),
    stock: readStockFile(await stock.bytes()),
    stockId: await stockIdOf(world),
    agent: AGENT,
    urls: settings.MAILKIND_LISTS_SOURCES,
  }
  return (await inTurn(turnNeeds(world, settings), () => refresh(needs, only))) ?? "busy"
}

/** Goes back to the lists before those in use; `busy`: another process refreshes them. */
export async function rollBackLists(world: World, settings: Settings): Promise<RolledBack | "busy"> {
  const needs = turnNeeds(world, settings)
  const stockId = await stockIdOf(world)
  const found = await inTurn(needs, async () => ({ back: await rollBack(needs.folder, stockId) }))
  return found === null ? "busy" : found.back
}

const turnNeeds = (world: World, settings: Settings): TurnNeeds => ({
  folder: refreshFolder(world, settings),
  clock: world.clock,
  pid: world.others.pid,
  isRunning: world.others.isRunning,
})
