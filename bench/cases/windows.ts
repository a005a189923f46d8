/**
 * How much of a day's abused names do the lists know that were refreshed from the windows before, is a poisoned window refused,
 * and what does a refresh cost after half a year of windows? The windows are made up (`windows-simulation.ts`), the refreshes
 * are those of the program.
 */

import { DAY_MS } from "../../src/base/time.ts"
import { openPack, type Pack } from "../../src/check/lists/pack/pack.ts"
import { decodeBundle, type SourceBundle } from "../../src/check/lists/sources/source-bundle.ts"
import { refresh } from "../../src/check/refresh/refresh.ts"
import { decodeRefreshState, type Folder, packFileName, STATE_FILE } from "../../src/check/refresh/refresh-state.ts"
import { BUNDLED_FILES } from "../../src/system/files.ts"
import { createSystem } from "../../src/system/system.ts"
import { figure, type Report } from "../report/report.ts"
import { median } from "../report/rounds.ts"
import { type RefreshCost, refreshCost, SOURCE_SIZES } from "./windows-cost.ts"
import { knownShare, simulatedWindows } from "./windows-simulation.ts"

/** How much the bench does. */
export type WindowsScale = {
  /** The number of daily windows that are replayed. */
  readonly days: number
  /** The days before this one are not counted: the first windows know little of the next. */
  readonly firstCountedDay: number
  /** Every so many days a poisoned window is offered before the honest one. */
  readonly poisonedEvery: number
  /** After so many windows the cost of a refresh of all sources is measured; null: it is not. */
  readonly costDays: number | null
}

/** The scale of a figure that may be told. */
export const WINDOWS_FULL: WindowsScale = { days: 100, firstCountedDay: 40, poisonedEvery: 9, costDays: 180 }

const WINDOW_SOURCE = "castle"
const FIRST_DAY_MS = Date.UTC(2026, 0, 1)
const WEEK = 7

/** Runs the bench. The same scale finds the same, but for what a refresh costs. */
export async function windowsBench(scale: WindowsScale): Promise<Report> {
  const bundle = await windowBundle()
  const windows = simulatedWindows(Math.max(scale.days, scale.costDays ?? 0), 1)
  const daily = await replay(bundle, windows.slice(0, scale.days), 1, scale)
  const weekly = await replay(bundle, windows.slice(0, scale.days), WEEK, scale)
  const cost = scale.costDays === null ? [] : costFigures(await costAfter(bundle, windows.slice(0, scale.costDays)))
  const worst = (shares: readonly number[]): number => Math.min(...shares)
  return {
    bench: "windows",
    description: [
      `${scale.days} made-up daily windows of 1000 names with the persistence of a published list; days from ${scale.firstCountedDay} on count`,
      "known: a look-up in the pack in use finds the name in the disposable set",
      `the cost is that of \`lists update\` over ${SOURCE_SIZES} names that all sources offer, with a stored source of ${scale.costDays ?? 0} windows`,
    ],
    figures: [
      figure("known the day after a refresh", "of a window", median(daily.known), "windows_day"),
      figure("known after a week without one", "of a window", median(weekly.known), "windows_week"),
      figure("poisoned windows refused", "of them", daily.poisonedRefused / daily.poisonedCount, "windows_poisoned"),
      figure("honest windows refused", "", daily.refused + weekly.refused, "windows_honest"),
      figure("the worst day after a refresh", "of a window", worst(daily.known)),
      figure("the worst after a week", "of a window", worst(weekly.known)),
      figure("poisoned windows", "", daily.poisonedCount),
      ...persistenceFigures(windows, scale.days - 1),
      ...cost,
    ],
  }
}

/** How much of the window of a day other windows have, as is published of the real ones. */
function persistenceFigures(windows: readonly (readonly string[])[], day: number) {
  const share = (from: number, to: number): number => {
    const seen = new Set(windows.slice(Math.max(0, from), to).flat())
    return knownShare(windows[day] ?? [], name => seen.has(name))
  }
  return [
    figure("made-up: yesterday's window has", "of a window", share(day - 1, day)),
    figure("made-up: all windows up to a day ago have", "of a window", share(0, day)),
    figure("made-up: all up to a week ago have", "of a window", share(0, day - WEEK + 1)),
    figure("made-up: all up to a month ago have", "of a window", share(0, day - 29)),
  ]
}

