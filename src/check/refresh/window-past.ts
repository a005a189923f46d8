import { compareText, parseJson } from "../../base/text.ts"
import { isoDate, utcDay } from "../../base/time.ts"
import { type DownloadBounds, type DownloadDeps, download } from "../fetch/download.ts"
import type { CatalogueSource } from "../lists/sources/catalogue.ts"
import type { DownloadedSource } from "../lists/sources/source-bundle.ts"
import { addPastWindow } from "./new-entries.ts"
import type { StoredDownload } from "./stored-download.ts"

/**
 * Fills a window source from its past (`DECISIONS 145`). The repository of the source has a commit for each day, so a list of commits
 * says which window was published when. The last window of each day is taken, the newest day first, and never twice.
 */

/** The bounds of what one refresh asks of a source's past. Windows are requested one after the other. */
export const PAST_BOUNDS = {
  /** Lists of a hundred commits each. */
  commitListsMax: 10,
  /** The pause before each request. */
  pauseMs: 250,
  /** The time of all requests, after which the rest waits for the next refresh: less than a refresh may hold its lock. */
  totalMs: 3 * 60_000,
  /** The bytes of all windows. */
  windowBytesMax: 32 * 1024 * 1024,
  /** So many windows in a row that cannot be had mean that the server is away. */
  failuresMax: 3,
} as const

const COMMIT_LIST_BOUNDS = { bytesMax: 4 * 1024 * 1024, timeoutMs: 20_000, idleMs: 10_000, redirectsMax: 3 }
const WINDOW_BOUNDS = { ...COMMIT_LIST_BOUNDS, bytesMax: 1024 * 1024 }
const COMMITS_A_LIST = 100

/** What a source's past is read with. */
export type PastDeps = DownloadDeps & {
  readonly clock: () => number
  /** The names of a window; null: it is refused. */
  readonly readNames: (text: string) => readonly string[] | null
}

/** The source with its past, as far as it could be had, and what is missing of it in a sentence; empty: nothing. */
export type FilledPast = { readonly stored: StoredDownload; readonly message: string }

/** Whether a window source has a past that is not filled in yet. */
export function lacksPast({ window }: CatalogueSource, stored: StoredDownload, nowMs: number): boolean {
  if (window?.past === undefined || stored.window === null) return false
  const { filledTo } = stored.window
  return filledTo === undefined || filledTo > oldestDay(window.days, nowMs)
}

const oldestDay = (days: number, nowMs: number): string => isoDate(utcDay(nowMs) - days)

/** Takes the windows of the past that are not filled in yet. It never rejects; whatever fails, what was known stays. */
export async function fillPast(
  deps: PastDeps,
  { window: row }: CatalogueSource,
  stored: StoredDownload,
): Promise<FilledPast> {
  if (row?.past === undefined || stored.window === null) return { stored, message: "" }
  const budget = new RequestBudget(deps)
  const since = oldestDay(row.days, deps.clock())
  const before = stored.window.filledTo ?? isoDate(utcDay(deps.clock()))
  const listed = await listCommits(budget, row.past.commits, since)
  const days = listed.days.filter(({ day }) => day < before)
  const merge: MergeWindow = (source, text, day, laterDay) => {
    const names = deps.readNames(text)
    return names === null ? null : addPastWindow(source, names, row, day, laterDay)
  }
  const taken = await takeWindows(budget, merge, { stored, days, fileUrl: row.past.file })
  // Without a list that goes back to the first day, days may be missing below the last one.
  const isComplete = listed.fault === null && taken.fault === null
  const filledTo = isComplete ? since : taken.filledTo
  const result = { ...taken.stored, window: { ...stored.window, ...(filledTo === null ? {} : { filledTo }) } }
  return { stored: result, message: pastMessage(taken, days.length, taken.fault ?? listed.fault) }
}

function pastMessage({ takenCount, refusedCount }: TakenWindows, dayCount: number, fault: string | null): string {
  const parts: string[] = []
  if (refusedCount > 0) parts.push(`Windows of its past that were refused and are left out: ${refusedCount}.`)
  if (fault !== null)
    parts.push(`Of its past ${takenCount} of ${dayCount} windows were taken. ${fault} The next refresh continues.`)
  return parts.join(" ")
}

/** The requests of one refresh to the past of a source: one at a time, with a pause before each. */
class RequestBudget {
  readonly #deps: PastDeps
  readonly #endsAtMs: number
  #windowBytes = 0

  constructor(deps: PastDeps) {
    this.#deps = deps
    this.#endsAtMs = deps.clock() + PAST_BOUNDS.totalMs
  }

