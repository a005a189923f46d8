import { describe, expect, test } from "bun:test"
import { formatRefreshState, rollBack } from "../../../src/check/refresh/refresh-state.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import {
  FIRST_NAMES,
  OLD_COUNT,
  oldNames,
  refreshedFixture,
  setsOf,
  smallBundle,
  sourcesOf,
} from "./refresh-fixture.ts"

describe("over another stock, a refresh", () => {
  const newer = smallBundle({
    bundled: { set: "disposable", trust: "high", names: [...oldNames(OLD_COUNT), "newer.com"] },
    fresh: { set: "disposable", trust: "highest", names: [], isDownloaded: true },
    extra: { set: "disposable", trust: "low", names: [], isDownloaded: true },
    offices: { set: "government", trust: "high", names: [], isDownloaded: true },
  })

  test("makes a pack of it and the copies, and keeps none of the packs before", async () => {
    const house = await refreshedFixture()
    house.serve("fresh", () => new Response(null, { status: 503 }))
    const { activated } = await house.refresh(null, { bundle: newer, bundleId: "stock-2" })
    expect(activated).toMatchObject({ version: house.inUse()?.version ?? "" })
    expect(sourcesOf(house, "newer.com")).toEqual([["bundled", null]])
    expect(sourcesOf(house, "first.com")).toEqual([["fresh", null]])
    expect(house.state().packs).toHaveLength(1)
  })

  test("of which no pack can be made does not bring back the one over the stock before", async () => {
    const house = await refreshedFixture()
    const word = (set: string) => ({ set, trust: "curated", names: ["team"] }) as const
    const faulty = smallBundle({
      fresh: { ...fresh(), renews: "bundled" },
      bundled: bundled(),
      a: word("group"),
      b: word("shared_inbox"),
    })
    const { activated, faults } = await house.refresh(null, { bundle: faulty, bundleId: "stock-2" })
    expect([activated, faults]).toEqual([null, ['"team" is a group word and a shared-inbox word']])
    expect(house.state()).toMatchObject({ stock: "stock-2", in_use: null })
  })

  const fresh = () => ({ set: "disposable", trust: "highest", names: [], isDownloaded: true }) as const
  const bundled = () => ({ set: "disposable", trust: "high", names: oldNames(OLD_COUNT) }) as const
})

test("no pack can be made: the one in use stays, and the copies serve once it can", async () => {
  const house = await refreshedFixture()
  const version = house.inUse()?.version
  const bundle = smallBundle({
    fresh: { set: "disposable", trust: "highest", names: [], isDownloaded: true },
    a: { set: "group", trust: "curated", names: ["team"] },
    b: { set: "shared_inbox", trust: "curated", names: ["team"] },
  })
  house.serve("fresh", [...FIRST_NAMES, "second.com"])
  expect(await house.refresh(null, { bundle })).toMatchObject({ activated: null, faults: [expect.any(String)] })
  expect(house.inUse()?.version).toBe(version)
  await house.refresh()
  expect(setsOf(house, "second.com")).toEqual(["disposable"])
})

describe("after an operator went back", () => {
  test("a refresh by hand makes an end of it, and nobody goes back to what was gone back from", async () => {
    const house = await refreshedFixture()
    const first = house.inUse()?.version
    house.serve("extra", ["extra.com", "bad.com"])
    await house.refresh()
    expect(await rollBack(house.folder, "stock-1")).toEqual({ version: first ?? "" })
    expect(house.inUse()?.version).toBe(first)
    house.serve("extra", ["extra.com", "better.com"])
    await house.refresh()
    expect(setsOf(house, "better.com")).toEqual(["disposable"])
    expect(house.state().is_paused).toBe(false)
    expect(await rollBack(house.folder, "stock-1")).toEqual({ version: first ?? "" })
    expect(await rollBack(house.folder, "stock-1")).toBe("built_in")
  })

  test("a refresh that finds the same puts the newest pack in use again", async () => {
    const house = await refreshedFixture()
    house.serve("extra", ["extra.com", "more.com"])
    await house.refresh()
    const packs = house.state().packs
    await rollBack(house.folder, "stock-1")
    expect((await house.refresh()).activated).toMatchObject({ version: house.inUse()?.version ?? "" })
    expect(house.state().packs).toEqual(packs)
  })
})

describe("damage", () => {
  test("to a copy is made good by its source, which is asked for all of it", async () => {
    const house = await refreshedFixture()
    house.folder.put("extra.txt", "half a cop")
    const { sources, activated } = await house.refresh()
    expect(sources["extra"]).toMatchObject({ outcome: "taken" })
    expect(activated).toBeNull()
  })

  test("to the state is made good by the copies, even while no source answers", async () => {
    const house = await refreshedFixture()
    const version = house.inUse()?.version
    house.folder.put("state.json", formatRefreshState(house.state()).slice(0, 100))
    for (const id of ["fresh", "extra", "offices"]) house.serve(id, () => new Response(null, { status: 500 }))
    await house.refresh()
    expect(house.inUse()?.version).toBe(version)
    expect(house.state().sources["fresh"]).toMatchObject({ outcome: "failed", changed_at_ms: Date.UTC(2026, 0, 1) })
  })
})

test("of several writes that fail none is under way when the refresh rejects", async () => {
  const house = await refreshedFixture()
  house.serve("fresh", [...FIRST_NAMES, "second.com"])
  house.serve("extra", () => new Response(null, { status: 500 }))
  const bothBegun = Promise.withResolvers<void>()
  let underWay = 0
  const writeAtomic: typeof house.folder.writeAtomic = async name => {
    if (++underWay === 2) bothBegun.resolve()
    await bothBegun.promise
    for (let turn = 0; turn < (name === "fresh.txt" ? 100 : 1); turn++) await Promise.resolve()
    underWay--
    throw new Error("no room left")
  }
  expect(await outcomeOf(house.refresh(null, { folder: { ...house.folder, writeAtomic } }))).toThrow("no room left")
  expect(underWay).toBe(0)
})
