import {
  BUILT_IN,
  type KeptPack,
  manifestFileName,
  packFileName,
  type RefreshFolder,
  type RefreshState,
} from "./refresh-state.ts"

/** The number of packs that are kept, including the one in use. */
const KEPT_PACKS_MAX = 3

/** Pins a version of the kept packs, or `BUILT_IN`, until `unpin`. Null: no such pack is kept. */
function pin(state: RefreshState, version: string): RefreshState | null {
  if (version === BUILT_IN) return { ...state, in_use: null, pinned: BUILT_IN }
  const pack = state.packs.find(kept => kept.version === version)
  return pack === undefined ? null : { ...state, in_use: pack.sha256, pinned: version }
}

/** Puts the newest pack of this version of the program in use again. */
function unpin(state: RefreshState): RefreshState {
  return { ...state, in_use: newestPack(state)?.sha256 ?? null, pinned: null }
}

/** Has the nodes use the newest pack that wait before they use new lists. Null: there is none. */
function release(state: RefreshState): RefreshState | null {
  const pack = newestPack(state)
  return pack === null ? null : { ...state, released: pack.sha256 }
}

/** Pins the pack before the one in use, or `BUILT_IN` after the oldest. Null: there is nothing to go back to. */
function rollBack(state: RefreshState): RefreshState | null {
  const index = state.packs.findIndex(({ sha256 }) => sha256 === state.in_use)
  return index < 0 ? null : pin(state, state.packs[index + 1]?.version ?? BUILT_IN)
}

/** Takes over what is pinned in the state of another version of the program. */
export function adoptPin(state: RefreshState, { pinned, in_use, packs, stock: from }: RefreshState): RefreshState {
  const entry = packs.find(({ sha256 }) => sha256 === in_use)
  const isKept = entry === undefined || state.packs.some(({ sha256 }) => sha256 === in_use)
  const added = isKept ? [] : [{ ...entry, stock: entry.stock ?? from }]
  return { ...state, pinned, in_use, packs: [...state.packs, ...added] }
}

/** The newest pack that was built from the source bundle of the state; null: there is none. */
const newestPack = ({ packs, stock: own }: RefreshState): KeptPack | null =>
  packs.find(({ stock = own }) => stock === own) ?? null

/** What a node uses of the lists that nodes share: the SHA-256 of a pack, or null for its built-in lists, and when another one is due. */
export type ListsChoice = { readonly inUse: string | null; readonly nextAtMs: number | null }

/** A node that chooses what it uses of the lists that nodes share: its delay, the time, and the pack that it has in use. */
export type ChoosingNode = { readonly delayMs: number; readonly nowMs: number; readonly currentInUse: string | null }

/**
 * Chooses what a node uses of the lists that nodes share. A pack is due `delayMs` after it was built, or when it was released. The node takes the
 * newest pack that is due, or keeps what it has if none is. What is pinned is used at once. Without a delay every pack is due, also if the clock was
 * ahead when it was built.
 */
export function chooseLists(state: RefreshState, { delayMs, nowMs, currentInUse }: ChoosingNode): ListsChoice {
  const { packs, in_use: inForce, pinned, released } = state
  const newest = packs.findIndex(({ sha256 }) => sha256 === inForce)
  if (pinned !== null || newest < 0) return { inUse: inForce, nextAtMs: null }
  const isDue = ({ sha256, made_at_ms: madeAtMs }: KeptPack): boolean =>
    sha256 === released || delayMs === 0 || nowMs >= madeAtMs + delayMs
  const candidates = packs.slice(newest)
  const chosen = candidates.find(isDue)?.sha256 ?? currentInUse ?? candidates.slice(1).at(-1)?.sha256 ?? null
  const waiting = candidates.filter(pack => !isDue(pack)).map(({ made_at_ms: madeAtMs }) => madeAtMs + delayMs)
  return { inUse: chosen, nextAtMs: waiting.length === 0 ? null : Math.min(...waiting) }
}

/** The newest lists, which a node does not use before `untilMs` because of its delay, and what it uses until then. */
export type WaitingLists = { readonly version: string; readonly untilMs: number; readonly inUse: string }

/** The newest lists, if a node waits for them; null: it uses them, or what is pinned. */
export function waitingLists(state: RefreshState, node: ChoosingNode): WaitingLists | null {
  const newest = newestPack(state)
  if (newest === null || state.pinned !== null) return null
  const { inUse } = chooseLists({ ...state, in_use: newest.sha256 }, node)
  if (inUse === newest.sha256) return null
  return { version: newest.version, untilMs: newest.made_at_ms + node.delayMs, inUse: versionOf(state, inUse) }
}

/** What an operator does about the lists in force. `roll_back` pins the lists before. */
export type ListsAct =
  | { readonly kind: "pin"; readonly version: string }
  | { readonly kind: "unpin" | "release" | "roll_back" }

