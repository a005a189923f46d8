import { join } from "node:path"
import type { Log } from "../../base/log.ts"
import { type DomainLists, type LoadedLists, openLists } from "../../check/domain-lookup.ts"
import type { PackManifest } from "../../check/lists/manifest.ts"
import type { OpenPackResult } from "../../check/lists/pack/pack.ts"
import {
  decodeRefreshState,
  type Folder,
  manifestFileName,
  packFileName,
  parseRefreshState,
  type RefreshState,
  STATE_FILE,
} from "../../check/refresh/refresh-state.ts"
import type { Settings } from "../../config/settings.ts"
import { StartupError } from "../../process/startup-error.ts"
import { BUNDLED_FILES } from "../../system/files.ts"
import type { System } from "../../system/system.ts"

/** Why there are no lists, and what to do about it. */
export const LISTS_NOT_BUILT = "The lists are not built. Build them with `bun run mailkind lists build`."

/** Where refreshed lists lie, in the data directory. */
const REFRESH_FOLDER = join("lists", "refresh")

/** How soon a server that has begun asks its lists the first question: after those who wait for its first answer. */
const WARM_UP_DELAY_MS = 100

/** How often a server looks whether a refresh, here or by another process, left other lists in place. */
const REFRESH_POLL_MS = 2000

/** The lists that a server answers by. */
export type ListsService = {
  /** As of now; they change when a refresh has left others. */
  readonly current: () => LoadedLists
  /** Takes the lists that are in place now, if they are whole; else keeps those in use and logs why. */
  readonly reload: () => Promise<void>
  /** Starts to look for others in the background; the returned function ends it. */
  readonly start: () => () => void
}

