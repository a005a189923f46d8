/**
 * What does a caller notice while another one attacks? The caller checks fresh domains at a steady rate, first alone and then
 * beside each attack, on a real server that asks a DNS server on loopback. TEST_EXECUTABLE names another version of the product
 * to measure.
 */

import { Agent, request } from "node:http"
import { fileURLToPath } from "bun"
import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { type Figure, figure, type Report } from "../report/report.ts"
import { limitedKey, unlimitedKey } from "../servers/accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { type ServerProcess, startServer } from "../servers/server-process.ts"

/** How much the bench does. */
export type AttacksScale = {
  /** How long the caller is alone, and how long beside each attack. */
  readonly calmS: number
  readonly attackS: number
  /** Fresh checks a second of the caller. */
  readonly rate: number
  /** Batches in flight where an attack sends as many as it can. */
  readonly batchesInFlight: number
}

/** The scale of a figure that may be told. */
export const ATTACKS_FULL: AttacksScale = { calmS: 10, attackS: 15, rate: 50, batchesInFlight: 32 }

const DNS_SERVER = fileURLToPath(import.meta.resolve("../servers/dns-server.ts"))
const DNS_DELAY_MS = 20
/** Every caller may send as many requests as it likes, so that no limit of a tier hides an attack. */
const NO_LIMITS = { MAILKIND_TIERS: "0=-/-/-" }
/** Of the two canaries of the second server, the first does not answer. */
const CANARIES = { answering: "canary.com", silent: "dead0.com,canary.com" } as const

/** An attack: what it starts every `everyMs`, or again and again in `lanes` at the same time. */
type Attack = {
  readonly canaries: keyof typeof CANARIES
  readonly budget: "attacks_degraded" | "attacks_degraded_batches"
  readonly pace: { readonly everyMs: number } | "as fast as possible"
  readonly send: (target: Target, index: number) => Promise<unknown>
}

type Target = { readonly url: URL; readonly attackerKey: string; readonly callerKey: string; readonly run: string }

const deadNames = (count: number, { run }: Target, index: number): readonly string[] =>
  Array.from({ length: count }, (_, item) => `jane@dead${run}x${index}x${item}.com`)

const checkDeadName = (target: Target, index: number) =>
  check(target, target.attackerKey, deadNames(1, target, index)[0] ?? "")

/** A name of 985 different letters that need conversion. */
const longName = (index: number): string =>
  `a@${Array.from({ length: 985 }, (_, letter) => String.fromCodePoint(0x4e00 + ((index * 7 + letter) % 20_000))).join("")}.com`

const ATTACKS: Readonly<Record<string, Attack>> = {
  "5 dead domains a second": {
    canaries: "answering",
    budget: "attacks_degraded",
    pace: { everyMs: 200 },
    send: checkDeadName,
  },
  "3 batches of dead domains a second": {
    canaries: "answering",
    budget: "attacks_degraded",
    pace: { everyMs: 333 },
    send: (target, index) => batch(target, deadNames(LIMITS.batchItemsMax, target, index)),
  },
  "one dead domain a second, with a silent canary": {
    canaries: "silent",
    budget: "attacks_degraded",
    pace: { everyMs: 1000 },
    send: checkDeadName,
  },
  "batches of dead domains, as many as possible": {
    canaries: "answering",
    budget: "attacks_degraded_batches",
    pace: "as fast as possible",
    send: (target, index) => batch(target, deadNames(LIMITS.batchItemsMax, target, index)),
  },
  "batches of fresh domains, as many as possible": {
    canaries: "answering",
    budget: "attacks_degraded_batches",
    pace: "as fast as possible",
    send: (target, index) =>
      batch(
        target,
        Array.from({ length: LIMITS.batchItemsMax }, (_, item) => `jane@flood${target.run}x${index}x${item}.com`),
      ),
  },
  "50 long names a second without a key": {
    canaries: "answering",
    budget: "attacks_degraded",
    pace: { everyMs: 20 },
    send: (target, index) => check(target, null, longName(index)),
  },
  "5 batches of long names a second": {
    canaries: "answering",
    budget: "attacks_degraded",
    pace: { everyMs: 200 },
    send: (target, index) =>
      batch(
        target,
        Array.from({ length: 80 }, (_, item) => longName(index * 80 + item)),
      ),
  },
}

