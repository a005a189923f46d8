/**
 * How many throw-away domains of no list are found by their mail hosts, at the first check and as the server learns, and who is found
 * wrongly? Made-up worlds after published counts (`learned-simulation.ts`) are checked domain by domain; at each mark all domains that no
 * list knows are judged. Then listed domains of one account are pointed at an honest host. And what a full memory costs.
 */
import { Deadline } from "../../src/base/concurrency.ts"
import { known } from "../../src/base/finding.ts"
import { DAY_MS } from "../../src/base/time.ts"
import type { CachingResolver, DnsRecord } from "../../src/check/dns/dns-types.ts"
import { candidateHosts } from "../../src/check/learned/candidate-hosts.ts"
import { LEARNED_BOUNDS, LearnedHosts } from "../../src/check/learned/learned-hosts.ts"
import { createLearningProbe } from "../../src/check/learned/learning-probe.ts"
import { matchInSet } from "../../src/check/lists/list-match.ts"
import { createMailProbe } from "../../src/check/mail/mail-probe.ts"
import { seeded } from "../load/seeded-random.ts"
import { type Figure, figure, type Report } from "../report/report.ts"
import { learnedHeld } from "./learned-memory.ts"
import {
  attackersOf,
  type DomainKind,
  learnedWorld,
  type SimulatedDomain,
  type SimulationScale,
  type UnlistedSpread,
  victimOf,
} from "./learned-simulation.ts"

/** How much the bench does. */
export type LearnedScale = {
  readonly system: SimulationScale
  /** How many worlds are made up; what was found is added up. */
  readonly worlds: number
  /** The seed of the first world; each further world has the next one. */
  readonly firstSeed: number
  /** After how many checks the verdicts are counted, in rising order. */
  readonly marks: readonly number[]
  readonly checksPerDay: number
  /** How many sightings the memory is filled with. */
  readonly sightings: number
}

/** The scale of a figure that may be told. */
export const LEARNED_FULL: LearnedScale = {
  system: { disposable: 4000, honest: 6000 },
  worlds: 12,
  firstSeed: 1,
  marks: [0, 1000, 5000, 20_000],
  checksPerDay: 500,
  sightings: LEARNED_BOUNDS.observationsMax,
}

const FIRST_DAY = 20_000

type World = readonly SimulatedDomain[]

/** What was found at a mark, of the domains that no list knows. */
type Mark = {
  readonly checks: number
  /** Called disposable, and so in truth. */
  readonly right: readonly SimulatedDomain[]
  /** Under review, and honest in truth. */
  readonly wrong: readonly SimulatedDomain[]
  /** Blocked, and honest in truth. */
  readonly blocked: readonly SimulatedDomain[]
}

/** Runs the bench. The same scale finds the same, but for what the memory takes and how long it is read. */
export async function learnedBench(scale: LearnedScale): Promise<Report> {
  const spreads: readonly UnlistedSpread[] = ["counted", "even"]
  const found = await Promise.all(spreads.map(spread => foundIn(spread, scale)))
  const wrong = found.flatMap(({ marks, honest }) => marks.map(mark => (mark.wrong.length * 2000) / honest))
  const { heapBytes, readMs, longestPageMs, meetUs } = await learnedHeld(scale.sightings)
  return {
    bench: "learned",
    description: [
      `${scale.worlds} made-up worlds after published counts, added up; ${scale.checksPerDay} checks a day, one in five of a throw-away domain`,
      ...found.flatMap(({ spread, disposable, honest, marks }) => [
        `${SPREADS[spread]}: ${disposable} throw-away domains are on no list; ${honest} honest ones use no known provider`,
        ...marks.map(markSays),
      ]),
    ],
    figures: [
      ...found.flatMap(({ spread, disposable, marks }) =>
        marks.map(({ checks, right }) =>
          figure(
            `recall after ${checks} checks, ${SPREADS[spread]}`,
            "",
            right.length / disposable,
            spread === "even" ? budgetOf(checks, scale) : undefined,
          ),
        ),
      ),
      figure("most honest domains under review of 2000", "", Math.max(...wrong), "learned_wrong"),
      figure(
        "honest domains blocked",
        "",
        sum(found.flatMap(({ marks }) => marks.map(({ blocked }) => blocked.length))),
        "learned_blocked",
      ),
      ...(await attackFigures()),
      figure(`memory of ${scale.sightings} sightings`, "MB", heapBytes / 2 ** 20),
      figure("reading them from the store", "ms", readMs),
      figure("longest pause of that", "ms", longestPageMs),
      figure("counting and judging one domain", "µs", meetUs),
    ],
  }
}

