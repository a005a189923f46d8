import { createHash } from "node:crypto"
import { countGarbage } from "../../base/garbage.ts"
import { isoDate, utcDay } from "../../base/time.ts"
import type { CatalogueSource } from "../lists/sources/catalogue.ts"
import type { DownloadedSource } from "../lists/sources/source-bundle.ts"
import { ENTRIES_MAX } from "./source-validation.ts"

/**
 * What a valid download makes of the entries of its source. A list replaces the entries before. A window, which publishes only
 * what is abused now, is added to them: a name counts for some days after it was last seen (`DECISIONS 63`).
 */

/** The names of a download, in normal form. */
type NewNames = Pick<DownloadedSource, "entries" | "malformedCount">

/** The source after a list; `last` itself if the names are the same. A name has a day if it is newer than the first download. */
export function replaceEntries(
  { entries, malformedCount }: NewNames,
  last: DownloadedSource | null,
  today: string,
): DownloadedSource {
  if (last === null) return { entries, malformedCount, date: today, addedOn: new Map() }
  countGarbage(entries.length)
  const before = new Set(last.entries)
  const added = entries.filter(entry => !before.has(entry))
  if (added.length === 0 && entries.length === before.size) return last
  const addedOn = new Map(
    entries.flatMap(entry => (last.addedOn.has(entry) ? [[entry, last.addedOn.get(entry) ?? today]] : [])),
  )
  for (const entry of added) addedOn.set(entry, today)
  return { entries, malformedCount, date: today, addedOn }
}

/** The names that a list has had since this day. */
export function* namesAddedOn({ addedOn }: DownloadedSource, day: string): Generator<string> {
  for (const [name, addedDay] of addedOn) if (addedDay === day) yield name
}

/** More names that are gone in a day are a clean-up of dead domains, and no removals by hand. */
const REMOVALS_A_DAY_MAX = 100
/** Of more removals the oldest are dropped. */
const REMOVALS_MAX = 10_000

/**
 * `source` with the names that people took out of it since `last`, and those that they took out before and have not listed again.
 * `namesBefore`: what the source held before.
 */
export function withRemovals(
  source: DownloadedSource,
  last: DownloadedSource | null,
  namesBefore: readonly string[],
  today: string,
): DownloadedSource {
  if (source === last) return source
  const present = new Set(source.entries)
  const gone = namesBefore.filter(name => !present.has(name))
  const earlier = [...(last?.removedOn ?? [])].filter(([name]) => !present.has(name))
  const countToday = gone.length + earlier.filter(([, day]) => day === today).length
  const now = countToday > REMOVALS_A_DAY_MAX ? [] : gone.map(name => [name, today] as const)
  return { ...source, removedOn: new Map([...earlier, ...now].slice(-REMOVALS_MAX)) }
}

/** The windows of one day that were taken. */
export type WindowDay = {
  readonly day: string
  /** The number of names of the last window of the day. */
  readonly names: number
  /** The number of names that were new; null: it was the first window, in which every name is. */
  readonly added: number | null
  /** The number of days since the window before. */
  readonly days: number
}

/** What is known of the windows of a source. */
export type WindowHistory = {
  /** SHA-256 of the names of the last window, sorted. A window with the same names says nothing new. */
  readonly sha256: string
  /** Oldest first, at most `HISTORY_DAYS_MAX`. */
  readonly taken: readonly WindowDay[]
  /** The day down to which windows of the past were filled in; absent: none were. */
  readonly filledTo?: string
}

/** The days of which the usual number of new names is the median. */
const HISTORY_DAYS_MAX = 30
/** With fewer days than these, the share below is usual at least: windows resemble each other before they do all windows so far. */
const EARLY_DAYS = 7
const EARLY_NEW_SHARE = 0.1
/** The least that is usual: a share of the window, and a number, for windows that hardly change. */
const NEW_SHARE_MIN = 0.01
const NEW_COUNT_MIN = 10
/** A day may have so many times the usual number of new names. */
const POISONED_TIMES = 3

type AddWindowResult =
  | { readonly kind: "added"; readonly source: DownloadedSource; readonly window: WindowHistory }
  /** The names are those of the last window: its server may be dead, so they do not count as seen again. */
  | { readonly kind: "repeated" }
  /** So many names are new that the window may be poisoned. */
  | { readonly kind: "refused"; readonly message: string }

/** The last entries of a window source; its history is null if they were downloaded before it was a window source. */
type LastWindow = { readonly source: DownloadedSource; readonly window: WindowHistory | null }

/** Adds a window to the entries of its source; `last` null: it is the first one. */
export function addWindow(
  { entries, malformedCount }: NewNames,
  last: LastWindow | null,
  row: NonNullable<CatalogueSource["window"]>,
  today: string,
): AddWindowResult {
  const sha256 = namesSha256(entries)
  if (last === null) {
    const max = POISONED_TIMES * row.names
    if (entries.length > max) return refused(entries.length, max)
    const taken = [{ day: today, names: entries.length, added: null, days: 1 }]
    return { kind: "added", source: seenToday([], { entries, malformedCount }, today), window: { sha256, taken } }
  }
  const history = last.window ?? historyOfList(last.source)
  if (history.sha256 === sha256) return { kind: "repeated" }
  const before = withoutExpired(last.source, row.days, today)
  const known = new Set(before.entries)
  const added = entries.filter(entry => !known.has(entry)).length
  const day = nextWindowDay(history.taken, today, entries.length)
  const newMax = Math.floor(POISONED_TIMES * usualNewNames(history.taken, row.names) * day.days)
  if (day.added + added > newMax) return refused(day.added + added, newMax)
  if (before.entries.length + added > ENTRIES_MAX)
    return { kind: "refused", message: `Its windows have more than ${ENTRIES_MAX} names.` }
  const earlier = history.taken.filter(one => one.added === null || one.day !== today)
  const taken = [...earlier, { ...day, added: day.added + added }].slice(-HISTORY_DAYS_MAX)
  const source = seenToday([before], { entries, malformedCount }, today)
  return { kind: "added", source, window: { ...history, sha256, taken } }
}

