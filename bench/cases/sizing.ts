/** How much memory and processor time does a server need? It does each kind of work in a control group of each size. */

import { join } from "node:path"
import { fileURLToPath } from "bun"
import { ROUTES } from "../../src/contract/routes.ts"
import { benchAddresses } from "../load/addresses.ts"
import { type CheckRound, checkRound } from "../load/check-rounds.ts"
import { writeMix } from "../mix/files.ts"
import { type Figure, figure, type Report } from "../report/report.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { type MemoryGroup, memoryGroup } from "../servers/memory-group.ts"
import { emptyDirectory, PRODUCT, productSettings } from "../servers/product.ts"
import { residentLooks, restingMemory } from "../servers/resting-memory.ts"
import { type ServerProcess, startServer } from "../servers/server-process.ts"
import { Lists } from "./jobs.ts"

/** How much the bench does. */
export type SizingScale = {
  readonly sizesMb: readonly number[]
  /** How long the server is left alone, to see what it holds. */
  readonly quietMs: number
  /** How long each load lasts. */
  readonly loadS: number
  /** Domains that nobody asked about: enough for a load. */
  readonly newDomains: number
  readonly listRows: number
}

/** The scale of a figure that may be told. */
export const SIZING_FULL: SizingScale = {
  sizesMb: [128, 256, 512],
  quietMs: 5000,
  loadS: 15,
  newDomains: 200_000,
  listRows: 200_000,
}

const DNS_SERVER = fileURLToPath(import.meta.resolve("../servers/dns-server.ts"))
const DNS_DELAY_MS = 20
const CONNECTIONS = 32
const ITEMS = 100

/** What a server in a group has done, and what it held meanwhile. */
type Worked = {
  readonly peakBytes: number
  readonly cpuMs: number
  readonly count: number
  readonly p99Ms: number | null
}

/** Runs the bench. Rejects when no group can be made, or an answer is not 200 although no process was killed. */
export async function sizingBench(scale: SizingScale): Promise<Report> {
  await using dns = await startServer({ command: [process.execPath, DNS_SERVER, "--delay-ms", String(DNS_DELAY_MS)] })
  const [endings, figures]: [string[], Figure[]] = [[], []]
  for (const mb of scale.sizesMb) {
    using group = memoryGroup(mb * 1_048_576)
    if (group === null) throw new Error("no control group with a bound of memory can be made here")
    await using stack = new AsyncDisposableStack()
    const { idleBytes, worked, failedAt } = await inGroup(scale, dns, group, stack)
    figures.push(figure(`${mb} MB, when nobody asks`, "MB", idleBytes / 1e6))
    for (const [work, one] of Object.entries(worked)) figures.push(...figuresOf(`${mb} MB, ${work}`, one))
    endings.push(
      failedAt === null ? `${mb} MB: all work was done` : `${mb} MB: killed by the system during ${failedAt}`,
    )
  }
  return {
    bench: "sizing",
    description: [
      `a server in a control group with so much memory and no swap; ${scale.loadS} s of each load over ${CONNECTIONS} connections, one after the other on one server; DNS answers after ${DNS_DELAY_MS} ms`,
      `known: single checks of domains that were checked before; new: of ${scale.newDomains} domains that were not; batches: ${ITEMS} known addresses each; list: ${scale.listRows} rows of the realistic mix`,
      "memory: the most that is resident in looks each tenth of a second; processor time: of the server, for a thousand requests, items or rows",
      ...endings,
    ],
    figures,
  }
}

function figuresOf(name: string, { peakBytes, cpuMs, count, p99Ms }: Worked): Figure[] {
  return [
    figure(`${name}, memory`, "MB", peakBytes / 1e6),
    figure(`${name}, processor time`, "ms a thousand", (cpuMs / count) * 1000),
    ...(p99Ms === null ? [] : [figure(`${name}, p99`, "ms", p99Ms)]),
  ]
}

/** Has a server in the group do each work, until one is not done because the system killed it. */
async function inGroup(scale: SizingScale, dns: ServerProcess, group: MemoryGroup, stack: AsyncDisposableStack) {
  const directory = stack.use(await emptyDirectory())
  const key = await limitedKey(directory.path)
  const settings = { ...productSettings(directory.path), ...HIGH_LIMITS, MAILKIND_DNS_SERVERS: dns.url.host }
  const server = stack.use(
    await startServer({ command: [...group.by, ...(PRODUCT.executable ?? PRODUCT.source)], environment: settings }),
  )
  const { residentBytes: idleBytes } = await restingMemory(server, scale.quietMs)
  const worked: Record<string, Worked> = {}
  for (const [name, work] of Object.entries(worksOf(scale, server, key, directory.path))) {
    const cpuBeforeMs = server.cpuMs()
    let done: Awaited<ReturnType<typeof work>> | null = null
    try {
      const looks = await residentLooks(server, async () => {
        done = await work()
      })
      if (done === null) throw new Error("nothing was done")
      const { count, p99Ms }: Awaited<ReturnType<typeof work>> = done
      if (count === 0) throw new Error("nothing was answered")
      worked[name] = { peakBytes: Math.max(...looks), cpuMs: server.cpuMs() - cpuBeforeMs, count, p99Ms }
    } catch (fault) {
      if (!(group.killedCount() > 0)) throw fault
      return { idleBytes, worked, failedAt: name }
    }
  }
  return { idleBytes, worked, failedAt: null }
}

type Work = () => Promise<{ readonly count: number; readonly p99Ms: number | null }>

function worksOf(scale: SizingScale, server: ServerProcess, key: string, directory: string): Record<string, Work> {
  const authorization = `Bearer ${key}`
  const load = (path: string, bodies: readonly string[], requestItems: number): Work => {
    const size = { connections: CONNECTIONS, durationS: scale.loadS, warmupS: 0 }
    return async () => {
      const round: CheckRound = await checkRound(server, { path, authorization, bodies }, size)
      return { count: round.answers * requestItems, p99Ms: round.latencyMs.p99 }
    }
  }
  const known = benchAddresses()
  const items = Array.from({ length: ITEMS }, (_, at) => known[at % known.length])
  const unseen = Array.from({ length: scale.newDomains }, (_, at) => `jane@quay${at}-freight.com`)
  const single = (addresses: readonly string[]): readonly string[] => addresses.map(email => JSON.stringify({ email }))
  return {
    known: load(ROUTES.postCheck.path, single(known), 1),
    new: load(ROUTES.postCheck.path, single(unseen), 1),
    batches: load(ROUTES.postBatch.path, [JSON.stringify({ items })], ITEMS),
    list: async () => {
      const file = join(directory, "list.csv")
      await writeMix(file, "csv", scale.listRows)
      const lists = new Lists(server, key)
      const id = await lists.upload(file)
      const { state, reason } = await lists.once(id, "ended")
      if (state !== "done") throw new Error(`the list is ${state}: ${reason}`)
      return { count: scale.listRows, p99Ms: null }
    },
  }
}
