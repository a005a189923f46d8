import { join } from "node:path"
import { errorCode, isSystemError, StartupError } from "../../base/errors.ts"
import { unpackedBytes } from "../../base/gzip.ts"
import type { PartContext } from "../../base/part-context.ts"
import { parseJson } from "../../base/text.ts"
import { type DomainLists, type LoadedLists, openLists } from "../domain-lookup.ts"
import type { PackManifest } from "../lists/manifest.ts"
import type { OpenPackResult } from "../lists/pack/pack.ts"
import {
  type ChangedFile,
  changedFiles,
  isTold,
  type ListsDamage,
  type PackFile,
  readDamage,
} from "../refresh/list-files.ts"
import { stateInUse } from "../refresh/lists-in-force.ts"
import { type RefreshLockDeps, withRefreshLock } from "../refresh/refresh-lock.ts"
import {
  decodeRefreshState,
  type Folder,
  manifestFileName,
  packFileName,
  parseRefreshState,
  type RefreshState,
  STATE_FILE,
} from "../refresh/refresh-state.ts"

/** What lists are read with. */
export type ListsContext = PartContext<{ readonly MAILKIND_DATA_DIR: string }> & { readonly system: ListsSystem }

type ListsSystem = {
  readonly files: {
    /** The program is an executable, which cannot be written while it runs. */
    readonly isCompiled: boolean
    readonly folder: (path: string) => Folder
    /** A file that belongs to the program; null: it was not built. */
    readonly bundled: (name: "lists.pack" | "manifest.json.asset") => Blob | null
    /** When a file was modified last; null: there is none. */
    readonly modifiedAtMs: (path: string) => number | null
  }
  readonly processes: { readonly pid: number; readonly isRunning: RefreshLockDeps["isRunning"] }
}

/** The message if the checkout has no lists. */
export const LISTS_NOT_BUILT = "The lists are not built. Build them with `bun run mailkind lists build`."

/** The folder of refreshed lists in the data directory. */
const REFRESH_FOLDER = join("lists", "refresh")

/**
 * The active lists for a command, which does not write to the data directory. Damaged refreshed lists are logged and replaced by
 * the last good copy. Rejects with `StartupError` if no complete lists exist.
 */
export const openListsForCommand = async (context: ListsContext): Promise<LoadedLists> =>
  (await openInPlace(context)).opened

/** The pack that a server on this data directory uses, even if it is damaged. */
export async function openActivePack(context: ListsContext): Promise<OpenPackResult> {
  const { system } = context
  const refreshed = await readRefreshedLists(context, await bundledManifest(system))
  if (refreshed !== null && "remedy" in refreshed) {
    const { file, message, remedy } = refreshed
    return { kind: "refused", message: `${pathOf(context, file)}: ${message}`, remedy }
  }
  return { kind: "open", pack: (refreshed?.lists ?? (await bundledLists(system))).pack }
}

/** The last damage of the files of refreshed lists; null: none for a week. */
export async function readListsDamage(context: ListsContext): Promise<ListsDamage | null> {
  const damage = await readDamage(refreshFolder(context))
  return damage !== null && isTold(damage, context.system.clock()) ? damage : null
}

/** Lists with the files that they were read from; none: they are the bundled ones. */
export type ListsInPlace = LoadedLists & { readonly files: readonly PackFile[] }

/** Why lists cannot be used, by which file, and what the operator can do. */
export type DamagedLists = { readonly file: string; readonly message: string; readonly remedy: string }

/** The lists of the last refresh, or else the bundled ones; those of `current` if they are the same. */
export async function readActiveLists(
  context: ListsContext,
  current: ListsInPlace,
): Promise<ListsInPlace | DamagedLists> {
  const { system } = context
  const manifest = await bundledManifest(system)
  const refreshed = await readRefreshedLists(context, manifest)
  if (refreshed !== null) return refreshed
  // The next version of the program has begun with this data directory, and takes over from this server.
  if (current.files.length > 0 && (await hasOtherLists(context, current))) return current
  // An executable cannot be written while it runs, so it has no other lists than before.
  const isSame = system.files.isCompiled && current.files.length === 0
  return await withRefreshState(context, isSame ? current.lists : await bundledLists(system), manifest)
}

/**
 * The lists of the last refresh, or else the bundled ones. Damaged ones are logged and replaced by the last good copy: that of the refresh
 * before, or the bundled lists. Rejects with `StartupError` if there are none.
 */
