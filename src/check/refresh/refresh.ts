import { Semaphore, settleAll } from "../../base/concurrency.ts"
import { assert } from "../../base/errors.ts"
import type { Fetch } from "../../base/fetch.ts"
import type { Clock, SetTimer } from "../../base/outside-world.ts"
import type { ReadParts, ReadTexts } from "../../base/text-file.ts"
import { isoDate, utcDay } from "../../base/time.ts"
import { DOWNLOAD_BOUNDS, type DownloadDeps, download } from "../fetch/download.ts"
import { buildPack } from "../lists/build/build-pack.ts"
import { formatManifest } from "../lists/manifest.ts"
import { openPack } from "../lists/pack/pack.ts"
import type { CatalogueSource } from "../lists/sources/catalogue.ts"
import { type DownloadedSource, type SourceBundle, withDownloads } from "../lists/sources/source-bundle.ts"
import { readDownloadedSource, renewedNames, validationContexts } from "./downloaded-source.ts"
import { type BundleChange, freedNamesFault } from "./freed-names.ts"
import { type LargeDownloads, largeDownloads } from "./large-sources.ts"
import { removeUnusedFiles, stateInUse, type WrittenPack, withActivePack } from "./lists-in-force.ts"
import {
  addWindow,
  namesAddedOn,
  replaceEntries,
  type WindowHistory,
  withoutExpired,
  withRemovals,
} from "./new-entries.ts"
import {
  askedNow,
  BUILT_IN,
  decodeRefreshState,
  formatRefreshState,
  isDue,
  isGood,
  isLost,
  manifestFileName,
  packFileName,
  type RefreshFolder,
  type RefreshState,
  type SourceOutcome,
  type SourceState,
  STATE_FILE,
  sourceHistory,
} from "./refresh-state.ts"
import { isLocal, type RequestedSource, requestedSources, resolveSource, retainedSources } from "./requested-sources.ts"
import { NONE_LEFT_OUT } from "./source-validation.ts"
import { formatDownload, parseDownload, type StoredDownload } from "./stored-download.ts"
import { fillPast, lacksPast } from "./window-past.ts"

/** The dependencies of `refresh`. */
export type RefreshDeps = {
  /** The folder of the refreshed lists. */
  readonly folder: RefreshFolder
  /** The sources that the program carries, and their id in the refresh state. */
  readonly bundle: SourceBundle
  readonly bundleId: string
  readonly fetchUrl: Fetch
  readonly readTexts: ReadTexts
  readonly readParts: ReadParts
  /** Whether only sources at `file:` URLs may be read. */
  readonly isOutsideOff: boolean
  /** Resolves the names to which sources redirect; null: DNS is turned off. */
  readonly resolver: NonNullable<DownloadDeps["resolver"]> | null
  readonly setTimer: SetTimer
  readonly clock: Clock
  /** The User-Agent of downloads. */
  readonly userAgent: string
  /** URLs that replace those of the catalogue (mirrors) or are an operator's own lists, by source id. */
  readonly sourceUrls: ReadonlyMap<string, string>
}

/** The result of a refresh. */
export type RefreshResult = {
  /** The state of every requested source, by id. */
  readonly sources: Readonly<Record<string, SourceState>>
  /** The pack that is newly in use; `built_in`: the bundled one, since no download is left; null: no change. */
  readonly activated: { readonly version: string } | typeof BUILT_IN | null
  /** The version that stays in use because it is pinned; null: none is. */
  readonly pinned: string | null
  /** Why no pack could be built; empty if there was no fault. */
  readonly faults: readonly string[]
}

const CONCURRENT_DOWNLOADS_MAX = 3

/**
 * Downloads sources, builds a pack of the bundle and the last valid downloads, and puts it in use if it differs. `only`: the
 * id or URL of a single source to download (`resolveSource`); null: all. A source that cannot be downloaded or is invalid
 * does no harm: its last valid download stays in use. Callers must hold the refresh lock of the folder. Resolves with
 * `unknown` if `only` names no source; rejects if the folder cannot be read or written.
 */
