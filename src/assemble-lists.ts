import { join } from "node:path"
import type { Log } from "./base/log.ts"
import { CannotStart } from "./cannot-start.ts"
import type { Opened } from "./check/lists/domain-set.ts"
import type { Manifest } from "./check/lists/manifest.ts"
import { type KnownLists, type Lists, openLists } from "./check/lists.ts"
import type { Folder } from "./check/refresh/folder.ts"
import {
  manifestFile,
  packFile,
  parseState,
  type RefreshState,
  readState,
  STATE_FILE,
} from "./check/refresh/refresh-state.ts"
import type { Settings } from "./config/settings.ts"
import { OWN_FILES, type World } from "./world.ts"

/** Why there are no lists, and what to do about it. */
export const NOT_BUILT = "The lists are not built. Build them with `bun run mailkind lists build`."

/** Where refreshed lists lie, in the data directory. */
const FOLDER = join("lists", "refresh")

/** How soon a server that has begun asks its lists the first question: after those who wait for its first answer. */
const CALM_MS = 100

/** How often a server looks whether a refresh, here or by another process, left other lists in place. */
const LOOK_MS = 2000

/** The lists that a server answers by. */
export type ListsAtWork = {
  /** As of now; they change when a refresh has left others. */
  readonly now: () => KnownLists
  /** Takes the lists that are in place now, if they are whole; else keeps those in use and logs why. */
  readonly reload: () => Promise<void>
  /** Starts to look for others in the background; the returned function ends it. */
  readonly begin: () => () => void
}

