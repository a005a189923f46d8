import { urlPlace } from "../base/fetch.ts"
import type { Log } from "../base/log.ts"
import { SingleFlight } from "../base/single-flight.ts"
import type { RefreshResult } from "../check/refresh/refresh.ts"
import { nextRefreshAtMs } from "../check/refresh/refresh-schedule.ts"
import { isUseless, type RefreshState, type SourceState } from "../check/refresh/refresh-state.ts"
import { leftOutMessages } from "../check/refresh/source-validation.ts"
import type { CommandResult } from "../system/child-processes.ts"
import type { System } from "../system/system.ts"
import { readStderr } from "./command-output.ts"

/** How often it checks whether a refresh is due. */
const DUE_POLL_MS = 60_000
/** The longest that a refresh may take: several times what downloading and building a pack need. */
const REFRESH_TIMEOUT_MS = 10 * 60_000
/** What an operator does about a refresh that fails. */
const REFRESH_REMEDY =
  "Run `mailkind lists update`, which says more. Let this host reach the sources, and free some space on the disk of the data directory."
const REFRESH_COMMAND = ["lists", "update", "--json"] as const

/** The dependencies of a refresh scheduler. */
export type RefreshSchedulerDeps = {
  readonly system: System
  readonly log: Log
  /** The path of the folder with the refreshed lists. */
  readonly folder: string
  /** How often; null: never, as long as that is so. */
  readonly intervalMs: () => number | null
  /** The id of the source bundle of this program. */
  readonly bundleId: () => Promise<string>
  /** The state that the last refresh left. */
  readonly readState: () => Promise<RefreshState>
  /** When files of the lists were found damaged that only a refresh mends; null: they were not. */
  readonly damagedAtMs: () => Promise<number | null>
}

/**
 * Refreshes the lists on schedule, each time in a child process, so that its memory and processor time do not slow requests.
 * Servers notice new lists by themselves. The returned function stops the schedule.
 */
export function startRefreshScheduler({
  system,
  log,
  folder,
  intervalMs,
  bundleId,
  readState,
  damagedAtMs,
}: RefreshSchedulerDeps): () => void {
  const startedAtMs = system.clock()
  let randomShare = randomFraction(system)
  let lastAttemptAtMs: number | null = null
  const runs = new SingleFlight<"refresh", void>()
  const refreshIfDue = async (): Promise<void> => {
    const everyMs = intervalMs()
    if (everyMs === null) return
    const currentBundleId = await bundleId()
    const state = await readState()
    const nowMs = system.clock()
    const dueAtMs = nextRefreshAtMs(state, {
      intervalMs: everyMs,
      bundleId: currentBundleId,
      nowMs,
      startedAtMs,
      lastAttemptAtMs,
      damagedAtMs: await damagedAtMs(),
      randomShare,
    })
    if (nowMs < dueAtMs) return
    lastAttemptAtMs = nowMs
    randomShare = randomFraction(system)
    logRefreshResult(system, { log, folder }, await system.processes.run(REFRESH_COMMAND, REFRESH_TIMEOUT_MS))
  }
  const onError = (error: unknown) =>
    log("error", "the lists were not refreshed", { where: folder, why: String(error), remedy: REFRESH_REMEDY })
  return system.runInterval(DUE_POLL_MS, () => void runs.run("refresh", () => refreshIfDue().catch(onError)))
}

/** A random number from 0 up to 1. */
const randomFraction = ({ random }: System): number => (random(1)[0] ?? 0) / 256

/** Logs why a source was of no use, and what was left out of it. */
function logSourceFaults(log: RefreshSchedulerDeps["log"], source: string, state: SourceState): void {
  const { url, outcome, says, left_out: leftOut, unreadable } = state
  if (says !== "")
    log("warn", "a source of the lists could not be used", {
      ...{ source, outcome, where: urlPlace(url), why: says },
      remedy: REFRESH_REMEDY,
    })
  const count = (leftOut?.count ?? 0) + (unreadable?.count ?? 0)
  if (count > 0)
    log("warn", "names of a source of the lists were left out", { source, count, why: leftOutMessages(state) })
  if (state.past !== undefined)
    log("warn", "a part of the past of a source of the lists is missing", { source, why: state.past })
}

/** What the command prints. `is_busy`: another process refreshes the lists of this host, or of all nodes. */
type UpdateOutput = Pick<RefreshResult, "sources" | "faults"> & {
  readonly version: string | null
  readonly is_busy?: boolean
}

/** Logs what the command reported about each source. */
function logRefreshResult(
  { writeStderr }: System,
  { log, folder }: Pick<RefreshSchedulerDeps, "log" | "folder">,
  result: CommandResult | null,
): void {
  const notRefreshed = (level: "error" | "warn", why: string): void =>
    log(level, "the lists were not refreshed", { where: folder, why, remedy: REFRESH_REMEDY })
  if (result === null) {
    notRefreshed("error", "It took too long or was killed.")
    return
  }
  const { lines, message } = readStderr(result.stderr)
  if (lines !== "") writeStderr(lines)
  // A command that fails before its first download prints no result.
  if (!result.stdout.startsWith("{")) {
    notRefreshed("error", message === "" ? "It failed." : message)
    return
  }
  const { version, sources, faults, is_busy: isBusy }: UpdateOutput = JSON.parse(result.stdout)
  if (isBusy === true) {
    log("info", "another process refreshes the lists")
    return
  }
  for (const [source, state] of Object.entries(sources)) logSourceFaults(log, source, state)
  if (faults.length > 0)
    log("error", "no new lists were built; the current ones stay in use", {
      ...{ where: folder, why: faults.join(" ") },
      remedy: REFRESH_REMEDY,
    })
  else if (Object.values(sources).some(source => !isUseless(source)) || Object.keys(sources).length === 0)
    log("info", "the lists were refreshed", { version: version ?? "the same" })
  else notRefreshed("warn", "No source could be used. The last good copy of each is in use.")
}
