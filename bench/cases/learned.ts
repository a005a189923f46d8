/**
 * How right are learned mail hosts, and how soon? A made-up world with a known truth is checked domain by domain, through
 * the probe that learns; at each mark all domains that no list knows are judged. And what a full memory costs.
 */
import { Deadline } from "../../src/base/concurrency.ts"
import { known } from "../../src/base/finding.ts"
import { DAY_MS } from "../../src/base/time.ts"
import {
  LEARNED_BOUNDS,
  LearnedHosts,
  LISTED_DOMAINS_MIN,
  LISTED_SHARE_MIN,
} from "../../src/check/learned/learned-hosts.ts"
import { createLearningProbe } from "../../src/check/learned/learning-probe.ts"
import { mailHostKey } from "../../src/check/learned/mail-host-key.ts"
import { matchInSet } from "../../src/check/lists/list-match.ts"
import { parseMailHosts } from "../../src/check/mail/mail-hosts.ts"
import type { MailProbe, MailProbeResult } from "../../src/check/mail/mail-probe.ts"
import { seeded } from "../load/seeded-random.ts"
import { figure, type Report } from "../report/report.ts"
import { learnedHeld } from "./learned-memory.ts"
import {
  HOST_KINDS,
  type HostKind,
  learnedWorld,
  type SimulatedDomain,
  type SimulationScale,
} from "./learned-simulation.ts"

/** How much the bench does. */
export type LearnedScale = {
  readonly system: SimulationScale
  /** How many listed domains are pointed at the victim in the world that has an attacker. */
  readonly attackers: number
  /** How many worlds are made up; what was found is added up. */
  readonly worlds: number
  /** After how many checks the verdicts are counted, in rising order. */
  readonly marks: readonly number[]
  readonly checksPerDay: number
  /** How many sightings the memory is filled with. */
  readonly sightings: number
}

/** The scale of a figure that may be told: worlds of 200 hosts with 2000 domains, those of the attacker included. */
export const LEARNED_FULL: LearnedScale = {
  system: {
    throw_away: { hosts: 60, domains: 840 },
    small: { hosts: 90, domains: 540 },
    big: { hosts: 10, domains: 508 },
    per_customer: { hosts: 39, domains: 80 },
    victim: { hosts: 1, domains: 12 },
  },
  attackers: 20,
  worlds: 20,
  marks: [250, 500, 1000, 2000, 5000, 10_000, 20_000],
  checksPerDay: 500,
  sightings: LEARNED_BOUNDS.observationsMax,
}

const FIRST_DAY = 20_000

type Simulation = readonly SimulatedDomain[]

/** What was found at a mark, of the domains that no list knows. */
type Mark = {
  readonly checks: number
  /** Called disposable, and so in truth. */
  readonly right: readonly SimulatedDomain[]
  /** Called disposable, and honest in truth. */
  readonly wrong: readonly SimulatedDomain[]
}

/** Runs the bench. The same scale finds the same, but for what the memory takes and how long it is read. */
export async function learnedBench(scale: LearnedScale): Promise<Report> {
  const seeds = Array.from({ length: scale.worlds }, (_, at) => at + 1)
  const worlds = seeds.map(seed => learnedWorld(scale.system, 0, seed))
  const attackedWorlds = seeds.map(seed => learnedWorld(scale.system, scale.attackers, seed))
  const disposable = worlds.flat().filter(({ isListed, isDisposable }) => !isListed && isDisposable)
  const inReach = new Set(worlds.flatMap(system => [...inReachOf(system)]))
  const marks = await marksOf(worlds, scale)
  const attacked = await marksOf(attackedWorlds, scale)
  const recall = (right: readonly SimulatedDomain[], of: number): number => right.length / of
  const { heapBytes, readMs, longestPageMs, meetUs } = await learnedHeld(scale.sightings)
  return {
    bench: "learned",
    description: [
      `${scale.worlds} made-up worlds, added up; ${scale.checksPerDay} checks a day, of a few domains far more often than of most; each has`,
      ...kindsSay(scale.system),
      `no list knows ${disposable.length} throw-away domains; ${inReach.size} stand on hosts that the rule learns when it has seen all`,
      `under attack ${scale.attackers} more listed domains are pointed at each victim's host, and are checked before all others`,
      ...marks.map(mark => markSays(mark, "")),
      ...attacked.map(mark => markSays(mark, "under attack, ")),
    ],
    figures: [
      ...marks.map(mark => figure(`precision after ${mark.checks} checks`, "", precisionOf(mark), "learned_precision")),
      ...marks.map(({ checks, right }) =>
        figure(`recall after ${checks} checks`, "", recall(right, disposable.length)),
      ),
      ...marks.map(({ checks, right }) => {
        const reached = right.filter(domain => inReach.has(domain))
        return figure(`recall in reach after ${checks} checks`, "", recall(reached, inReach.size))
      }),
      ...attacked.map(mark => figure(`precision under attack after ${mark.checks} checks`, "", precisionOf(mark))),
      figure(`memory of ${scale.sightings} sightings`, "MB", heapBytes / 2 ** 20),
      figure("reading them from the store", "ms", readMs),
      figure("longest pause of that", "ms", longestPageMs),
      figure("counting and judging one domain", "µs", meetUs),
    ],
  }
}

