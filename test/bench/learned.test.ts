import { expect, test } from "bun:test"
import { LEARNED_FULL, learnedBench } from "../../bench/cases/learned.ts"
import { learnedWorld } from "../../bench/cases/learned-simulation.ts"
import { budgetStatus, type Report, reportText } from "../../bench/report/report.ts"

const LIMIT_MS = 300_000

const figuresOf = ({ figures }: Report): ReadonlyMap<string, number> =>
  new Map(figures.map(({ name, value }) => [name, value]))

test("the worlds of the bench have the published shares, and are the same on every run", () => {
  for (const spread of ["counted", "even"] as const) {
    const world = learnedWorld(LEARNED_FULL.system, spread, 1)
    expect(learnedWorld(LEARNED_FULL.system, spread, 1)).toEqual(world)
    const disposable = world.filter(({ kind }) => kind === "service" || kind === "shared")
    const share = (part: typeof world, of: typeof world): number => part.length / of.length
    const shared = disposable.filter(({ kind }) => kind === "shared")
    expect(share(shared, disposable)).toBeCloseTo(0.2, 1)
    const ownName = disposable.filter(({ domain, mx }) => mx?.endsWith(domain))
    expect(share(ownName, disposable)).toBeCloseTo(0.25, 1)
    const unlisted = disposable.filter(({ isListed }) => !isListed)
    expect(share(unlisted, disposable)).toBeCloseTo(0.05, 1)
    const listed = world.filter(({ isListed, kind }) => isListed && ["service", "shared", "gone"].includes(kind))
    expect(
      share(
        listed.filter(({ mx }) => mx === null),
        listed,
      ),
    ).toBeCloseTo(0.42, 2)
    expect(world.filter(({ isListed, isDisposable }) => isListed && !isDisposable)).toEqual([])
    const sum = world.reduce((total, { weight }) => total + weight, 0)
    expect(sum).toBeCloseTo(1, 6)
  }
})

test(
  "the bench of learned hosts finds more as it learns, and an honest domain only under attack, for a moment",
  async () => {
    const report = await learnedBench({ ...LEARNED_FULL, worlds: 2, marks: [0, 2000, 20_000], sightings: 500 })
    expect(report.figures.filter(one => budgetStatus(one) === "crossed")).toEqual([])
    const figures = figuresOf(report)
    const at = (name: string): number => figures.get(name) ?? Number.NaN
    for (const spread of ["unlisted domains as counted", "unlisted domains at every service alike"])
      expect(at(`recall after 0 checks, ${spread}`)).toBeLessThan(at(`recall after 20000 checks, ${spread}`))
    for (const where of ["one host", "own names at one address"]) {
      expect(at(`5 listed domains at ${where}, never checked before: reviews of 60 honest checks`)).toBe(1)
      expect(at(`20 listed domains at ${where}, never checked before: reviews of 60 honest checks`)).toBe(2)
      expect(at(`20 listed domains at ${where}, checked before: reviews of 60 honest checks`)).toBe(0)
    }
    expect(at("memory of 500 sightings")).toBeGreaterThan(0)
    for (const name of figures.keys()) expect(reportText(report)).toContain(name)
  },
  LIMIT_MS,
)
