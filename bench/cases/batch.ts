/**
 * What does an item of a batch cost? Full batches of one kind each are compared with batches of ordinary addresses, with single
 * checks of those, and with a bare server that parses the same body and writes as many ready objects of the same shape.
 */

import { join } from "node:path"
import { fileURLToPath } from "bun"
import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { sendRequest } from "../load/ask.ts"
import {
  type CheckLoad,
  type CheckRound,
  checkRound,
  cpuUs,
  describeRounds,
  loadCpu,
  p99,
  perSecond,
  type RoundsScale,
} from "../load/check-rounds.ts"
import { linesOfKind, mixLines, ORDINARY, take } from "../mix/mix.ts"
import { costFigure, costRatioFigure, spreadFigure } from "../report/processor-time.ts"
import { figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey, listedKey } from "../servers/accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { CAN_PIN, type ServerProcess, startServer } from "../servers/server-process.ts"

/** How much the bench does. */
export type BatchScale = RoundsScale & { readonly ownListEntries: number }

/** The scale of a figure that may be told. */
export const BATCH_FULL: BatchScale = {
  connections: 4,
  rounds: 9,
  roundS: 1,
  warmupS: 2,
  ownListEntries: LIMITS.ownListEntriesMax,
}

const FLOOR = fileURLToPath(import.meta.resolve("../servers/baseline-batch.ts"))
const ROUND_WARMUP_S = 0.3
const ITEMS = LIMITS.batchItemsMax
/** Bodies of names that recur, and of such as come once: before one of those comes again the product has forgotten it. */
const KNOWN_BODIES = 20
const NEW_BODIES = 400

/** What the batches of a kind hold. */
const KINDS = {
  ordinary: "addresses of persons at domains that recur",
  role: "of roles there",
  tag: "with a tag",
  capitals: "with capitals",
  url: "URLs with paths",
  domain: "domains",
  invalid: "texts that are none",
  typo: "at slips of providers' names",
  disposable: "at throw-away domains",
  unknown: "at domains that were never checked",
  "own list": "at domains on the account's own list",
} as const satisfies Record<string, string>
type Kind = keyof typeof KINDS
const KIND_NAMES = Object.keys(KINDS) as readonly Kind[] // the keys are those of KINDS
const SUBJECTS = [...KIND_NAMES, "mix", "gzip", "single", "floor"] as const
type Subject = (typeof SUBJECTS)[number]
type Rounds = Readonly<Record<Subject, readonly CheckRound[]>>

/** Runs the bench. Rejects when an answer is not 200, or a batch has not a full result an item. */
export async function batchBench(scale: BatchScale): Promise<Report> {
  await using directory = await emptyDirectory()
  const loads = await loadsOf(directory.path, scale.ownListEntries)
  await using product = await startServer({
    command: PRODUCT.source,
    environment: { ...productSettings(directory.path), ...HIGH_LIMITS, ...KEEPING_MEMORY },
    core: "server",
  })
  const answer = await batchAnswer(product, loads.ordinary)
  const answerFile = join(directory.path, "answer.json")
  await Bun.write(answerFile, answer)
  const command = [process.execPath, FLOOR, answerFile] as const
  await using floor = await startServer({ command, environment: KEEPING_MEMORY, core: "server" })
  const measure = (name: Subject, durationS = scale.roundS, warmupS = ROUND_WARMUP_S) =>
    checkRound(name === "floor" ? floor : product, loads[name], { connections: scale.connections, durationS, warmupS })
  for (const name of SUBJECTS) await measure(name, scale.warmupS, 0)
  return reportOf(scale, await interleaved(SUBJECTS, scale.rounds, name => measure(name)), Buffer.byteLength(answer))
}