/** What was found at each mark in all worlds together. */
async function marksOf(worlds: readonly Simulation[], scale: LearnedScale): Promise<readonly Mark[]> {
  const found = await Promise.all(worlds.map((system, at) => marksIn(system, at + 1, scale)))
  return scale.marks.map((checks, at) => ({
    checks,
    right: found.flatMap(marks => marks[at]?.right ?? []),
    wrong: found.flatMap(marks => marks[at]?.wrong ?? []),
  }))
}

/** The throw-away domains of no list whose hosts the rule learns when every domain has been seen. */
function inReachOf(system: Simulation): ReadonlySet<SimulatedDomain> {
  const hosts = Map.groupBy(system, ({ mx }) => mailHostKey(mx))
  const learnt = [...hosts.values()].filter(domains => {
    const listed = domains.filter(({ isListed }) => isListed).length
    return listed >= LISTED_DOMAINS_MIN && listed / domains.length >= LISTED_SHARE_MIN
  })
  return new Set(learnt.flat().filter(({ isListed, isDisposable }) => !isListed && isDisposable))
}

async function marksIn(
  system: Simulation,
  seed: number,
  { marks, checksPerDay }: LearnedScale,
): Promise<readonly Mark[]> {
  const next = drawing(system, seed)
  const state = { checks: 0, isCached: false }
  const clock = (): number => (FIRST_DAY + Math.floor(state.checks / checksPerDay)) * DAY_MS
  const isCalled = judging(system, clock, () => state.isCached)
  const found: Mark[] = []
  for (const checks of marks) {
    state.isCached = false
    for (; state.checks < checks; state.checks++) await isCalled(next())
    // What comes from a cache is judged and not counted.
    state.isCached = true
    const called: SimulatedDomain[] = []
    for (const domain of system) if (!domain.isListed && (await isCalled(domain))) called.push(domain)
    const { right = [], wrong = [] } = Object.groupBy(called, ({ isDisposable }) => (isDisposable ? "right" : "wrong"))
    found.push({ checks, right, wrong })
  }
  return found
}

/** Gives the domains in the order in which they are checked: an attacker's first, then each as often as its weight says, on average. */
function drawing(system: Simulation, seed: number): () => SimulatedDomain {
  const random = seeded(-seed)
  const attack = system.filter(({ kind, isDisposable }) => kind === "victim" && isDisposable)
  const ends: number[] = []
  for (const { weight } of system) ends.push((ends.at(-1) ?? 0) + weight)
  return () => {
    const at = random() * (ends.at(-1) ?? 0)
    const drawn = attack.pop() ?? system[ends.findIndex(end => at < end)]
    if (drawn === undefined) throw new Error("the weights have a sum")
    return drawn
  }
}

/** Checks one domain by the probe that learns, and says whether its mail host is one that was learned. */
function judging(
  system: Simulation,
  clock: () => number,
  isCached: () => boolean,
): (domain: SimulatedDomain) => Promise<boolean> {
  const byName = new Map(system.map(domain => [domain.domain, domain]))
  const request: MailProbe = async name => foundOf(byName.get(name)?.mx ?? "", isCached())
  const probe = createLearningProbe(request, {
    learnedHosts: new LearnedHosts(LEARNED_BOUNDS),
    matchLists: name => matchInSet(byName.get(name)?.isListed ? "disposable" : null),
    clock,
  })
  const budget = new Deadline(() => () => undefined, 0)
  return async ({ domain }) => {
    const { mail } = await probe(domain, domain, budget)
    return mail.known && mail.value.operatedBy === "learned_disposable"
  }
}

function foundOf(host: string, isCached: boolean): MailProbeResult {
  const { mx, provider, operatedBy } = parseMailHosts([{ type: "MX", preference: 10, exchange: host }])
  const key = provider?.key ?? null
  const published = { spf: known(null), dmarcPolicy: known(null) }
  return {
    mail: known({
      exists: true,
      delivery: "mx",
      isUnreachable: false,
      hasAddress: true,
      mx,
      provider: key,
      operatedBy: operatedBy,
      ...published,
    }),
    suites: known({ suiteA: [], suiteB: [], otherSuite: null }),
    hosts: [{ host, priority: 10, addresses: [] }],
    isCached,
    freshUntilMs: 0,
  }
}

/** Who calls nothing disposable is never wrong. */
const precisionOf = ({ right, wrong }: Mark): number =>
  wrong.length === 0 ? 1 : right.length / (right.length + wrong.length)

function markSays({ checks, right, wrong }: Mark, when: string): string {
  const kinds = [...Map.groupBy(wrong, ({ kind }) => kind)].map(([kind, { length }]) => `${length} of ${kind}`)
  return `${when}after ${checks} checks: called disposable rightly ${right.length}, wrongly ${kinds.join(", ") || "none"}`
}

function kindsSay(scale: SimulationScale): readonly string[] {
  const kinds = Object.keys(HOST_KINDS) as HostKind[] // the keys of the table
  return kinds.map(
    kind => `${kind}: ${scale[kind].domains} domains, ${scale[kind].hosts} hosts; ${HOST_KINDS[kind].description}`,
  )
}
