import { withTimeout } from "../../base/concurrency.ts"
import { errorCode, isSystemError } from "../../base/errors.ts"
import type { Outage } from "../../base/fault-log.ts"
import { sha256Hex } from "../../base/fingerprint.ts"
import { logError } from "../../base/log.ts"
import { CoalescedRuns } from "../../base/single-flight.ts"
import { parseJson } from "../../base/text.ts"
import { HOUR_MS } from "../../base/time.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import {
  LISTS_DISK_REMEDY,
  pathOf,
  refreshFolder,
  refreshLockDeps,
  sourceBundleId,
} from "../../check/active-lists/lists-in-place.ts"
import type { LoadedLists } from "../../check/domain-lookup.ts"
import { openPack } from "../../check/lists/pack/pack.ts"
import { chooseLists, removeUnusedFiles, stateInUse } from "../../check/refresh/lists-in-force.ts"
import { withRefreshLock } from "../../check/refresh/refresh-lock.ts"
import {
  decodeRefreshState,
  type Folder,
  formatRefreshState,
  manifestFileName,
  packFileName,
  type RefreshState,
  STATE_FILE,
} from "../../check/refresh/refresh-state.ts"
import type { Sample } from "../../contract/metrics.ts"
import { type OpenStore, readClock, type Store } from "../../customers/store/core/store.ts"
import { outageOf, StoreError } from "../../customers/store/core/store-error.ts"
import { LISTS_MARK_SQL, readListsMark, readSharedFile } from "../../customers/store/shared-files.ts"
import { type AppContext, databasePlace, faultsOf, type StoreContext } from "../context.ts"
import type { Part } from "../part.ts"
import { isWorker, type ServeMode } from "../serve-mode.ts"
import { readSharedState } from "./lists-folder.ts"

/** How long a start waits for the lists of the other nodes, before it serves those that it has. */
const START_TAKE_MS = 10_000
/** How soon lists that could not be taken are asked for again. */
const RETRY_MS = 30_000
/** How long a node may take to have what is in force, before it says that it has not. */
export const BEHIND_AFTER_MS = 15_000

/** What a node took of the lists in force, and when another pack of them is due; or why it keeps what it has. */
export type TakenLists =
  | { readonly kind: "taken"; readonly mark: string | null; readonly nextAtMs: number | null }
  | { readonly kind: "busy" }
  | { readonly kind: "refused"; readonly outage: Outage }

type TakeDeps = {
  readonly nowMs: number
  /** Whether files are removed that are no longer in use. A server that starts may replace one that still has them. */
  readonly removesUnused: boolean
}

/**
 * Copies what is in force into the folder of this data directory, whose servers follow it. The state is written last, and nothing at all when a
 * file is not what was shared: then the node keeps what it has. Rejects with a `StoreError` if the database cannot be asked.
 */
export async function takeSharedLists(
  context: AppContext,
  store: Store,
  { nowMs, removesUnused }: TakeDeps,
): Promise<TakenLists> {
  const mark = await readListsMark(store)
  if (mark === null) return { kind: "taken", mark, nextAtMs: null }
  const stock = await sourceBundleId(context.system)
  const shared = await readSharedState(store, stock)
  if (shared === "damaged") return refused(context, "The state of the lists in the database is damaged.")
  const folder = refreshFolder(context)
  const delayMs = context.settings.MAILKIND_LISTS_DELAY_HOURS * HOUR_MS
  const work = async (): Promise<TakenLists> => {
    const local = decodeRefreshState(await folder.read(STATE_FILE))
    if (shared === null) return await keepOwn(folder, local, mark)
    const { in_use: currentInUse } = stateInUse(local, stock)
    const { inUse, nextAtMs } = chooseLists(shared, { delayMs, nowMs, currentInUse })
    const fault = inUse === null ? null : await takePack(store, folder, inUse)
    if (fault !== null) return refused(context, fault)
    const state: RefreshState = { ...shared, in_use: inUse, mark }
    await folder.writeAtomic(STATE_FILE, formatRefreshState(state))
    const kept = inUse === null ? shared.packs : [...shared.packs, { sha256: inUse }]
    if (removesUnused) await removeUnusedFiles(folder, kept)
    return { kind: "taken", mark, nextAtMs }
  }
  try {
    return (await withRefreshLock(refreshLockDeps(context), work)) ?? { kind: "busy" }
  } catch (error) {
    if (!isSystemError(error)) throw error
    const fault = { fault: "lists_not_written", where: pathOf(context, ""), why: errorCode(error) }
    return { kind: "refused", outage: { ...fault, remedy: LISTS_DISK_REMEDY } }
  }
}

