import { describe, expect, test } from "bun:test"
import { refresh } from "../../../src/check/refresh/refresh.ts"
import { formatDownload, parseDownload } from "../../../src/check/refresh/stored-download.ts"
import {
  FIRST_NAMES,
  listText,
  OLD_COUNT,
  oldNames,
  type ResponseFor,
  refreshedFixture,
  refreshFixture,
  setsOf,
  sourcesOf,
} from "./refresh-fixture.ts"

describe("a refresh", () => {
  test("puts what all sources give in use, and says what became of each", async () => {
    const house = await refreshedFixture()
    expect(house.first).toMatchObject({ activated: { version: house.inUse()?.version }, faults: [] })
    expect(house.state().sources).toEqual(house.first.sources)
    for (const id of ["fresh", "extra", "offices"])
      expect(house.first.sources[id]).toEqual({
        url: `${house.serverUrl}${id}.conf`,
        outcome: "taken",
        says: "",
        checked_at_ms: house.time.clock(),
        changed_at_ms: house.time.clock(),
      })
    expect(setsOf(house, "first.com")).toEqual(["disposable"])
    expect(setsOf(house, "weather.gov")).toEqual(["government"])
    expect(house.state()).toMatchObject({ stock: "stock-1", refreshed_at_ms: house.time.clock(), is_paused: false })
  })

  test("of the same names makes no other pack, whatever their order", async () => {
    const house = await refreshedFixture()
    await house.nextDay()
    house.serve("fresh", FIRST_NAMES.toReversed())
    const { sources, activated } = await house.refresh()
    expect(activated).toBeNull()
    expect(sources["fresh"]).toMatchObject({ outcome: "unchanged", changed_at_ms: house.time.clock() - 86_400_000 })
    expect(house.state()).toMatchObject({ refreshed_at_ms: house.time.clock() })
    expect(house.state().packs).toHaveLength(1)
  })

  test("tells of a name the day on which it came in, and keeps telling it", async () => {
    const house = await refreshedFixture()
    await house.nextDay()
    house.serve("fresh", [...FIRST_NAMES, "second.com"])
    await house.refresh()
    expect(sourcesOf(house, "second.com")).toEqual([["fresh", "2026-01-02"]])
    expect(sourcesOf(house, "first.com")).toEqual([["fresh", null]])
    await house.nextDay()
    house.serve("fresh", [...FIRST_NAMES, "second.com", "third.com"])
    await house.refresh()
    expect(sourcesOf(house, "second.com")).toEqual([["fresh", "2026-01-02"]])
    expect(sourcesOf(house, "third.com")).toEqual([["fresh", "2026-01-03"]])
  })

  test("drops what a source no longer lists, and dates it anew when it is back", async () => {
    const house = await refreshedFixture()
    house.serve("fresh", oldNames(OLD_COUNT))
    await house.refresh()
    expect(setsOf(house, "first.com")).toEqual([])
    await house.nextDay()
    house.serve("fresh", FIRST_NAMES)
    await house.refresh()
    expect(sourcesOf(house, "first.com")).toEqual([["fresh", "2026-01-02"]])
  })

  test("keeps the last three packs, with what they were built from, and no file besides", async () => {
    const house = await refreshedFixture()
    const versions = [house.inUse()?.version ?? ""]
    house.folder.put("left.conf.77.new", "half")
    for (const name of ["second.com", "third.com", "fourth.com"]) {
      house.serve("extra", ["extra.com", name])
      await house.refresh()
      versions.unshift(house.inUse()?.version ?? "")
    }
    expect(house.state().packs.map(({ version }) => version)).toEqual(versions.slice(0, 3))
    const kept = house
      .state()
      .packs.flatMap(({ sha256 }) => [`${sha256.slice(0, 16)}.json`, `${sha256.slice(0, 16)}.pack`])
    expect([...house.folder.held.keys()].toSorted()).toEqual(
      [...kept, "extra.txt", "fresh.txt", "offices.txt", "state.json"].toSorted(),
    )
  })
})