export async function refresh(deps: RefreshDeps, only: string | null): Promise<RefreshResult | "unknown"> {
  const { folder, bundle, bundleId, clock, sourceUrls } = deps
  const before = decodeRefreshState(await folder.read(STATE_FILE))
  const single = only === null ? null : resolveSource(requestedSources(bundle, sourceUrls, before), only)
  if (only !== null && single === null) return "unknown"
  const urls = single === null ? sourceUrls : new Map([...sourceUrls, [single.id, single.url]])
  const requested = requestedSources(bundle, urls, before)
  const downloads = await readStoredDownloads(folder, requested.keys())
  const run: RefreshRun = {
    deps,
    before,
    requested,
    downloads,
    validationContextOf: validationContexts(bundle),
    semaphore: new Semaphore(CONCURRENT_DOWNLOADS_MAX, requested.size),
    large: largeDownloads(deps),
  }
  const isQueried = ({ source, url }: RequestedSource): boolean =>
    single === null
      ? (!deps.isOutsideOff || isLocal(url)) &&
        (isLost(source.row.id, before, bundleId, downloads) ||
          isDue(source.row, before.sources[source.row.id], url, clock()))
      : source.row.id === single.id
  const queried = [...requested.values()].filter(isQueried)
  const sources = await fillPasts(run, await refreshSources(run, queried))
  const state: RefreshState = {
    // This refresh must not put a pack of another bundle in use.
    ...stateInUse(before, bundleId),
    stock: bundleId,
    ...(single === null && askedNow(before, Object.values(sources), clock())),
    sources: retainedSources(requested, before, sources, id => downloads.has(id)),
  }
  const { pinned } = state
  const written = await buildAndWritePack(deps, requested, downloads)
  if (written.kind === "refused") {
    await folder.writeAtomic(STATE_FILE, formatRefreshState(state))
    return { sources, activated: null, pinned, faults: written.faults }
  }
  const { pack } = written
  const refreshed = pack === null ? { ...state, in_use: null } : withActivePack(state, pack, clock())
  const after = pinned === null ? refreshed : { ...refreshed, in_use: state.in_use }
  await folder.writeAtomic(STATE_FILE, formatRefreshState(after))
  await removeUnusedFiles(folder, after.packs)
  return { sources, activated: after.in_use === state.in_use ? null : (pack ?? BUILT_IN), pinned, faults: [] }
}

/** What the downloads of one refresh share. */
type RefreshRun = {
  readonly deps: RefreshDeps
  readonly before: RefreshState
  readonly requested: ReadonlyMap<string, RequestedSource>
  /** The last valid downloads by source id. A new valid download replaces the one before. */
  readonly downloads: Map<string, StoredDownload>
  readonly validationContextOf: ReturnType<typeof validationContexts>
  readonly semaphore: Semaphore
  readonly large: LargeDownloads
}

/** Disposable sources without a download come first: what they list is what the others may not free. A large one is slow, and comes last. */
const TURNS = ["first", "rest", "large"] as const

async function refreshSources(
  run: RefreshRun,
  queried: readonly RequestedSource[],
): Promise<Readonly<Record<string, SourceState>>> {
  const byTurn = Map.groupBy(queried, ({ source: { row } }): (typeof TURNS)[number] => {
    if (row.from.large !== undefined) return "large"
    return row.set === "disposable" && !run.downloads.has(row.id) ? "first" : "rest"
  })
  const states = new Map<string, SourceState>()
  for (const turn of TURNS)
    for (const [id, state] of await settleAll((byTurn.get(turn) ?? []).map(one => refreshSource(run, one))))
      states.set(id, state)
  return Object.fromEntries(
    queried.flatMap(({ source: { row } }) => {
      const state = states.get(row.id)
      return state === undefined ? [] : [[row.id, state]]
    }),
  )
}

/**
 * Fills the window sources that were asked now from their past, one after the other. A source that a mirror serves has none, since the
 * operator has chosen whom to ask.
 */
async function fillPasts(
  { deps, requested, downloads, validationContextOf }: RefreshRun,
  states: Readonly<Record<string, SourceState>>,
): Promise<Readonly<Record<string, SourceState>>> {
  const filled: Record<string, SourceState> = { ...states }
  for (const [id, state] of Object.entries(states)) {
    const [row, stored] = [requested.get(id)?.source.row, downloads.get(id)]
    const isAsked = isGood(state.outcome) && state.url === row?.from.url
    if (row === undefined || stored === undefined || !isAsked || !lacksPast(row, stored, deps.clock())) continue
    const context = validationContextOf(row)
    const readNames = (text: string) => {
      const read = readDownloadedSource(row, text, null, context)
      return read.kind === "valid" ? read.entries : null
    }
    const past = await fillPast({ ...deps, readNames }, row, stored)
    const fileText = formatDownload(past.stored)
    await deps.folder.writeAtomic(downloadFileName(id), fileText)
    downloads.set(id, parseDownload(fileText) ?? stored)
    if (past.message !== "") filled[id] = { ...state, past: past.message }
  }
  return filled
}

