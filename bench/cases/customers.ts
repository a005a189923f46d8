/**
 * What do customers cost? An authenticated, limited and metered POST /v1/check is compared with the same without all of
 * that; and a store of many accounts is started on and asked for keys that nobody has asked for yet.
 */

import { join } from "node:path"
import { fileURLToPath } from "bun"
import { ROUTES } from "../../src/contract/routes.ts"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "../../src/customers/keys/key-authenticator.ts"
import { openSqlite } from "../../src/customers/store/sqlite-store.ts"
import { createSystem } from "../../src/system/system.ts"
import { benchAddresses } from "../load/addresses.ts"
import { sendRequest } from "../load/ask.ts"
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
  type RoundsScale,
} from "../load/check-rounds.ts"
import { figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved, median, ratios } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { addAccounts, KEYS_PER_ACCOUNT } from "../servers/many-accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { CAN_PIN, type ServerProcess, startServer } from "../servers/server-process.ts"

/** How much the bench does. */
export type CustomersScale = RoundsScale & {
  /** Accounts of the large store, each with `KEYS_PER_ACCOUNT` keys. */
  readonly accounts: number
  /** Fresh processes that start on it. */
  readonly starts: number
  /** Keys of it that are looked up, each once. */
  readonly lookups: number
}

/** The scale of a figure that may be told. */
export const CUSTOMERS_FULL: CustomersScale = {
  connections: 64,
  rounds: 9,
  roundS: 2,
  warmupS: 5,
  accounts: 100_000,
  starts: 9,
  lookups: 20_000,
}

const UNMETERED = fileURLToPath(import.meta.resolve("../servers/unmetered.ts"))
const ROUND_WARMUP_S = 0.3

/** Runs the bench. Rejects when an answer is not 200, when what was asked was not metered, or a key is not found. */
export async function customersBench(scale: CustomersScale): Promise<Report> {
  const { rounds, answers } = await httpRounds(scale)
  const { startsMs, lookupsMs, fileBytes } = await manyAccounts(scale)
  return reportOf(scale, rounds, answers, { startsMs, lookupsMs, fileBytes })
}

type Rounds = Readonly<Record<"metered" | "unmetered", readonly CheckRound[]>>

async function httpRounds(scale: CustomersScale): Promise<{ readonly rounds: Rounds; readonly answers: CheckAnswers }> {
  await using directory = await emptyDirectory()
  await using otherDirectory = await emptyDirectory()
  const load: CheckLoad = {
    bodies: benchAddresses().map(email => JSON.stringify({ email })),
    path: ROUTES.postCheck.path,
    authorization: `Bearer ${await limitedKey(directory.path)}`,
  }
  const start = (command: readonly [string, ...string[]], path: string) =>
    startServer({
      command,
      environment: { ...productSettings(path), ...HIGH_LIMITS, ...KEEPING_MEMORY },
      core: "server",
    })
  await using metered = await start(PRODUCT.source, directory.path)
  await using unmetered = await start([process.execPath, UNMETERED], otherDirectory.path)
  const servers = { metered, unmetered }
  const answers = await checkAnswers(metered, load)
  const others = await checkAnswers(unmetered, load)
  if (!Bun.deepEquals(answers.categories, others.categories)) throw new Error("the servers do not answer alike")
  const size = { connections: scale.connections, durationS: scale.roundS, warmupS: ROUND_WARMUP_S }
  for (const name of ["metered", "unmetered"] as const)
    await checkRound(servers[name], load, { ...size, durationS: scale.warmupS, warmupS: 0 })
  const rounds = await interleaved(["metered", "unmetered"], scale.rounds, name =>
    checkRound(servers[name], load, size),
  )
  await expectMetered(metered, load, rounds.metered)
  return { rounds, answers }
}

/** Rejects unless the server counted every answer, and tells of limits. */
async function expectMetered(server: ServerProcess, { authorization }: CheckLoad, rounds: readonly CheckRound[]) {
  const url = new URL(ROUTES.getUsage.path, server.url)
  const { status, body } = await sendRequest({
    method: "GET",
    url,
    headers: { Authorization: authorization },
    body: "",
  })
  const { limits, today, daily } = JSON.parse(body)
  const answered = rounds.reduce((sum, round) => sum + round.answers + round.warmupAnswers, 0)
  // A day that ended meanwhile is the second of `daily`.
  const used = today?.used + (daily?.[1]?.used ?? 0)
  if (status !== 200 || limits.daily_units === null || !(used >= answered))
    throw new Error(`${answered} checks were answered, but the usage is ${status} ${body}`)
}

