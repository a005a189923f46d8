import { expect, test } from "bun:test"
import { refresh } from "../../../src/check/refresh/refresh.ts"
import { withRefreshLock } from "../../../src/check/refresh/refresh-lock.ts"
import {
  FIRST_NAMES,
  type RefreshFixture,
  refreshedFixture,
  refreshFixture,
  setsOf,
  sourcesOf,
} from "./refresh-fixture.ts"

/** More changes than a refresh makes of its folder. */
const CHANGES_MAX = 60

/** Refreshes in turn as a process of this number; those of `dead` have ended. */
const refreshAs = (house: RefreshFixture, pid: number, dead: ReadonlySet<number> = new Set()) =>
  withRefreshLock({ ...house.needs, pid, isRunning: other => other > 0 && !dead.has(other) }, () =>
    refresh(house.needs, null),
  )

/**
 * Has a refresh die at each of its changes, one after the other, each time in a house of its own. `broken` sees the house
 * after the death; then another process refreshes.
 */
async function dyingAtEach(
  prepared: () => Promise<RefreshFixture>,
  broken: (house: RefreshFixture) => void,
  healed: (house: RefreshFixture) => void,
): Promise<number> {
  for (let change = 1; change <= CHANGES_MAX; change++) {
    const house = await prepared()
    house.folder.dieAt(change)
    const death = await refreshAs(house, 1).then(
      () => null,
      (fault: unknown) => String(fault),
    )
    house.folder.revive()
    if (death === null) return change - 1
    expect(death).toBe("Error: the process is dead")
    broken(house)
    expect(await refreshAs(house, 2, new Set([1]))).not.toBeNull()
    healed(house)
  }
  throw new Error("a refresh has an end")
}

/** The files of a folder in which nothing is left over. */
function expectTidy(house: RefreshFixture): void {
  const { packs } = house.state()
  const kept = packs.flatMap(({ sha256 }) => [`${sha256.slice(0, 16)}.json`, `${sha256.slice(0, 16)}.pack`])
  expect([...house.folder.held.keys()].toSorted()).toEqual(
    [...kept, "extra.txt", "fresh.txt", "offices.txt", "state.json"].toSorted(),
  )
}

test("a first refresh may die between any two writes: what came along is in use, and the next one heals", async () => {
  const prepared = async () => {
    const house = refreshFixture()
    house.serve("fresh", FIRST_NAMES)
    house.serve("extra", ["extra.com"])
    house.serve("offices", ["nasa.gov"])
    return house
  }
  const deaths = await dyingAtEach(
    prepared,
    // After the state is written the pack is in use already; before, none is.
    house => expect([null, "disposable"]).toContain(setsOf(house, "first.com")?.[0] ?? null),
    house => {
      expect(setsOf(house, "first.com")).toEqual(["disposable"])
      expectTidy(house)
    },
  )
  // The turn, three copies, the manifest, the pack, the state, and the end of the turn.
  expect(deaths).toBe(8)
})

test("a later one may too: the pack in use opens, old or new, and the days on which names came in stay right", async () => {
  const names = ["second.com", "third.com", "fourth.com"]
  const prepared = async () => {
    const house = await refreshedFixture()
    for (const [at, name] of names.entries()) {
      await house.nextDay()
      house.serve("fresh", [...FIRST_NAMES, ...names.slice(0, at + 1)])
      house.serve("extra", ["extra.com", `extra-${name}`])
      // The last is the one that dies.
      if (name !== "fourth.com") await house.refresh()
    }
    return house
  }
  const deaths = await dyingAtEach(
    prepared,
    house => {
      expect(house.inUse()).not.toBeNull()
      expect(setsOf(house, "third.com")).toEqual(["disposable"])
      for (const { sha256 } of house.state().packs)
        expect(house.folder.held.has(`${sha256.slice(0, 16)}.pack`)).toBe(true)
    },
    house => {
      expect(sourcesOf(house, "fourth.com")).toEqual([["fresh", "2026-01-04"]])
      expect(sourcesOf(house, "second.com")).toEqual([["fresh", "2026-01-02"]])
      expect(setsOf(house, "extra-fourth.com")).toEqual(["disposable"])
      expect(house.state().sources["fresh"]).toMatchObject({ changed_at_ms: expect.any(Number) })
      expect(house.state().packs).toHaveLength(3)
      expectTidy(house)
    },
  )
  // As above, and the oldest pack and its manifest are removed.
  expect(deaths).toBe(10)
})
