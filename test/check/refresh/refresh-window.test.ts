import { describe, expect, test } from "bun:test"
import { listText, setsOf } from "./refresh-fixture.ts"
import { daysOf, FIRST, windowFixture } from "./window-fixture.ts"

const fresh = (count: number): string[] => Array.from({ length: count }, (_, at) => `fresh${at}.com`)

describe("a refresh of a window source", () => {
  test("adds its names to those before, and the pack has the days on which each was first and last seen", async () => {
    const fixture = await windowFixture()
    await fixture.nextDay()
    fixture.serve("fresh", [...FIRST.slice(0, 30), ...fresh(5)])
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "taken", says: "" })
    expect(daysOf(fixture, "first0.com")).toEqual([["2026-01-01", "2026-01-02"]])
    expect(daysOf(fixture, "first59.com")).toEqual([["2026-01-01", "2026-01-01"]])
    expect(daysOf(fixture, "fresh0.com")).toEqual([["2026-01-02", "2026-01-02"]])
  })

  test("drops names 180 days after they were last seen, even if its server is gone for good", async () => {
    const fixture = await windowFixture()
    fixture.serve("fresh", () => new Response(null, { status: 404 }))
    for (let day = 0; day < 180; day++) await fixture.nextDay()
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "failed" })
    expect(setsOf(fixture, "first0.com")).toEqual(["disposable"])
    await fixture.nextDay()
    await fixture.refresh()
    expect(setsOf(fixture, "first0.com")).toEqual([])
  })

  test("does not take a window that repeats the last one for news, be it said by 304 or by the same names", async () => {
    const fixture = await windowFixture()
    await fixture.nextDay()
    fixture.serve("fresh", () => new Response(listText(FIRST.toReversed()), { headers: { etag: '"1"' } }))
    const unchanged = { outcome: "unchanged", changed_at_ms: Date.UTC(2026, 0, 1) }
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject(unchanged)
    fixture.serve("fresh", () => new Response(null, { status: 304 }))
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject(unchanged)
    expect(daysOf(fixture, "first0.com")).toEqual([["2026-01-01", "2026-01-01"]])
  })

  test("refuses a poisoned day and tells it; the names before stay, and the next day is taken", async () => {
    const fixture = await windowFixture()
    const version = fixture.inUse()?.version
    await fixture.nextDay()
    fixture.serve("fresh", [...FIRST, ...fresh(31)])
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({
      outcome: "refused",
      says: "31 of its names are new. We expected at most 30, so the list may be poisoned.",
    })
    expect(fixture.inUse()?.version).toBe(version)
    await fixture.nextDay()
    fixture.serve("fresh", [...FIRST, ...fresh(7)])
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "taken" })
    expect(daysOf(fixture, "fresh0.com")).toEqual([["2026-01-03", "2026-01-03"]])
  })

  test("leaves out popular names, organisations, providers, schools, offices and what is never disposable", async () => {
    const fixture = await windowFixture()
    await fixture.nextDay()
    const guarded = ["bureau.org", "firm.com", "gmail.com", "post.de", "school.org", "stripe.com", "visited.com"]
    fixture.serve("fresh", [...FIRST, ...guarded, "new.com"])
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({
      outcome: "taken",
      left_out: { count: guarded.length, names: guarded.slice(0, 5) },
    })
    for (const name of guarded) expect([name, daysOf(fixture, name)]).toEqual([name, []])
    expect(setsOf(fixture, "new.com")).toEqual(["disposable"])
  })

  test("refuses a day with more than ten such names", async () => {
    const fixture = await windowFixture()
    await fixture.nextDay()
    const towns = Array.from({ length: 11 }, (_, at) => `town${at}.com`)
    fixture.serve("fresh", [...FIRST, ...towns])
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({
      outcome: "refused",
      says: expect.stringMatching(/^11 of its 71 names cannot be on such a list/),
    })
    fixture.serve("fresh", [...FIRST, ...towns.slice(1), "new.com"])
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({ outcome: "taken", left_out: { count: 10 } })
  })

  test.each<[string, () => Response, RegExp]>([
    ["is empty", () => new Response(""), /^It has no names\./],
    ["has a million names", () => new Response(many(1_000_000)), /^It has 1000000 entries, more than 500000\.$/],
    [
      "has hundreds of public suffixes",
      () => new Response(`${[...FIRST, ...SUFFIXES].join("\n")}\n`),
      /public suffixes/,
    ],
  ])("keeps the names before when a window %s", async (_, answer, says) => {
    const fixture = await windowFixture()
    await fixture.nextDay()
    fixture.serve("fresh", answer)
    expect((await fixture.refresh()).sources["fresh"]).toMatchObject({
      outcome: "refused",
      says: expect.stringMatching(says),
    })
    expect(setsOf(fixture, "first0.com")).toEqual(["disposable"])
  })
})

const many = (count: number): string => Array.from({ length: count }, (_, at) => `m${at}.com\n`).join("")
const SUFFIXES = ["co.uk", "com.au", "my.id", "web.id", "id.au", "com.ar", "github.io", "com.br", "co.jp", "co.nz"]
