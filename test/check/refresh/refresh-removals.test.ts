import { describe, expect, test } from "bun:test"
import { type RefreshFixture, refreshFixture, setsOf, smallBundle } from "./refresh-fixture.ts"

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `name${at}.com`)

/** A fixture with a source whose curators take names out, and a less trusted one that goes on to list them. */
async function curatedFixture(listed: readonly string[], tracksRemovals = true): Promise<RefreshFixture> {
  const fixture = refreshFixture({
    stock: smallBundle({
      bundled: { set: "disposable", trust: "highest", names: ["bundled.com", ...names(800)] },
      fresh: { ...DOWNLOADED, trust: "highest", renews: "bundled", ...(tracksRemovals ? { tracksRemovals } : {}) },
      extra: { ...DOWNLOADED, trust: "high" },
      offices: { ...DOWNLOADED, trust: "low" },
    }),
  })
  fixture.serve("fresh", listed)
  fixture.serve("extra", ["bundled.com", ...names(800)])
  fixture.serve("offices", ["name0.com"])
  await fixture.refresh()
  return fixture
}

const DOWNLOADED = { set: "disposable", names: [], isDownloaded: true } as const

const outcomesOf = (fixture: RefreshFixture, name: string) =>
  fixture
    .inUse()
    ?.listingsOf(name)
    .map(({ source, outcome }) => [source, outcome])

describe("a name that curators take out of a source that tracks removals", () => {
  test("is disposable no longer, though less trusted sources list it, also after further refreshes", async () => {
    const fixture = await curatedFixture(["bundled.com", ...names(800)])
    expect(setsOf(fixture, "name0.com")).toEqual(["disposable"])
    fixture.serve("fresh", ["bundled.com", ...names(800).slice(1)])
    for (let day = 0; day < 3; day++) {
      await fixture.nextDay()
      await fixture.refresh()
      expect(setsOf(fixture, "name0.com")).toEqual([])
      expect(outcomesOf(fixture, "name0.com")).toEqual([
        ["extra", "removed_by_curator"],
        ["offices", "removed_by_curator"],
      ])
      fixture.serve("fresh", ["bundled.com", ...names(800).slice(1), `later${day}.com`])
    }
  })

  test("is so from the first download on, compared with the built-in source that it renews", async () => {
    const fixture = await curatedFixture(names(800))
    expect(setsOf(fixture, "bundled.com")).toEqual([])
  })

  test("is disposable again once the source lists it again", async () => {
    const fixture = await curatedFixture(names(800))
    await fixture.nextDay()
    fixture.serve("fresh", ["bundled.com", ...names(800)])
    await fixture.refresh()
    expect(setsOf(fixture, "bundled.com")).toEqual(["disposable"])
  })

  test("stays listed by the others if a hundred others go at once, which is no removal by hand", async () => {
    const fixture = await curatedFixture(["bundled.com", ...names(800)])
    await fixture.nextDay()
    fixture.serve("fresh", ["bundled.com", ...names(800).slice(101)])
    await fixture.refresh()
    expect(setsOf(fixture, "name0.com")).toEqual(["disposable"])
    await fixture.nextDay()
    fixture.serve("fresh", ["bundled.com", ...names(800).slice(201)])
    await fixture.refresh()
    expect(setsOf(fixture, "name0.com")).toEqual(["disposable"])
    expect(setsOf(fixture, "name101.com")).toEqual([])
  })

  test("stays listed by the others if more than a hundred go in several refreshes of a day", async () => {
    const fixture = await curatedFixture(["bundled.com", ...names(800)])
    await fixture.nextDay()
    for (const gone of [60, 120]) {
      fixture.serve("fresh", ["bundled.com", ...names(800).slice(gone)])
      await fixture.refresh()
    }
    expect(setsOf(fixture, "name0.com")).toEqual([])
    expect(setsOf(fixture, "name60.com")).toEqual(["disposable"])
  })

  test("stays listed by the others if the source does not track removals", async () => {
    const fixture = await curatedFixture(names(800), false)
    expect(setsOf(fixture, "bundled.com")).toEqual(["disposable"])
  })
})

describe.each([
  ["removals", "removed_disposable", []],
  ["government bodies", "government", ["government"]],
] as const)("a source of %s that frees disposable names", (_, set, setsOfFreed) => {
  async function freeingFixture(): Promise<RefreshFixture> {
    const fixture = refreshFixture({
      stock: smallBundle({
        bundled: { set: "disposable", trust: "high", names: names(800) },
        known: { set, trust: "curated", names: names(800).slice(700, 702) },
        fresh: { ...DOWNLOADED, set, trust: "highest" },
      }),
    })
    fixture.serve("fresh", names(800).slice(600, 702))
    await fixture.refresh()
    await fixture.nextDay()
    return fixture
  }

  test("may free a hundred in a day, be it in several refreshes, and those that are built in do not count", async () => {
    const fixture = await freeingFixture()
    expect(setsOf(fixture, "name600.com")).toEqual([...setsOfFreed])
    for (const count of [60, 100]) {
      fixture.serve("fresh", [...names(count), ...names(800).slice(600, 702)])
      expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "taken" })
      expect(setsOf(fixture, `name${count - 1}.com`)).toEqual([...setsOfFreed])
    }
  })

  test("is refused and told if it would free one more, and frees none of them", async () => {
    const fixture = await freeingFixture()
    fixture.serve("fresh", [...names(60), ...names(800).slice(600, 702)])
    await fixture.refresh()
    fixture.serve("fresh", [...names(101), ...names(800).slice(600, 702)])
    const says = "It would remove 101 names from the disposable set in a day. The limit is 100."
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "refused", says })
    expect(setsOf(fixture, "name59.com")).toEqual([...setsOfFreed])
    expect(setsOf(fixture, "name60.com")).toEqual(["disposable"])
  })

  test("is refused with the first download too", async () => {
    const fixture = await freeingFixture()
    await fixture.folder.remove("fresh.txt")
    fixture.serve("fresh", names(101))
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "refused" })
  })
})

test("a source of government bodies may have any number of names that no trusted source calls disposable", async () => {
  const fixture = refreshFixture()
  fixture.serve("offices", names(300))
  expect((await fixture.refresh()).sources["offices"]).toMatchObject({ outcome: "taken" })
  expect(setsOf(fixture, "name299.com")).toEqual(["government"])
})
