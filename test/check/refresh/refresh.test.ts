import { describe, expect, test } from "bun:test"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { refresh } from "../../../src/check/refresh/refresh.ts"
import { formatDownload, parseDownload } from "../../../src/check/refresh/stored-download.ts"
import { tempPath } from "../../customers/temp-store.ts"
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
  test("puts the names of all sources in use and returns the outcome of each", async () => {
    const fixture = await refreshedFixture()
    expect(fixture.first).toMatchObject({ activated: { version: fixture.inUse()?.version }, faults: [] })
    expect(fixture.state().sources).toEqual(fixture.first.sources)
    for (const id of ["fresh", "extra", "offices"])
      expect(fixture.first.sources[id]).toEqual({
        url: `${fixture.serverUrl}${id}.conf`,
        outcome: "taken",
        says: "",
        checked_at_ms: fixture.time.clock(),
        changed_at_ms: fixture.time.clock(),
      })
    expect(setsOf(fixture, "first.com")).toEqual(["disposable"])
    expect(setsOf(fixture, "weather.gov")).toEqual(["government"])
    expect(fixture.state()).toMatchObject({ stock: "stock-1", refreshed_at_ms: fixture.time.clock(), pinned: null })
  })

  test("with the same names builds no other pack, whatever their order", async () => {
    const fixture = await refreshedFixture()
    await fixture.nextDay()
    fixture.serve("fresh", FIRST_NAMES.toReversed())
    const { sources, activated } = await fixture.refresh()
    expect(activated).toBeNull()
    expect(sources["fresh"]).toMatchObject({ outcome: "unchanged", changed_at_ms: fixture.time.clock() - 86_400_000 })
    expect(fixture.state()).toMatchObject({ refreshed_at_ms: fixture.time.clock() })
    expect(fixture.state().packs).toHaveLength(1)
  })

  test("that no source could be used for counts as asked, and not as refreshed", async () => {
    const fixture = await refreshedFixture()
    const goodMs = fixture.time.clock()
    await fixture.nextDay()
    for (const id of Object.keys(fixture.state().sources)) fixture.serve(id, () => new Response("", { status: 503 }))
    const { sources } = await fixture.refresh()
    expect(new Set(Object.values(sources).map(({ outcome }) => outcome))).toEqual(new Set(["failed"]))
    expect(fixture.state()).toMatchObject({ refreshed_at_ms: goodMs, asked_at_ms: fixture.time.clock() })
  })

  test("records the day on which a name was added, and keeps it", async () => {
    const fixture = await refreshedFixture()
    await fixture.nextDay()
    fixture.serve("fresh", [...FIRST_NAMES, "second.com"])
    await fixture.refresh()
    expect(sourcesOf(fixture, "second.com")).toEqual([["fresh", "2026-01-02"]])
    expect(sourcesOf(fixture, "first.com")).toEqual([["fresh", null]])
    await fixture.nextDay()
    fixture.serve("fresh", [...FIRST_NAMES, "second.com", "third.com"])
    await fixture.refresh()
    expect(sourcesOf(fixture, "second.com")).toEqual([["fresh", "2026-01-02"]])
    expect(sourcesOf(fixture, "third.com")).toEqual([["fresh", "2026-01-03"]])
  })

  test("drops names that a source no longer lists, and gives them a new day when they return", async () => {
    const fixture = await refreshedFixture()
    fixture.serve("fresh", oldNames(OLD_COUNT))
    await fixture.refresh()
    expect(setsOf(fixture, "first.com")).toEqual([])
    await fixture.nextDay()
    fixture.serve("fresh", FIRST_NAMES)
    await fixture.refresh()
    expect(sourcesOf(fixture, "first.com")).toEqual([["fresh", "2026-01-02"]])
  })

  test("keeps the last three packs with their manifests, and no other file", async () => {
    const fixture = await refreshedFixture()
    const versions = [fixture.inUse()?.version ?? ""]
    fixture.folder.put("left.conf.77.new", "half")
    for (const name of ["second.com", "third.com", "fourth.com"]) {
      fixture.serve("extra", ["extra.com", name])
      await fixture.refresh()
      versions.unshift(fixture.inUse()?.version ?? "")
    }
    expect(fixture.state().packs.map(({ version }) => version)).toEqual(versions.slice(0, 3))
    const kept = fixture
      .state()
      .packs.flatMap(({ sha256 }) => [`${sha256.slice(0, 16)}.json`, `${sha256.slice(0, 16)}.pack`])
    expect([...fixture.folder.held.keys()].toSorted()).toEqual(
      [...kept, "extra.txt", "fresh.txt", "offices.txt", "state.json"].toSorted(),
    )
  })
})

