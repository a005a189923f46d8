import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { parseJson } from "../../base/text.ts"
import { DAY_MS } from "../../base/time.ts"
import type { CatalogueSource } from "../lists/sources/catalogue.ts"

/**
 * The outcome of refreshing a source. `taken`: a new download is in use. `unchanged`: there was nothing new. `refused`: the
 * download was invalid. `failed`: there was no complete download. In the last three cases the last valid download stays in use.
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
  /** When its entries last changed; null: there is no valid download yet. */
  changed_at_ms: Type.Union([INSTANT_MS, Type.Null()]),
  /** What of the past of a window source is missing, and why, in sentences; absent: nothing, or it has none. */
  past: Type.Optional(TEXT),
  /** When the last valid download was, or the last answer that there is nothing new. Absent: at `checked_at_ms`, or never. */
  good_at_ms: Type.Optional(INSTANT_MS),
  /** The last time that it was refused or failed, if that was not the last time. Absent: it never was. */
  last_fault: Type.Optional(Type.Object({ says: TEXT, at_ms: INSTANT_MS })),
  /** The names that were left out of the download in use, since no such list may hold them; absent: none. */
  left_out: Type.Optional(Type.Object({ count: Type.Integer({ minimum: 1 }), names: Type.Array(TEXT) })),
  /** The lines of an own list in use that are not names; absent: there are none. */
  unreadable: Type.Optional(
    Type.Object({ count: Type.Integer({ minimum: 1 }), first_line: Type.Integer({ minimum: 1 }) }),
  ),
})

const RefreshStateSchema = Type.Object({
  format: Type.Literal(1),
  /** The id of the source bundle that the packs were built from (`DECISIONS 15`). */
  stock: TEXT,
  /** When all sources were last asked, and one of them at least was taken or unchanged; 0: never. */
  refreshed_at_ms: INSTANT_MS,
  /** When all sources were last asked, whatever became of it. Absent: at `refreshed_at_ms`. */
  asked_at_ms: Type.Optional(INSTANT_MS),
  sources: Type.Record(TEXT, SourceState),
  /** The kept packs, newest first. `stock`: the source bundle that one was built from; absent: that of the state. */
  packs: Type.Array(Type.Object({ sha256: TEXT, version: TEXT, made_at_ms: INSTANT_MS, stock: Type.Optional(TEXT) })),
  /** The SHA-256 of the pack in use; null: the bundled pack. */
  in_use: Type.Union([TEXT, Type.Null()]),
  /** The version that an operator has pinned, or `BUILT_IN`; null: the newest lists are in use. Absent in files of versions before. */
  pinned: Type.Optional(Type.Union([TEXT, Type.Null()])),
  /** The SHA-256 of the pack that an operator has released to the nodes that wait before they use new lists. Absent: none. */
  released: Type.Optional(TEXT),
  /** Which state of the lists that nodes share this is a copy of. Absent: it is none. */
  mark: Type.Optional(TEXT),
  /** For versions before, which did not refresh after a roll-back: whether a version is pinned. */
  is_paused: Type.Boolean(),
})

/** The state of one source after its last refresh. */
export type SourceState = Static<typeof SourceState>

/** The state that refreshes keep in one file of their folder. */
export type RefreshState = Omit<Static<typeof RefreshStateSchema>, "pinned" | "is_paused"> & {
  readonly pinned: string | null
}

/** A kept pack. */
export type KeptPack = RefreshState["packs"][number]

/** The pinned version while the lists of the program are pinned, which differ from version to version of the program. */
export const BUILT_IN = "built_in"

/** The state file. It is replaced atomically, after all files that it refers to are written. */
export const STATE_FILE = "state.json"

/** The state before the first refresh. */
export const INITIAL_REFRESH_STATE: RefreshState = {
  format: 1,
  stock: "",
  refreshed_at_ms: 0,
  sources: {},
  packs: [],
  in_use: null,
  pinned: null,
}

/** When all sources were last asked, whatever became of it, in milliseconds since the Unix epoch; 0: never. */
export const askedAtMs = ({ asked_at_ms, refreshed_at_ms }: RefreshState): number => asked_at_ms ?? refreshed_at_ms

/** Whether a source could not be used. */
export const isUseless = ({ outcome }: SourceState): boolean => outcome === "refused" || outcome === "failed"

/** The instants of a state after all sources were asked. */
export function askedNow(
  { refreshed_at_ms }: RefreshState,
  sources: readonly SourceState[],
  nowMs: number,
): Pick<RefreshState, "asked_at_ms" | "refreshed_at_ms"> {
  const hasFailed = sources.length > 0 && sources.every(isUseless)
  return { asked_at_ms: nowMs, refreshed_at_ms: hasFailed ? refreshed_at_ms : nowMs }
}

