/**
 * Does a refresh of the lists harm those who ask meanwhile? A server is asked at a steady rate while its lists are refreshed
 * again and again by `lists update` on the same data directory, each time with another name.
 */

import { benchAddresses } from "../load/addresses.ts"
import { sendRequest } from "../load/ask.ts"
import { endpointOf, requestBytes } from "../load/request-bytes.ts"
import { type LoadReport, runLoad } from "../load/run.ts"
import { figure, medianFigure, type Report } from "../report/report.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, PROGRAM, productSettings } from "../servers/product.ts"
import { type RestingMemory, restingMemory } from "../servers/resting-memory.ts"
import { runToEnd, type ServerProcess, startServer } from "../servers/server-process.ts"

/** How much the bench does. */
export type RefreshScale = {
  readonly refreshes: number
  readonly connections: number
  /** Requests a second, whatever the server does. */
  readonly rate: number
  /** The load is sent and looked at in rounds of this length. */
  readonly roundS: number
  /** Rounds without a refresh, which come first. */
  readonly calmRounds: number
  /** How long the server is left alone before it is looked at; as long again, it is looked at. */
  readonly quietMs: number
}

/** The scale of a figure that may be told. */
export const REFRESH_FULL: RefreshScale = {
  refreshes: 20,
  connections: 64,
  rate: 2000,
  roundS: 4,
  calmRounds: 3,
  quietMs: 6000,
}

const UPDATE_TIMEOUT_MS = 60_000
/** How long a server may take to have the lists that are in place: several times what it looks after. */
const TAKEN_TIMEOUT_MS = 20_000
const LOOK_MS = 50
/** Names of the list that is refreshed, besides the one that is new each time: it must not grow tenfold. */
const STEADY_NAMES = Array.from({ length: 100 }, (_, at) => `bench-steady-${at}.com`)

/** Runs the bench. Rejects when an update fails; what the server does wrong is in the figures. */
export async function refreshBench(scale: RefreshScale): Promise<Report> {
  await using directory = await emptyDirectory()
  using lists = growingList()
  const key = await limitedKey(directory.path)
  await using server = await startServer({
    command: PRODUCT.source,
    environment: { ...productSettings(directory.path), ...HIGH_LIMITS, ...KEEPING_MEMORY },
    core: "server",
  })
  const requests = benchAddresses().map(email => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }
    return requestBytes({
      method: "POST",
      url: new URL("/v1/check", server.url),
      headers,
      body: JSON.stringify({ email }),
    })
  })
  const round = (): Promise<LoadReport> => loaded(server, scale, requests)
  await round()
  const calm: LoadReport[] = []
  while (calm.length < scale.calmRounds) calm.push(await round())
  const before = await restingMemory(server, scale.quietMs)
  const refreshing = refreshed(server, directory.path, lists.url, scale.refreshes)
  let isOver = false
  const end = (): void => {
    isOver = true
  }
  void refreshing.then(end, end)
  const busy: LoadReport[] = []
  while (!isOver) busy.push(await round())
  const found = { calm, busy, swaps: await refreshing, before, after: await restingMemory(server, scale.quietMs) }
  return reportOf(scale, found)
}

/** A server of one list, which has one name more each time. */
export function growingList(): Disposable & { readonly url: string } {
  const names = [...STEADY_NAMES]
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      names.push(`bench-new-${names.length}.com`)
      return new Response(`${names.join("\n")}\n`)
    },
  })
  return { url: `${server.url.href}list.txt`, [Symbol.dispose]: () => void server.stop(true) }
}

function loaded(
  { url }: ServerProcess,
  { connections, rate, roundS }: RefreshScale,
  requests: readonly Uint8Array[],
): Promise<LoadReport> {
  return runLoad({
    endpoints: [endpointOf(url)],
    requests,
    connections,
    pace: { perSecond: rate, waitingMax: 100_000 },
    warmupMs: 0,
    durationMs: roundS * 1000,
    requestsMax: null,
  })
}

/** One refresh: how long the command took, and how long after it the server answered by its lists; null: it never did. */
type Swap = { readonly updateMs: number; readonly takenMs: number | null }