/** The stored downloads that are intact, by source id. */
async function readStoredDownloads(folder: RefreshFolder, ids: Iterable<string>): Promise<Map<string, StoredDownload>> {
  const downloads = new Map<string, StoredDownload>()
  for (const id of ids) {
    const bytes = await folder.read(downloadFileName(id))
    const stored = bytes === null ? null : parseDownload(new TextDecoder().decode(bytes))
    if (stored !== null) downloads.set(id, stored)
  }
  return downloads
}

const downloadFileName = (id: string): string => `${id}.txt`

/** Downloads one source. A valid download is written and replaces the one in `run.downloads`. */
async function refreshSource(
  run: RefreshRun,
  { source: { row }, url }: RequestedSource,
): Promise<readonly [id: string, state: SourceState]> {
  const { deps, before, downloads, semaphore, large } = run
  const { folder, clock } = deps
  const { id } = row
  const last = downloads.get(id) ?? null
  const stateOf = (outcome: SourceOutcome, says: string, changedAtMs = lastChangedAtMs(before.sources[id], last)) => {
    const { leftOut = NONE_LEFT_OUT, unreadable = null } = downloads.get(id) ?? {}
    const left_out = leftOut.count === 0 ? {} : { left_out: { count: leftOut.count, names: [...leftOut.names] } }
    const left = { ...left_out, ...(unreadable === null ? {} : { unreadable }) }
    const state = { url, outcome, says, checked_at_ms: clock(), changed_at_ms: changedAtMs, ...left }
    return [id, { ...state, ...sourceHistory(before.sources[id], outcome) }] as const
  }
  if (deps.isOutsideOff && !isLocal(url)) return stateOf("failed", "MAILKIND_OUTSIDE is off.")
  const release = await semaphore.acquire()
  // The validators of another URL do not apply to this one.
  const validators = last?.url === url ? last.validators : null
  const result = await (row.from.large === undefined
    ? download(deps, url, validators, DOWNLOAD_BOUNDS)
    : large(row, url)
  ).finally(() => release?.())
  if (result.kind === "refused") return stateOf("refused", result.message)
  if (result.kind === "failed") return stateOf("failed", result.message)
  if (result.kind === "unchanged") return stateOf("unchanged", "")
  const taken = takeDownload(run, row, { ...result, url }, last)
  if (taken.kind === "refused") return stateOf("refused", taken.message)
  await folder.writeAtomic(downloadFileName(id), taken.fileText)
  // As it is read from its file, since its entries then take no memory beside the text.
  const stored = parseDownload(taken.fileText)
  assert(stored !== null, "a download is read as it was written")
  downloads.set(id, stored)
  return taken.isNew ? stateOf("taken", "", clock()) : stateOf("unchanged", "")
}

type TakenDownload =
  | { readonly kind: "taken"; readonly fileText: string; readonly isNew: boolean }
  | { readonly kind: "refused"; readonly message: string }

/** The file of a download, if it is valid. It waits for nothing, so that the names of one source at a time take memory. */
function takeDownload(
  run: RefreshRun,
  row: CatalogueSource,
  { text, url, validators }: Pick<StoredDownload, "url" | "validators"> & { readonly text: string },
  last: StoredDownload | null,
): TakenDownload {
  const read = readDownloadedSource(row, text, last, run.validationContextOf(row))
  if (read.kind === "refused") return read
  const merged = mergeEntries(row, read, last, run.deps)
  if (merged.kind === "refused") return merged
  const { source, window } = merged
  const isNew = source !== last?.source
  const fault = isNew ? freedNamesFault(row, bundleChange(run, row, source, last)) : null
  if (fault !== null) return { kind: "refused", message: fault }
  const endsWithNewline = text.endsWith("\n")
  const stored = {
    source,
    url,
    validators,
    endsWithNewline,
    leftOut: read.leftOut,
    unreadable: read.unreadable,
    window,
  }
  return { kind: "taken", fileText: formatDownload(stored), isNew }
}

/**
 * What a download changes. The first one of a source that renews none has nothing to be compared with, and is compared with the
 * built-in sources alone, since those are known when a version is made.
 */