/** Whether the last download of a source is the newest. */
export const isGood = (outcome: SourceOutcome): boolean => outcome === "taken" || outcome === "unchanged"

/** A refused download is asked for again after so many days, if a good one would be asked for later still. */
const REFUSED_DAYS = 7
/** A refresh may be earlier than the one before by its jitter. */
const EARLIER_MS = DAY_MS / 2

/** Whether the last download of a source cannot be used any more: it is gone, or another version of the program may read it otherwise. */
export function isLost(
  id: string,
  { sources, stock }: RefreshState,
  bundleId: string,
  downloads: ReadonlyMap<string, unknown>,
): boolean {
  const state = sources[id]
  return stock !== bundleId || (state !== undefined && isGood(state.outcome) && !downloads.has(id))
}

/** Whether a scheduled refresh asks for a source: large ones are asked for once in some weeks. */
export function isDue(
  { every_days }: CatalogueSource,
  state: SourceState | undefined,
  url: string,
  nowMs: number,
): boolean {
  if (every_days === undefined || state === undefined || state.url !== url || state.outcome === "failed") return true
  const days = isGood(state.outcome) ? every_days : Math.min(every_days, REFUSED_DAYS)
  return Math.abs(nowMs - state.checked_at_ms) >= days * DAY_MS - EARLIER_MS
}

/** What the state of a source keeps of its earlier outcomes. */
export function sourceHistory(
  before: SourceState | undefined,
  outcome: SourceOutcome,
): Pick<SourceState, "good_at_ms" | "last_fault"> {
  if (before === undefined) return {}
  const wasGood = isGood(before.outcome)
  const goodAtMs = wasGood ? before.checked_at_ms : before.good_at_ms
  const lastFault = wasGood ? before.last_fault : { says: before.says, at_ms: before.checked_at_ms }
  if (!isGood(outcome)) return goodAtMs === undefined ? {} : { good_at_ms: goodAtMs }
  return lastFault === undefined ? {} : { last_fault: lastFault }
}

/** The text of the state file. */
export const formatRefreshState = (state: RefreshState): string =>
  `${JSON.stringify({ ...state, is_paused: state.pinned !== null }, null, 2)}\n`

/** Parses the bytes of a state file; no file (null) is the initial state. Null: the file is damaged. */
export function parseRefreshState(bytes: Uint8Array | null): RefreshState | null {
  if (bytes === null) return INITIAL_REFRESH_STATE
  const parsed = parseJson(new TextDecoder().decode(bytes))
  if (!Value.Check(RefreshStateSchema, parsed)) return null
  const { is_paused: isPaused, pinned, ...state } = parsed
  // A version before has rolled back.
  const rolledBackTo = isPaused
    ? (state.packs.find(({ sha256 }) => sha256 === state.in_use)?.version ?? BUILT_IN)
    : null
  return { ...state, pinned: pinned ?? rolledBackTo }
}

/** Decodes the bytes of a state file; a damaged or absent file is the initial state. */
export const decodeRefreshState = (bytes: Uint8Array | null): RefreshState =>
  parseRefreshState(bytes) ?? INITIAL_REFRESH_STATE

/** The file names of a pack and of its manifest. */
export const packFileName = (sha256: string): string => `${sha256.slice(0, 16)}.pack`
export const manifestFileName = (sha256: string): string => `${sha256.slice(0, 16)}.json`

/** The operations on a folder that a refresh needs. Names contain no `/`. Each function rejects with the system's error. */
export type Folder = {
  /** Null: there is no such file. */
  readonly read: (name: string) => Promise<Uint8Array<ArrayBuffer> | null>
  /** Whether a file has exactly these bytes, of which few are read at a time; false: it is missing, too. */
  readonly isSame: (name: string, bytes: Uint8Array) => Promise<boolean>
  /** Replaces a file atomically: a reader sees the complete old or the complete new file. */
  readonly writeAtomic: (name: string, bytes: Uint8Array | string) => Promise<void>
  /** Creates a file together with its text; false: the file exists already. */
  readonly createExclusive: (name: string, text: string) => Promise<boolean>
  /** Removes a file; a missing file is not an error. Processes that have mapped it can still read it. */
  readonly remove: (name: string) => Promise<void>
  readonly list: () => Promise<readonly string[]>
}

/** Of a folder, what a refresh uses: the folder of the data directory, or the files that nodes share. */
export type RefreshFolder = Pick<Folder, "read" | "writeAtomic" | "remove" | "list">
