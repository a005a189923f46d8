import { Semaphore } from "../../base/concurrency.ts"
import type { Fetch } from "../../base/fetch.ts"
import type { Clock, SetTimer } from "../../base/outside-world.ts"
import { isoDate, utcDay } from "../../base/time.ts"
import { DOWNLOAD_BOUNDS, download } from "../fetch/download.ts"
import { buildPack } from "../lists/build/build-pack.ts"
import { formatManifest } from "../lists/manifest.ts"
import { openPack } from "../lists/pack/pack.ts"
import { type DownloadedSource, type SourceBundle, withDownloads } from "../lists/sources/source-bundle.ts"
import { readDownloadedSource, validationContext } from "./downloaded-source.ts"
import {
  decodeRefreshState,
  type Folder,
  formatRefreshState,
  manifestFileName,
  packFileName,
  type RefreshState,
  type SourceOutcome,
  type SourceState,
  STATE_FILE,
} from "./refresh-state.ts"
import { type RequestedSource, requestedSources, resolveSource, retainedSources } from "./requested-sources.ts"
import { formatDownload, parseDownload, type StoredDownload } from "./stored-download.ts"

/** What a refresh works with. */
export type RefreshDeps = {
  readonly folder: Folder
  /** What the program carries, and what it is called in a state. */
  readonly bundle: SourceBundle
  readonly bundleId: string
  readonly fetchUrl: Fetch
  readonly setTimer: SetTimer
  readonly clock: Clock
  /** How we call ourselves to the servers of sources. */
  readonly userAgent: string
  /** Addresses to ask in place of those of the catalogue, by the ids of sources: mirrors. */
  readonly sourceUrls: ReadonlyMap<string, string>
}

/** What a refresh did. */
export type RefreshResult = {
  /** Every source that was asked for, by id. */
  readonly sources: Readonly<Record<string, SourceState>>
  /** What is in use from now on, when it is another than before; `built_in`: no copy is left; null: nothing changed. */
  readonly activated: { readonly version: string } | "built_in" | null
  /** Why no pack was made of what came; empty where there is no such reason. */
  readonly faults: readonly string[]
}

/** How many packs are kept, the one in use among them. */
const KEPT_PACKS_MAX = 3
/** How many sources are asked for at once. */
const CONCURRENT_DOWNLOADS_MAX = 3

/**
 * Asks for sources, makes a pack of the stock and the last good copies, and puts it in use when it is another. `only`: the
 * id or URL of the one source that is asked for (`resolveSource` tells what a URL means); null: all. A source that cannot be
 * had, or is not fit, harms nothing: its last good copy serves. One refresh at a time may run on a folder. Resolves with
 * `unknown` when `only` names nothing; it rejects when the folder cannot be read or written.
 */
export async function refresh(needs: RefreshDeps, only: string | null): Promise<RefreshResult | "unknown"> {
  const { folder, bundle, bundleId, clock, sourceUrls } = needs
  const before = decodeRefreshState(await folder.read(STATE_FILE))
  const named = only === null ? null : resolveSource(requestedSources(bundle, sourceUrls, before), only)
  if (only !== null && named === null) return "unknown"
  const wanted = requestedSources(
    bundle,
    named === null ? sourceUrls : new Map([...sourceUrls, [named.id, named.url]]),
    before,
  )
  const held = await readStoredDownloads(folder, wanted.keys())
  const slots = new Semaphore(CONCURRENT_DOWNLOADS_MAX, wanted.size)
  const asked = [...wanted.values()].filter(({ source }) => named === null || source.row.id === named.id)
  const sources = Object.fromEntries(await settleAll(asked.map(one => refreshSource(needs, slots, one, before, held))))
  const state: RefreshState = {
    ...before,
    stock: bundleId,
    // A pack over another stock is not in use, and is not to come into use because this refresh was.
    in_use: before.stock === bundleId ? before.in_use : null,
    refreshed_at_ms: named === null ? clock() : before.refreshed_at_ms,
    sources: retainedSources(wanted, before, sources, id => held.has(id)),
    is_paused: false,
  }
  const pack = await buildAndWritePack(needs, wanted, held)
  if (pack.kind === "refused") {
    await folder.writeAtomic(STATE_FILE, formatRefreshState(state))
    return { sources, activated: null, faults: pack.faults }
  }
  const after = pack.pack === null ? { ...state, in_use: null } : withActivePack(state, pack.pack, clock())
  await folder.writeAtomic(STATE_FILE, formatRefreshState(after))
  await removeUnusedFiles(folder, after)
  return { sources, activated: after.in_use === state.in_use ? null : (pack.pack ?? "built_in"), faults: [] }
}

/** What all of the work comes to, when none of it is under way any more. Rejects with the first fault. */
async function settleAll<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(work)
  return await Promise.all(work)
}

/** The copies that are whole, by the ids of their sources. */
async function readStoredDownloads(folder: Folder, ids: Iterable<string>): Promise<Map<string, StoredDownload>> {
  const held = new Map<string, StoredDownload>()
  for (const id of ids) {
    const bytes = await folder.read(downloadFileName(id))
    const copy = bytes === null ? null : parseDownload(new TextDecoder().decode(bytes))
    if (copy !== null) held.set(id, copy)
  }
  return held
}

const downloadFileName = (id: string): string => `${id}.txt`

