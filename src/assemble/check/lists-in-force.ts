import { StartupError } from "../../base/errors.ts"
import { bundledVersion, refreshFolder, sourceBundleId } from "../../check/active-lists/lists-in-place.ts"
import {
  changeByAct,
  inForce,
  type ListsAct,
  type ListsActResult,
  type ListsInForce,
  stateInUse,
} from "../../check/refresh/lists-in-force.ts"
import {
  decodeRefreshState,
  formatRefreshState,
  INITIAL_REFRESH_STATE,
  STATE_FILE,
} from "../../check/refresh/refresh-state.ts"
import type { AppContext } from "../context.ts"
import { openStore } from "../customers/store.ts"
import { readOtherStates, readSharedState, withListsFolder } from "./lists-folder.ts"

/** Reads what is in force in the data directory, or for all nodes that share the database. */
export async function readListsInForce(context: AppContext): Promise<ListsInForce> {
  const { system, settings } = context
  const [stock, builtIn] = await Promise.all([sourceBundleId(system), bundledVersion(system)])
  if (settings.MAILKIND_DATABASE_URL === null) {
    const state = decodeRefreshState(await refreshFolder(context).read(STATE_FILE))
    return inForce(stateInUse(state, stock), [], builtIn)
  }
  const store = await openStore(context)
  try {
    const state = (await readSharedState(store, stock)) ?? { ...INITIAL_REFRESH_STATE, stock }
    if (state === "damaged") throw new StartupError(DAMAGED_STATE)
    return inForce(state, [...(await readOtherStates(store, stock)).values()], builtIn)
  } finally {
    await store.close()
  }
}

const DAMAGED_STATE = "The state of the lists in the database is damaged. Run `mailkind lists update`."

/** Changes what is in force, for all versions of the program that share a database; `busy`: another process is changing the lists. */
export async function changeListsInForce(context: AppContext, act: ListsAct): Promise<ListsActResult | "busy"> {
  const builtIn = await bundledVersion(context.system)
  return await withListsFolder(context, async ({ folder, bundleId, readOthers }) => {
    const state = stateInUse(decodeRefreshState(await folder.read(STATE_FILE)), bundleId)
    const others = await readOthers()
    const rest = [...others.values()]
    const change = changeByAct(act, state, rest, builtIn)
    if (change === null) return { kind: "none", now: inForce(state, rest, builtIn) }
    for (const [name, other] of others) await folder.writeAtomic(name, formatRefreshState(change(other)))
    const changed = change(state)
    await folder.writeAtomic(STATE_FILE, formatRefreshState(changed))
    return { kind: "done", now: inForce(changed, rest, builtIn), pinnedBefore: state.pinned }
  })
}
