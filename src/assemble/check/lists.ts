import { join } from "node:path"
import { unpackedBytes } from "../../base/gzip.ts"
import type { Log } from "../../base/log.ts"
import { findRoleWord } from "../../check/address/address-hints.ts"
import { classifySuffix } from "../../check/address/public-suffix.ts"
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
import { StartupError } from "../../process/startup-error.ts"
import { BUNDLED_FILES } from "../../system/files.ts"
import type { System } from "../../system/system.ts"
import type { AppContext } from "../context.ts"

/** The message if the checkout has no lists. */
export const LISTS_NOT_BUILT = "The lists are not built. Build them with `bun run mailkind lists build`."

/** The folder of refreshed lists in the data directory. */
const REFRESH_FOLDER = join("lists", "refresh")

/** How long after the start the lists are warmed up, so that the first requests do not wait for it. */
const WARM_UP_DELAY_MS = 100

/** How often the server checks whether a refresh of any process has put other lists in place. */
const REFRESH_POLL_MS = 2000

/** The active lists of a server. */
export type ListsService = {
  /** The lists in use. A refresh replaces them. */
  readonly current: () => LoadedLists
  /** Loads the lists that are in place now, if they are complete; otherwise keeps the current ones and logs why. */
  readonly reload: () => Promise<void>
  /** Starts checking for other lists in the background. The returned function stops it. */
  readonly start: () => () => void
}