/** Opens the lists in place and keeps watch over them. Rejects with `CannotStart` when there are none that are whole. */
export async function listsAtWork(world: World, settings: Settings, log: Log): Promise<ListsAtWork> {
  const statePath = join(settings.MAILKIND_DATA_DIR, FOLDER, STATE_FILE)
  let seenMs = world.files.changedAtMs(statePath)
  let known = await knownLists(world, settings, log)
  const take = async (isAskedFor: boolean): Promise<void> => {
    seenMs = world.files.changedAtMs(statePath)
    const found = await inPlace(world, settings, log, false)
    if ("says" in found) {
      log("error", "the lists in use are kept", { why: found.says, remedy: found.remedy })
      return
    }
    const { version } = found.lists.pack
    if (version === known.lists.pack.version && !isAskedFor) {
      known = { ...found, lists: known.lists }
      return
    }
    askFirst(found.lists)
    known = found
    log("info", "the lists were taken anew", { version })
  }
  // One at a time: of two that run side by side, the one that began first could end last.
  let taken: Promise<void> = Promise.resolve()
  const afterOthers = (isAskedFor: boolean): Promise<void> => {
    taken = taken
      .then(() => take(isAskedFor))
      .catch(fault => log("error", "the lists in use are kept", { why: String(fault) }))
    return taken
  }
  return {
    now: () => known,
    reload: () => afterOthers(true),
    begin: () => {
      const ends = [
        world.later(CALM_MS, () => askFirst(known.lists)),
        world.every(LOOK_MS, () => {
          if (world.files.changedAtMs(statePath) !== seenMs) void afterOthers(false)
        }),
      ]
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

/**
 * The lists in place, for a command: what the program carries is read where it is, and the data directory is not written.
 * It stands in for refreshed lists that are damaged, which is logged. Rejects with `CannotStart` when none are whole.
 */
export async function commandLists(world: World, settings: Settings, log: Log): Promise<KnownLists> {
  const manifest = await carriedManifest(world)
  const found = await refreshedLists(world, settings, manifest)
  if (found !== null && !("says" in found)) return found
  if (found !== null) warnOf(found, log)
  return await withState(world, settings, await carriedLists(world), manifest)
}

/** The pack in place, as it is: no other stands in for one that is damaged. */
export async function packInPlace(world: World, settings: Settings): Promise<Opened> {
  const found = await refreshedLists(world, settings, await carriedManifest(world))
  if (found !== null && "says" in found) return { kind: "refused", ...found }
  return { kind: "open", pack: (found?.lists ?? (await carriedLists(world))).pack }
}

/** The lists in place. Rejects with `CannotStart` when there are none that are whole. */
export async function knownLists(world: World, settings: Settings, log: Log): Promise<KnownLists> {
  const found = await inPlace(world, settings, log, true)
  if ("says" in found) throw new CannotStart(`${found.says} ${found.remedy}`)
  return found
}

/** Tables of look-alikes are made on the first question: this one, not a caller's (about 25 ms). */
function askFirst({ reputeOf }: Lists): void {
  reputeOf("first.question", "first.question")
}

type Damaged = { readonly says: string; readonly remedy: string }

/**
 * The lists that the last refresh put in use, or else those that the program carries. `isOurs`: what we wrote is trusted
 * when its checksum is right, and a refreshed pack that is damaged gives way to the one that the program carries.
 */
async function inPlace(world: World, settings: Settings, log: Log, isOurs: boolean): Promise<KnownLists | Damaged> {
  const carried = await carriedManifest(world)
  const refreshed = await refreshedLists(world, settings, carried)
  if (refreshed !== null && (!("says" in refreshed) || !isOurs)) return refreshed
  if (refreshed !== null) warnOf(refreshed, log)
  const found = await mappedLists(world, packPathOf(world, settings, carried), log, isOurs)
  return "says" in found ? found : await withState(world, settings, found, carried)
}

const warnOf = ({ says, remedy }: Damaged, log: Log): void =>
  log("warn", "the refreshed lists are damaged; those that came along are used", { why: says, remedy })

/** What the last refresh of the data directory left. */
export const refreshState = async (world: World, settings: Settings): Promise<RefreshState> =>
  readState(await refreshFolder(world, settings).read(STATE_FILE))

/** Lists that the program carries, beside what the last refresh left: what it put in use is not in use. */
async function withState(world: World, settings: Settings, lists: Lists, manifest: Manifest): Promise<KnownLists> {
  return { lists, manifest, state: { ...(await refreshState(world, settings)), in_use: null } }
}

/**
 * The lists that the last refresh put in use; null: it put none in use, or over another stock: the program was replaced since,
 * and the next refresh makes a pack over its own.
 */
async function refreshedLists(
  world: World,
  settings: Settings,
  carried: Manifest,
): Promise<KnownLists | Damaged | null> {
  const folder = refreshFolder(world, settings)
  const state = parseState(await folder.read(STATE_FILE))
  if (state === null) return { says: "What the last refresh left is damaged.", remedy: "Run `mailkind lists update`." }
  const { in_use: sha256, stock } = state
  if (sha256 === null || stock !== carried.pack.sha256) return null
  const path = join(settings.MAILKIND_DATA_DIR, FOLDER, packFile(sha256))
  // Whoever wrote it has read all of it once; to do so here would let requests wait for a tenth of a second and more.
  const opened = openLists(world.files.map(path) ?? new Uint8Array(), true)
  const manifest = await folder.read(manifestFile(sha256))
  const remedy = "Run `mailkind lists update`, or go back with `mailkind lists rollback`."
  if (opened.kind === "refused") return { says: opened.says, remedy }
  if (manifest === null) return { says: "What the lists were built from is not there.", remedy }
  try {
    return { lists: opened.lists, manifest: JSON.parse(new TextDecoder().decode(manifest)), state } // our own writing
  } catch (damaged) {
    if (damaged instanceof SyntaxError) return { says: "What the lists were built from is damaged.", remedy }
    throw damaged
  }
}

/**
 * The lists that the program carries, mapped from a file that is never written again: in a checkout the one that was built,
 * in the executable the one that it unpacks once into the data directory, under its checksum.
 */
async function mappedLists(world: World, path: string, log: Log, isOurs: boolean): Promise<Lists | Damaged> {
  const mapped = world.files.map(path)
  const opened = mapped === null ? null : openLists(mapped, isOurs)
  if (opened?.kind === "open") return opened.lists
  if (opened?.kind === "refused" && !isOurs) return opened
  if (opened?.kind === "refused") log("warn", "the lists are damaged and taken anew", { path, why: opened.says })
  if (world.files.isExecutable) await world.files.replace(path, await carriedPack(world))
  const again = openLists(world.files.map(path) ?? new Uint8Array(), true)
  return again.kind === "refused" ? again : again.lists
}

function packPathOf({ files }: World, settings: Settings, { pack }: Manifest): string {
  if (!files.isExecutable) return join(files.root, OWN_FILES["lists.pack"])
  return join(settings.MAILKIND_DATA_DIR, "lists", packFile(pack.sha256))
}

/** The lists that the executable carries or the checkout has built; the data directory is not touched. */
export async function carriedLists(world: World): Promise<Lists> {
  const opened = openLists(await carriedPack(world), true)
  if (opened.kind === "refused") throw new CannotStart(`${opened.says} ${opened.remedy}`)
  return opened.lists
}

/** What the lists that the executable carries, or the checkout has built, were built from. */
async function carriedManifest({ files }: World): Promise<Manifest> {
  const manifest = files.own("manifest.json.asset")
  if (manifest === null) throw new CannotStart(NOT_BUILT)
  return await manifest.json() // written by our own build, and part of this executable or checkout
}

/** What the stock is called that this program carries. */
export const stockIdOf = async (world: World): Promise<string> => (await carriedManifest(world)).pack.sha256

async function carriedPack(world: World): Promise<Uint8Array> {
  const pack = world.files.own("lists.pack")
  if (pack === null) throw new CannotStart(NOT_BUILT)
  return await pack.bytes()
}

/** The folder of what a refresh leaves in the data directory. */
export const refreshFolder = (world: World, { MAILKIND_DATA_DIR }: Settings): Folder =>
  world.files.folder(join(MAILKIND_DATA_DIR, FOLDER))
