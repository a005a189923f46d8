import { expect, test } from "bun:test"
import { LEARNED_FULL, learnedBench } from "../../bench/cases/learned.ts"
import { learnedWorld } from "../../bench/cases/learned-simulation.ts"
import { budgetStatus, type Report, reportText } from "../../bench/report/report.ts"

const LIMIT_MS = 300_000

const figuresOf = ({ figures }: Report): ReadonlyMap<string, number> =>
  new Map(figures.map(({ name, value }) => [name, value]))

test("the world of the bench has two thousand domains, and is the same on every run", () => {
  const system = learnedWorld(LEARNED_FULL.system, LEARNED_FULL.attackers, 1)
  expect(system).toHaveLength(2000)
  expect(learnedWorld(LEARNED_FULL.system, LEARNED_FULL.attackers, 1)).toEqual(system)
  const hosts = Object.values(LEARNED_FULL.system).reduce((sum, kind) => sum + kind.hosts, 0)
  expect(new Set(system.map(({ mx }) => mx.replace(/^mx\d\./, ""))).size).toBe(hosts)
  expect(system.filter(({ isListed, isDisposable }) => isListed && !isDisposable)).toEqual([])
})

test(
  "the bench of learned hosts finds what it can, and errs only about the victim of an attack, for a while",
  async () => {
    const report = await learnedBench({ ...LEARNED_FULL, worlds: 2, marks: [250, 1000, 20_000], sightings: 500 })
    expect(report.figures.filter(one => budgetStatus(one) !== null).map(budgetStatus)).toEqual(["held", "held", "held"])
    const figures = figuresOf(report)
    const at = (name: string): number => figures.get(name) ?? Number.NaN
    expect(at("recall after 250 checks")).toBeLessThan(at("recall after 20000 checks"))
    expect(at("recall in reach after 20000 checks")).toBeGreaterThan(0.9)
    expect(at("precision under attack after 250 checks")).toBeLessThan(1)
    expect(at("precision under attack after 20000 checks")).toBe(1)
    expect(at("memory of 500 sightings")).toBeGreaterThan(0)
    for (const name of figures.keys()) expect(reportText(report)).toContain(name)
  },
  LIMIT_MS,
)
