import { describe, expect, test } from "bun:test"
import type { Fetch } from "../../../src/base/fetch.ts"
import type { DownloadedSource } from "../../../src/check/lists/sources/source-bundle.ts"
import { addWindow, type WindowHistory, withoutExpired } from "../../../src/check/refresh/new-entries.ts"
import { PAST_BOUNDS } from "../../../src/check/refresh/window-past.ts"
import { listText, type RefreshFixture, refreshFixture, setsOf, smallBundle } from "./refresh-fixture.ts"

const DAY_MS = 86_400_000
const FIRST_DAY_MS = Date.UTC(2026, 0, 1)
const PAST = "https://past.example/"
const DAYS = 180
const WINDOW_SIZE = 40

const WINDOW = { days: DAYS, names: WINDOW_SIZE }
const NOTHING = { entries: [], malformedCount: 0, date: "", addedOn: new Map<string, string>() }

const isoDay = (day: number): string => new Date(FIRST_DAY_MS + day * DAY_MS).toISOString().slice(0, 10)

/** The window of a day: forty names, of which three are new each day. */
const windowOf = (day: number): readonly string[] =>
  Array.from({ length: WINDOW_SIZE }, (_, at) => `abused${day * 3 + at}.com`)

const commitOf = (day: number): string => (day + 100_000).toString(16).padStart(40, "0")
const dayOfCommit = (commit: string): number => Number.parseInt(commit, 16) - 100_000

type Answers = {
  /** The day of the newest commit. */
  readonly newest: number
  readonly commits?: (page: number, since: string) => unknown
  readonly window?: (day: number) => Response
}

/** A window source with a past, of which the server gives a commit for each of the last 500 days. */
function pastFixture() {
  const past = { commits: `${PAST}commits?since={since}&page={page}`, file: `${PAST}{commit}.txt` }
  const window = { ...WINDOW, past }
  const fixture = refreshFixture({
    stock: smallBundle({
      bundled: { set: "disposable", trust: "high", names: ["known.com"] },
      fresh: { set: "disposable", trust: "high", names: [], isDownloaded: true, window },
      providers: { set: "personal", trust: "curated", names: ["gmail.com"] },
      safe: { set: "never_disposable", trust: "curated", names: ["stripe.com"] },
    }),
  })
  const requests: string[] = []
  let answers: Answers = { newest: 0 }
  /** The source's own URL and its past are served from memory: it has no mirror. */
  const fetchUrl: Fetch = async url => {
    requests.push(url)
    const { pathname, searchParams } = new URL(url)
    if (!url.startsWith(PAST)) return new Response(listText(windowOf(answers.newest)))
    if (pathname !== "/commits") {
      const day = dayOfCommit(pathname.slice(1, -4))
      return answers.window?.(day) ?? new Response(listText(windowOf(day)))
    }
    const [page, since] = [Number(searchParams.get("page")), searchParams.get("since") ?? ""]
    return Response.json(answers.commits?.(page, since) ?? commitsOf(page, since, answers.newest))
  }
  const changed = {
    fetchUrl,
    sourceUrls: new Map<string, string>(),
    // Pauses end at once, and nothing is late.
    setTimer: (ms: number, work: () => void) => {
      if (ms === PAST_BOUNDS.pauseMs) queueMicrotask(work)
      return () => undefined
    },
  }
  return {
    ...fixture,
    requests,
    answer: (given: Answers) => {
      answers = given
    },
    refresh: async (overrides: Partial<typeof changed & { clock: () => number }> = {}) =>
      (await fixture.refresh(null, { ...changed, ...overrides })).sources["fresh"],
  }
}

/** A page of a list of commits, two a day, newest first. */
function commitsOf(page: number, since: string, newest: number): readonly unknown[] {
  const all = Array.from({ length: 1000 }, (_, at) => {
    const day = newest - (at >> 1)
    const date = new Date(FIRST_DAY_MS + day * DAY_MS + (at % 2 === 0 ? 2 : 1) * 3_600_000).toISOString()
    // The earlier commit of a day has the window of another one.
    return { sha: at % 2 === 0 ? commitOf(day) : commitOf(day - 50_000), commit: { committer: { date } } }
  }).filter(({ commit }) => commit.committer.date >= since)
  return all.slice((page - 1) * 100, page * 100)
}

/** The first and the last day of a name of the source in the pack in use. */
function daysOf(fixture: Pick<RefreshFixture, "inUse">, name: string) {
  const listing = fixture
    .inUse()
    ?.listingsOf(name)
    .find(({ source }) => source === "fresh")
  return listing === undefined ? [] : [listing.since, listing.lastSeen]
}