/** Where unlisted domains are as counted, they are of a few services, and chance decides too much. */
function budgetOf(checks: number, { marks }: LearnedScale): "learned_first" | "learned_last" | undefined {
  if (checks === 0) return "learned_first"
  return checks === marks.at(-1) ? "learned_last" : undefined
}

const SPREADS: Readonly<Record<UnlistedSpread, string>> = {
  counted: "unlisted domains as counted",
  even: "unlisted domains at every service alike",
}

/** What was found in the worlds of one kind. */
async function foundIn(spread: UnlistedSpread, scale: LearnedScale) {
  const worlds = Array.from({ length: scale.worlds }, (_, at) =>
    learnedWorld(scale.system, spread, scale.firstSeed + at),
  )
  const all = worlds.flat()
  return {
    spread,
    disposable: all.filter(({ isListed, isDisposable }) => !isListed && isDisposable).length,
    honest: all.filter(({ isDisposable }) => !isDisposable).length,
    marks: await marksOf(worlds, scale),
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0)

/** What was found at each mark in all worlds together. */
async function marksOf(worlds: readonly World[], scale: LearnedScale): Promise<readonly Mark[]> {
  const found = await Promise.all(worlds.map((system, at) => marksIn(system, scale.firstSeed + at, scale)))
  const at = (index: number, part: "right" | "wrong" | "blocked") => found.flatMap(marks => marks[index]?.[part] ?? [])
  return scale.marks.map((checks, index) => ({
    ...{ checks, right: at(index, "right"), wrong: at(index, "wrong"), blocked: at(index, "blocked") },
  }))
}

async function marksIn(system: World, seed: number, { marks, checksPerDay }: LearnedScale): Promise<readonly Mark[]> {
  const next = drawing(system, seed)
  const state = { checks: 0, isCached: false }
  const clock = (): number => (FIRST_DAY + Math.floor(state.checks / checksPerDay)) * DAY_MS
  const judge = judging(system, clock, () => state.isCached)
  const found: Mark[] = []
  for (const checks of marks) {
    state.isCached = false
    for (; state.checks < checks; state.checks++) await judge(next())
    // What comes from a cache is judged and not counted.
    state.isCached = true
    found.push({ checks, ...(await judgeAll(system, judge)) })
  }
  return found
}

/** Judges all domains that no list knows. */
async function judgeAll(system: World, judge: ReturnType<typeof judging>): Promise<Omit<Mark, "checks">> {
  const found: { [Part in "right" | "wrong" | "blocked"]: SimulatedDomain[] } = { right: [], wrong: [], blocked: [] }
  for (const domain of system.filter(({ isListed }) => !isListed)) {
    const called = await judge(domain)
    if (called === null) continue
    if (domain.isDisposable) found.right.push(domain)
    else found[called === "disposable" ? "blocked" : "wrong"].push(domain)
  }
  return found
}

/** Gives the domains in the order in which they are checked, each as often as its weight says, on average. */
function drawing(system: World, seed: number): () => SimulatedDomain {
  const random = seeded(-seed)
  const ends: number[] = []
  for (const { weight } of system) ends.push((ends.at(-1) ?? 0) + weight)
  return () => {
    const at = random() * (ends.at(-1) ?? 0)
    let [low, high] = [0, ends.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) > at) high = middle
      else low = middle + 1
    }
    const drawn = system[low]
    if (drawn === undefined) throw new Error("the weights have a sum")
    return drawn
  }
}