/** Opens the lists in place and keeps watch over them. Rejects with `StartupError` when there are none that are whole. */
export async function createListsService(system: System, settings: Settings, log: Log): Promise<ListsService> {
  const statePath = join(settings.MAILKIND_DATA_DIR, REFRESH_FOLDER, STATE_FILE)
  let seenMs = system.files.modifiedAtMs(statePath)
  let known = await openActiveLists(system, settings, log)
  const take = async (isAskedFor: boolean): Promise<void> => {
    seenMs = system.files.modifiedAtMs(statePath)
    const found = await readActiveLists(system, settings, log, false)
    if ("says" in found) {
      log("error", "the lists in use are kept", { why: found.says, remedy: found.remedy })
      return
    }
    const { version } = found.lists.pack
    if (version === known.lists.pack.version && !isAskedFor) {
      known = { ...found, lists: known.lists }
      return
    }
    warmUp(found.lists)
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
    current: () => known,
    reload: () => afterOthers(true),
    start: () => {
      const ends = [
        system.setTimer(WARM_UP_DELAY_MS, () => warmUp(known.lists)),
        system.runInterval(REFRESH_POLL_MS, () => {
          if (system.files.modifiedAtMs(statePath) !== seenMs) void afterOthers(false)
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
 * It stands in for refreshed lists that are damaged, which is logged. Rejects with `StartupError` when none are whole.
 */
export async function openListsForCommand(system: System, settings: Settings, log: Log): Promise<LoadedLists> {
  const manifest = await bundledManifest(system)
  const found = await readRefreshedLists(system, settings, manifest)
  if (found !== null && !("says" in found)) return found
  if (found !== null) logDamagedLists(found, log)
  return await withRefreshState(system, settings, await bundledLists(system), manifest)
}

/** The pack in place, as it is: no other stands in for one that is damaged. */
export async function openActivePack(system: System, settings: Settings): Promise<OpenPackResult> {
  const found = await readRefreshedLists(system, settings, await bundledManifest(system))
  if (found !== null && "says" in found) return { kind: "refused", ...found }
  return { kind: "open", pack: (found?.lists ?? (await bundledLists(system))).pack }
}

/** The lists in place. Rejects with `StartupError` when there are none that are whole. */
export async function openActiveLists(system: System, settings: Settings, log: Log): Promise<LoadedLists> {
  const found = await readActiveLists(system, settings, log, true)
  if ("says" in found) throw new StartupError(`${found.says} ${found.remedy}`)
  return found
}

/** Tables of look-alikes are made on the first question: this one, not a caller's (about 25 ms). */
function warmUp({ lookupDomain }: DomainLists): void {
  lookupDomain("first.question", "first.question")
}

type DamagedLists = { readonly says: string; readonly remedy: string }

/**
 * The lists that the last refresh put in use, or else those that the program carries. `isOurs`: what we wrote is trusted
 * when its checksum is right, and a refreshed pack that is damaged gives way to the one that the program carries.
 */
async function readActiveLists(
  system: System,
  settings: Settings,
  log: Log,
  isOurs: boolean,
): Promise<LoadedLists | DamagedLists> {
  const carried = await bundledManifest(system)
  const refreshed = await readRefreshedLists(system, settings, carried)
  if (refreshed !== null && (!("says" in refreshed) || !isOurs)) return refreshed
  if (refreshed !== null) logDamagedLists(refreshed, log)
  const found = await mapBundledLists(system, bundledPackPath(system, settings, carried), log, isOurs)
  return "says" in found ? found : await withRefreshState(system, settings, found, carried)
}

const logDamagedLists = ({ says, remedy }: DamagedLists, log: Log): void =>
  log("warn", "the refreshed lists are damaged; those that came along are used", { why: says, remedy })

/** What the last refresh of the data directory left. */
export const readRefreshState = async (system: System, settings: Settings): Promise<RefreshState> =>
  decodeRefreshState(await refreshFolder(system, settings).read(STATE_FILE))

/** Lists that the program carries, beside what the last refresh left: what it put in use is not in use. */
async function withRefreshState(
  system: System,
  settings: Settings,
  lists: DomainLists,
  manifest: PackManifest,
): Promise<LoadedLists> {
  return { lists, manifest, refreshState: { ...(await readRefreshState(system, settings)), in_use: null } }
}

/**
 * The lists that the last refresh put in use; null: it put none in use, or over another stock: the program was replaced since,
 * and the next refresh makes a pack over its own.
 */
async function readRefreshedLists(
  system: System,
  settings: Settings,
  carried: PackManifest,
): Promise<LoadedLists | DamagedLists | null> {
  const folder = refreshFolder(system, settings)
  const state = parseRefreshState(await folder.read(STATE_FILE))
  if (state === null) return { says: "What the last refresh left is damaged.", remedy: "Run `mailkind lists update`." }
  const { in_use: sha256, stock } = state
  if (sha256 === null || stock !== carried.pack.sha256) return null
  const path = join(settings.MAILKIND_DATA_DIR, REFRESH_FOLDER, packFileName(sha256))
  // Whoever wrote it has read all of it once; to do so here would let requests wait for a tenth of a second and more.
  const opened = openLists(system.files.mmap(path) ?? new Uint8Array(), true)
  const manifest = await folder.read(manifestFileName(sha256))
  const remedy = "Run `mailkind lists update`, or go back with `mailkind lists rollback`."
  if (opened.kind === "refused") return { says: opened.says, remedy }
  if (manifest === null) return { says: "What the lists were built from is not there.", remedy }
  try {
    return { lists: opened.lists, manifest: JSON.parse(new TextDecoder().decode(manifest)), refreshState: state } // our own writing
  } catch (damaged) {
    if (damaged instanceof SyntaxError) return { says: "What the lists were built from is damaged.", remedy }
    throw damaged
  }
}

/**
 * The lists that the program carries, mapped from a file that is never written again: in a checkout the one that was built,
 * in the executable the one that it unpacks once into the data directory, under its checksum.
 */
async function mapBundledLists(
  system: System,
  path: string,
  log: Log,
  isOurs: boolean,
): Promise<DomainLists | DamagedLists> {
  const mapped = system.files.mmap(path)
  const opened = mapped === null ? null : openLists(mapped, isOurs)
  if (opened?.kind === "open") return opened.lists
  if (opened?.kind === "refused" && !isOurs) return opened
  if (opened?.kind === "refused") log("warn", "the lists are damaged and taken anew", { path, why: opened.says })
  if (system.files.isCompiled) await system.files.writeAtomic(path, await bundledPack(system))
  const again = openLists(system.files.mmap(path) ?? new Uint8Array(), true)
  return again.kind === "refused" ? again : again.lists
}

function bundledPackPath({ files }: System, settings: Settings, { pack }: PackManifest): string {
  if (!files.isCompiled) return join(files.root, BUNDLED_FILES["lists.pack"])
  return join(settings.MAILKIND_DATA_DIR, "lists", packFileName(pack.sha256))
}

/** The lists that the executable carries or the checkout has built; the data directory is not touched. */
export async function bundledLists(system: System): Promise<DomainLists> {
  const opened = openLists(await bundledPack(system), true)
  if (opened.kind === "refused") throw new StartupError(`${opened.says} ${opened.remedy}`)
  return opened.lists
}

/** What the lists that the executable carries, or the checkout has built, were built from. */
async function bundledManifest({ files }: System): Promise<PackManifest> {
  const manifest = files.bundled("manifest.json.asset")
  if (manifest === null) throw new StartupError(LISTS_NOT_BUILT)
  return await manifest.json() // written by our own build, and part of this executable or checkout
}

/** What the stock is called that this program carries. */
export const sourceBundleId = async (system: System): Promise<string> => (await bundledManifest(system)).pack.sha256

async function bundledPack(system: System): Promise<Uint8Array> {
  const pack = system.files.bundled("lists.pack")
  if (pack === null) throw new StartupError(LISTS_NOT_BUILT)
  return await pack.bytes()
}

/** The folder of what a refresh leaves in the data directory. */
export const refreshFolder = (system: System, { MAILKIND_DATA_DIR }: Settings): Folder =>
  system.files.folder(join(MAILKIND_DATA_DIR, REFRESH_FOLDER))