describe("of a single source, a refresh", () => {
  test("downloads nothing else, and keeps the time of the last complete refresh", async () => {
    const fixture = await refreshedFixture()
    const wholeAtMs = fixture.time.clock()
    await fixture.nextDay()
    fixture.requests.length = 0
    fixture.serve("extra", ["extra.com", "more.com"])
    const { sources } = await fixture.refresh("extra")
    expect(fixture.requests).toEqual([`${fixture.serverUrl}extra.conf`])
    expect(Object.keys(sources)).toEqual(["extra"])
    expect(setsOf(fixture, "more.com")).toEqual(["disposable"])
    expect(setsOf(fixture, "first.com")).toEqual(["disposable"])
    expect(fixture.state().refreshed_at_ms).toBe(wholeAtMs)
  })

  test("accepts an operator's own list, which later refreshes download too", async () => {
    const fixture = await refreshedFixture()
    fixture.serve("blocked", ["blocked.com"])
    const url = `${fixture.serverUrl}blocked.conf`
    const [id = ""] = Object.keys((await fixture.refresh(url)).sources)
    expect(sourcesOf(fixture, "blocked.com")).toEqual([[id, null]])
    fixture.serve("blocked", ["blocked.com", "also.com"])
    expect((await fixture.refresh()).sources[id]).toMatchObject({ url, outcome: "taken" })
    expect(setsOf(fixture, "also.com")).toEqual(["disposable"])
  })

  test("drops a URL without a valid download, and rejects an unknown id", async () => {
    const fixture = await refreshedFixture()
    const { sources, activated } = await fixture.refresh(`${fixture.serverUrl}slip.conf`)
    expect(Object.values(sources)).toMatchObject([{ outcome: "failed", says: "The server answered 404 (Not Found)." }])
    expect(activated).toBeNull()
    expect(Object.keys(fixture.state().sources).toSorted()).toEqual(["extra", "fresh", "offices"])
    expect(await refresh(fixture.needs, "nobody")).toBe("unknown")
  })

  test("downloads from a mirror once, without the validators of the original server", async () => {
    const fixture = refreshFixture()
    const seen: (string | null)[] = []
    const served: ResponseFor = ({ headers }) => {
      seen.push(headers.get("if-none-match"))
      return new Response(listText(FIRST_NAMES), { headers: { etag: '"1"' } })
    }
    fixture.serve("fresh", served)
    fixture.serve("m/fresh", served)
    await fixture.refresh("fresh")
    expect((await fixture.refresh(`${fixture.serverUrl}m/fresh.conf`)).sources["fresh"]).toMatchObject({
      url: `${fixture.serverUrl}m/fresh.conf`,
      outcome: "unchanged",
    })
    await fixture.refresh("fresh")
    expect(seen).toEqual([null, null, null])
    await fixture.refresh("fresh")
    expect(seen.at(-1)).toBe('"1"')
  })
})

describe("a source that the operator removes from the settings", () => {
  test("is removed from the pack and the state", async () => {
    const fixture = await refreshedFixture()
    fixture.serve("mine", ["mine.com"])
    const sourceUrls = new Map([...fixture.urls, ["mine", `${fixture.serverUrl}mine.conf`]])
    await fixture.refresh(null, { sourceUrls })
    expect(setsOf(fixture, "mine.com")).toEqual(["disposable"])
    await fixture.refresh()
    expect(setsOf(fixture, "mine.com")).toEqual([])
    expect(Object.keys(fixture.state().sources)).not.toContain("mine")
  })

  test("leaves the bundled pack in use, if there is no other download", async () => {
    const fixture = refreshFixture()
    fixture.serve("mine", ["mine.com"])
    const sourceUrls = new Map([...fixture.urls, ["mine", `${fixture.serverUrl}mine.conf`]])
    expect((await fixture.refresh(null, { sourceUrls })).activated).toMatchObject({
      version: fixture.inUse()?.version ?? "",
    })
    expect((await fixture.refresh()).activated).toBe("built_in")
    expect(fixture.state().in_use).toBeNull()
    expect((await fixture.refresh()).activated).toBeNull()
  })
})

test("a download has names in normal form without duplicates, and the number of malformed entries", async () => {
  const fixture = refreshFixture()
  const text = "# a note\nA.com\na.com.\n\nb.com # spam\nno name\n"
  fixture.serve("extra", () => new Response(text))
  await fixture.refresh("extra")
  const held = parseDownload(new TextDecoder().decode(fixture.folder.held.get("extra.txt")))
  expect(held?.source).toEqual({
    entries: ["a.com", "b.com"],
    malformedCount: 1,
    date: "2026-01-01",
    addedOn: new Map(),
  })
  expect(held === null ? "" : formatDownload(held)).toContain("a.com\nb.com")
})

describe("sources at file URLs", () => {
  const fileUrl = (text: string): string => {
    const path = tempPath("list.txt")
    writeFileSync(path, text)
    return pathToFileURL(path).href
  }

  test("are read from files of this host, and from all files of a directory", async () => {
    const fixture = refreshFixture()
    const { needs, state, requests } = fixture
    const directory = tempPath("lists.d")
    mkdirSync(directory)
    writeFileSync(join(directory, "a.txt"), "first.com\n")
    writeFileSync(join(directory, "b.txt"), "second.com")
    const sourceUrls = new Map([
      ["mine", fileUrl("mine.com\n")],
      ["ours", pathToFileURL(directory).href],
    ])
    await refresh({ ...needs, sourceUrls, isOutsideOff: true }, null)
    expect(Object.keys(state().sources)).toEqual(["mine", "ours"])
    expect(requests).toEqual([])
    for (const name of ["mine.com", "first.com", "second.com"]) expect(setsOf(fixture, name)).toEqual(["disposable"])
  })

  test("that cannot be read are told with the reason, and the last good copy stays", async () => {
    const { needs, state } = refreshFixture()
    const path = tempPath("list.txt")
    writeFileSync(path, "mine.com\n")
    const sourceUrls = new Map([["mine", pathToFileURL(path).href]])
    await refresh({ ...needs, sourceUrls, isOutsideOff: true }, null)
    rmSync(path)
    await refresh({ ...needs, sourceUrls, isOutsideOff: true }, null)
    expect(state().sources["mine"]).toMatchObject({
      outcome: "failed",
      says: "It cannot be read: there is no such file.",
    })
  })

  test("without requests to other hosts no other source is asked, not even by name", async () => {
    const { needs, requests } = refreshFixture()
    await refresh({ ...needs, isOutsideOff: true }, null)
    const single = await refresh({ ...needs, isOutsideOff: true }, "fresh")
    expect(single === "unknown" ? null : single.sources["fresh"]?.says).toBe("MAILKIND_OUTSIDE is off.")
    expect(requests).toEqual([])
  })
})