type Called = "disposable" | "learned_disposable" | null

/** Checks one domain by the probe that learns, and says whether its mail host makes it disposable. */
function judging(
  system: World,
  clock: () => number,
  isCached: () => boolean,
): (domain: SimulatedDomain) => Promise<Called> {
  const isListed = new Set(
    system.flatMap(({ domain, isListed: isKnown, mx, isHostListed }) => [
      ...(isKnown ? [domain] : []),
      ...(isHostListed && mx !== null ? [mx] : []),
    ]),
  )
  const request = createMailProbe({ resolver: resolverOf(system), clock })
  const probe = createLearningProbe(async (...of) => ({ ...(await request(...of)), isCached: isCached() }), {
    learnedHosts: new LearnedHosts(LEARNED_BOUNDS, candidateHosts()),
    matchLists: name => matchInSet(isListed.has(name) ? "disposable" : null),
    clock,
  })
  const budget = new Deadline(() => () => undefined, 0)
  return async ({ domain }) => {
    const { mail } = await probe(domain, domain, budget)
    const operator = mail.known ? mail.value.operatedBy : null
    return operator === "disposable" || operator === "learned_disposable" ? operator : null
  }
}

/** The DNS of the world. */
function resolverOf(system: World): CachingResolver {
  const byName = new Map(system.map(each => [each.domain, each]))
  const addressesOf = new Map(system.map(({ mx, addresses }) => [mx, addresses]))
  const recordsFor = (name: string, type: string): readonly DnsRecord[] => {
    const mx = byName.get(name)?.mx
    if (type === "MX") return mx === null || mx === undefined ? [] : [{ type: "MX", preference: 10, exchange: mx }]
    return type === "A" ? (addressesOf.get(name) ?? []).map(address => ({ type: "A", address })) : []
  }
  return async ({ name, type }) => {
    const records = recordsFor(name, type)
    const isThere = byName.get(name)?.mx !== null
    const outcome = records.length > 0 ? "records" : isThere ? "no_data" : "no_name"
    return known({ outcome, records, ttlS: 300, isCached: false, freshUntilMs: 0 })
  }
}

const VICTIM_DOMAINS = 12
const ATTACK_DAYS = 5

/** How many of an honest host's checks an account puts under review by listed domains that it points there, each day before all others. */
async function attackFigures(): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const hostName of ["shared", "own"] as const)
    for (const count of [5, 20])
      for (const isSeen of [false, true]) {
        const { reviews, checks } = await attack(hostName, count, isSeen)
        const where = hostName === "own" ? "own names at one address" : "one host"
        const when = isSeen ? "checked before" : "never checked before"
        figures.push(
          figure(`${count} listed domains at ${where}, ${when}: reviews of ${checks} honest checks`, "", reviews),
        )
      }
  return figures
}

async function attack(hostName: "shared" | "own", count: number, isSeen: boolean) {
  const [victims, attackers] = [victimOf(hostName, VICTIM_DOMAINS), attackersOf(hostName, count)]
  const state = { day: FIRST_DAY }
  const judge = judging(
    [...victims, ...attackers],
    () => state.day * DAY_MS,
    () => false,
  )
  if (isSeen) for (const each of victims) await judge(each)
  let reviews = 0
  for (let day = 0; day < ATTACK_DAYS; day++, state.day++) {
    for (const each of attackers) await judge(each)
    for (const each of victims) if ((await judge(each)) !== null) reviews++
  }
  return { reviews, checks: ATTACK_DAYS * VICTIM_DOMAINS }
}

function markSays({ checks, right, wrong, blocked }: Mark): string {
  const kinds = (domains: readonly SimulatedDomain[]): string =>
    [...Map.groupBy(domains, ({ kind }): DomainKind => kind)].map(([kind, of]) => `${of.length} of ${kind}`).join(", ")
  return `after ${checks} checks: found rightly ${right.length}; wrongly under review ${kinds(wrong) || "none"}, blocked ${blocked.length}`
}