export async function openInPlace(
  context: ListsContext,
): Promise<{ opened: ListsInPlace; damaged: DamagedLists | null }> {
  const { system, log } = context
  const manifest = await bundledManifest(system)
  const refreshed = await readRefreshedLists(context, manifest)
  if (refreshed !== null && !("remedy" in refreshed)) return { opened: refreshed, damaged: null }
  if (refreshed !== null) {
    const { message: why, remedy, file } = refreshed
    log("warn", "the refreshed lists are damaged; the last good copy is used", {
      where: pathOf(context, file),
      ...{ why, remedy },
    })
    const older = await readOlderLists(context, manifest)
    if (older !== null) return { opened: older, damaged: refreshed }
  }
  return { opened: await withRefreshState(context, await bundledLists(system), manifest), damaged: refreshed }
}

/** The state that the last refresh left in the data directory. */
export const readRefreshState = async (context: ListsContext): Promise<RefreshState> =>
  decodeRefreshState(await refreshFolder(context).read(STATE_FILE))

/** Whether the data directory has refreshed lists in use that are not these, such as those of another version of the program. */
export async function hasOtherLists(context: ListsContext, { refreshState }: LoadedLists): Promise<boolean> {
  const state = parseRefreshState(await refreshFolder(context).read(STATE_FILE))
  return state !== null && state.in_use !== null && state.in_use !== refreshState.in_use
}

/** Bundled lists with the state of the last refresh, whose own lists are not in use. */
async function withRefreshState(
  context: ListsContext,
  lists: DomainLists,
  manifest: PackManifest,
): Promise<ListsInPlace> {
  return { lists, manifest, refreshState: { ...(await readRefreshState(context)), in_use: null }, files: [] }
}

/**
 * The lists of the last refresh; `null` if there are none, or if they were built from the bundle of another program version. Then
 * the next refresh builds a pack from the new bundle.
 */
async function readRefreshedLists(
  context: ListsContext,
  bundled: PackManifest,
): Promise<ListsInPlace | DamagedLists | null> {
  const state = parseRefreshState(await refreshFolder(context).read(STATE_FILE))
  if (state === null)
    return {
      file: STATE_FILE,
      message: "The files of the last refresh are damaged.",
      remedy: "Run `mailkind lists update`.",
    }
  const { in_use: sha256 } = stateInUse(state, bundled.pack.sha256)
  return sha256 === null ? null : await readPack(context, state, sha256)
}

/** The newest lists of an earlier refresh that are not damaged; null: there are none. */
async function readOlderLists(context: ListsContext, bundled: PackManifest): Promise<ListsInPlace | null> {
  const state = await readRefreshState(context)
  if (state.stock !== bundled.pack.sha256) return null
  const index = state.packs.findIndex(({ sha256 }) => sha256 === state.in_use)
  for (const { sha256 } of state.packs.slice(index + 1)) {
    const read = await readPack(context, state, sha256)
    if (!("remedy" in read)) return read
  }
  return null
}

/** Reads the pack into memory of this process alone, where no change of the file reaches it (`DECISIONS 118`). */
async function readPack(
  context: ListsContext,
  state: RefreshState,
  sha256: string,
): Promise<ListsInPlace | DamagedLists> {
  const remedy = "Run `mailkind lists update`, or go back with `mailkind lists rollback`."
  const pack = await readPackFile(context, packFileName(sha256))
  if ("why" in pack) return { file: packFileName(sha256), message: `The pack of the lists ${pack.why}.`, remedy }
  // The refresh has verified the whole pack. Doing so here would delay requests by more than 100 ms.
  const opened = openLists(pack.bytes, true)
  if (opened.kind === "refused") return { file: pack.name, message: opened.message, remedy }
  const file = await readPackFile(context, manifestFileName(sha256))
  if ("why" in file)
    return { file: manifestFileName(sha256), message: `The manifest of the lists ${file.why}.`, remedy }
  const manifest = parseJson(new TextDecoder().decode(file.bytes)) as PackManifest | undefined // written by this program
  if (manifest === undefined) return { file: file.name, message: "The manifest of the lists is damaged.", remedy }
  return { lists: opened.lists, manifest, refreshState: state, files: [pack, file] }
}