/** What is sent for each; accounts and keys are made in the directory before a server uses it. */
async function loadsOf(directory: string, ownListEntries: number): Promise<Readonly<Record<Subject, CheckLoad>>> {
  const authorization = `Bearer ${await limitedKey(directory)}`
  const listed = Array.from({ length: ownListEntries }, (_, at) => `blocked-works${at}.com`)
  const batches = (lines: readonly string[]): CheckLoad => ({
    path: ROUTES.postBatch.path,
    authorization,
    bodies: bodiesOf(lines),
  })
  const known = (kind: Exclude<Kind, "own list">) => batches(take(linesOfKind(kind), KNOWN_BODIES * ITEMS))
  const people = take(linesOfKind(ORDINARY), KNOWN_BODIES * ITEMS)
  const ordinary = batches(people)
  const mix = take(mixLines(), NEW_BODIES * ITEMS).map(({ text }) => text)
  return {
    ordinary,
    role: known("role"),
    tag: known("tag"),
    capitals: known("capitals"),
    url: known("url"),
    domain: known("domain"),
    invalid: known("invalid"),
    typo: known("typo"),
    disposable: known("disposable"),
    unknown: batches(take(linesOfKind("unknown"), NEW_BODIES * ITEMS)),
    "own list": {
      ...batches(people.map((address, at) => address.replace(/@.*/, `@${listed[at % listed.length]}`))),
      authorization: `Bearer ${await listedKey(directory, listed)}`,
    },
    mix: batches(mix),
    gzip: { ...ordinary, headers: { "Accept-Encoding": "gzip" } },
    single: {
      path: ROUTES.postCheck.path,
      authorization,
      bodies: people.slice(0, 2 * ITEMS).map(email => JSON.stringify({ email })),
    },
    floor: ordinary,
  }
}

/** Bodies of full batches. */
const bodiesOf = (lines: readonly string[]): readonly string[] =>
  Array.from({ length: lines.length / ITEMS }, (_, at) =>
    JSON.stringify({ items: lines.slice(at * ITEMS, (at + 1) * ITEMS) }),
  )

/** The answer to the first batch, after another that has made every address known. */
async function batchAnswer(server: ServerProcess, { path, bodies, authorization }: CheckLoad): Promise<string> {
  const url = new URL(path, server.url)
  const headers = { Authorization: authorization, "Content-Type": "application/json" }
  const answerTo = (body = "") => sendRequest({ method: "POST", url, headers, body })
  await answerTo(bodies[0])
  const { status, body } = await answerTo(bodies[0])
  const { results } = JSON.parse(body)
  if (status !== 200 || results.length !== ITEMS || !results.every((one: object) => "mail" in one))
    throw new Error(`no batch of full results, but ${status}: ${body.slice(0, 300)}`)
  return body
}

function reportOf(scale: BatchScale, rounds: Rounds, answerBytes: number): Report {
  const itemUs = (name: Subject): readonly number[] =>
    name === "single" ? cpuUs(rounds.single) : cpuUs(rounds[name]).map(cost => cost / ITEMS)
  const costs = Object.fromEntries(KIND_NAMES.map(kind => [kind, itemUs(kind)])) as Record<Kind, readonly number[]> // one a kind
  const { ordinary, role, ...others } = costs
  const spread = spreadFigure("dearest kind ÷ cheapest", costs, "batch_kinds")
  return {
    bench: "batch",
    description: [
      `POST /v1/check/batch of ${ITEMS} items of one kind, secret key of a limited account; DNS off; answers of ${answerBytes} bytes to ordinary ones`,
      KIND_NAMES.map(kind => `${kind}: ${KINDS[kind]}`).join("; "),
      `own list: of ${scale.ownListEntries} entries; gzip: ordinary ones, the answer compressed; mix: lines of the realistic mix`,
      "floor: a bare server that parses the same body and writes as many ready objects of the same shape",
      `costs are the servers' processor time; ${describeRounds(scale)}`,
      CAN_PIN ? "servers bound to core 0, load to core 1 (taskset)" : "not bound to cores",
      spread.description,
    ],
    figures: [
      costRatioFigure("floor ÷ ordinary", itemUs("floor"), ordinary, "batch_floor"),
      costRatioFigure("single checks ÷ ordinary", itemUs("single"), ordinary, "batch_single"),
      costRatioFigure("role ÷ ordinary", role, ordinary, "batch_role"),
      ...Object.entries(others).map(([kind, cost]) => costRatioFigure(`${kind} ÷ ordinary`, cost, ordinary)),
      spread.figure,
      costRatioFigure("gzip ÷ ordinary", itemUs("gzip"), ordinary, "batch_gzip"),
      ...SUBJECTS.map(name => costFigure(name, name === "single" ? "µs/check" : "µs/item", itemUs(name))),
      medianFigure(
        "ordinary, throughput",
        "items/s",
        perSecond(rounds.ordinary).map(rate => rate * ITEMS),
      ),
      medianFigure(
        "floor, throughput",
        "items/s",
        perSecond(rounds.floor).map(rate => rate * ITEMS),
      ),
      medianFigure("ordinary p99", "ms", p99(rounds.ordinary)),
      figure("load program", "of a core", loadCpu(...Object.values(rounds))),
    ],
  }
}
