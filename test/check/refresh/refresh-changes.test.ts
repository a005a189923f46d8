import { describe, expect, test } from "bun:test"
import { changeByAct, type ListsAct } from "../../../src/check/refresh/lists-in-force.ts"
import { formatRefreshState, STATE_FILE } from "../../../src/check/refresh/refresh-state.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import {
  FIRST_NAMES,
  OLD_COUNT,
  oldNames,
  type RefreshFixture,
  refreshedFixture,
  setsOf,
  smallBundle,
  sourcesOf,
} from "./refresh-fixture.ts"

describe("with another source bundle, a refresh", () => {
  const newer = smallBundle({
    bundled: { set: "disposable", trust: "high", names: [...oldNames(OLD_COUNT), "newer.com"] },
    fresh: { set: "disposable", trust: "highest", names: [], isDownloaded: true },
    extra: { set: "disposable", trust: "low", names: [], isDownloaded: true },
    offices: { set: "government", trust: "high", names: [], isDownloaded: true },
  })

  test("builds a pack of it and the downloads, and keeps none of the older packs", async () => {
    const fixture = await refreshedFixture()
    fixture.serve("fresh", () => new Response(null, { status: 503 }))
    const { activated } = await fixture.refresh(null, { bundle: newer, bundleId: "stock-2" })
    expect(activated).toMatchObject({ version: fixture.inUse()?.version ?? "" })
    expect(sourcesOf(fixture, "newer.com")).toEqual([["bundled", null]])
    expect(sourcesOf(fixture, "first.com")).toEqual([["fresh", null]])
    expect(fixture.state().packs).toHaveLength(1)
  })

  test("that cannot build a pack does not put a pack of the previous bundle in use", async () => {
    const fixture = await refreshedFixture()
    const word = (set: string) => ({ set, trust: "curated", names: ["team"] }) as const
    const faulty = smallBundle({
      fresh: { ...fresh(), renews: "bundled" },
      bundled: bundled(),
      a: word("group"),
      b: word("shared_inbox"),
    })
    const { activated, faults } = await fixture.refresh(null, { bundle: faulty, bundleId: "stock-2" })
    expect([activated, faults]).toEqual([null, ['"team" is a group word and a shared-inbox word']])
    expect(fixture.state()).toMatchObject({ stock: "stock-2", in_use: null })
  })

  const fresh = () => ({ set: "disposable", trust: "highest", names: [], isDownloaded: true }) as const
  const bundled = () => ({ set: "disposable", trust: "high", names: oldNames(OLD_COUNT) }) as const
})

test("if no pack can be built, the one in use stays, and the downloads are used as soon as one can", async () => {
  const fixture = await refreshedFixture()
  const version = fixture.inUse()?.version
  const bundle = smallBundle({
    fresh: { set: "disposable", trust: "highest", names: [], isDownloaded: true },
    a: { set: "group", trust: "curated", names: ["team"] },
    b: { set: "shared_inbox", trust: "curated", names: ["team"] },
  })
  fixture.serve("fresh", [...FIRST_NAMES, "second.com"])
  expect(await fixture.refresh(null, { bundle })).toMatchObject({ activated: null, faults: [expect.any(String)] })
  expect(fixture.inUse()?.version).toBe(version)
  await fixture.refresh()
  expect(setsOf(fixture, "second.com")).toEqual(["disposable"])
})

/** What an act of an operator does to the folder. */
function act(fixture: Pick<RefreshFixture, "state" | "folder">, what: ListsAct): void {
  const change = changeByAct(what, fixture.state(), [], "v0")
  if (change === null) throw new Error("there is no such pack")
  fixture.folder.put(STATE_FILE, formatRefreshState(change(fixture.state())))
}

