import type { Clock } from "../../base/clock.ts"
import { Slots } from "../../base/slots.ts"
import type { Later } from "../../base/timer.ts"
import { dateOf, dayOf } from "../../base/utc-day.ts"
import type { Web } from "../../base/web.ts"
import { packOf } from "../lists/build.ts"
import { openPack } from "../lists/domain-set.ts"
import { manifestText } from "../lists/manifest.ts"
import { type Copy, type Stock, withCopies } from "../lists/stock.ts"
import { copyText, type HeldCopy, readCopy } from "./copy-file.ts"
import { DOWNLOAD_BOUNDS, download } from "./download.ts"
import type { Folder } from "./folder.ts"
import { guardRules } from "./guard-rules.ts"
import {
  manifestFile,
  packFile,
  type RefreshState,
  readState,
  type SourceOutcome,
  type SourceState,
  STATE_FILE,
  stateText,
} from "./refresh-state.ts"
import { readSource } from "./source-text.ts"
import { keptSources, namedSource, type WantedSource, wantedSources } from "./wanted-sources.ts"

/** What a refresh works with. */
export type RefreshNeeds = {
  readonly folder: Folder
  /** What the program carries, and what it is called in a state. */
  readonly stock: Stock
  readonly stockId: string
  readonly web: Web
  readonly later: Later
  readonly clock: Clock
  /** How we call ourselves to the servers of sources. */
  readonly agent: string
  /** Addresses to ask in place of those of the catalogue, by the ids of sources: mirrors. */
  readonly urls: ReadonlyMap<string, string>
}

/** What a refresh did. */
export type Refreshed = {
  /** Every source that was asked for, by id. */
  readonly sources: Readonly<Record<string, SourceState>>
  /** What is in use from now on, when it is another than before; `built_in`: no copy is left; null: nothing changed. */
  readonly made: { readonly version: string } | "built_in" | null
  /** Why no pack was made of what came; empty where there is no such reason. */
  readonly faults: readonly string[]
}

/** How many packs are kept, the one in use among them. */
const PACKS_MAX = 3
/** How many sources are asked for at once. */
const DOWNLOADS_MAX = 3

/**
 * Asks for sources, makes a pack of the stock and the last good copies, and puts it in use when it is another. `only`: the
 * id or URL of the one source that is asked for (`namedSource` tells what a URL means); null: all. A source that cannot be
 * had, or is not fit, harms nothing: its last good copy serves. One refresh at a time may run on a folder. Resolves with
 * `unknown` when `only` names nothing; it rejects when the folder cannot be read or written.
 */
export async function refresh(needs: RefreshNeeds, only: string | null): Promise<Refreshed | "unknown"> {
  const { folder, stock, stockId, clock, urls } = needs
  const before = readState(await folder.read(STATE_FILE))
  const named = only === null ? null : namedSource(wantedSources(stock, urls, before), only)
  if (only !== null && named === null) return "unknown"
  const wanted = wantedSources(stock, named === null ? urls : new Map([...urls, [named.id, named.url]]), before)
  const held = await heldCopies(folder, wanted.keys())
  const slots = new Slots(DOWNLOADS_MAX, wanted.size)
  const asked = [...wanted.values()].filter(({ source }) => named === null || source.row.id === named.id)
  const sources = Object.fromEntries(await all(asked.map(one => askedFor(needs, slots, one, before, held))))
  const state: RefreshState = {
    ...before,
    stock: stockId,
    // A pack over another stock is not in use, and is not to come into use because this refresh was.
    in_use: before.stock === stockId ? before.in_use : null,
    refreshed_at_ms: named === null ? clock() : before.refreshed_at_ms,
    sources: keptSources(wanted, before, sources, id => held.has(id)),
    is_paused: false,
  }
  const pack = await packed(needs, wanted, held)
  if (pack.kind === "refused") {
    await folder.replace(STATE_FILE, stateText(state))
    return { sources, made: null, faults: pack.faults }
  }
  const after = pack.made === null ? { ...state, in_use: null } : inUse(state, pack.made, clock())
  await folder.replace(STATE_FILE, stateText(after))
  await tidy(folder, after)
  return { sources, made: after.in_use === state.in_use ? null : (pack.made ?? "built_in"), faults: [] }
}

/** What all of the work comes to, when none of it is under way any more. Rejects with the first fault. */
async function all<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(work)
  return await Promise.all(work)
}

/** The copies that are whole, by the ids of their sources. */
async function heldCopies(folder: Folder, ids: Iterable<string>): Promise<Map<string, HeldCopy>> {
  const held = new Map<string, HeldCopy>()
  for (const id of ids) {
    const bytes = await folder.read(copyFile(id))
    const copy = bytes === null ? null : readCopy(new TextDecoder().decode(bytes))
    if (copy !== null) held.set(id, copy)
  }
  return held
}

const copyFile = (id: string): string => `${id}.txt`