/** A file of refreshed lists, or why there is none to read. */
async function readPackFile(context: ListsContext, name: string): Promise<PackFile | { readonly why: string }> {
  try {
    const bytes = await refreshFolder(context).read(name)
    return bytes === null ? { why: "is missing" } : { name, bytes }
  } catch (error) {
    if (isSystemError(error)) return { why: `cannot be read (${errorCode(error)})` }
    throw error
  }
}

/**
 * Does `work` on damaged files in one of the processes of the data directory that find the damage at the same time; in each, if the disk refuses
 * the lock. Null: another process does it, or refreshes the lists.
 */
export async function inOneProcess<T>(context: ListsContext, work: () => Promise<T>): Promise<T | null> {
  try {
    return await withRefreshLock(refreshLockDeps(context), work)
  } catch (error) {
    if (isSystemError(error)) return await work()
    throw error
  }
}

/**
 * Writes the files of these lists again, from memory, unless a refresh runs or has put others in use, and tells of each that had changed. Resolves
 * with whether they are whole now; it never rejects for a fault of the disk, which is logged.
 */
export async function replaceFiles(
  context: ListsContext,
  { files, refreshState }: ListsInPlace,
  onChanged: (changed: ChangedFile) => Promise<void>,
): Promise<boolean> {
  const folder = refreshFolder(context)
  const replaced = await inOneProcess(context, async () => {
    // Another process may have replaced them already, or others may be in use by now.
    if ((await readRefreshState(context)).in_use !== refreshState.in_use) return true
    for (const changed of await changedFiles(folder, files)) {
      const { file } = changed
      await onChanged(changed)
      try {
        await folder.writeAtomic(file.name, file.bytes)
      } catch (error) {
        logUnwritten(context, file.name, error)
        return false
      }
      context.log("info", "a file of the lists was replaced by its copy in memory", {
        where: pathOf(context, file.name),
      })
    }
    return true
  })
  return replaced ?? false
}

/** A damage that is noticed now and not mended yet. */
export const damageNow = ({ system }: ListsContext, file: string): ListsDamage => ({
  noticed_at_ms: system.clock(),
  file,
  is_replaced: false,
})

/** The path of a file of refreshed lists. */
export const pathOf = ({ settings }: ListsContext, name: string): string =>
  join(settings.MAILKIND_DATA_DIR, REFRESH_FOLDER, name)

/** What an operator does about files of the lists that cannot be read or written. */
export const LISTS_DISK_REMEDY =
  "Free some space on the disk of the data directory, and make its files readable and writable for the user of the server."

/** Logs that a file could not be written, if that is a fault of the system. */
export function logUnwritten(context: ListsContext, name: string, error: unknown): void {
  if (!isSystemError(error)) throw error
  context.log("error", "a file of the lists could not be written", {
    where: pathOf(context, name),
    why: errorCode(error),
    remedy: LISTS_DISK_REMEDY,
  })
}

/** The bundled lists, which are in the executable or in the checkout. */
export async function bundledLists(system: Pick<ListsContext["system"], "files">): Promise<DomainLists> {
  const pack = system.files.bundled("lists.pack")
  if (pack === null) throw new StartupError(LISTS_NOT_BUILT)
  const opened = openLists(await unpackedBytes(pack), true)
  if (opened.kind === "refused") throw new StartupError(`${opened.message} ${opened.remedy}`, { cause: opened.message })
  return opened.lists
}

/** The manifest of the bundled lists. */
async function bundledManifest({ files }: Pick<ListsContext["system"], "files">): Promise<PackManifest> {
  const manifest = files.bundled("manifest.json.asset")
  if (manifest === null) throw new StartupError(LISTS_NOT_BUILT)
  return await manifest.json() // written by our own build
}

/** The version of the bundled lists. */
export const bundledVersion = async (system: Pick<ListsContext["system"], "files">): Promise<string> =>
  (await bundledManifest(system)).version

/** The id of the bundled sources. */
export const sourceBundleId = async (system: Pick<ListsContext["system"], "files">): Promise<string> =>
  (await bundledManifest(system)).pack.sha256

/** The folder of refreshed lists in the data directory. */
export const refreshFolder = ({ system, settings }: ListsContext): Folder =>
  system.files.folder(join(settings.MAILKIND_DATA_DIR, REFRESH_FOLDER))

/** What the lock of refreshes needs, under which the files of refreshed lists are written. */
export const refreshLockDeps = (context: ListsContext): RefreshLockDeps => ({
  folder: refreshFolder(context),
  clock: context.system.clock,
  pid: context.system.processes.pid,
  isRunning: context.system.processes.isRunning,
})