/** No lists are shared for this version of the program: it keeps its own, unless they were pinned. */
async function keepOwn(folder: Folder, local: RefreshState, mark: string): Promise<TakenLists> {
  const inUse = local.pinned === null ? local.in_use : null
  const state: RefreshState = { ...local, in_use: inUse, pinned: null, mark }
  await folder.writeAtomic(STATE_FILE, formatRefreshState(state))
  return { kind: "taken", mark, nextAtMs: null }
}

/** Puts a pack and its manifest into the folder unless they are there. Resolves with why it cannot be used; null: it can. */
async function takePack(store: Store, folder: Folder, sha256: string): Promise<string | null> {
  const [packName, manifestName] = [packFileName(sha256), manifestFileName(sha256)]
  const isIntact = async (): Promise<boolean> => {
    const [pack, manifest] = [await folder.read(packName), await folder.read(manifestName)]
    return pack !== null && manifest !== null && sha256Hex(pack) === sha256
  }
  if (await isIntact()) return null
  const [pack, manifest] = [await readSharedFile(store, packName), await readSharedFile(store, manifestName)]
  if (pack.kind === "absent" || manifest.kind === "absent") return "The lists in force are not in the database."
  if (pack.kind === "damaged" || manifest.kind === "damaged" || pack.sha256 !== sha256)
    return "The lists in force are damaged in the database."
  // Whoever shared it has verified the whole pack. One of another version of the program may have another format.
  const opened = openPack(pack.bytes)
  if (opened.kind === "refused") return opened.message
  const described = ownMember(ownMember(parseJson(new TextDecoder().decode(manifest.bytes)), "pack"), "sha256")
  if (described !== sha256) return "The manifest of the lists in force is not theirs."
  await folder.writeAtomic(manifestName, manifest.bytes)
  await folder.writeAtomic(packName, pack.bytes)
  return null
}

const refused = ({ settings }: AppContext, why: string): TakenLists => ({
  kind: "refused",
  outage: { fault: "lists_not_taken", where: databasePlace(settings), why, remedy: REFUSED_REMEDY },
})

const REFUSED_REMEDY =
  "Run `mailkind lists update`, which repairs them, or pin other lists. Upgrade a node whose version cannot read them."

/** Takes the lists in force before the server is ready. It waits for at most `START_TAKE_MS`; what fails is logged and tried again once it serves. */
export async function takeSharedListsAtStart(context: AppContext, store: OpenStore): Promise<void> {
  const { system, settings, log } = context
  if (settings.MAILKIND_DATABASE_URL === null) return
  const take = async (): Promise<Outage | null> => {
    try {
      const nowMs = (await readClock(store)) ?? system.clock()
      const taken = await takeSharedLists(context, store, { nowMs, removesUnused: false })
      return taken.kind === "refused" ? taken.outage : null
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      return outageOf(error)
    }
  }
  const late: Outage = {
    fault: "late",
    where: databasePlace(settings),
    why: `It took more than ${START_TAKE_MS / 1000} s.`,
    remedy: LATE_REMEDY,
  }
  const outage = await withTimeout(system.setTimer, START_TAKE_MS, take(), late)
  if (outage === null) return
  const { where, why, remedy } = outage
  log("warn", "the server starts without the lists of the other nodes", { where, why, remedy })
}

