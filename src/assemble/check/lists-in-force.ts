import { StartupError } from "../../base/errors.ts"
import { HOUR_MS } from "../../base/time.ts"
import {
  bundledVersion,
  readRefreshState,
  refreshFolder,
  sourceBundleId,
} from "../../check/active-lists/lists-in-place.ts"
import {
  type ChoosingNode,
  changeByAct,
  inForce,
  type ListsAct,
  type ListsActResult,
  type ListsInForce,
  stateInUse,
  type WaitingLists,
  waitingLists,
} from "../../check/refresh/lists-in-force.ts"
import {
  decodeRefreshState,
  formatRefreshState,
  INITIAL_REFRESH_STATE,
  type RefreshState,
  STATE_FILE,
} from "../../check/refresh/refresh-state.ts"
import type { AppContext } from "../context.ts"
import { openStore } from "../customers/store.ts"
import { readOtherStates, readSharedState, withListsFolder } from "./lists-folder.ts"

/** The newest lists, if the servers of this data directory wait for them; null: they do not. */
export async function readWaitingLists(context: AppContext): Promise<WaitingLists | null> {
  const state = await readRefreshState(context)
  return state.stock === (await sourceBundleId(context.system)) ? waitingHere(context, state) : null
}

/** The newest lists of the state that a node follows, if it waits for them. */
export function waitingHere(context: NodeContext, state: RefreshState): WaitingLists | null {
  const node = choosingNode(context, state)
  return node && waitingLists(state, node)
}

type NodeContext = Pick<AppContext, "system" | "settings">

/** What a node chooses its lists by; null: it shares them with no other, and waits for none. */
const choosingNode = (
  { system, settings }: NodeContext,
  { in_use: currentInUse }: RefreshState,
): ChoosingNode | null =>
  settings.MAILKIND_DATABASE_URL === null
    ? null
    : { delayMs: settings.MAILKIND_LISTS_DELAY_HOURS * HOUR_MS, nowMs: system.clock(), currentInUse }

/** Reads what is in force in the data directory, or for all nodes that share the database. */
export async function readListsInForce(context: AppContext): Promise<ListsInForce> {
  const { system, settings } = context
  const [stock, builtIn] = await Promise.all([sourceBundleId(system), bundledVersion(system)])
  if (settings.MAILKIND_DATABASE_URL === null) {
    const state = decodeRefreshState(await refreshFolder(context).read(STATE_FILE))
    return inForce(stateInUse(state, stock), [], builtIn, null)
  }
  const store = await openStore(context, "command")
  try {
    const state = (await readSharedState(store, stock)) ?? { ...INITIAL_REFRESH_STATE, stock }
    if (state === "damaged") throw new StartupError(DAMAGED_STATE)
    const others = [...(await readOtherStates(store, stock)).values()]
    return inForce(state, others, builtIn, choosingNode(context, await readRefreshState(context)))
  } finally {
    await store.close()
  }
}

const DAMAGED_STATE = "The state of the lists in the database is damaged. Run `mailkind lists update`."

/** Changes what is in force, for all versions of the program that share a database; `busy`: another process is changing the lists. */
export async function changeListsInForce(context: AppContext, act: ListsAct): Promise<ListsActResult | "busy"> {
  const builtIn = await bundledVersion(context.system)
  const node = choosingNode(context, await readRefreshState(context))
  return await withListsFolder(context, async ({ folder, bundleId, readOthers }) => {
    const state = stateInUse(decodeRefreshState(await folder.read(STATE_FILE)), bundleId)
    const others = await readOthers()
    const rest = [...others.values()]
    const change = changeByAct(act, state, rest, builtIn)
    if (change === null) return { kind: "none", now: inForce(state, rest, builtIn, node) }
    for (const [name, other] of others) await folder.writeAtomic(name, formatRefreshState(change(other)))
    const changed = change(state)
    await folder.writeAtomic(STATE_FILE, formatRefreshState(changed))
    return { kind: "done", now: inForce(changed, rest, builtIn, node), pinnedBefore: state.pinned }
  })
}