const costFigures = ({ ms, peakBytes, packBytes, entries }: RefreshCost) => [
  figure("refresh of all sources, and another one: peak resident memory", "MB", peakBytes / 1e6, "windows_memory"),
  figure("refresh of all sources: time", "ms", ms),
  figure("pack after it", "MB", packBytes / 1e6),
  figure("names of windows that count", "", entries),
]

/** The sources of the program that a replay needs: the windows, and guards. */
async function windowBundle(): Promise<SourceBundle> {
  const { files } = createSystem()
  const bundle = decodeBundle(await Bun.file(`${files.root}/${BUNDLED_FILES["sources.stock"]}`).bytes())
  const isNeeded = ({ row: { id, set } }: SourceBundle["sources"][number]): boolean =>
    id === WINDOW_SOURCE || set === "never_disposable" || set === "popular"
  return {
    ...bundle,
    sources: bundle.sources.filter(source => isNeeded(source) && !source.row.id.startsWith("tranco")),
  }
}

/** Refreshes of the window source alone, on a clock and in a folder of its own. */
function windowRefreshes(bundle: SourceBundle) {
  const held = new Map<string, Uint8Array<ArrayBuffer>>()
  const folder: Folder = {
    read: async name => held.get(name) ?? null,
    isSame: async () => true,
    writeAtomic: async (name, content) => void held.set(name, new Uint8Array(Buffer.from(content))),
    createExclusive: async () => true,
    remove: async name => void held.delete(name),
    list: async () => [...held.keys()],
  }
  const pack = (): Pack | null => {
    const { in_use } = decodeRefreshState(held.get(STATE_FILE) ?? null)
    const opened = in_use === null ? null : openPack(held.get(packFileName(in_use)) ?? new Uint8Array())
    return opened?.kind === "open" ? opened.pack : null
  }
  return {
    held,
    pack,
    /** Offers a window on a day; whether it was taken. */
    offer: async (window: readonly string[], day: number): Promise<boolean> => {
      const deps = {
        ...{
          folder,
          bundle,
          bundleId: "bench",
          resolver: null,
          userAgent: "bench",
          readTexts: () => ({ kind: "unreadable" as const, why: "there is no such file" }),
          isOutsideOff: false,
          sourceUrls: new Map(),
        },
        fetchUrl: async () => new Response(`${window.join("\n")}\n`),
        setTimer: () => () => undefined,
        clock: () => FIRST_DAY_MS + day * DAY_MS,
      }
      const result = await refresh(deps, null)
      return result !== "unknown" && result.sources[WINDOW_SOURCE]?.outcome === "taken"
    },
  }
}

type Replay = {
  /** For each counted day, the share of its window that was known before it was offered. */
  readonly known: readonly number[]
  readonly refused: number
  readonly poisonedCount: number
  readonly poisonedRefused: number
}

/** Offers the windows of every so many days to refreshes. */
async function replay(
  bundle: SourceBundle,
  windows: readonly (readonly string[])[],
  everyDays: number,
  { firstCountedDay, poisonedEvery }: WindowsScale,
): Promise<Replay> {
  const refreshes = windowRefreshes(bundle)
  const known: number[] = []
  let [refused, poisonedCount, poisonedRefused] = [0, 0, 0]
  for (const [day, window] of windows.entries()) {
    if (day % everyDays !== 0) continue
    const pack = refreshes.pack()
    if (day >= firstCountedDay)
      known.push(knownShare(window, name => pack?.match(name, name).has("disposable") ?? false))
    if (day % poisonedEvery === poisonedEvery - 1) {
      poisonedCount++
      if (!(await refreshes.offer(poisoned(window, day), day))) poisonedRefused++
    }
    if (!(await refreshes.offer(window, day))) refused++
  }
  return { known, refused, poisonedCount, poisonedRefused }
}

/** A window with half of its names replaced by new ones. */
const poisoned = (window: readonly string[], day: number): readonly string[] =>
  window.map((name, at) => (at % 2 === 0 ? name : `poison-${day}-${at}.com`))

/** What a refresh of all sources costs once these windows were taken. */
async function costAfter(bundle: SourceBundle, windows: readonly (readonly string[])[]): Promise<RefreshCost> {
  const refreshes = windowRefreshes(bundle)
  const today = Math.floor((Date.now() - FIRST_DAY_MS) / DAY_MS)
  // The last window is today's, so that none of the names has expired.
  for (const [at, window] of windows.slice(0, -1).entries())
    await refreshes.offer(window, today - windows.length + 1 + at)
  return await refreshCost(refreshes.held.get(`${WINDOW_SOURCE}.txt`) ?? new Uint8Array(), windows.at(-1) ?? [])
}