/** Opens the active lists and follows their changes. Rejects with `StartupError` if no complete lists exist. */
export async function createListsService(context: AppContext): Promise<ListsService> {
  const { system, settings, log } = context
  const statePath = join(settings.MAILKIND_DATA_DIR, REFRESH_FOLDER, STATE_FILE)
  let stateModifiedAtMs = system.files.modifiedAtMs(statePath)
  const bundledPath = bundledPackPath(context, await bundledManifest(system))
  let current = await openActiveLists(context)
  let bundledModifiedAtMs = system.files.modifiedAtMs(bundledPath)
  const load = async (isForced: boolean): Promise<void> => {
    stateModifiedAtMs = system.files.modifiedAtMs(statePath)
    const modifiedAtMs = system.files.modifiedAtMs(bundledPath)
    const loaded = await readActiveLists(context, false, modifiedAtMs === bundledModifiedAtMs)
    if ("remedy" in loaded) {
      log("error", "the current lists stay in use", { why: loaded.message, remedy: loaded.remedy })
      return
    }
    bundledModifiedAtMs = modifiedAtMs
    const { version } = loaded.lists.pack
    if (version === current.lists.pack.version && !isForced) {
      current = { ...loaded, lists: current.lists }
      return
    }
    warmUp(loaded.lists)
    current = loaded
    log("info", "the lists were reloaded", { version })
  }
  // One load at a time: of two concurrent loads the earlier one could finish last.
  let lastLoad: Promise<void> = Promise.resolve()
  const loadNext = (isForced: boolean): Promise<void> => {
    lastLoad = lastLoad
      .then(() => load(isForced))
      .catch(error => log("error", "the current lists stay in use", { why: String(error) }))
    return lastLoad
  }
  return {
    current: () => current,
    reload: () => loadNext(true),
    start: () => {
      const stops = [
        system.setTimer(WARM_UP_DELAY_MS, () => warmUp(current.lists)),
        system.runInterval(REFRESH_POLL_MS, () => {
          if (system.files.modifiedAtMs(statePath) !== stateModifiedAtMs) void loadNext(false)
        }),
      ]
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}

/**
 * The active lists for a command, which does not write to the data directory. Damaged refreshed lists are logged and replaced by
 * the bundled ones. Rejects with `StartupError` if no complete lists exist.
 */
export async function openListsForCommand(context: AppContext): Promise<LoadedLists> {
  const { system, log } = context
  const manifest = await bundledManifest(system)
  const refreshed = await readRefreshedLists(context, manifest)
  if (refreshed !== null && !("remedy" in refreshed)) return refreshed
  if (refreshed !== null) logDamagedLists(refreshed, log)
  return await withRefreshState(context, await bundledLists(system), manifest)
}

/** The active pack, even if it is damaged. */
export async function openActivePack(context: AppContext): Promise<OpenPackResult> {
  const { system } = context
  const refreshed = await readRefreshedLists(context, await bundledManifest(system))
  if (refreshed !== null && "remedy" in refreshed) return { kind: "refused", ...refreshed }
  return { kind: "open", pack: (refreshed?.lists ?? (await bundledLists(system))).pack }
}

/** The active lists. Rejects with `StartupError` if no complete lists exist. */
export async function openActiveLists(context: AppContext): Promise<LoadedLists> {
  const lists = await readActiveLists(context, true)
  if ("remedy" in lists) throw new StartupError(`${lists.message} ${lists.remedy}`)
  return lists
}

/** The first check builds its tables of names and words, which takes about 60 ms. This spares a request that time. */
function warmUp({ lookupDomain, addressWords }: DomainLists): void {
  lookupDomain("first.question", "first.question")
  findRoleWord("first", addressWords)
  classifySuffix("first.question")
}

/** Why lists cannot be used, and what the operator can do. */
type DamagedLists = { readonly message: string; readonly remedy: string }

/**
 * The lists of the last refresh, or else the bundled ones. `isFallbackAllowed`: damaged refreshed lists are replaced by the
 * bundled ones, and a pack is trusted if its checksum is right. `isBundleKnown`: the bundled ones are those of the start, which trusts
 * their checksum. To verify their whole content takes longer than a request may wait.
 */
async function readActiveLists(
  context: AppContext,
  isFallbackAllowed: boolean,
  isBundleKnown = false,
): Promise<LoadedLists | DamagedLists> {
  const { system, log } = context
  const manifest = await bundledManifest(system)
  const refreshed = await readRefreshedLists(context, manifest)
  if (refreshed !== null && (!("remedy" in refreshed) || !isFallbackAllowed)) return refreshed
  if (refreshed !== null) logDamagedLists(refreshed, log)
  const lists = await mapBundledLists(context, bundledPackPath(context, manifest), isFallbackAllowed, isBundleKnown)
  return "remedy" in lists ? lists : await withRefreshState(context, lists, manifest)
}

const logDamagedLists = ({ message, remedy }: DamagedLists, log: Log): void =>
  log("warn", "the refreshed lists are damaged; the bundled ones are used", { why: message, remedy })

/** The state that the last refresh left in the data directory. */
export const readRefreshState = async (context: AppContext): Promise<RefreshState> =>
  decodeRefreshState(await refreshFolder(context).read(STATE_FILE))

/** Bundled lists with the state of the last refresh, whose own lists are not in use. */
async function withRefreshState(context: AppContext, lists: DomainLists, manifest: PackManifest): Promise<LoadedLists> {
  return { lists, manifest, refreshState: { ...(await readRefreshState(context)), in_use: null } }
}

/**
 * The lists of the last refresh; `null` if there are none, or if they were built from the bundle of another program version. Then
 * the next refresh builds a pack from the new bundle.
 */
async function readRefreshedLists(
  context: AppContext,
  bundled: PackManifest,
): Promise<LoadedLists | DamagedLists | null> {
  const { system, settings } = context
  const folder = refreshFolder(context)
  const state = parseRefreshState(await folder.read(STATE_FILE))
  if (state === null)
    return { message: "The files of the last refresh are damaged.", remedy: "Run `mailkind lists update`." }
  const { in_use: sha256, stock } = state
  if (sha256 === null || stock !== bundled.pack.sha256) return null
  const path = join(settings.MAILKIND_DATA_DIR, REFRESH_FOLDER, packFileName(sha256))
  // The refresh has verified the whole pack. Doing so here would delay requests by more than 100 ms.
  const opened = openLists(system.files.mmap(path) ?? new Uint8Array(), true)
  const manifest = await folder.read(manifestFileName(sha256))
  const remedy = "Run `mailkind lists update`, or go back with `mailkind lists rollback`."
  if (opened.kind === "refused") return { message: opened.message, remedy }
  if (manifest === null) return { message: "The manifest of the lists is missing.", remedy }
  try {
    return { lists: opened.lists, manifest: JSON.parse(new TextDecoder().decode(manifest)), refreshState: state } // written by this program
  } catch (error) {
    if (error instanceof SyntaxError) return { message: "The manifest of the lists is damaged.", remedy }
    throw error
  }
}

/**
 * The bundled lists, mapped from a file that is never written again: the built one in a checkout, or the one that the executable
 * unpacks once into the data directory under a name with its checksum.
 */
async function mapBundledLists(
  { system, log }: AppContext,
  path: string,
  isFallbackAllowed: boolean,
  isKnown: boolean,
): Promise<DomainLists | DamagedLists> {
  const mapped = system.files.mmap(path)
  const opened = mapped === null ? null : openLists(mapped, isFallbackAllowed || isKnown)
  if (opened?.kind === "open") return opened.lists
  if (opened?.kind === "refused" && !isFallbackAllowed) return opened
  if (opened?.kind === "refused") log("warn", "the lists are damaged and unpacked again", { path, why: opened.message })
  if (system.files.isCompiled) await system.files.writeAtomic(path, await bundledPack(system))
  const again = openLists(system.files.mmap(path) ?? new Uint8Array(), true)
  return again.kind === "refused" ? again : again.lists
}

function bundledPackPath({ system: { files }, settings }: AppContext, { pack }: PackManifest): string {
  if (!files.isCompiled) return join(files.root, BUNDLED_FILES["lists.pack"])
  return join(settings.MAILKIND_DATA_DIR, "lists", packFileName(pack.sha256))
}

/** The bundled lists, without touching the data directory. */
export async function bundledLists(system: System): Promise<DomainLists> {
  const opened = openLists(await bundledPack(system), true)
  if (opened.kind === "refused") throw new StartupError(`${opened.message} ${opened.remedy}`)
  return opened.lists
}

/** The manifest of the bundled lists. */
async function bundledManifest({ files }: System): Promise<PackManifest> {
  const manifest = files.bundled("manifest.json.asset")
  if (manifest === null) throw new StartupError(LISTS_NOT_BUILT)
  return await manifest.json() // written by our own build
}

/** The id of the bundled sources. */
export const sourceBundleId = async (system: System): Promise<string> => (await bundledManifest(system)).pack.sha256

async function bundledPack(system: System): Promise<Uint8Array> {
  const pack = system.files.bundled("lists.pack")
  if (pack === null) throw new StartupError(LISTS_NOT_BUILT)
  return await unpackedBytes(pack)
}

/** The folder of refreshed lists in the data directory. */
export const refreshFolder = ({ system, settings }: AppContext): Folder =>
  system.files.folder(join(settings.MAILKIND_DATA_DIR, REFRESH_FOLDER))