/** Refreshes the lists of the server's directory so many times. */
export async function refreshed(
  server: ServerProcess,
  directory: string,
  source: string,
  count: number,
): Promise<readonly Swap[]> {
  const swaps: Swap[] = []
  while (swaps.length < count) {
    const begunAt = performance.now()
    const command = [...PROGRAM, "lists", "update", "--source", source, "--json"] as const
    const out = await runToEnd({ command, environment: productSettings(directory) }, "", UPDATE_TIMEOUT_MS)
    const { version }: { readonly version: string | null } = JSON.parse(out)
    const updatedAt = performance.now()
    const isTaken = version !== null && (await answersBy(server, version))
    const takenMs = isTaken ? performance.now() - updatedAt : null
    swaps.push({ updateMs: updatedAt - begunAt, takenMs })
  }
  return swaps
}

/** Whether the server comes to answer by these lists. */
async function answersBy({ url }: ServerProcess, version: string): Promise<boolean> {
  const givenUpAt = performance.now() + TAKEN_TIMEOUT_MS
  while (performance.now() < givenUpAt) {
    const { body } = await sendRequest({ method: "GET", url: new URL("/v1/health", url), headers: {}, body: "" })
    if (JSON.parse(body).lists.version === version) return true
    await Bun.sleep(LOOK_MS)
  }
  return false
}

type Found = {
  readonly calm: readonly LoadReport[]
  readonly busy: readonly LoadReport[]
  readonly swaps: readonly Swap[]
  readonly before: RestingMemory
  readonly after: RestingMemory
}

function reportOf(scale: RefreshScale, { calm, busy, swaps, before, after }: Found): Report {
  const p99 = (rounds: readonly LoadReport[]) => rounds.map(({ latencyMs }) => latencyMs.p99)
  const longest = (rounds: readonly LoadReport[]) => Math.max(...rounds.map(({ latencyMs }) => latencyMs.max))
  const taken = swaps.flatMap(({ takenMs }) => takenMs ?? [])
  const answers = sum(busy.map(report => report.answers))
  return {
    bench: "refresh",
    description: [
      `POST /v1/check at ${scale.rate} a second over ${scale.connections} connections, which are opened anew every ${scale.roundS} s; DNS off`,
      `${scale.refreshes} refreshes, one after the other, each by \`lists update\` with one name more; the machine is the same, and no core is theirs alone`,
      `memory from ${scale.quietMs / 1000} s after the last answer and for as long again: the least that was seen`,
    ],
    figures: [
      figure("failed or other than 200", "", failedIn(busy), "refresh_failed"),
      figure("refreshes that the server took", "of them", taken.length / swaps.length, "refresh_taken"),
      figure("memory after ÷ before with what is let pass", "", memoryShare(before, after), "refresh_memory"),
      figure("more descriptors after", "", after.descriptors - before.descriptors, "refresh_descriptors"),
      figure("requests answered while lists were refreshed", "", answers),
      figure("lists taken", "", taken.length),
      medianFigure(
        "one refresh",
        "ms",
        swaps.map(({ updateMs }) => updateMs),
      ),
      medianFigure("from there until the server has the lists", "ms", taken),
      medianFigure("p99 with refreshes", "ms", p99(busy)),
      medianFigure("p99 without", "ms", p99(calm)),
      figure("longest with refreshes", "ms", longest(busy)),
      figure("longest without", "ms", longest(calm)),
      figure("resident memory before", "MB", before.residentBytes / 1e6),
      figure("resident memory after", "MB", after.residentBytes / 1e6),
      figure("the most that it ever held", "MB", after.peakBytes / 1e6),
      figure("descriptors after", "", after.descriptors),
    ],
  }
}

/** Requests that were sent and got no answer, or another than 200. What waits at the end of a round is not sent. */
const failedIn = (rounds: readonly LoadReport[]): number =>
  sum(rounds.map(({ answers, byStatus, failures }) => answers - (byStatus["200"] ?? 0) + failuresOf(failures)))

const failuresOf = ({ unsent: _, ...failures }: LoadReport["failures"]): number => sum(Object.values(failures))

/** Lists and what is derived from them lie elsewhere in memory after each swap: a tenth and 10 MB are let pass. */
const memoryShare = (before: RestingMemory, after: RestingMemory): number =>
  after.residentBytes / (before.residentBytes * 1.1 + 10_000_000)

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