describe("of one source alone, a refresh", () => {
  test("asks for nothing else, and leaves the time of the last whole one", async () => {
    const house = await refreshedFixture()
    const wholeAtMs = house.time.clock()
    await house.nextDay()
    house.asked.length = 0
    house.serve("extra", ["extra.com", "more.com"])
    const { sources } = await house.refresh("extra")
    expect(house.asked).toEqual([`${house.serverUrl}extra.conf`])
    expect(Object.keys(sources)).toEqual(["extra"])
    expect(setsOf(house, "more.com")).toEqual(["disposable"])
    expect(setsOf(house, "first.com")).toEqual(["disposable"])
    expect(house.state().refreshed_at_ms).toBe(wholeAtMs)
  })

  test("takes a list of the operator's own, which is asked for from then on", async () => {
    const house = await refreshedFixture()
    house.serve("blocked", ["blocked.com"])
    const url = `${house.serverUrl}blocked.conf`
    const [id = ""] = Object.keys((await house.refresh(url)).sources)
    expect(sourcesOf(house, "blocked.com")).toEqual([[id, null]])
    house.serve("blocked", ["blocked.com", "also.com"])
    expect((await house.refresh()).sources[id]).toMatchObject({ url, outcome: "taken" })
    expect(setsOf(house, "also.com")).toEqual(["disposable"])
  })

  test("forgets an address that gave nothing, and knows no source by another word", async () => {
    const house = await refreshedFixture()
    const { sources, activated } = await house.refresh(`${house.serverUrl}slip.conf`)
    expect(Object.values(sources)).toMatchObject([{ outcome: "failed", says: "The server answered 404 (Not Found)." }])
    expect(activated).toBeNull()
    expect(Object.keys(house.state().sources).toSorted()).toEqual(["extra", "fresh", "offices"])
    expect(await refresh(house.needs, "nobody")).toBe("unknown")
  })

  test("asks a mirror this once, without what its own server has said of the copy", async () => {
    const house = refreshFixture()
    const seen: (string | null)[] = []
    const served: ResponseFor = ({ headers }) => {
      seen.push(headers.get("if-none-match"))
      return new Response(listText(FIRST_NAMES), { headers: { etag: '"1"' } })
    }
    house.serve("fresh", served)
    house.serve("m/fresh", served)
    await house.refresh("fresh")
    expect((await house.refresh(`${house.serverUrl}m/fresh.conf`)).sources["fresh"]).toMatchObject({
      url: `${house.serverUrl}m/fresh.conf`,
      outcome: "unchanged",
    })
    await house.refresh("fresh")
    expect(seen).toEqual([null, null, null])
    await house.refresh("fresh")
    expect(seen.at(-1)).toBe('"1"')
  })
})

describe("what the operator takes out of the settings", () => {
  test("is in no pack and in no state any more", async () => {
    const house = await refreshedFixture()
    house.serve("mine", ["mine.com"])
    const sourceUrls = new Map([...house.urls, ["mine", `${house.serverUrl}mine.conf`]])
    await house.refresh(null, { sourceUrls })
    expect(setsOf(house, "mine.com")).toEqual(["disposable"])
    await house.refresh()
    expect(setsOf(house, "mine.com")).toEqual([])
    expect(Object.keys(house.state().sources)).not.toContain("mine")
  })

  test("leaves the lists that came along, when nothing else was ever had", async () => {
    const house = refreshFixture()
    house.serve("mine", ["mine.com"])
    const sourceUrls = new Map([...house.urls, ["mine", `${house.serverUrl}mine.conf`]])
    expect((await house.refresh(null, { sourceUrls })).activated).toMatchObject({
      version: house.inUse()?.version ?? "",
    })
    expect((await house.refresh()).activated).toBe("built_in")
    expect(house.state().in_use).toBeNull()
    expect((await house.refresh()).activated).toBeNull()
  })
})

test("a copy holds names in normal form, each once, and counts what is none", async () => {
  const house = refreshFixture()
  const text = "# a note\nA.com\na.com.\n\nb.com # spam\nno name\n"
  house.serve("extra", () => new Response(text))
  await house.refresh("extra")
  const held = parseDownload(new TextDecoder().decode(house.folder.held.get("extra.txt")))
  expect(held?.source).toEqual({
    entries: ["a.com", "b.com"],
    malformedCount: 1,
    date: "2026-01-01",
    addedOn: new Map(),
  })
  expect(held === null ? "" : formatDownload(held)).toContain("a.com\nb.com")
})
