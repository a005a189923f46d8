/**
 * What does an authenticated, limited and metered POST /v1/check cost, by what a bare server's answer does, and what do others
 * cost by it: an account without limits, GET, own lists, a role's address? All run in processes of their own
 * and are loaded in turn by the same program; the floor's answer has the length of the product's mean answer.
 */

import { fileURLToPath } from "bun"
import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import {
  type CheckAnswers,
  type CheckLoad,
  type CheckRound,
  checkAnswers,
  checkRound,
  cpuUs,
  describeRounds,
  loadCpu,
  p99,
  perSecond,
  type QueryLoad,
  type RoundsScale,
} from "../load/check-rounds.ts"
import { linesOfKind, ORDINARY, take } from "../mix/mix.ts"
import { costFigure, costRatioFigure, spreadFigure } from "../report/processor-time.ts"
import { figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved, median, ratios } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey, listedKey, unlimitedKey } from "../servers/accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { CAN_PIN, type Program, startServer } from "../servers/server-process.ts"

/** How much the bench does. */
export type HttpScale = RoundsScale & { readonly ownListEntries: number }

/** The scale of a figure that may be told. */
export const HTTP_FULL: HttpScale = {
  connections: 64,
  rounds: 13,
  roundS: 1,
  warmupS: 3,
  ownListEntries: LIMITS.ownListEntriesMax,
}

const FLOOR = fileURLToPath(import.meta.resolve("../servers/baseline.ts"))
const ROUND_WARMUP_S = 0.3
/** Above this share of a core the load program may be what limits the floor's throughput. */
const LOAD_CPU_MAX = 0.95
const ADDRESSES = 200

/** What is asked beside the plain check, each like it but for one thing. */
const KINDS = {
  plain: "POST, secret key of a limited account, ordinary addresses",
  unlimited: "of an account without limits",
  role: "addresses of roles",
  GET: "by GET",
  "own lists": "of an account with own lists, on which no address is",
} as const satisfies Record<string, string>
type Kind = keyof typeof KINDS
const KIND_NAMES = Object.keys(KINDS) as readonly Kind[] // the keys are those of KINDS
const SUBJECTS = [...KIND_NAMES, "floor"] as const
type Rounds = Readonly<Record<(typeof SUBJECTS)[number], readonly CheckRound[]>>

/** Percentiles of latency at half load, as they are named. */
const PERCENTILES = { p50: "p50", p90: "p90", p99: "p99", "p99.9": "p99_9", longest: "max" } as const

/** Runs the bench on the server that `command` starts. Rejects when an answer is not 200 or a request fails. */
export async function httpBench(scale: HttpScale, command: Program["command"] = PRODUCT.source): Promise<Report> {
  await using directory = await emptyDirectory()
  const loads = await loadsOf(directory.path, scale.ownListEntries)
  await using product = await startServer({
    command,
    environment: { ...productSettings(directory.path), ...HIGH_LIMITS, ...KEEPING_MEMORY },
    core: "server",
  })
  const answers = await checkAnswers(product, loads.plain)
  const floorCommand = [process.execPath, FLOOR, String(answers.bytes)] as const
  await using floor = await startServer({ command: floorCommand, environment: KEEPING_MEMORY, core: "server" })
  const { connections } = scale
  const measure = (name: keyof Rounds, durationS = scale.roundS, warmupS = ROUND_WARMUP_S): Promise<CheckRound> => {
    const [server, load] = name === "floor" ? [floor, loads.plain] : [product, loads[name]]
    return checkRound(server, load, { connections, durationS, warmupS })
  }
  for (const name of SUBJECTS) await measure(name, scale.warmupS, 0)
  const rounds = await interleaved(SUBJECTS, scale.rounds, name => measure(name))
  const rate = Math.max(1, Math.round(median(perSecond(rounds.plain)) / 2))
  const size = { connections, durationS: scale.roundS, warmupS: ROUND_WARMUP_S, rate }
  const halfLoad = await interleaved(["plain", "floor"], scale.rounds, name =>
    checkRound(name === "floor" ? floor : product, loads.plain, size),
  )
  return reportOf(scale, rounds, halfLoad, answers)
}