/** The lists that are in force, and those that can be pinned. `inUse`: their version, or `BUILT_IN`. */
export type ListsInForce = {
  readonly inUse: string
  readonly pinned: string | null
  /** The newest lists that were built; null: none were. */
  readonly newest: string | null
  readonly isReleased: boolean
  /** The newest lists, if this node waits for them. */
  readonly waiting: WaitingLists | null
  readonly packs: readonly KeptPack[]
  /** The version of the lists of this program. */
  readonly builtIn: string
}

/** What an act came to: what is in force now and was pinned before, or that there is no such pack. */
export type ListsActResult =
  | { readonly kind: "done"; readonly now: ListsInForce; readonly pinnedBefore: string | null }
  | { readonly kind: "none"; readonly now: ListsInForce }

/**
 * The function that an act applies to the states of all versions of the program: `state` of this one, and `others`. Null: the pack that the act needs is
 * not kept.
 */
export function changeByAct(
  act: ListsAct,
  state: RefreshState,
  others: readonly RefreshState[],
  builtIn: string,
): ((one: RefreshState) => RefreshState) | null {
  const change =
    act.kind === "pin"
      ? (one: RefreshState) => pin(one, act.version === builtIn ? BUILT_IN : act.version)
      : CHANGES[act.kind]
  const changed = (act.kind === "roll_back" ? [state] : [state, ...others]).map(change).find(one => one !== null)
  if (changed === undefined) return null
  // Each version of the program has its own newest lists, but all have the same pin.
  const isEachOwn = act.kind === "unpin" || act.kind === "release"
  return one => (isEachOwn ? (change(one) ?? one) : adoptPin(one, changed))
}

const CHANGES = { unpin, release, roll_back: rollBack }

/** A state with what is in use of it: packs of another version of the program are not, unless they are pinned (DECISIONS 15). */
export function stateInUse(state: RefreshState, bundleId: string): RefreshState {
  if (state.stock === "") return { ...state, stock: bundleId }
  return state.stock === bundleId || state.pinned !== null ? state : { ...state, in_use: null }
}

/** The version of a kept pack. */
const versionOf = ({ packs }: RefreshState, pack: string | null): string =>
  packs.find(({ sha256 }) => sha256 === pack)?.version ?? BUILT_IN

/**
 * Tells what is in force in the state of this version of the program, with the packs that any version keeps, and whether this node waits. Null: it
 * shares its lists with no other.
 */
export function inForce(
  state: RefreshState,
  others: readonly RefreshState[],
  builtIn: string,
  node: ChoosingNode | null,
): ListsInForce {
  const newest = newestPack(state)
  const packs = new Map([state, ...others].flatMap(one => one.packs.map(pack => [pack.sha256, pack] as const)))
  return {
    inUse: versionOf(state, state.in_use),
    pinned: state.pinned,
    newest: newest?.version ?? null,
    isReleased: newest !== null && state.released === newest.sha256,
    waiting: node && waitingLists(state, node),
    packs: [...packs.values()],
    builtIn,
  }
}

/** A pack that a refresh has written. */
export type WrittenPack = { readonly sha256: string; readonly version: string }

/**
 * The state with the pack in use. The pack before it and those that could be rolled back to from there are kept, so a pinned one is;
 * packs that an operator has rolled back from are not.
 */
export function withActivePack(state: RefreshState, pack: WrittenPack, nowMs: number): RefreshState {
  const index = state.packs.findIndex(({ sha256 }) => sha256 === state.in_use)
  const older = (index < 0 ? [] : state.packs.slice(index)).filter(({ sha256 }) => sha256 !== pack.sha256)
  const known = state.packs.find(({ sha256 }) => sha256 === pack.sha256) ?? {
    ...pack,
    made_at_ms: nowMs,
    stock: state.stock,
  }
  // The clock may have been ahead.
  const active = { ...known, made_at_ms: Math.min(known.made_at_ms, nowMs) }
  return { ...state, in_use: pack.sha256, packs: [active, ...older].slice(0, KEPT_PACKS_MAX) }
}

/** The names of the files of packs. */
export const filesOfPacks = (packs: readonly Pick<KeptPack, "sha256">[]): ReadonlySet<string> =>
  new Set(packs.flatMap(({ sha256 }) => [packFileName(sha256), manifestFileName(sha256)]))

/** Removes packs that are no longer kept, and temporary files of interrupted writes. */
export async function removeUnusedFiles(
  folder: RefreshFolder,
  packs: readonly Pick<KeptPack, "sha256">[],
): Promise<void> {
  const used = filesOfPacks(packs)
  for (const name of await folder.list()) {
    const isOfPack = /^[0-9a-f]{16}\.(?:pack|json)$/.test(name)
    if ((isOfPack && !used.has(name)) || name.endsWith(".new")) await folder.remove(name)
  }
}
