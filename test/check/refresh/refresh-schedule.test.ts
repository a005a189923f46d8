import { describe, expect, test } from "bun:test"
import { nextRefreshAtMs, type RefreshTiming } from "../../../src/check/refresh/refresh-schedule.ts"
import {
  INITIAL_REFRESH_STATE,
  isDue,
  type RefreshState,
  type SourceState,
} from "../../../src/check/refresh/refresh-state.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const STARTED_MS = 1_000 * HOUR_MS
const DUE: RefreshTiming = {
  intervalMs: 24 * HOUR_MS,
  bundleId: "s",
  nowMs: STARTED_MS,
  startedAtMs: STARTED_MS,
  lastAttemptAtMs: null,
  damagedAtMs: null,
  randomShare: 0,
}
const RANDOM_SHARE_MAX = 255 / 256

const source = (outcome: SourceState["outcome"]): SourceState => ({
  url: "https://a.example/",
  outcome,
  says: "",
  checked_at_ms: 1,
  changed_at_ms: null,
})

const refreshed = (hoursAgo: number, outcomes: readonly SourceState["outcome"][] = ["taken"]): RefreshState => ({
  ...INITIAL_REFRESH_STATE,
  stock: "s",
  refreshed_at_ms: STARTED_MS - hoursAgo * HOUR_MS,
  sources: Object.fromEntries(outcomes.map((outcome, at) => [`s${at}`, source(outcome)])),
})

/** The minutes after the start, for the smallest and the largest random share. */
const dueIn = (state: RefreshState, due: Partial<RefreshTiming> = {}): readonly number[] =>
  [0, RANDOM_SHARE_MAX].map(randomShare =>
    Math.round((nextRefreshAtMs(state, { ...DUE, ...due, randomShare }) - STARTED_MS) / MINUTE_MS),
  )

describe("the next refresh is due", () => {
  test.each<[string, RefreshState, Partial<RefreshTiming>, readonly number[]]>([
    ["soon after the start, if there was no refresh before", INITIAL_REFRESH_STATE, {}, [1, 10]],
    ["soon after the start, if it is overdue", refreshed(200), {}, [1, 10]],
    ["soon after the start, if the last one used another bundle", { ...refreshed(1), stock: "t" }, {}, [1, 10]],
    ["a day after the last one, plus or minus a tenth", refreshed(0), {}, [0.9 * 1440, 1583]],
    ["not before the start delay", refreshed(23.9), { intervalMs: 24 * HOUR_MS }, [1, 149]],
    ["an hour after one of which all downloads failed", refreshed(0, ["failed", "failed"]), {}, [54, 66]],
    [
      "by when the sources were asked, if none of them could be used",
      { ...refreshed(200, ["failed"]), asked_at_ms: STARTED_MS },
      {},
      [54, 66],
    ],
    ["a day after one of which some downloads succeeded", refreshed(0, ["failed", "unchanged"]), {}, [1296, 1583]],
    ["a day after one whose downloads were refused", refreshed(0, ["refused"]), {}, [1296, 1583]],
    ["a day after one without sources", refreshed(0, []), {}, [1296, 1583]],
    [
      "every hour if the interval is an hour, failed or not",
      refreshed(0, ["failed"]),
      { intervalMs: HOUR_MS },
      [54, 66],
    ],
    [
      "sooner than after an hour if the interval is shorter",
      refreshed(0, ["failed"]),
      { intervalMs: HOUR_MS / 2 },
      [27, 33],
    ],
    ["soon, if the last one is in the future", refreshed(-1), {}, [1, 10]],
    [
      "an hour after an attempt without a result",
      INITIAL_REFRESH_STATE,
      { nowMs: STARTED_MS + HOUR_MS, lastAttemptAtMs: STARTED_MS + HOUR_MS },
      [114, 126],
    ],
    [
      "soon after the start, if the last attempt is in the future",
      INITIAL_REFRESH_STATE,
      { lastAttemptAtMs: 2 * STARTED_MS },
      [1, 10],
    ],
    [
      "soon after the start, if the last attempt was before it",
      INITIAL_REFRESH_STATE,
      { lastAttemptAtMs: STARTED_MS - 2 * HOUR_MS },
      [1, 10],
    ],
    ["as usual while a version is pinned", { ...refreshed(1), pinned: "v" }, {}, dueIn(refreshed(1), {})],
  ])("%s", (_, state, due, minutes) => {
    expect(dueIn(state, due)).toEqual(minutes)
  })
})

test("a refresh is due at once if the clock was set back since the start", () => {
  const atMs = nextRefreshAtMs(refreshed(200), { ...DUE, startedAtMs: 2 * STARTED_MS, lastAttemptAtMs: 3 * STARTED_MS })
  expect(atMs).toBeLessThanOrEqual(DUE.nowMs)
})

test("a larger random share never gives an earlier time", () => {
  for (const state of [INITIAL_REFRESH_STATE, refreshed(0), refreshed(23), refreshed(0, ["failed"])]) {
    const times = Array.from({ length: 256 }, (_, at) => nextRefreshAtMs(state, { ...DUE, randomShare: at / 256 }))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  }
})

test("a source that is fetched monthly is asked for after thirty days, after a week when it was refused, and at once when it failed", () => {
  const url = "https://a.example/"
  const from = { url, file: "a", format: "lines" } as const
  const row = { id: "a", set: "education", trust: "high", from, every_days: 30 } as const
  const { every_days: _, ...daily } = row
  const DAY_MS = 24 * HOUR_MS
  const dueAfter = (outcome: SourceState["outcome"]) =>
    [1, 6, 7, 29, 30].filter(days => isDue(row, source(outcome), url, days * DAY_MS))
  expect((["taken", "unchanged", "refused", "failed"] as const).map(dueAfter)).toEqual([
    [30],
    [30],
    [7, 29, 30],
    [1, 6, 7, 29, 30],
  ])
  expect(isDue(row, undefined, url, DAY_MS)).toBe(true)
  expect(isDue(row, source("taken"), "https://mirror.example/", DAY_MS)).toBe(true)
  expect(isDue(daily, source("taken"), url, 1)).toBe(true)
})
