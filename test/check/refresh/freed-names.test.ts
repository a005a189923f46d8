import { describe, expect, test } from "bun:test"
import type { FakeSource } from "../lists/sources/fake-source-files.ts"
import { type RefreshFixture, refreshFixture, setsOf, smallBundle } from "./refresh-fixture.ts"

const names = (count: number, start = 0): string[] => Array.from({ length: count }, (_, at) => `name${start + at}.com`)
const HONEST = Array.from({ length: 400 }, (_, at) => `honest${at}.org`)

const DOWNLOADED = { names: [], isDownloaded: true } as const
const FREEING = "fresh"
const tooMany = (count: number) => ({
  outcome: "refused",
  says: `It would remove ${count} names from the disposable set in a day. The limit is 100.`,
})
const TAKEN = { outcome: "taken", says: "" }

/** A fixture where a source of some set is downloaded, which has had honest names, beside these disposable sources. */
async function freeingFixture(
  freeing: Pick<FakeSource, "set" | "trust" | "window">,
  disposable: Readonly<Record<string, FakeSource>>,
): Promise<RefreshFixture> {
  const fixture = refreshFixture({ stock: smallBundle({ ...disposable, [FREEING]: { ...freeing, ...DOWNLOADED } }) })
  fixture.serve(FREEING, HONEST)
  // Without a row of its own it would be an operator's list.
  if (disposable["extra"] !== undefined) fixture.serve("extra", names(300))
  await fixture.refresh()
  await fixture.nextDay()
  return fixture
}

/** Refreshes with these names beside the honest ones, and returns what became of them. */
async function outcomeWith(fixture: RefreshFixture, added: readonly string[]) {
  fixture.serve(FREEING, [...HONEST, ...added])
  return (await fixture.refresh()).sources[FREEING]
}

const disposableBy = (trust: FakeSource["trust"], listed: readonly string[] = names(300)): FakeSource => ({
  set: "disposable",
  trust,
  names: listed,
})

const FREEING_SETS = [
  ["education", "medium", "low"],
  ["education", "medium", "medium"],
  ["education", "high", "high"],
  ["popular", "high", "high"],
  ["popular", "low", "low"],
  ["organisation", "low", "high"],
  ["personal", "high", "medium"],
  ["not_personal", "low", "low"],
  ["government", "medium", "low"],
  ["government", "high", "highest"],
  ["relay", "low", "highest"],
  ["never_disposable", "low", "highest"],
] as const

describe.each(FREEING_SETS)(
  "a source of %s, of %s trust, that frees names of a disposable source of %s",
  (set, trust, by) => {
    test("may free a hundred in a day, be it in several refreshes, and is refused and told at one more", async () => {
      const fixture = await freeingFixture({ set, trust }, { bundled: disposableBy(by) })
      for (const count of [60, 100]) {
        expect(await outcomeWith(fixture, names(count))).toMatchObject(TAKEN)
        expect(setsOf(fixture, `name${count - 1}.com`)).not.toContain("disposable")
      }
      expect(await outcomeWith(fixture, names(101))).toMatchObject(tooMany(101))
      expect(setsOf(fixture, "name99.com")).not.toContain("disposable")
      expect(setsOf(fixture, "name100.com")).toEqual(["disposable"])
      await fixture.nextDay()
      expect(await outcomeWith(fixture, names(200))).toMatchObject(TAKEN)
      expect(await outcomeWith(fixture, names(201))).toMatchObject(tooMany(101))
    })

    test("may free no more of those that only a download lists", async () => {
      const fixture = await freeingFixture({ set, trust }, { extra: { ...disposableBy(by), ...DOWNLOADED } })
      expect(await outcomeWith(fixture, names(101))).toMatchObject(tooMany(101))
      expect(await outcomeWith(fixture, names(100))).toMatchObject(TAKEN)
    })

    test("is refused with the first download too", async () => {
      const fixture = await freeingFixture({ set, trust }, { bundled: disposableBy(by) })
      await fixture.folder.remove(`${FREEING}.txt`)
      expect(await outcomeWith(fixture, names(101))).toMatchObject(tooMany(101))
      expect(await outcomeWith(fixture, names(100))).toMatchObject(TAKEN)
    })
  },
)

describe("names that a source lists and does not free do not count:", () => {
  test.each([
    ["those that a trusted source calls disposable, in a school list of medium trust", "education", "medium", ["high"]],
    ["those that two trusted sources call disposable, in a popular list", "popular", "high", ["high", "highest"]],
    ["those of a provider list that is not trusted", "personal", "medium", ["low"]],
  ] as const)("%s", async (_, set, trust, listedBy) => {
    const listing = listedBy.map((by, index) => [`bundled${index}`, disposableBy(by)] as const)
    const fixture = await freeingFixture({ set, trust }, Object.fromEntries(listing))
    expect(await outcomeWith(fixture, names(300))).toMatchObject(TAKEN)
    expect(setsOf(fixture, "name299.com")).toEqual(["disposable"])
  })
})

test("one new name that frees more than a hundred names below it is refused", async () => {
  const below = names(101).map((_, at) => `host${at}.rented.com`)
  const freeing = { set: "relay", trust: "high" } as const
  const fixture = await freeingFixture(freeing, { bundled: disposableBy("high", below) })
  expect(await outcomeWith(fixture, ["rented.com"])).toMatchObject(tooMany(101))
  const hundred = await freeingFixture(freeing, { bundled: disposableBy("high", below.slice(1)) })
  expect(await outcomeWith(hundred, ["rented.com"])).toMatchObject(TAKEN)
})

test("a suffix frees the names under it, and counts by them", async () => {
  const below = names(101).map((_, at) => `host${at}.rented.com`)
  const fixture = await freeingFixture(
    { set: "education_suffix", trust: "high" },
    { bundled: disposableBy("high", below) },
  )
  expect(await outcomeWith(fixture, ["*.rented.com", "rented.com"])).toMatchObject(tooMany(101))
})

test("a window source is held to the same bound", async () => {
  const window = { days: 30, names: 2_000 }
  const fixture = await freeingFixture({ set: "education", trust: "medium", window }, { bundled: disposableBy("low") })
  expect(await outcomeWith(fixture, names(101))).toMatchObject(tooMany(101))
  expect(await outcomeWith(fixture, names(100))).toMatchObject(TAKEN)
})

describe("the first download of a source", () => {
  const extra = { ...disposableBy("low"), ...DOWNLOADED }
  const fresh = { set: "education", trust: "medium", ...DOWNLOADED } as const

  test("that renews a built-in one may free no more of those that only a download of the same refresh lists", async () => {
    const bundled: FakeSource = { set: "education", trust: "medium", names: HONEST }
    const fixture = refreshFixture({ stock: smallBundle({ bundled, extra, fresh: { ...fresh, renews: "bundled" } }) })
    fixture.serve("extra", names(300))
    expect(await outcomeWith(fixture, names(101))).toMatchObject(tooMany(101))
    expect(await outcomeWith(fixture, names(100))).toMatchObject(TAKEN)
  })

  test("that renews none is compared with built-in sources alone, and from then on with all", async () => {
    const fixture = refreshFixture({ stock: smallBundle({ extra, fresh }) })
    fixture.serve("extra", names(300))
    expect(await outcomeWith(fixture, names(120))).toMatchObject(TAKEN)
    expect(await outcomeWith(fixture, names(120 + 101))).toMatchObject(tooMany(101))
    expect(await outcomeWith(fixture, names(120 + 100))).toMatchObject(TAKEN)
  })
})