/** Asks for one source; a copy that is fit is written, and stands in `held` from then on. */
async function refreshSource(
  needs: RefreshDeps,
  slots: Semaphore,
  { source: { row }, url }: RequestedSource,
  before: RefreshState,
  held: Map<string, StoredDownload>,
): Promise<readonly [id: string, state: SourceState]> {
  const { folder, clock, bundle } = needs
  const { id } = row
  const last = held.get(id) ?? null
  const became = (outcome: SourceOutcome, says: string, changedAtMs = lastChangedAtMs(before.sources[id], last)) =>
    [id, { url, outcome, says, checked_at_ms: clock(), changed_at_ms: changedAtMs }] as const
  const leave = await slots.acquire()
  // What was said of a copy from another address is not about the one at this.
  const known = last?.url === url ? last.validators : null
  const answer = await download(needs, url, known, DOWNLOAD_BOUNDS).finally(() => leave?.())
  if (answer.kind === "failed") return became("failed", answer.message)
  if (answer.kind === "unchanged") return became("unchanged", "")
  const read = readDownloadedSource(row, answer.text, last, validationContext(bundle, row))
  if (read.kind === "refused") return became("refused", read.message)
  const copy = withAddedDays(read, last?.copy ?? null, isoDate(utcDay(clock())))
  const kept = { copy, url, validators: answer.validators, endsCleanly: answer.text.endsWith("\n") }
  await folder.writeAtomic(downloadFileName(id), formatDownload(kept))
  held.set(id, kept)
  return copy === last?.copy ? became("unchanged", "") : became("taken", "", clock())
}

/** When the entries last changed. A refresh that was cut off after it wrote a copy left its day alone. */
function lastChangedAtMs(before: SourceState | undefined, last: StoredDownload | null): number | null {
  const toldMs = before?.changed_at_ms ?? null
  if (last === null) return toldMs
  const dayMs = Date.parse(last.copy.date)
  return toldMs === null || toldMs < dayMs ? dayMs : toldMs
}

/** A copy with the days on which its names came in; the last one itself when nothing else came. */
function withAddedDays(
  read: Pick<DownloadedSource, "entries" | "misshapen">,
  last: DownloadedSource | null,
  today: string,
): DownloadedSource {
  if (last === null) return { ...read, date: today, since: new Map() }
  const before = new Set(last.entries)
  const added = read.entries.filter(entry => !before.has(entry))
  if (added.length === 0 && read.entries.length === last.entries.length) return last
  const since = new Map(
    read.entries.flatMap(entry => (last.since.has(entry) ? [[entry, last.since.get(entry) ?? today]] : [])),
  )
  for (const entry of added) since.set(entry, today)
  return { ...read, date: today, since }
}

type WritePackResult =
  | { readonly kind: "packed"; readonly pack: { readonly sha256: string; readonly version: string } | null }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

/**
 * Makes the pack of the stock and all copies, and writes it with its manifest. An operator's own list that gave nothing is
 * no part of it, and without a copy there is nothing to make.
 */
async function buildAndWritePack(
  { folder, bundle }: RefreshDeps,
  wanted: ReadonlyMap<string, RequestedSource>,
  held: ReadonlyMap<string, StoredDownload>,
): Promise<WritePackResult> {
  if (held.size === 0) return { kind: "packed", pack: null }
  const own = [...wanted.values()].flatMap(({ source }) =>
    held.has(source.row.id) && !bundle.sources.includes(source) ? [source] : [],
  )
  const whole = { ...bundle, sources: [...bundle.sources, ...own].sort((a, b) => (a.row.id < b.row.id ? -1 : 1)) }
  const built = buildPack(withDownloads(whole, new Map([...held].map(([id, { copy }]) => [id, copy]))))
  if (built.kind === "refused") return built
  const { bytes, manifest } = built
  const opened = openPack(bytes)
  const verified = opened.kind === "refused" ? { ok: false as const, message: opened.says } : opened.pack.verify()
  if (!verified.ok) return { kind: "refused", faults: [verified.message] }
  const { sha256 } = manifest.pack
  await folder.writeAtomic(manifestFileName(sha256), formatManifest(manifest))
  await folder.writeAtomic(packFileName(sha256), bytes)
  return { kind: "packed", pack: { sha256, version: manifest.version } }
}

/**
 * The state in which a pack is in use; the one that was until now stays behind it, and those that one could go back to from
 * there. Packs that an operator went back from do not.
 */
function withActivePack(
  state: RefreshState,
  made: { readonly sha256: string; readonly version: string },
  nowMs: number,
): RefreshState {
  const at = state.packs.findIndex(({ sha256 }) => sha256 === state.in_use)
  const others = (at < 0 ? [] : state.packs.slice(at)).filter(({ sha256 }) => sha256 !== made.sha256)
  const own = state.packs.find(({ sha256 }) => sha256 === made.sha256) ?? { ...made, made_at_ms: nowMs }
  return { ...state, in_use: made.sha256, packs: [own, ...others].slice(0, KEPT_PACKS_MAX) }
}

/** Removes packs that are not kept, and what a refresh that was cut off has left. */
async function removeUnusedFiles(folder: Folder, { packs }: RefreshState): Promise<void> {
  const kept = new Set(packs.flatMap(({ sha256 }) => [packFileName(sha256), manifestFileName(sha256)]))
  for (const name of await folder.list()) {
    const isOfPack = /^[0-9a-f]{16}\.(?:pack|json)$/.test(name)
    if ((isOfPack && !kept.has(name)) || name.endsWith(".new")) await folder.remove(name)
  }
}