/** Runs the bench. Rejects when the caller gets another answer than 200. */
export async function attacksBench(scale: AttacksScale): Promise<Report> {
  await using dns = await startServer({
    command: [process.execPath, DNS_SERVER, "--delay-ms", String(DNS_DELAY_MS)],
    core: "load",
  })
  const figures: Figure[] = []
  for (const canaries of ["answering", "silent"] as const) {
    await using directory = await emptyDirectory()
    const keys = {
      attackerKey: await unlimitedKey(directory.path),
      callerKey: await limitedKey(directory.path),
    }
    await using server = await startServer({
      command: PRODUCT.source,
      environment: {
        ...productSettings(directory.path),
        ...NO_LIMITS,
        ...KEEPING_MEMORY,
        MAILKIND_DNS_SERVERS: dns.url.host,
        MAILKIND_DNS_CANARIES: CANARIES[canaries],
      },
      core: "server",
    })
    for (const [name, attack] of Object.entries(ATTACKS))
      if (attack.canaries === canaries) figures.push(...(await attackFigures(server, keys, name, attack, scale)))
  }
  return {
    bench: "attacks",
    description: [
      `a caller checks ${scale.rate} fresh domains a second, which take 4 questions of ${DNS_DELAY_MS} ms each; ${scale.calmS} s alone, then ${scale.attackS} s beside each attack of another account`,
      "degraded: the share of the caller's answers without DNS; latency runs from when a check was due",
    ],
    figures,
  }
}

async function attackFigures(
  { url }: ServerProcess,
  keys: Pick<Target, "attackerKey" | "callerKey">,
  name: string,
  attack: Attack,
  scale: AttacksScale,
): Promise<Figure[]> {
  const target = { url, ...keys, run: crypto.randomUUID().slice(0, 8) }
  const calm = await callerRound({ ...target, run: `calm${target.run}` }, scale.rate, scale.calmS)
  const attacker = new AbortController()
  const attacking = runAttack(target, attack, scale, attacker.signal)
  const attacked = await callerRound({ ...target, run: `busy${target.run}` }, scale.rate, scale.attackS)
  attacker.abort()
  await attacking
  return [
    figure(`${name}: degraded`, "", attacked.degradedShare, attack.budget),
    figure(`${name}: p99 ÷ calm`, "×", attacked.p99Ms / calm.p99Ms, "attacks_p99"),
    figure(`${name}: p99`, "ms", attacked.p99Ms),
    figure(`${name}: attacks sent`, "/s", (await attacking) / scale.attackS),
  ]
}

/** Attacks until the signal is aborted, and gives the number of requests. */
async function runAttack(
  target: Target,
  { pace, send: sendOne }: Attack,
  { batchesInFlight }: AttacksScale,
  signal: AbortSignal,
): Promise<number> {
  let index = 0
  // An attacker does not care for its answers.
  const send = (): Promise<unknown> => sendOne(target, index++).catch(() => undefined)
  if (pace !== "as fast as possible") {
    const timer = setInterval(send, pace.everyMs)
    await new Promise(resolve => signal.addEventListener("abort", resolve, { once: true }))
    clearInterval(timer)
    return index
  }
  const lane = async (): Promise<void> => {
    while (!signal.aborted) await send()
  }
  await Promise.all(Array.from({ length: batchesInFlight }, lane))
  return index
}

type CallerRound = { readonly degradedShare: number; readonly p99Ms: number }

/** Checks fresh domains, each when it is due, whether or not the one before was answered. */
async function callerRound(target: Target, rate: number, durationS: number): Promise<CallerRound> {
  const startedAtMs = performance.now()
  const answers = Array.from({ length: rate * durationS }, async (_, index) => {
    const dueMs = startedAtMs + (index * 1000) / rate
    await Bun.sleep(Math.max(0, dueMs - performance.now()))
    const { status, text } = await check(target, target.callerKey, `jane@fresh${target.run}x${index}.com`)
    if (status !== 200) throw new Error(`the caller was answered ${status}: ${text.slice(0, 200)}`)
    return { isDegraded: text.includes('"degraded":true'), latencyMs: performance.now() - dueMs }
  })
  const all = await Promise.all(answers)
  const latencies = all.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b)
  return {
    degradedShare: all.filter(({ isDegraded }) => isDegraded).length / all.length,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
  }
}

const check = ({ url }: Target, key: string | null, email: string) => post(url, ROUTES.postCheck.path, key, { email })

const batch = ({ url, attackerKey }: Target, items: readonly string[]) =>
  post(url, ROUTES.postBatch.path, attackerKey, { items })

/** One agent for all, with as many connections as there are requests. */
const agent = new Agent({ keepAlive: true })

function post(url: URL, path: string, key: string | null, body: object) {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly text: string }>()
  const headers = { "Content-Type": "application/json", ...(key === null ? {} : { Authorization: `Bearer ${key}` }) }
  const sent = request(new URL(path, url), { method: "POST", agent, headers }, response => {
    const parts: string[] = []
    response.setEncoding("utf8")
    response.on("data", (part: string) => parts.push(part))
    response.on("error", reject)
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text: parts.join("") }))
  })
  sent.on("error", reject)
  sent.end(JSON.stringify(body))
  return promise
}