/** Asks for one source; a copy that is fit is written, and stands in `held` from then on. */
async function askedFor(
  needs: RefreshNeeds,
  slots: Slots,
  { source: { row }, url }: WantedSource,
  before: RefreshState,
  held: Map<string, HeldCopy>,
): Promise<readonly [id: string, state: SourceState]> {
  const { folder, clock, stock } = needs
  const { id } = row
  const last = held.get(id) ?? null
  const became = (outcome: SourceOutcome, says: string, changedAtMs = lastChangedAtMs(before.sources[id], last)) =>
    [id, { url, outcome, says, checked_at_ms: clock(), changed_at_ms: changedAtMs }] as const
  const leave = await slots.take()
  // What was said of a copy from another address is not about the one at this.
  const known = last?.url === url ? last.validators : null
  const answer = await download(needs, url, known, DOWNLOAD_BOUNDS).finally(() => leave?.())
  if (answer.kind === "failed") return became("failed", answer.says)
  if (answer.kind === "unchanged") return became("unchanged", "")
  const read = readSource(row, answer.text, last, guardRules(stock, row))
  if (read.kind === "refused") return became("refused", read.says)
  const copy = aged(read, last?.copy ?? null, dateOf(dayOf(clock())))
  const kept = { copy, url, validators: answer.validators, endsCleanly: answer.text.endsWith("\n") }
  await folder.replace(copyFile(id), copyText(kept))
  held.set(id, kept)
  return copy === last?.copy ? became("unchanged", "") : became("taken", "", clock())
}

/** When the entries last changed. A refresh that was cut off after it wrote a copy left its day alone. */
function lastChangedAtMs(before: SourceState | undefined, last: HeldCopy | null): number | null {
  const toldMs = before?.changed_at_ms ?? null
  if (last === null) return toldMs
  const dayMs = Date.parse(last.copy.date)
  return toldMs === null || toldMs < dayMs ? dayMs : toldMs
}

/** A copy with the days on which its names came in; the last one itself when nothing else came. */
function aged(read: Pick<Copy, "entries" | "misshapen">, last: Copy | null, today: string): Copy {
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

type Packed =
  | { readonly kind: "packed"; readonly made: { readonly sha256: string; readonly version: string } | null }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

/**
 * Makes the pack of the stock and all copies, and writes it with its manifest. An operator's own list that gave nothing is
 * no part of it, and without a copy there is nothing to make.
 */
async function packed(
  { folder, stock }: RefreshNeeds,
  wanted: ReadonlyMap<string, WantedSource>,
  held: ReadonlyMap<string, HeldCopy>,
): Promise<Packed> {
  if (held.size === 0) return { kind: "packed", made: null }
  const own = [...wanted.values()].flatMap(({ source }) =>
    held.has(source.row.id) && !stock.sources.includes(source) ? [source] : [],
  )
  const whole = { ...stock, sources: [...stock.sources, ...own].sort((a, b) => (a.row.id < b.row.id ? -1 : 1)) }
  const built = packOf(withCopies(whole, new Map([...held].map(([id, { copy }]) => [id, copy]))))
  if (built.kind === "refused") return built
  const { bytes, manifest } = built
  const opened = openPack(bytes)
  const verified = opened.kind === "refused" ? { ok: false as const, says: opened.says } : opened.pack.verify()
  if (!verified.ok) return { kind: "refused", faults: [verified.says] }
  const { sha256 } = manifest.pack
  await folder.replace(manifestFile(sha256), manifestText(manifest))
  await folder.replace(packFile(sha256), bytes)
  return { kind: "packed", made: { sha256, version: manifest.version } }
}

/**
 * The state in which a pack is in use; the one that was until now stays behind it, and those that one could go back to from
 * there. Packs that an operator went back from do not.
 */
function inUse(
  state: RefreshState,
  made: { readonly sha256: string; readonly version: string },
  nowMs: number,
): RefreshState {
  const at = state.packs.findIndex(({ sha256 }) => sha256 === state.in_use)
  const others = (at < 0 ? [] : state.packs.slice(at)).filter(({ sha256 }) => sha256 !== made.sha256)
  const own = state.packs.find(({ sha256 }) => sha256 === made.sha256) ?? { ...made, made_at_ms: nowMs }
  return { ...state, in_use: made.sha256, packs: [own, ...others].slice(0, PACKS_MAX) }
}

/** Removes packs that are not kept, and what a refresh that was cut off has left. */
async function tidy(folder: Folder, { packs }: RefreshState): Promise<void> {
  const kept = new Set(packs.flatMap(({ sha256 }) => [packFile(sha256), manifestFile(sha256)]))
  for (const name of await folder.names()) {
    const isOfPack = /^[0-9a-f]{16}\.(?:pack|json)$/.test(name)
    if ((isOfPack && !kept.has(name)) || name.endsWith(".new")) await folder.remove(name)
  }
}