type ManyAccounts = {
  readonly startsMs: readonly number[]
  readonly lookupsMs: readonly number[]
  readonly fileBytes: number
}

async function manyAccounts({ accounts, starts, lookups }: CustomersScale): Promise<ManyAccounts> {
  await using directory = await emptyDirectory()
  const path = join(directory.path, "mailkind.sqlite")
  const { clock, random } = createSystem()
  const store = await openSqlite(path, clock)
  const texts = await addAccounts(store, random, accounts, lookups).finally(store.close)
  const startsMs: number[] = []
  for (let at = 0; at < starts; at++) startsMs.push(await startMs(directory.path))
  return { startsMs, lookupsMs: await coldLookupsMs(path, texts), fileBytes: Bun.file(path).size }
}

/** From the start of a process to 200 on /v1/health. */
async function startMs(directory: string): Promise<number> {
  const startedAt = performance.now()
  await using server = await startServer({ command: PRODUCT.source, environment: productSettings(directory) })
  const { status } = await sendRequest({
    method: "GET",
    url: new URL(ROUTES.getHealth.path, server.url),
    headers: {},
    body: "",
  })
  const tookMs = performance.now() - startedAt
  if (status !== 200) throw new Error(`the server started, but its health is ${status}`)
  return tookMs
}

/** How long a new key ring takes for each key, one after the other, over a connection that has read nothing yet. */
async function coldLookupsMs(path: string, texts: readonly string[]): Promise<readonly number[]> {
  const { clock, stopwatch } = createSystem()
  const store = await openSqlite(path, clock)
  try {
    const ring = new KeyAuthenticator(store, clock, stopwatch, KEY_AUTHENTICATOR_BOUNDS)
    const tookMs: number[] = []
    for (const text of texts) {
      const startedAt = performance.now()
      const { kind } = await ring.lookup(text)
      tookMs.push(performance.now() - startedAt)
      if (kind !== "active") throw new Error(`a key of the store is ${kind}`)
    }
    return tookMs
  } finally {
    await store.close()
  }
}

const shareOf = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN

function reportOf(
  scale: CustomersScale,
  { metered, unmetered }: Rounds,
  answers: CheckAnswers,
  many: ManyAccounts,
): Report {
  const mix = Object.entries(answers.categories).map(([category, count]) => `${count} ${category}`)
  const { accounts, starts, lookups } = scale
  return {
    bench: "customers",
    description: [
      `POST /v1/check, secret key of a limited account, full result; ${mix.join(", ")}; DNS off`,
      "without customers: the same app, to which every key is that of one account without limits; nothing is counted",
      describeRounds(scale),
      CAN_PIN ? "servers bound to core 0, load to core 1 (taskset)" : "not bound to cores",
      `a store of ${accounts} accounts with ${accounts * KEYS_PER_ACCOUNT} keys, ${Math.round(many.fileBytes / 2 ** 20)} MiB, which the system has in memory`,
      `${starts} fresh processes start on it, to 200 on /v1/health; ${lookups} keys of it are looked up once each, one after the other`,
    ],
    figures: [
      medianFigure("customers ÷ none", "", ratios(perSecond(metered), perSecond(unmetered)), "customers_http"),
      medianFigure("customers", "answers/s", perSecond(metered)),
      medianFigure("none", "answers/s", perSecond(unmetered)),
      medianFigure("customers p99", "ms", p99(metered)),
      medianFigure("none p99", "ms", p99(unmetered)),
      medianFigure("customers CPU", "µs/answer", cpuUs(metered)),
      medianFigure("none CPU", "µs/answer", cpuUs(unmetered)),
      figure("load program", "of a core", loadCpu(metered, unmetered)),
      medianFigure("start on many accounts", "ms", many.startsMs, "customers_start"),
      figure("cold look-up, median", "ms", median(many.lookupsMs), "customers_lookup"),
      figure("cold look-up, p99", "ms", shareOf(many.lookupsMs, 0.99), "customers_lookup"),
      figure("cold look-up, longest", "ms", Math.max(...many.lookupsMs)),
    ],
  }
}