  /** Why no more may be requested in this refresh; null: more may be. */
  get fault(): string | null {
    if (this.#deps.clock() >= this.#endsAtMs) return `More than ${PAST_BOUNDS.totalMs / 60_000} minutes had passed.`
    return this.#windowBytes > PAST_BOUNDS.windowBytesMax
      ? `Its windows had more than ${PAST_BOUNDS.windowBytesMax} bytes.`
      : null
  }

  async commitList(url: string): Promise<string | { readonly fault: string }> {
    return await this.#request(url, COMMIT_LIST_BOUNDS)
  }

  async window(url: string): Promise<string | { readonly fault: string }> {
    const text = await this.#request(url, WINDOW_BOUNDS)
    this.#windowBytes += typeof text === "string" ? Buffer.byteLength(text) : 0
    return text
  }

  async #request(url: string, bounds: DownloadBounds): Promise<string | { readonly fault: string }> {
    const { promise: paused, resolve } = Promise.withResolvers<void>()
    this.#deps.setTimer(PAST_BOUNDS.pauseMs, resolve)
    await paused
    const result = await download(this.#deps, url, null, bounds)
    if (result.kind === "taken") return result.text
    return { fault: result.kind === "failed" ? result.message : "Nothing was sent." }
  }
}

/** The last commit of a day. */
type DayCommit = { readonly day: string; readonly commit: string }

/** The last commit of each day since `since`, the newest day first, and why some may be missing. */
async function listCommits(
  budget: RequestBudget,
  template: string,
  since: string,
): Promise<{ readonly days: readonly DayCommit[]; readonly fault: string | null }> {
  const newest = new Map<string, DatedCommit>()
  let fault: string | null = "Its list of commits is too long."
  for (let page = 1; page <= PAST_BOUNDS.commitListsMax; page++) {
    const url = template.replaceAll("{since}", `${since}T00:00:00Z`).replaceAll("{page}", String(page))
    const text = await budget.commitList(url)
    const commits = typeof text === "string" ? readCommits(text) : null
    if (commits === null) {
      fault = `Its list of commits cannot be used: ${typeof text === "string" ? "It is none." : text.fault}`
      break
    }
    addNewest(newest, commits.dated)
    if (commits.count >= COMMITS_A_LIST) continue
    fault = null
    break
  }
  const days = [...newest].filter(([day]) => day >= since).sort(([a], [b]) => compareText(b, a))
  return { days: days.map(([day, { commit }]) => ({ day, commit })), fault }
}

type DatedCommit = { readonly at: number; readonly commit: string }

/** Notes the last commit of each day. */
function addNewest(newest: Map<string, DatedCommit>, commits: readonly DatedCommit[]): void {
  for (const dated of commits) {
    const day = isoDate(utcDay(dated.at))
    if ((newest.get(day)?.at ?? -1) < dated.at) newest.set(day, dated)
  }
}

/** The commits of a list that have an id and an instant, and the number of all; null: the text is no list. */
export function readCommits(text: string): { readonly dated: readonly DatedCommit[]; readonly count: number } | null {
  const list = parseJson(text)
  if (!Array.isArray(list)) return null
  return { dated: list.slice(0, COMMITS_A_LIST).flatMap(element => datedCommit(element) ?? []), count: list.length }
}

/** The id and the instant of an element of a list of commits; null: it has none. */
function datedCommit(element: unknown): DatedCommit | null {
  const { sha, commit } = membersOf(element)
  const { date } = membersOf(membersOf(commit)["committer"])
  const at = typeof date === "string" ? Date.parse(date) : Number.NaN
  return typeof sha === "string" && /^[0-9a-f]{40}$/.test(sha) && at >= 0 ? { at, commit: sha } : null
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}

/** The source with the text of a window of a day; null: it is refused. */
type MergeWindow = (source: DownloadedSource, text: string, day: string, laterDay: string) => DownloadedSource | null

type PastWindows = {
  readonly stored: StoredDownload
  readonly days: readonly DayCommit[]
  /** The URL of the window of a commit. */
  readonly fileUrl: string
}

type TakenWindows = {
  readonly stored: StoredDownload
  /** The oldest day that needs no other request; null: none was taken. */
  readonly filledTo: string | null
  readonly takenCount: number
  readonly refusedCount: number
  /** Why it stopped before the last day; null: it did not. */
  readonly fault: string | null
}

async function takeWindows(
  budget: RequestBudget,
  merge: MergeWindow,
  { stored, days, fileUrl }: PastWindows,
): Promise<TakenWindows> {
  let source = stored.source
  let filledTo = stored.window?.filledTo ?? null
  let [takenCount, refusedCount] = [0, 0]
  const failures = new WindowFailures()
  let laterDay = filledTo ?? source.date
  const result = (fault: string | null): TakenWindows => ({
    stored: { ...stored, source },
    ...{ filledTo, takenCount, refusedCount, fault },
  })
  for (const { day, commit } of days) {
    const spent = budget.fault
    if (spent !== null) return result(spent)
    const text = await budget.window(fileUrl.replaceAll("{commit}", commit))
    if (typeof text !== "string") {
      if (failures.add(text.fault)) return result(text.fault)
      continue
    }
    failures.inARow = 0
    if (failures.missing === null) filledTo = day
    const merged = merge(source, text, day, laterDay)
    if (merged === null) refusedCount++
    else {
      source = merged
      takenCount++
      laterDay = day
    }
  }
  return result(failures.missing)
}

/** The windows that could not be fetched. One may be gone for good; any other is asked for again, with those before it. */
class WindowFailures {
  inARow = 0
  /** Why the first of those is missing that are not gone; null: none is. */
  missing: string | null = null

  /** Notes one. True: there are so many in a row that the server is away. */
  add(fault: string): boolean {
    this.missing ??= GONE.test(fault) ? null : fault
    return ++this.inARow === PAST_BOUNDS.failuresMax
  }
}

const GONE = /answered (?:404|410)\b/
