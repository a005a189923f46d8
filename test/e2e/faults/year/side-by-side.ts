import { Histogram } from "../../../../bench/load/histogram.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import type { TestServer } from "../../../support/test-server.ts"
import type { Customer } from "../customer.ts"
import { tookMs, untilServed } from "../fault.ts"
import { textTable } from "../seconds.ts"
import type { Callers } from "./callers.ts"
import { cpuMs } from "./figures.ts"

/** Pages of the administration, which show what all accounts have. */
const PAGES = {
  "overview ms": ROUTES.admin.path,
  "accounts ms": ROUTES.adminAccounts.path,
  "accounts by domain ms": `${ROUTES.adminAccounts.path}?email=firm77-year.com`,
  "acts ms": ROUTES.adminActs.path,
  "acts of an account ms": `${ROUTES.adminActs.path}?account=desk-1@faults.example`,
  "reports ms": ROUTES.adminFeedback.path,
  "reports of a domain ms": `${ROUTES.adminFeedback.path}?domain=report7-year.com`,
  "terms ms": ROUTES.adminTerms.path,
} as const
const COMMANDS = {
  "account list ms": ["account", "list", "--limit", "20"],
  "feedback list ms": ["feedback", "list", "--limit", "20"],
  "account show ms": ["account", "show", "desk-1@faults.example"],
} as const

/** At most so much more, and a little. */
const RATIO_MAX = 1.5
const NOISE = { ms: 15, µs: 50 } as const
const CHECKS_A_SECOND = 150

/** A server that is measured beside another one, with who asks it. */
export type Contestant = {
  readonly name: string
  readonly server: TestServer
  readonly callers: Callers
  readonly admin: Customer
  /** A day without requests passes. */
  readonly rest: () => Promise<void>
}

type Times = ReadonlyMap<string, number>

/** Measures servers in turn, so that a busy machine is busy for all of them, and keeps the best of each. The last one is held against the first one. */
export async function sideBySide(
  contestants: readonly Contestant[],
  rounds: number,
  checks: number,
): Promise<{ readonly table: string; readonly breaches: readonly string[] }> {
  const best = contestants.map(() => new Map<string, number>())
  const keep = (at: number, times: Times): void => {
    for (const [name, value] of times) best[at]?.set(name, Math.min(value, best[at].get(name) ?? value))
  }
  for (let round = 0; round < rounds; round++)
    for (const [at, contestant] of contestants.entries()) keep(at, await servedTimes(contestant, checks))
  for (let round = 0; round < rounds; round++)
    for (const [at, contestant] of contestants.entries()) keep(at, await startTimes(contestant))
  const names = [...(best[0]?.keys() ?? [])]
  const rows = names.map(name => [name, ...best.map(times => (times.get(name) ?? 0).toFixed(1))])
  return {
    table: textTable([["", ...contestants.map(({ name }) => name)], ...rows]),
    breaches: names.flatMap(name => slowerBy(name, best[0]?.get(name) ?? 0, best.at(-1)?.get(name) ?? 0)),
  }
}

function slowerBy(name: string, first: number, last: number): readonly string[] {
  const noise = /µs/.test(name) ? NOISE.µs : NOISE.ms
  return last > first * RATIO_MAX + noise
    ? [`${name}: ${first.toFixed(1)} on the first day, ${last.toFixed(1)} now`]
    : []
}

/** What takes how long on a server that runs. */
async function servedTimes({ server, callers, admin, rest }: Contestant, checks: number): Promise<Times> {
  const times = new Map<string, number>()
  for (const [name, path] of Object.entries(PAGES)) {
    await admin.page(path)
    times.set(name, await tookMs(() => admin.page(path)))
  }
  for (const [name, words] of Object.entries(COMMANDS)) times.set(name, await tookMs(() => server.run(...words)))
  callers.waits = new Histogram()
  const before = cpuMs(server)
  await callers.askEvenly(checks, CHECKS_A_SECOND)
  times.set("processor µs a check", ((cpuMs(server) - before) * 1000) / checks)
  for (const percent of [50, 99]) times.set(`p${percent} of a check ms`, callers.waits.percentile(percent / 100) / 1000)
  const beforeRest = cpuMs(server)
  await rest()
  times.set("processor of a day at rest ms", cpuMs(server) - beforeRest)
  return times
}

async function startTimes({ server, callers }: Contestant): Promise<Times> {
  callers.disconnect()
  await server.stop()
  return new Map([["start ms", await tookMs(() => server.start().then(() => untilServed(server)))]])
}