describe("after a roll-back", () => {
  test("the previous lists stay in use over refreshes, until they are unpinned, and the pack that was rolled back from is not kept", async () => {
    const fixture = await refreshedFixture()
    const first = fixture.inUse()?.version
    fixture.serve("extra", ["extra.com", "bad.com"])
    await fixture.refresh()
    const bad = fixture.inUse()?.version ?? ""
    act(fixture, { kind: "roll_back" })
    expect(fixture.inUse()?.version).toBe(first)
    for (const name of ["better.com", "best.com"]) {
      fixture.serve("extra", ["extra.com", name])
      expect(await fixture.refresh()).toMatchObject({ activated: null, pinned: first ?? "" })
      expect(fixture.inUse()?.version).toBe(first)
    }
    expect(fixture.state().packs.map(({ version }) => version)).not.toContain(bad)
    expect(fixture.state().packs).toHaveLength(2)
    act(fixture, { kind: "unpin" })
    expect(setsOf(fixture, "best.com")).toEqual(["disposable"])
    expect(setsOf(fixture, "better.com")).toEqual([])
  })

  test("a refresh without changes changes nothing, and the newest pack is still there", async () => {
    const fixture = await refreshedFixture()
    fixture.serve("extra", ["extra.com", "more.com"])
    await fixture.refresh()
    const packs = fixture.state().packs
    act(fixture, { kind: "roll_back" })
    await fixture.refresh()
    expect(fixture.state().packs).toEqual(packs)
    act(fixture, { kind: "unpin" })
    expect(setsOf(fixture, "more.com")).toEqual(["disposable"])
  })
})

test("lists that are pinned stay in use when another version of the program refreshes, and its own ones follow them", async () => {
  const fixture = await refreshedFixture()
  const pinned = fixture.inUse()?.version ?? ""
  act(fixture, { kind: "pin", version: pinned })
  fixture.serve("extra", ["extra.com", "newer.com"])
  await fixture.refresh(null, { bundleId: "stock-2" })
  expect(fixture.state()).toMatchObject({ stock: "stock-2", pinned })
  expect(fixture.inUse()?.version).toBe(pinned)
  act(fixture, { kind: "unpin" })
  expect(setsOf(fixture, "newer.com")).toEqual(["disposable"])
})

describe("damage", () => {
  test("to a stored download is repaired by an unconditional download", async () => {
    const fixture = await refreshedFixture()
    fixture.folder.put("extra.txt", "half a cop")
    const { sources, activated } = await fixture.refresh()
    expect(sources["extra"]).toMatchObject({ outcome: "taken" })
    expect(activated).toBeNull()
  })

  test("to the state is repaired from the stored downloads, even if no source responds", async () => {
    const fixture = await refreshedFixture()
    const version = fixture.inUse()?.version
    fixture.folder.put("state.json", formatRefreshState(fixture.state()).slice(0, 100))
    for (const id of ["fresh", "extra", "offices"]) fixture.serve(id, () => new Response(null, { status: 500 }))
    await fixture.refresh()
    expect(fixture.inUse()?.version).toBe(version)
    expect(fixture.state().sources["fresh"]).toMatchObject({ outcome: "failed", changed_at_ms: Date.UTC(2026, 0, 1) })
  })
})

test("no write is running when a refresh rejects because of failed writes", async () => {
  const fixture = await refreshedFixture()
  fixture.serve("fresh", [...FIRST_NAMES, "second.com"])
  fixture.serve("extra", () => new Response(null, { status: 500 }))
  const bothBegun = Promise.withResolvers<void>()
  let underWay = 0
  const writeAtomic: typeof fixture.folder.writeAtomic = async name => {
    if (++underWay === 2) bothBegun.resolve()
    await bothBegun.promise
    for (let turn = 0; turn < (name === "fresh.txt" ? 100 : 1); turn++) await Promise.resolve()
    underWay--
    throw new Error("no room left")
  }
  expect(await outcomeOf(fixture.refresh(null, { folder: { ...fixture.folder, writeAtomic } }))).toThrow("no room left")
  expect(underWay).toBe(0)
})
