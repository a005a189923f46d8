import type { Folder } from "./folder.ts"
import { readState, STATE_FILE, stateText } from "./refresh-state.ts"

/** The version that is in use after a roll-back: that of a kept pack, or `built_in`; null: there is nothing to go back to. */
export type RolledBack = { readonly version: string } | "built_in" | null

/**
 * Goes back to the pack before the one in use, and from the oldest that is kept to the one that the program carries. No
 * schedule makes another pack then; a refresh by hand does. `stockId`: what the program carries. Packs over another stock
 * are not in use.
 */
export async function rollBack(folder: Folder, stockId: string): Promise<RolledBack> {
  const state = readState(await folder.read(STATE_FILE))
  const at = state.packs.findIndex(({ sha256 }) => sha256 === state.in_use)
  if (state.in_use === null || at < 0 || state.stock !== stockId) return null
  const back = state.packs[at + 1]
  await folder.replace(STATE_FILE, stateText({ ...state, in_use: back?.sha256 ?? null, is_paused: true }))
  return back === undefined ? "built_in" : { version: back.version }
}
