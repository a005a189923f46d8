/**
 * What does asking DNS cost? Cold checks against a server in a process of its own that answers after 20 ms, by what that
 * delay allows at best, with mail at a known provider and at a host of each domain's own, and of names that it denies, for which canaries are asked too; the questions a domain of the mix by what the answer tells; warm checks by checks over lists alone; checks while every server is dead; and what a cache holds.
 */

import { createNetworkService } from "../../src/assemble/check/network.ts"
import { createContext } from "../../src/assemble/context.ts"
import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import type { Subject } from "../../src/check/address/subject.ts"
import { type Check, createCheck, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { DNS_CACHE_BOUNDS } from "../../src/check/dns/resolver/dns-cache.ts"
import type { DomainLists } from "../../src/check/domain-lookup.ts"
import { LEARNED_BOUNDS, LearnedHosts } from "../../src/check/learned/learned-hosts.ts"
import { LISTS_ALONE } from "../../src/check/lists-alone.ts"
import { fullResultJson } from "../../src/check/result/result.ts"
import { ALL_PARTS, ANSWER_PARTS, verdictParts } from "../../src/check/verdict/evidence-need.ts"
import { parseSettings, type Settings } from "../../src/config/settings.ts"
import type { System } from "../../src/system/system.ts"
import type { BudgetName } from "../budgets.ts"
import { mixLines, take } from "../mix/mix.ts"
import { costFigure, costRatioFigure, processorUs, spreadFigure } from "../report/processor-time.ts"
import { type Figure, figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"
import { askDnsServer, dnsServerCommand } from "../servers/dns-server-control.ts"
import { startServer } from "../servers/server-process.ts"
import { cacheHeld } from "./dns-memory.ts"

/** How much the bench does. */
export type DnsScale = {
  readonly rounds: number
  /** Names of one cold run. */
  readonly names: number
  /** How many checks are under way at once. */
  readonly atOnce: number
  /** Checks of one warm run, and checks while the servers are dead. */
  readonly warmChecks: number
  readonly deadChecks: number
  /** How many names a cache is given, five questions each: far more than it may hold. */
  readonly cacheNames: number
}

/** The scale of a figure that may be told. */
export const DNS_FULL: DnsScale = {
  rounds: 5,
  names: 5000,
  atOnce: 64,
  warmChecks: 50_000,
  deadChecks: 2000,
  cacheNames: 100_000,
}

const DELAY_MS = 20
/** The server denies names that begin so, and knows every other. */
const DENIED_STEM = "nx1-"
/** The mail hosts of names that begin so are those of a known provider, which are not asked about. */
const SUITE_STEM = "suite-"
const CANARY = "canary.example"
const RECOVERY_LOOK_MS = 50
const RECOVERY_MAX_MS = 20_000
const REQUEST_ID = "req_0123456789abcdefghijkl"

/** Runs the bench over the lists. Rejects when a check against a server that answers is degraded. */
export async function dnsBench(scale: DnsScale, system: System, lists: DomainLists): Promise<Report> {
  const { command, description } = dnsServerCommand(DELAY_MS)
  await using server = await startServer({ command, core: "server" })
  const bench = new Bench(scale, system, lists, server.url)
  const cold = await bench.cold()
  const parts = await bench.parts()
  const warm = await bench.warm()
  const dead = await bench.dead()
  return {
    bench: "dns",
    description: [
      `cold: ${scale.names} names a run that were never asked for, a server that answers after ${DELAY_MS} ms, no tenants; mail at a known provider`,
      "own hosts: the same with a mail host of each domain's own, whose address is asked for when the MX answer is there",
      "denied: the same with names that do not exist and a canary that does",
      `questions a domain of the mix: ${scale.names} lines, each different domain counts once; the server knows every name`,
      `warm: ${scale.warmChecks} checks a round over the names of one cold run, text to JSON`,
      "processor time: of this process, the server is another",
      description,
      cold.description,
      "dead: the server hears and says nothing; each check is of another name",
    ],
    figures: [...cold.figures, ...parts, ...warm, ...dead, ...(await memory(scale.cacheNames))],
  }
}

/** Kinds of cold checks: their names, the canaries, and how many round trips one takes. */
const COLD_KINDS = {
  cold: { stem: SUITE_STEM, canaries: "off", trips: 1, budget: "dns_cold" },
  "own hosts": { stem: "", canaries: "off", trips: 2, budget: "dns_own_hosts" },
  // A denial waits for a canary, which is asked for after it came.
  denied: { stem: DENIED_STEM, canaries: CANARY, trips: 2, budget: "dns_denied" },
} as const satisfies Record<string, { readonly budget: BudgetName; readonly [fact: string]: string | number }>
type ColdKind = keyof typeof COLD_KINDS
const COLD_KIND_NAMES = Object.keys(COLD_KINDS) as readonly ColdKind[] // the keys are those of COLD_KINDS

/** What answers tell. */
const ANSWERS = {
  check: { parts: ALL_PARTS, budget: null },
  publishable: { parts: ANSWER_PARTS.workspace, budget: null },
  list: { parts: 0, budget: "dns_list_questions" },
  "check without mail": { parts: verdictParts({ hasSubaddress: false }), budget: null },
} as const satisfies Record<string, { readonly parts: number; readonly budget: BudgetName | null }>

type ColdRun = { readonly perSecond: number; readonly checkUs: number; readonly questions: number }

class Bench {
  readonly #scale: DnsScale
  readonly #world: System
  readonly #server: URL
  readonly #listOnly: Check
  readonly #lists: DomainLists
  #run = 0

  constructor(scale: DnsScale, system: System, lists: DomainLists, server: URL) {
    this.#scale = scale
    this.#world = system
    this.#lists = lists
    this.#server = server
    this.#listOnly = createCheck({ ...system, ...LISTS_ALONE, activeLists: () => lists })
  }

  /** Cold checks of each kind in turn: by what the server's delay allows at best, how many questions they ask, and what they cost. */
  async cold(): Promise<{ readonly figures: Figure[]; readonly description: string }> {
    const { rounds, atOnce } = this.#scale
    // Rounds before the first make the code warm; their times are dropped.
    await interleaved(COLD_KIND_NAMES, Math.ceil(rounds / 2), kind => this.#coldRun(kind))
    const found = await interleaved(COLD_KIND_NAMES, rounds, kind => this.#coldRun(kind))
    const costs = Object.fromEntries(COLD_KIND_NAMES.map(kind => [kind, found[kind].map(run => run.checkUs)]))
    const spread = spreadFigure("cold: dearest kind ÷ cheapest", costs, "dns_kinds")
    const figures = COLD_KIND_NAMES.flatMap(kind => {
      const { trips, budget } = COLD_KINDS[kind]
      const idealMs = trips * DELAY_MS
      const shares = found[kind].map(({ perSecond }) => (perSecond * idealMs) / (atOnce * 1000))
      const questions = found[kind].reduce((sum, run) => sum + run.questions, 0) / rounds
      return [
        medianFigure(`${kind}, ${atOnce} at once, by ${atOnce} ÷ ${idealMs} ms`, "×", shares, budget),
        figure(`${kind}, questions a check`, "", questions),
        costFigure(`${kind}, processor time`, "µs/check", costs[kind] ?? [], kind === "cold" ? "dns_cold_cost" : null),
      ]
    })
    return { figures: [...figures, spread.figure], description: spread.description }
  }

  /** Cold checks over names of their own: how many a second, what one costs, and how many questions it asks. */
  async #coldRun(kind: ColdKind): Promise<ColdRun> {
    const { stem, canaries } = COLD_KINDS[kind]
    const { check, end } = this.#house(canaries)
    const names = this.#newNames(this.#scale.names, stem)
    const before = Number(await askDnsServer(this.#server, "count"))
    const startedAt = performance.now()
    const tookUs = await processorUs(() =>
      allOf(names, this.#scale.atOnce, async name => assertWhole(await answer(check, name))),
    )
    const tookMs = performance.now() - startedAt
    const questions = Number(await askDnsServer(this.#server, "count")) - before
    end()
    const { length } = names
    return { perSecond: (length * 1000) / tookMs, checkUs: tookUs / length, questions: questions / length }
  }

  /** How many questions are asked about a domain of the mix, by what the answer tells. */
  async parts(): Promise<Figure[]> {
    const texts = take(mixLines(), this.#scale.names).map(({ text }) => text)
    const domains = new Set(texts.map(subjectOf).flatMap(({ domain, fault }) => (fault === null ? [domain] : [])))
    const figures: Figure[] = []
    for (const [name, { parts, budget }] of Object.entries(ANSWERS)) {
      // Names that the lists decide are sampled where mail hosts are learned.
      const { check, end } = this.#house("off", new LearnedHosts(LEARNED_BOUNDS))
      const before = Number(await askDnsServer(this.#server, "count"))
      await allOf(texts, this.#scale.atOnce, async text => assertWhole(await answer(check, text, parts)))
      const questions = Number(await askDnsServer(this.#server, "count")) - before
      end()
      figures.push(figure(`${name}, questions a domain of the mix`, "", questions / domains.size, budget))
    }
    return figures
  }

  /** Warm checks by checks over lists alone, over the same names, in turn. */
  async warm(): Promise<Figure[]> {
    const { rounds, names, atOnce, warmChecks } = this.#scale
    const { check, end } = this.#house()
    const requests = this.#newNames(names)
    // Twice: what comes a second time is what is kept.
    for (let time = 0; time < 2; time++) await allOf(requests, atOnce, name => answer(check, name))
    const checks = { warm: check, lists: this.#listOnly }
    const measure = async (name: keyof typeof checks): Promise<number> => {
      const tookUs = await processorUs(async () => {
        for (let at = 0; at < warmChecks; at++) await answer(checks[name], requests[at % requests.length] ?? "")
      })
      return tookUs / warmChecks
    }
    await interleaved(["warm", "lists"], 2, measure)
    const found = await interleaved(["warm", "lists"], rounds, measure)
    end()
    return [
      costRatioFigure("lists alone ÷ warm, processor time", found.lists, found.warm, "dns_warm"),
      costFigure("warm, processor time", "µs/check", found.warm),
    ]
  }

  /** The first two checks while the server is dead, those after them, and how soon its return is noticed. */
  async dead(): Promise<Figure[]> {
    const { check, end } = this.#house()
    const [first = "", second = "", ...names] = this.#newNames(this.#scale.deadChecks + 2)
    await askDnsServer(this.#server, "mute")
    const firstMs = await millisecondsOf(() => answer(check, first))
    // The probes of the suspected servers end during the second check.
    const secondMs = await millisecondsOf(() => answer(check, second))
    const dead: number[] = []
    const alone: number[] = []
    for (const name of names) dead.push(await millisecondsOf(() => answer(check, name)))
    for (const name of this.#newNames(names.length)) {
      alone.push(await millisecondsOf(() => answer(this.#listOnly, name)))
    }
    await askDnsServer(this.#server, "speak")
    const recoveryMs = await millisecondsOf(() => this.#recovered(check))
    end()
    return [
      figure(
        "slower of the first two checks while the servers are dead",
        "ms",
        Math.max(firstMs, secondMs),
        "dns_first_dead",
      ),
      figure(
        "p99 of the next ones, above lists alone",
        "ms",
        Math.max(percentile99(dead) - percentile99(alone), 0.001),
        "dns_dead",
      ),
      figure("p99 of the next ones", "ms", percentile99(dead)),
      figure("from the servers' return to a whole answer", "ms", recoveryMs, "dns_recovery"),
    ]
  }

  async #recovered(check: Check): Promise<void> {
    const until = performance.now() + RECOVERY_MAX_MS
    for (const name of this.#newNames(Math.ceil(RECOVERY_MAX_MS / RECOVERY_LOOK_MS))) {
      if (!isDegraded(await answer(check, name)) || performance.now() > until) return
      await this.#world.sleep(RECOVERY_LOOK_MS)
    }
  }

  /** A check with caches of its own. */
  #house(
    canaries = "off",
    learnedHosts: LearnedHosts | null = null,
  ): { readonly check: Check; readonly end: () => void } {
    const { networkProbe, stop } = createNetworkService(
      createContext(this.#world, settingsFor(this.#server, canaries)),
      {
        learnedHosts,
        matchLists: (domain, registrable) => this.#lists.pack.match(domain, registrable),
      },
    )
    return {
      check: createCheck({ ...this.#world, ...LISTS_ALONE, activeLists: () => this.#lists, networkProbe }),
      end: stop,
    }
  }

  /** Names that no run before has asked for. */
  #newNames(count: number, stem = ""): string[] {
    const run = this.#run++
    return Array.from({ length: count }, (_, at) => `jane@${stem}harbor${run}-freight${at}.com`)
  }
}

async function memory(names: number): Promise<Figure[]> {
  const { entries, heapBytes } = await cacheHeld(names)
  return [
    figure(`answers held of ${names * 5}`, "", entries, "dns_cache_entries"),
    figure(
      "heap that they take, by the bound that is set",
      "×",
      heapBytes / DNS_CACHE_BOUNDS.bytesMax,
      "dns_cache_memory",
    ),
  ]
}

/** The settings of a check that asks the server at the URL. */
export function settingsFor({ host }: URL, canaries: string): Settings {
  const read = parseSettings({
    MAILKIND_DNS_SERVERS: host,
    MAILKIND_DNS_CANARIES: canaries,
    MAILKIND_IDENTITY_URL: "off",
  })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  return read.settings
}

const subjectOf = (input: string): Subject => parseSubject(detectSubjectKind(input), input, "mailkind.test")

/** The JSON of a check. */
export async function answer(check: Check, input: string, parts: number = ALL_PARTS): Promise<string> {
  const request = { subject: subjectOf(input), policy: "b2b", isDeep: false, includeTenant: true, parts } as const
  return fullResultJson(await check({ ...request, ownListMatch: NO_OWN_LIST_MATCH }), REQUEST_ID)
}

const isDegraded = (text: string): boolean => text.includes('"degraded":true')

/** Throws if DNS did not answer. */
export function assertWhole(text: string): void {
  if (isDegraded(text)) throw new Error("a check against a server that answers was degraded")
}

/** Does the work for each, so many at once. */
export async function allOf(
  inputs: readonly string[],
  atOnce: number,
  work: (input: string) => Promise<unknown>,
): Promise<void> {
  const left = inputs.values()
  const lane = async (): Promise<void> => {
    for (const input of left) await work(input)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
}