describe("the first refresh of a window source with a past", () => {
  test("knows what a server knows that has refreshed each day of a year", async () => {
    let daily: { source: DownloadedSource; window: WindowHistory | null } | null = null
    for (let day = 0; day < 365; day++) {
      const added = addWindow({ entries: windowOf(day), malformedCount: 0 }, daily, WINDOW, isoDay(day))
      if (added.kind !== "added") throw new Error(`day ${day} is ${added.kind}`)
      daily = added
    }
    const started = pastFixture()
    for (let day = 0; day < 364; day++) await started.nextDay()
    started.answer({ newest: 364 })
    expect(await started.refresh()).toMatchObject({ outcome: "taken", says: "" })
    const { entries, addedOn, lastSeenOn } = withoutExpired(daily?.source ?? NOTHING, DAYS, isoDay(364))
    expect(entries.length).toBe(DAYS * 3 + WINDOW_SIZE)
    // Of a name that was first seen before the 180 days, the first of them is known.
    const first = (name: string): string => [addedOn.get(name) ?? "", isoDay(364 - DAYS)].toSorted()[1] ?? ""
    const expected = entries.map(name => [name, first(name), lastSeenOn?.get(name) ?? ""])
    expect(entries.map(name => [name, ...(daysOf(started, name) ?? [])])).toEqual(expected)
  })

  test("asks once, one window a day, and never again", async () => {
    const fixture = pastFixture()
    await fixture.refresh()
    expect(fixture.requests.filter(url => url.startsWith(`${PAST}commits`)).length).toBe(4)
    expect(fixture.requests.filter(url => url.endsWith(".txt")).length).toBe(DAYS)
    const before = fixture.requests.length
    await fixture.nextDay()
    fixture.answer({ newest: 1 })
    await fixture.refresh()
    expect(fixture.requests.length).toBe(before + 1)
    expect(setsOf(fixture, "abused-300.com")).toEqual(["disposable"])
  })

  test("stops when the server goes away, tells it, keeps what it has, and goes on at the next refresh", async () => {
    const fixture = pastFixture()
    const gone = () => new Response("no", { status: 429 })
    fixture.answer({ newest: 0, window: day => (day < -60 ? gone() : new Response(listText(windowOf(day)))) })
    expect(await fixture.refresh()).toMatchObject({
      outcome: "taken",
      past: "Of its past 60 of 180 windows were taken. The server answered 429 (Too Many Requests). The next refresh continues.",
    })
    expect(setsOf(fixture, "abused-180.com")).toEqual(["disposable"])
    expect(setsOf(fixture, "abused-181.com")).toEqual([])
    const before = fixture.requests.length
    await fixture.nextDay()
    fixture.answer({ newest: 1 })
    expect((await fixture.refresh())?.past).toBeUndefined()
    const asked = fixture.requests.slice(before).filter(url => url.endsWith(".txt"))
    expect(asked.map(url => dayOfCommit(url.slice(PAST.length, -4)))[0]).toBe(-61)
    expect(setsOf(fixture, "abused-500.com")).toEqual(["disposable"])
  })

  test("stops after its time, and goes on at the next refresh", async () => {
    const fixture = pastFixture()
    let asked = 0
    const window = (day: number) => {
      asked++
      return new Response(listText(windowOf(day)))
    }
    fixture.answer({ newest: 0, window })
    const clock = () => FIRST_DAY_MS + asked * 10_000
    expect(await fixture.refresh({ clock })).toMatchObject({
      past: "Of its past 18 of 180 windows were taken. More than 3 minutes had passed. The next refresh continues.",
    })
  })

  test.each<[string, Answers, string | undefined, number]>([
    [
      "whose windows are poisoned, without those days",
      { newest: 0, window: day => new Response(listText(day === -5 ? many(41 * 3) : windowOf(day))) },
      "Windows of its past that were refused and are left out: 1.",
      DAYS,
    ],
    [
      "one window of which is gone for good, without that day",
      {
        newest: 0,
        window: day => (day === -5 ? new Response(null, { status: 404 }) : new Response(listText(windowOf(day)))),
      },
      undefined,
      DAYS,
    ],
    [
      "that answers a million days",
      { newest: 0, commits: page => commitsOf(1, "", -(page - 1) * 50) },
      "Of its past 180 of 180 windows were taken. Its list of commits is too long. The next refresh continues.",
      DAYS,
    ],
    [
      "that has all its days in the future, or at no time at all",
      { newest: 0, commits: () => [...commitsOf(1, "", 9_000).slice(0, 40), { sha: "x" }, null, 7, { commit: {} }] },
      undefined,
      0,
    ],
    [
      "that gives one day all windows",
      {
        newest: 0,
        commits: () =>
          Array.from({ length: 99 }, (_, at) => ({
            sha: commitOf(-at),
            commit: { committer: { date: "2025-12-20T00:00:00Z" } },
          })),
      },
      undefined,
      1,
    ],
    [
      "that is no list",
      { newest: 0, commits: () => ({ message: "rate limit" }) },
      "Of its past 0 of 0 windows were taken. Its list of commits cannot be used: It is none. The next refresh continues.",
      0,
    ],
    [
      "whose windows never end",
      { newest: 0, window: () => new Response("a".repeat(2_000_000)) },
      "Of its past 0 of 180 windows were taken. It has more than 1048576 bytes. The next refresh continues.",
      3,
    ],
  ])("takes the ordinary window of a server %s", async (_, answers, past, windowCount) => {
    const fixture = pastFixture()
    fixture.answer(answers)
    const state = await fixture.refresh()
    expect([state?.outcome, state?.past]).toEqual(["taken", past])
    expect(fixture.requests.filter(url => url.startsWith(PAST) && url.endsWith(".txt")).length).toBe(windowCount)
    for (const name of windowOf(0)) expect([name, setsOf(fixture, name)]).toEqual([name, ["disposable"]])
  })

  test("asks nobody for the past of a source that a mirror serves", async () => {
    const fixture = pastFixture()
    await fixture.refresh({ sourceUrls: new Map([["fresh", "https://mirror.example/fresh.conf"]]) })
    expect(fixture.requests).toEqual(["https://mirror.example/fresh.conf"])
  })
})

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `poison${at}.com`)