/** What each kind sends; accounts and keys are made in the directory before a server uses it. */
async function loadsOf(
  directory: string,
  ownListEntries: number,
): Promise<Readonly<Record<Exclude<Kind, "GET">, CheckLoad>> & { readonly GET: QueryLoad }> {
  const ordinary = take(linesOfKind(ORDINARY), ADDRESSES)
  const limited = `Bearer ${await limitedKey(directory)}`
  const post = (authorization: string, addresses = ordinary): CheckLoad => ({
    path: ROUTES.postCheck.path,
    authorization,
    bodies: addresses.map(email => JSON.stringify({ email })),
  })
  const entries = Array.from({ length: ownListEntries }, (_, at) => `blocked${at}.example`)
  return {
    plain: post(limited),
    unlimited: post(`Bearer ${await unlimitedKey(directory)}`),
    role: post(limited, take(linesOfKind("role"), ADDRESSES)),
    GET: {
      path: ROUTES.getCheck.path,
      authorization: limited,
      queries: ordinary.map(email => `email=${encodeURIComponent(email)}`),
    },
    "own lists": post(`Bearer ${await listedKey(directory, entries)}`),
  }
}

/** Rounds at a steady rate. What other programs of the machine do makes latency only ever longer, so the lower half of the rounds tells it. */
type HalfLoad = Readonly<Record<"plain" | "floor", readonly CheckRound[]>>

/** A percentile of latency in milliseconds, by round. */
const latencyOf = (rounds: readonly CheckRound[], percentile: keyof CheckRound["latencyMs"]) =>
  rounds.map(({ latencyMs }) => latencyMs[percentile])

function reportOf(scale: HttpScale, rounds: Rounds, halfLoad: HalfLoad, answers: CheckAnswers): Report {
  const { plain, floor } = rounds
  const cpu = loadCpu(plain, floor)
  const mix = Object.entries(answers.categories).map(([category, count]) => `${count} ${category}`)
  const costs = Object.fromEntries(KIND_NAMES.map(kind => [kind, cpuUs(rounds[kind])])) as Record<Kind, number[]> // one a kind
  const spread = spreadFigure("dearest kind ÷ cheapest", costs, "http_kinds")
  return {
    bench: "http",
    description: [
      `POST /v1/check, full result; ${mix.join(", ")}; DNS off; answers of ${answers.bytes} bytes`,
      ...KIND_NAMES.map(kind => `${kind}: ${KINDS[kind]}${kind === "own lists" ? ` (${scale.ownListEntries})` : ""}`),
      "floor: a bare server that parses the same body and answers with as many bytes",
      "half load: both are asked for half of plain's throughput, in turn; the mean of the lower half of the rounds",
      `costs are the servers' processor time; ${describeRounds(scale)}`,
      "both keep freed memory for ten seconds, as `bun run start` does",
      CAN_PIN ? "servers bound to core 0, load to core 1 (taskset)" : "not bound to cores",
      spread.description,
      ...(cpu > LOAD_CPU_MAX ? ["the load program was the limit: throughput is that of the load"] : []),
    ],
    figures: [
      costRatioFigure("floor ÷ plain", cpuUs(floor), costs.plain, "http"),
      ...KIND_NAMES.filter(kind => kind !== "plain").map(kind =>
        costRatioFigure(`${kind} ÷ plain`, costs[kind], costs.plain, "http_variants"),
      ),
      spread.figure,
      ...SUBJECTS.map(name => costFigure(name, "µs/answer", cpuUs(rounds[name]))),
      medianFigure("plain, throughput", "answers/s", perSecond(plain)),
      medianFigure("floor, throughput", "answers/s", perSecond(floor)),
      medianFigure("plain p99 ÷ floor p99", "", ratios(p99(plain), p99(floor)), "http_p99"),
      medianFigure("plain p99", "ms", p99(plain)),
      medianFigure("floor p99", "ms", p99(floor)),
      figure("half of plain's throughput", "requests/s", Math.round(median(perSecond(plain)) / 2)),
      ...Object.entries(PERCENTILES).flatMap(([name, percentile]) => {
        const [own, bare] = [latencyOf(halfLoad.plain, percentile), latencyOf(halfLoad.floor, percentile)]
        const isBounded = percentile === "p99"
        return [
          costRatioFigure(`half load, plain ÷ floor, ${name}`, own, bare, isBounded ? "http_half_load_floor" : null),
          costFigure(`half load, ${name}`, "ms", own, isBounded ? "http_half_load" : null),
          costFigure(`half load, ${name} of the floor`, "ms", bare),
        ]
      }),
      figure("load program", "of a core", cpu),
    ],
  }
}
