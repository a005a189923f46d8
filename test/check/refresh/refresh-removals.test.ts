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

  test("stays listed by the others if the source does not track removals", async () => {
    const fixture = await curatedFixture(names(800), false)
    expect(setsOf(fixture, "bundled.com")).toEqual(["disposable"])
  })
})