const LATE_REMEDY = "The server takes them once it runs. Look at the connection to the database."

/** Follows the lists that nodes share. `isBehind`: this node has not what is in force, for longer than it takes to get it. */
export type SharedLists = Part & { readonly isBehind: () => boolean }

/**
 * Follows the lists that nodes share with each poll of the database. All processes of a node compare what they have with what is in force, and the
 * first one of them takes what is new; the others find it in the data directory. With SQLite there is one node, and nothing to follow.
 */
export function createSharedLists(context: StoreContext, mode: ServeMode, current: () => LoadedLists): SharedLists {
  if (context.settings.MAILKIND_DATABASE_URL === null) return { isBehind: () => false }
  const followed = new FollowedSharedLists(context, current, !isWorker(mode) || mode.workerIndex === 0)
  context.poll.add({
    columns: { listsMark: LISTS_MARK_SQL },
    observe: ({ rows: [{ listsMark }] }) => followed.observe(typeof listsMark === "string" ? listsMark : ""),
  })
  return {
    isBehind: () => followed.isBehind,
    samples: (): readonly Sample[] => [["mailkind_lists_behind", followed.isBehind ? 1 : 0]],
    stop: () => followed.stop(),
  }
}

class FollowedSharedLists {
  readonly #context: StoreContext
  readonly #current: () => LoadedLists
  readonly #isTaker: boolean
  readonly #tell: (outage: Outage | null) => void
  readonly #runs = new CoalescedRuns(() => this.#take())
  /** The mark of what is in force, and the one that was taken, or refused, last. */
  #mark = ""
  #seenMark = ""
  #nextAtMs: number | null = null
  #refusedWhy: string | null = null
  /** Since when another mark is in force than this process has. */
  #differsSinceMs: number | null = null

  constructor(context: StoreContext, current: () => LoadedLists, isTaker: boolean) {
    this.#context = context
    this.#current = current
    this.#isTaker = isTaker
    this.#tell = faultsOf(context).outages("error", NOT_TAKEN, "the lists of all nodes are in use here again")
  }

  get isBehind(): boolean {
    const sinceMs = this.#differsSinceMs
    return sinceMs !== null && this.#context.system.stopwatch() - sinceMs >= BEHIND_AFTER_MS
  }

  /** Is told of the mark of what is in force; empty: nothing is. */
  observe(mark: string): void {
    const isSame = mark === "" || mark === this.#current().refreshState.mark
    this.#differsSinceMs = isSame ? null : (this.#differsSinceMs ?? this.#context.system.stopwatch())
    this.#mark = mark
    if (!this.#isTaker || mark === "") return
    const isDue = this.#nextAtMs !== null && this.#nowMs() >= this.#nextAtMs
    if (mark !== this.#seenMark || isDue) this.#runs.request()
  }

  stop(): Promise<void> {
    return this.#runs.stop()
  }

  #nowMs(): number {
    return this.#context.trustedTime.reference()
  }

  async #take(): Promise<void> {
    const { store, log } = this.#context
    const [nowMs, mark] = [this.#nowMs(), this.#mark]
    try {
      const taken = await takeSharedLists(this.#context, store, { nowMs, removesUnused: true })
      if (taken.kind === "busy") return
      this.#seenMark = mark
      this.#nextAtMs = taken.kind === "refused" ? nowMs + RETRY_MS : taken.nextAtMs
      this.#tellOnce(taken.kind === "refused" ? taken.outage : null)
    } catch (error) {
      // The next poll that succeeds tries again.
      if (!(error instanceof StoreError)) logError(log, "the lists of all nodes were not looked up")(error)
    }
  }

  #tellOnce(outage: Outage | null): void {
    const why = outage?.why ?? null
    if (why === this.#refusedWhy) return
    this.#refusedWhy = why
    this.#tell(outage)
  }
}

const NOT_TAKEN = "the lists of all nodes cannot be used here; the current ones stay in use"
