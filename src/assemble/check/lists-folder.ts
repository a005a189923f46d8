import { refreshFolder, refreshLockDeps, sourceBundleId } from "../../check/active-lists/lists-in-place.ts"
import { adoptPin, filesOfPacks } from "../../check/refresh/lists-in-force.ts"
import { withRefreshLock } from "../../check/refresh/refresh-lock.ts"
import {
  formatRefreshState,
  INITIAL_REFRESH_STATE,
  parseRefreshState,
  type RefreshFolder,
  type RefreshState,
  STATE_FILE,
} from "../../check/refresh/refresh-state.ts"
import { type OpenStore, type Store, storeClock } from "../../customers/store/core/store.ts"
import {
  listSharedFiles,
  readSharedFile,
  type SharedFileInfo,
  type SharedFilesWriter,
  withSharedFiles,
} from "../../customers/store/shared-files.ts"
import type { AppContext } from "../context.ts"
import { openStore } from "../customers/store.ts"

/**
 * The lists that nodes share are files in their database, named as in the folder of one host: packs, their manifests and the downloads that they
 * were built from. Each version of the program has a state of its own, since packs belong to the version that made them (DECISIONS 15, 175).
 */
const STATE_NAME = /^state-[0-9a-f]{1,16}\.json$/
const DOWNLOAD_NAME = /^[a-z0-9-]+\.txt$/

/** Of how many versions of the program lists are kept. Those that were refreshed or pinned last are. */
const SHARED_STATES_MAX = 3

const stateName = (stock: string): string => `state-${stock.slice(0, 16)}.json`

/** The folder of the lists in force, while no other process changes it: of the data directory, or of all nodes that share a database. */
export type ListsFolder = {
  readonly folder: RefreshFolder
  /** The id of the source bundle of this program. */
  readonly bundleId: string
  /** The states of other versions of the program that share the folder, by the names of their files. */
  readonly readOthers: () => Promise<ReadonlyMap<string, RefreshState>>
  /** The time by which lists are dated: that of the database, if it has a clock. */
  readonly clock: () => number
}

/** Runs `work` on the lists in force; `busy`: another process is changing them. */
export async function withListsFolder<T>(
  context: AppContext,
  work: (lists: ListsFolder) => Promise<T>,
): Promise<T | "busy"> {
  const { system, settings } = context
  const bundleId = await sourceBundleId(system)
  if (settings.MAILKIND_DATABASE_URL === null) {
    const lists = { folder: refreshFolder(context), bundleId, readOthers: async () => new Map(), clock: system.clock }
    const run = async () => ({ result: await work(lists) })
    const locked = await withRefreshLock(refreshLockDeps(context), run)
    return locked === null ? "busy" : locked.result
  }
  const store = await openStore(context)
  try {
    const clock = await storeClock(store, system.clock)
    const run = async (writer: SharedFilesWriter) => {
      const folder = sharedFolder(store, writer, bundleId)
      await addOwnDownloads(context, folder)
      return { result: await work({ folder, bundleId, readOthers: () => readOtherStates(store, bundleId), clock }) }
    }
    const locked = await withSharedFiles(store, { ...system, clock }, run)
    return locked === null ? "busy" : locked.result
  } finally {
    await store.close()
  }
}

/**
 * What is in force for this version of the program; null: its built-in lists. A version that has shared no lists yet takes over the pin of the
 * one that did so last.
 */
export async function readSharedState(store: Store, stock: string): Promise<RefreshState | "damaged" | null> {
  const file = await readSharedFile(store, stateName(stock))
  if (file.kind === "read") return parseRefreshState(file.bytes) ?? "damaged"
  if (file.kind === "damaged") return "damaged"
  const [latest] = (await readOtherStates(store, stock)).values()
  return latest === undefined || latest.pinned === null ? null : adoptPin({ ...INITIAL_REFRESH_STATE, stock }, latest)
}

/** The states of other versions of the program, the one that was written last first. */
export async function readOtherStates(store: Store, stock: string): Promise<ReadonlyMap<string, RefreshState>> {
  const states = new Map<string, RefreshState>()
  for (const { name } of statesIn(await listSharedFiles(store))) {
    const file = name === stateName(stock) ? null : await readSharedFile(store, name)
    const state = file?.kind === "read" ? parseRefreshState(file.bytes) : null
    if (state !== null) states.set(name, state)
  }
  return states
}

const statesIn = (files: readonly SharedFileInfo[]): readonly SharedFileInfo[] =>
  files.filter(({ name }) => STATE_NAME.test(name)).sort((a, b) => b.writtenAtMs - a.writtenAtMs)

/** The shared files as the folder of one version of the program. A damaged file counts as missing, and is written again. */
function sharedFolder(store: OpenStore, writer: SharedFilesWriter, stock: string): RefreshFolder {
  const bytesOf = (content: Uint8Array | string): Uint8Array =>
    typeof content === "string" ? new TextEncoder().encode(content) : content
  return {
    read: async name => {
      if (name !== STATE_FILE) {
        const file = await readSharedFile(store, name)
        return file.kind === "read" ? file.bytes : null
      }
      const state = await readSharedState(store, stock)
      return state === null || state === "damaged" ? null : new TextEncoder().encode(formatRefreshState(state))
    },
    writeAtomic: async (name, content) => {
      const isState = name === STATE_FILE || STATE_NAME.test(name)
      await writer.write(name === STATE_FILE ? stateName(stock) : name, bytesOf(content), isState)
      if (name !== STATE_FILE) return
      for (const old of statesIn(await listSharedFiles(store)).slice(SHARED_STATES_MAX)) await writer.remove(old.name)
    },
    remove: writer.remove,
    // What the states of other versions name is no business of this one.
    list: async () => {
      const others = [...(await readOtherStates(store, stock)).values()]
      const theirs = filesOfPacks(others.flatMap(({ packs }) => packs))
      const names = (await listSharedFiles(store)).map(({ name }) => name)
      return names.filter(name => !STATE_NAME.test(name) && !theirs.has(name))
    },
  }
}

/** The first node that shares its lists brings its downloads along, so that no window begins anew. */
async function addOwnDownloads(context: AppContext, shared: RefreshFolder): Promise<void> {
  if ((await shared.list()).some(name => DOWNLOAD_NAME.test(name))) return
  const own = refreshFolder(context)
  for (const name of await own.list()) {
    const bytes = DOWNLOAD_NAME.test(name) ? await own.read(name) : null
    if (bytes !== null) await shared.writeAtomic(name, bytes)
  }
}