/**
 * Adds a window that was published on an earlier day; null: so many of its names are new that it may be poisoned. `laterDay`: the
 * day of the window after it. Names that were new on one of the days between may have come and gone.
 */
export function addPastWindow(
  source: DownloadedSource,
  names: readonly string[],
  { names: usual }: NonNullable<CatalogueSource["window"]>,
  day: string,
  laterDay: string,
): DownloadedSource | null {
  countGarbage(names.length)
  const [addedOn, lastSeenOn] = [new Map(source.addedOn), new Map(source.lastSeenOn)]
  const days = Math.max(1, utcDay(Date.parse(laterDay)) - utcDay(Date.parse(day)))
  const newCount = names.filter(name => !lastSeenOn.has(name)).length
  const newMax = Math.floor(POISONED_TIMES * usual * Math.min(1, EARLY_NEW_SHARE * days))
  if (names.length > POISONED_TIMES * usual || newCount > newMax) return null
  if (lastSeenOn.size + newCount > ENTRIES_MAX) return null
  for (const name of names) {
    const [firstDay = day, lastDay = day] = [addedOn.get(name), lastSeenOn.get(name)]
    addedOn.set(name, firstDay < day ? firstDay : day)
    lastSeenOn.set(name, lastDay > day ? lastDay : day)
  }
  return { ...source, entries: [...lastSeenOn.keys()], addedOn, lastSeenOn }
}

const refused = (count: number, max: number): AddWindowResult => ({
  kind: "refused",
  message: `${count} of its names are new. We expected at most ${max}, so the list may be poisoned.`,
})

/**
 * The source without names that were last seen more than so many days ago. A day after today was recorded by a clock that was
 * wrong, and counts as today.
 */
export function withoutExpired(source: DownloadedSource, days: number, today: string): DownloadedSource {
  const { addedOn, lastSeenOn = new Map<string, string>() } = source
  const oldest = isoDate(utcDay(Date.parse(today)) - days)
  const seenOn = (entry: string): string => lastSeenOn.get(entry) ?? source.date
  const entries = source.entries.filter(entry => seenOn(entry) >= oldest)
  const dayOf = (day: string): string => (day > today ? today : day)
  return {
    ...source,
    entries,
    addedOn: new Map(entries.map(entry => [entry, dayOf(addedOn.get(entry) ?? source.date)])),
    lastSeenOn: new Map(entries.map(entry => [entry, dayOf(seenOn(entry))])),
  }
}

/** The entries before, if there are some, with names that are seen today. */
function seenToday(
  [before]: readonly DownloadedSource[],
  { entries, malformedCount }: NewNames,
  today: string,
): DownloadedSource {
  const addedOn = new Map(before?.addedOn)
  const lastSeenOn = new Map(before?.lastSeenOn)
  for (const entry of entries) {
    if (!addedOn.has(entry)) addedOn.set(entry, today)
    lastSeenOn.set(entry, today)
  }
  return { entries: [...lastSeenOn.keys()], malformedCount, date: today, addedOn, lastSeenOn }
}

/** The day of a window that is taken today, before its names are counted: that of earlier windows of today, or a new one. */
function nextWindowDay(
  taken: readonly WindowDay[],
  today: string,
  names: number,
): Omit<WindowDay, "added"> & { readonly added: number } {
  const newest = taken.at(-1)
  if (newest?.day === today && newest.added !== null) return { ...newest, names, added: newest.added }
  const sinceDays = newest === undefined ? 1 : utcDay(Date.parse(today)) - utcDay(Date.parse(newest.day))
  return { day: today, names, added: 0, days: Math.max(1, sinceDays) }
}

/**
 * The usual number of new names a day: the median of the last days, and never less than what early or steady windows bring. It is
 * never more than a tenth of the names that the row of the source says, or who writes to it could raise the median week by week.
 */
function usualNewNames(taken: readonly WindowDay[], rowNames: number): number {
  const rates = taken.flatMap(({ added, days }) => (added === null ? [] : [added / days])).sort((a, b) => a - b)
  const median = ((rates[(rates.length - 1) >> 1] ?? 0) + (rates[rates.length >> 1] ?? 0)) / 2
  const names = taken.at(-1)?.names ?? 0
  const least = names * (rates.length < EARLY_DAYS ? EARLY_NEW_SHARE : NEW_SHARE_MIN)
  return Math.max(Math.min(Math.max(median, least), rowNames * EARLY_NEW_SHARE), NEW_COUNT_MIN)
}

/** The history of a source that was downloaded as a list before it was a window source. */
function historyOfList({ entries, date }: DownloadedSource): WindowHistory {
  return { sha256: namesSha256(entries), taken: [{ day: date, names: entries.length, added: null, days: 1 }] }
}

const namesSha256 = (names: readonly string[]): string =>
  createHash("sha256").update(names.toSorted().join("\n")).digest("hex")