function bundleChange(
  { deps, requested, downloads }: RefreshRun,
  row: CatalogueSource,
  source: DownloadedSource,
  last: StoredDownload | null,
): BundleChange {
  const isCompared = last !== null || row.renews !== undefined
  const bundle = isCompared ? bundleWithOwnLists(deps, requested, downloads) : deps.bundle
  const others = new Map(isCompared ? [...downloads].map(([id, stored]) => [id, stored.source] as const) : [])
  const after = withDownloads(bundle, new Map([...others, [row.id, source]]))
  others.delete(row.id)
  if (last === null) return { before: withDownloads(bundle, others), after, added: source.entries }
  const added = new Set(namesAddedOn(source, isoDate(utcDay(deps.clock()))))
  const earlier = { ...source, entries: source.entries.filter(entry => !added.has(entry)) }
  return { before: withDownloads(bundle, new Map([...others, [row.id, earlier]])), after, added }
}

type MergedEntries =
  | { readonly kind: "merged"; readonly source: DownloadedSource; readonly window: WindowHistory | null }
  | { readonly kind: "refused"; readonly message: string }

/** The entries of a source after a valid download; its `source` is that of `last` if the download says nothing new. */
function mergeEntries(
  row: CatalogueSource,
  read: Pick<DownloadedSource, "entries" | "malformedCount">,
  last: StoredDownload | null,
  { bundle, clock }: RefreshDeps,
): MergedEntries {
  const today = isoDate(utcDay(clock()))
  if (row.window === undefined) {
    const before = last?.source ?? null
    const replaced = replaceEntries(read, before, today)
    const namesBefore = before?.entries ?? renewedNames(bundle, row)
    const source = row.tracks_removals ? withRemovals(replaced, before, namesBefore, today) : replaced
    return { kind: "merged", source, window: null }
  }
  const added = addWindow(read, last, row.window, today)
  if (added.kind === "refused") return added
  if (added.kind === "added") return { ...added, kind: "merged" }
  assert(last !== null, "a window repeats another one")
  return { kind: "merged", source: last.source, window: last.window }
}

/** When the entries last changed. A refresh that was interrupted after writing a download has left only its day. */
function lastChangedAtMs(before: SourceState | undefined, last: StoredDownload | null): number | null {
  const recordedMs = before?.changed_at_ms ?? null
  if (last === null) return recordedMs
  const dayMs = Date.parse(last.source.date)
  return recordedMs === null || recordedMs < dayMs ? dayMs : recordedMs
}

type WritePackResult =
  | { readonly kind: "packed"; readonly pack: WrittenPack | null }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

/**
 * Builds the pack of the bundle and all downloads, and writes it with its manifest. An operator's own list without a
 * download is left out, and so are names of a window source that were last seen too long ago. Without any download there is no
 * pack to build.
 */
async function buildAndWritePack(
  deps: RefreshDeps,
  requested: ReadonlyMap<string, RequestedSource>,
  downloads: ReadonlyMap<string, StoredDownload>,
): Promise<WritePackResult> {
  if (downloads.size === 0) return { kind: "packed", pack: null }
  const { folder, clock } = deps
  const today = isoDate(utcDay(clock()))
  const bySource = new Map(
    [...downloads].map(([id, { source }]) => {
      const days = requested.get(id)?.source.row.window?.days
      return [id, days === undefined ? source : withoutExpired(source, days, today)] as const
    }),
  )
  const built = buildPack(withDownloads(bundleWithOwnLists(deps, requested, downloads), bySource))
  if (built.kind === "refused") return built
  const { bytes, manifest } = built
  const opened = openPack(bytes)
  const verified = opened.kind === "refused" ? { ok: false as const, message: opened.message } : opened.pack.verify()
  if (!verified.ok) return { kind: "refused", faults: [verified.message] }
  const { sha256 } = manifest.pack
  await folder.writeAtomic(manifestFileName(sha256), formatManifest(manifest))
  await folder.writeAtomic(packFileName(sha256), bytes)
  return { kind: "packed", pack: { sha256, version: manifest.version } }
}

/** The bundle with the operator's own lists that have a download. */
function bundleWithOwnLists(
  { bundle }: RefreshDeps,
  requested: ReadonlyMap<string, RequestedSource>,
  downloads: ReadonlyMap<string, StoredDownload>,
): SourceBundle {
  const ownLists = [...requested.values()].flatMap(({ source }) =>
    downloads.has(source.row.id) && !bundle.sources.includes(source) ? [source] : [],
  )
  return { ...bundle, sources: [...bundle.sources, ...ownLists].sort((a, b) => (a.row.id < b.row.id ? -1 : 1)) }
}
