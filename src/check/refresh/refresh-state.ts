import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { parseJson } from "../../base/text.ts"

/**
 * What became of asking for a source: `taken`, there was something new and it is in use; `unchanged`, there was not;
 * `refused`, what came was not fit; `failed`, nothing whole came. In all cases the last good copy serves.
 */
export const SOURCE_OUTCOMES = ["taken", "unchanged", "refused", "failed"] as const
export type SourceOutcome = (typeof SOURCE_OUTCOMES)[number]

const TEXT = Type.String()
const INSTANT_MS = Type.Integer({ minimum: 0 })

const SourceState = Type.Object({
  url: TEXT,
  outcome: Type.Unsafe<SourceOutcome>(Type.Union(SOURCE_OUTCOMES.map(outcome => Type.Literal(outcome)))),
  /** Why it was refused or failed, in a sentence; empty where it was not. */
  says: TEXT,
  checked_at_ms: INSTANT_MS,
  /** When its entries last changed; null: there is no copy yet. */
  changed_at_ms: Type.Union([INSTANT_MS, Type.Null()]),
})

const RefreshStateSchema = Type.Object({
  format: Type.Literal(1),
  /** The stock that the packs were built over. */
  stock: TEXT,
  /** When all sources were last asked for; 0: never. */
  refreshed_at_ms: INSTANT_MS,
  sources: Type.Record(TEXT, SourceState),
  /** The packs that are kept, the newest first. */
  packs: Type.Array(Type.Object({ sha256: TEXT, version: TEXT, made_at_ms: INSTANT_MS })),
  /** The pack in use; null: the one that the program carries. */
  in_use: Type.Union([TEXT, Type.Null()]),
  /** An operator went back to an older pack: only a refresh by hand makes another. */
  is_paused: Type.Boolean(),
})

/** One source, as the last refresh left it. */
export type SourceState = Static<typeof SourceState>

/** All that a refresh leaves behind, in one file of the lists' folder. */
export type RefreshState = Static<typeof RefreshStateSchema>

/** The file of the state; it is replaced whole, after everything that it speaks of is in place. */
export const STATE_FILE = "state.json"

/** Nothing was refreshed yet. */
export const INITIAL_REFRESH_STATE: RefreshState = {
  format: 1,
  stock: "",
  refreshed_at_ms: 0,
  sources: {},
  packs: [],
  in_use: null,
  is_paused: false,
}

/** The text of a state. */
export const formatRefreshState = (state: RefreshState): string => `${JSON.stringify(state, null, 2)}\n`

/** Reads the bytes of a state; no file is one in which nothing was refreshed. Null: they are no state. */
export function parseRefreshState(bytes: Uint8Array | null): RefreshState | null {
  if (bytes === null) return INITIAL_REFRESH_STATE
  const state = parseJson(new TextDecoder().decode(bytes))
  return Value.Check(RefreshStateSchema, state) ? state : null
}

/** Reads the bytes of a state; what is no state, and no file, is one in which nothing was refreshed. */
export const decodeRefreshState = (bytes: Uint8Array | null): RefreshState =>
  parseRefreshState(bytes) ?? INITIAL_REFRESH_STATE

/** The names of the files of a pack and of what it was built from. */
export const packFileName = (sha256: string): string => `${sha256.slice(0, 16)}.pack`
export const manifestFileName = (sha256: string): string => `${sha256.slice(0, 16)}.json`

/** One folder of files, as far as a refresh touches it. Names have no `/`. Each function rejects with the system's error. */
export type Folder = {
  /** Null: there is no such file. */
  readonly read: (name: string) => Promise<Uint8Array<ArrayBuffer> | null>
  /** Puts a file in place of what was there: readers find the old one or the new one, whole, at every moment. */
  readonly writeAtomic: (name: string, bytes: Uint8Array | string) => Promise<void>
  /** Makes a file that was not there, with its text at once; false: it was there. */
  readonly createExclusive: (name: string, text: string) => Promise<boolean>
  /** Removes a file; one that is not there is no fault. What maps it goes on reading it. */
  readonly remove: (name: string) => Promise<void>
  readonly list: () => Promise<readonly string[]>
}

/** The version that is in use after a roll-back: that of a kept pack, or `built_in`; null: there is nothing to go back to. */
export type RollBackResult = { readonly version: string } | "built_in" | null

/**
 * Goes back to the pack before the one in use, and from the oldest that is kept to the one that the program carries. No
 * schedule makes another pack then; a refresh by hand does. `stockId`: what the program carries. Packs over another stock
 * are not in use.
 */
export async function rollBack(folder: Folder, stockId: string): Promise<RollBackResult> {
  const state = decodeRefreshState(await folder.read(STATE_FILE))
  const at = state.packs.findIndex(({ sha256 }) => sha256 === state.in_use)
  if (state.in_use === null || at < 0 || state.stock !== stockId) return null
  const back = state.packs[at + 1]
  await folder.writeAtomic(STATE_FILE, formatRefreshState({ ...state, in_use: back?.sha256 ?? null, is_paused: true }))
  return back === undefined ? "built_in" : { version: back.version }
}
