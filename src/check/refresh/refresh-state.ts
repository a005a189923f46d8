import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { jsonIn } from "../../base/json.ts"

/**
 * What became of asking for a source: `taken`, there was something new and it is in use; `unchanged`, there was not;
 * `refused`, what came was not fit; `failed`, nothing whole came. In all cases the last good copy serves.
 */
export const SOURCE_OUTCOMES = ["taken", "unchanged", "refused", "failed"] as const
export type SourceOutcome = (typeof SOURCE_OUTCOMES)[number]

const text = Type.String()
const atMs = Type.Integer({ minimum: 0 })

const SourceState = Type.Object({
  url: text,
  outcome: Type.Unsafe<SourceOutcome>(Type.Union(SOURCE_OUTCOMES.map(outcome => Type.Literal(outcome)))),
  /** Why it was refused or failed, in a sentence; empty where it was not. */
  says: text,
  checked_at_ms: atMs,
  /** When its entries last changed; null: there is no copy yet. */
  changed_at_ms: Type.Union([atMs, Type.Null()]),
})

const State = Type.Object({
  format: Type.Literal(1),
  /** The stock that the packs were built over. */
  stock: text,
  /** When all sources were last asked for; 0: never. */
  refreshed_at_ms: atMs,
  sources: Type.Record(text, SourceState),
  /** The packs that are kept, the newest first. */
  packs: Type.Array(Type.Object({ sha256: text, version: text, made_at_ms: atMs })),
  /** The pack in use; null: the one that the program carries. */
  in_use: Type.Union([text, Type.Null()]),
  /** An operator went back to an older pack: only a refresh by hand makes another. */
  is_paused: Type.Boolean(),
})

/** One source, as the last refresh left it. */
export type SourceState = Static<typeof SourceState>

/** All that a refresh leaves behind, in one file of the lists' folder. */
export type RefreshState = Static<typeof State>

/** The file of the state; it is replaced whole, after everything that it speaks of is in place. */
export const STATE_FILE = "state.json"

/** Nothing was refreshed yet. */
export const UNREFRESHED: RefreshState = {
  format: 1,
  stock: "",
  refreshed_at_ms: 0,
  sources: {},
  packs: [],
  in_use: null,
  is_paused: false,
}

/** The text of a state. */
export const stateText = (state: RefreshState): string => `${JSON.stringify(state, null, 2)}\n`

/** Reads the bytes of a state; no file is one in which nothing was refreshed. Null: they are no state. */
export function parseState(bytes: Uint8Array | null): RefreshState | null {
  if (bytes === null) return UNREFRESHED
  const state = jsonIn(new TextDecoder().decode(bytes))
  return Value.Check(State, state) ? state : null
}

/** Reads the bytes of a state; what is no state, and no file, is one in which nothing was refreshed. */
export const readState = (bytes: Uint8Array | null): RefreshState => parseState(bytes) ?? UNREFRESHED

/** The names of the files of a pack and of what it was built from. */
export const packFile = (sha256: string): string => `${sha256.slice(0, 16)}.pack`
export const manifestFile = (sha256: string): string => `${sha256.slice(0, 16)}.json`
