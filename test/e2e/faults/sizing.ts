import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { statusBytes } from "../../../bench/servers/process-stats.ts"
import { startServer } from "../../../bench/servers/server-process.ts"
import { memoryTable } from "../../support/memory-table.ts"
import { TestServer } from "../../support/test-server.ts"
import type { Doing, Found, LeftOut } from "./fault.ts"

const ROOT = join(import.meta.dir, "../../..")
const NAMES_A_BATCH = 100
const CONNECTIONS = 4
const LOOK_MS = 100
const EMPTY_LOOKS_MAX = 100
/** A server that asks for nothing any more has given back what it freed after this time. */
const REST_MS = 60_000

/** What a server may take while it is asked for new names alone, and above its idle memory afterwards. */
const PEAK_BYTES_MAX = 300_000_000
const REST_GROWTH_BYTES_MAX = 60_000_000

/** Asks a server in batches for `times` domains that nobody has asked for, and looks at its memory meanwhile and at rest. */
export const manyNewNames = (doing: Doing): Promise<Found> => askManyNewNames(doing, PEAK_BYTES_MAX, [])

const GROUP_BYTES = 268_435_456
const GROUP_PEAK_BYTES_MAX = 200_000_000

/** Does the same to a server in a small control group. */
export const manyNewNamesInSmallGroup = (doing: Doing): Promise<Found | LeftOut> =>
  inGroup(GROUP_BYTES, by => askManyNewNames(doing, GROUP_PEAK_BYTES_MAX, by))

/** Does the same to servers with several workers, in the limits that the guide has for them. */
export async function manyNewNamesOfWorkers(doing: Doing): Promise<Found | LeftOut> {
  let found: Found | LeftOut = { leftOut: "the guide has no limit for several workers" }
  for (const [workers, { limitBytes }] of await memoryTable()) {
    if (workers === 1) continue
    // The process that is looked at is the one that starts the workers.
    found = await inGroup(limitBytes, by => askManyNewNames(doing, limitBytes, by, workers))
    if ("leftOut" in found || found.breaches.length > 0) return found
  }
  return found
}

/** Where control groups of memory are made, and the names of their files: in version 2, and in version 1. */
const CONTROL_GROUPS = [
  { folder: "/sys/fs/cgroup", limit: "memory.max", kills: "memory.events", controllers: "cgroup.controllers" },
  { folder: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", kills: "memory.oom_control", controllers: null },
] as const

/** Does something to a server in a control group of its own. `by` starts a program in it. */
async function inGroup(bytes: number, work: (by: readonly string[]) => Promise<Found>): Promise<Found | LeftOut> {
  const kind = CONTROL_GROUPS.find(({ folder, limit, controllers }) =>
    controllers === null
      ? existsSync(join(folder, limit))
      : existsSync(join(folder, controllers)) && /\bmemory\b/.test(readFileSync(join(folder, controllers), "utf8")),
  )
  if (process.getuid?.() !== 0 || kind === undefined) return { leftOut: "no control group of memory can be made" }
  const group = join(kind.folder, `mailkind-faults-${process.pid}`)
  mkdirSync(group)
  try {
    if (kind.controllers !== null) writeFileSync(join(kind.folder, "cgroup.subtree_control"), "+memory")
    writeFileSync(join(group, kind.limit), String(bytes))
    const found = await work(["sh", "-c", `echo $$ > ${group}/cgroup.procs && exec "$@"`, "sh"])
    const [, kills] = /oom_kill (\d+)/.exec(readFileSync(join(group, kind.kills), "utf8")) ?? []
    return kills === "0" ? found : { ...found, breaches: [...found.breaches, "it was killed for its memory"] }
  } finally {
    // Workers end after the process that has started them.
    for (let looks = 0; looks < EMPTY_LOOKS_MAX && readFileSync(join(group, "cgroup.procs"), "utf8") !== ""; looks++)
      await Bun.sleep(LOOK_MS)
    rmdirSync(group)
  }
}

async function askManyNewNames(
  { times, isLong, program }: Doing,
  peakBytesMax: number,
  by: readonly string[],
  workers = 1,
): Promise<Found> {
  await using dns = await startServer({ command: [process.execPath, join(ROOT, "bench/servers/dns-server.ts")] })
  await using victim = new TestServer({
    program,
    by: () => by,
    settings: { MAILKIND_DNS_SERVERS: dns.url.host, MAILKIND_WORKERS: String(workers) },
  })
  await victim.start()
  const asker = new BatchAsker(victim)
  await asker.ask(NAMES_A_BATCH, "first")
  const before = statusBytes(victim.pid, "VmRSS")
  let peak = before
  const look = (): void => {
    peak = Math.max(peak, statusBytes(victim.pid, "VmRSS"))
  }
  const looks = setInterval(look, LOOK_MS)
  await asker.ask(times, "new").finally(() => clearInterval(looks))
  look()
  if (isLong) await Bun.sleep(REST_MS)
  const after = statusBytes(victim.pid, "VmRSS")
  const breaches = [...asker.breaches]
  if (isLong && peak > peakBytesMax) breaches.push(`it took ${inMb(peak)} while it was asked`)
  if (isLong && after > before + REST_GROWTH_BYTES_MAX)
    breaches.push(`it has ${inMb(after - before)} more than before when nobody asks any more`)
  return {
    did: `${asker.answered} new domains in batches of ${NAMES_A_BATCH} over ${CONNECTIONS} connections: at most ${inMb(peak)} resident`,
    ...{ times, acknowledged: asker.answered, breaches, backMs: null, memory: { before, after } },
  }
}

const inMb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`

/** Sends batches of names. */
class BatchAsker {
  readonly breaches = new Set<string>()
  answered = 0
  readonly #victim: TestServer

  constructor(victim: TestServer) {
    this.#victim = victim
  }

  /** Asks for as many domains, each once, over all connections. A server that is overloaded is asked again. */
  async ask(count: number, stem: string): Promise<void> {
    let next = 0
    const connection = async (): Promise<void> => {
      while (next < count) {
        const from = next
        next += NAMES_A_BATCH
        const items = Array.from({ length: NAMES_A_BATCH }, (_, at) => `jane@${stem}-harbor${from + at}-freight.com`)
        while (!(await this.#batch(JSON.stringify({ items })))) await Bun.sleep(LOOK_MS)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  }

  /** Whether it was answered. */
  async #batch(body: string): Promise<boolean> {
    const headers = { "Content-Type": "application/json" }
    const { firstKey: key } = this.#victim
    const { status, body: answer } = await this.#victim.ask("POST /v1/check/batch", { key, headers, body })
    if (status === 503) return false
    if (status === 200) this.answered += JSON.parse(answer).results.length
    else this.breaches.add(`a batch is answered ${status}`)
    return true
  }
}
