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

/** More than the number of writes of one refresh. */
const CHANGES_MAX = 60

/** Refreshes under the lock as this process; the processes in `dead` have ended. */
const refreshAs = (fixture: RefreshFixture, pid: number, dead: ReadonlySet<number> = new Set()) =>
  withRefreshLock(
    { ...fixture.needs, folder: fixture.folder, pid, isRunning: other => other > 0 && !dead.has(other) },
    () => refresh(fixture.needs, null),
  )

/**
 * Crashes a refresh at each of its writes, each time in a new fixture. `broken` checks the fixture after the crash, and
 * `healed` after the refresh of another process.
 */
async function crashAtEachWrite(
  prepared: () => Promise<RefreshFixture>,
  broken: (fixture: RefreshFixture) => void,
  healed: (fixture: RefreshFixture) => void,
): Promise<number> {
  for (let change = 1; change <= CHANGES_MAX; change++) {
    const fixture = await prepared()
    fixture.folder.dieAt(change)
    const death = await refreshAs(fixture, 1).then(
      () => null,
      (fault: unknown) => String(fault),
    )
    fixture.folder.revive()
    if (death === null) return change - 1
    expect(death).toBe("Error: the process is dead")
    broken(fixture)
    expect(await refreshAs(fixture, 2, new Set([1]))).not.toBeNull()
    healed(fixture)
  }
  throw new Error("a refresh has an end")
}

/** The files of a folder without leftovers. */
function expectTidy(fixture: RefreshFixture): void {
  const { packs } = fixture.state()
  const kept = packs.flatMap(({ sha256 }) => [`${sha256.slice(0, 16)}.json`, `${sha256.slice(0, 16)}.pack`])
  expect([...fixture.folder.held.keys()].toSorted()).toEqual(
    [...kept, "extra.txt", "fresh.txt", "offices.txt", "state.json"].toSorted(),
  )
}

test("the first refresh may crash between any two writes: the bundled pack stays in use, and the next refresh repairs it", async () => {
  const prepared = async () => {
    const fixture = refreshFixture()
    fixture.serve("fresh", FIRST_NAMES)
    fixture.serve("extra", ["extra.com"])
    fixture.serve("offices", ["nasa.gov"])
    return fixture
  }
  const deaths = await crashAtEachWrite(
    prepared,
    // The pack is in use after the state is written, and not before.
    fixture => expect([null, "disposable"]).toContain(setsOf(fixture, "first.com")?.[0] ?? null),
    fixture => {
      expect(setsOf(fixture, "first.com")).toEqual(["disposable"])
      expectTidy(fixture)
    },
  )
  // The lock, three downloads, the manifest, the pack, the state, and the release of the lock.
  expect(deaths).toBe(8)
})

test("a later refresh may crash too: the pack in use is intact, old or new, and the days of names stay right", async () => {
  const names = ["second.com", "third.com", "fourth.com"]
  const prepared = async () => {
    const fixture = await refreshedFixture()
    for (const [at, name] of names.entries()) {
      await fixture.nextDay()
      fixture.serve("fresh", [...FIRST_NAMES, ...names.slice(0, at + 1)])
      fixture.serve("extra", ["extra.com", `extra-${name}`])
      // The last write is the one that crashes.
      if (name !== "fourth.com") await fixture.refresh()
    }
    return fixture
  }
  const deaths = await crashAtEachWrite(
    prepared,
    fixture => {
      expect(fixture.inUse()).not.toBeNull()
      expect(setsOf(fixture, "third.com")).toEqual(["disposable"])
      for (const { sha256 } of fixture.state().packs)
        expect(fixture.folder.held.has(`${sha256.slice(0, 16)}.pack`)).toBe(true)
    },
    fixture => {
      expect(sourcesOf(fixture, "fourth.com")).toEqual([["fresh", "2026-01-04"]])
      expect(sourcesOf(fixture, "second.com")).toEqual([["fresh", "2026-01-02"]])
      expect(setsOf(fixture, "extra-fourth.com")).toEqual(["disposable"])
      expect(fixture.state().sources["fresh"]).toMatchObject({ changed_at_ms: expect.any(Number) })
      expect(fixture.state().packs).toHaveLength(3)
      expectTidy(fixture)
    },
  )
  // As above, and the oldest pack and its manifest are removed.
  expect(deaths).toBe(10)
})
