import { join } from "node:path"
import { CHECKOUT } from "../../../bench/servers/product.ts"
import type { JobBody } from "../../../src/contract/jobs-schema.ts"
import { askLoopback } from "../../support/loopback.ts"
import { connectRaw } from "../workers/raw-connection.ts"
import { startWorkersServer, type WorkersServer } from "../workers/workers-server.ts"
import type { Doing, Found } from "./fault.ts"

const [RUNTIME, MAIN] = CHECKOUT
/** The program out of this checkout, in which some rows end or hang their process. */
const PROGRAM = [RUNTIME, "--preload", join(import.meta.dir, "poison-rows.ts"), MAIN]

const ROWS = 3000
const POISON_AT = 1200
/** So long that a block has some 60 rows: each suspect one costs a transaction, and a rest beside live requests. */
const PADDING = "x".repeat(1000)
const KILLS_MAX = 2
const WATCHERS = 12
const CALM_MS = 3000
/** Callers that never pause take all that two workers give, and would wait twice as long for one of them whatever it does. */
const CALLER_PAUSE_MS = 50
/** The 99th percentile of others is at most so many times that of before, and a little: a worker less is left, and another one starts. */
const SLOWER_MAX = 5
const NOISE_MS = 50

/** Checks lists with a row that ends its worker, and in the long form with one that hangs it, while another account asks both workers. */
export async function poisonousLists({ times, isLong }: Doing): Promise<Found> {
  const kinds = isLong ? (["crash", "hang"] as const) : (["crash"] as const)
  const breaches: string[] = []
  const told: string[] = []
  let acknowledged = 0
  for (const kind of kinds) {
    await using crew = await startWorkersServer({ MAILKIND_TIERS: "0=-/-/-" }, PROGRAM)
    const others = new Others(crew, (await crew.newKey()).key)
    await Bun.sleep(CALM_MS)
    const before = others.takeP99()
    for (let time = 0; time < times; time++) {
      const killsBefore = endedPids(crew).length
      const job = await checked(crew, kind)
      const kills = endedPids(crew).length - killsBefore
      acknowledged += job.resultRows
      breaches.push(
        ...wrongEnds(job),
        ...(kills > KILLS_MAX ? [`a row that is to ${kind} ended ${kills} workers`] : []),
      )
      told.push(`${kind}: ${kills} workers ended`)
    }
    const during = others.takeP99()
    breaches.push(...(await others.end()))
    told.push(
      `the 99th percentile of another account ${before.toFixed(1)} ms before and ${during.toFixed(1)} ms meanwhile`,
    )
    if (isLong && during > before * SLOWER_MAX + NOISE_MS) breaches.push(`others waited ${during} ms for ${before} ms`)
  }
  return {
    did: `lists whose row ${POISON_AT + 1} ends or hangs its process were given to two workers (${told.join("; ")})`,
    ...{ times: times * kinds.length, acknowledged, breaches, backMs: null, memory: null },
  }
}

type Checked = JobBody & { readonly resultRows: number }

function wrongEnds({ state, reason, rows, resultRows }: Checked): readonly string[] {
  const isGivenUp = state === "failed" && reason === "no_progress"
  const isWhole = rows.done === POISON_AT && resultRows === POISON_AT
  return [
    ...(isGivenUp ? [] : [`the list is ${state} (${reason})`]),
    ...(isWhole ? [] : [`${rows.done} rows are done and ${resultRows} have results, of ${POISON_AT} before the row`]),
  ]
}

/** Uploads a list of an account of its own, and gives its job at its end with the number of its results. */
async function checked(crew: WorkersServer, kind: string): Promise<Checked> {
  const row = (at: number): string => `${at === POISON_AT ? kind : `jane${at}`}@gmail.com,${PADDING}\n`
  const list = `email,padding\n${Array.from({ length: ROWS }, (_, at) => row(at)).join("")}`
  const { key } = await crew.newKey()
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "text/csv" }
  /** A worker that ends breaks off what it has in hand, so each request is repeated. */
  const ask = async (path: string, method = "GET", body?: string): Promise<string> => {
    for (;;) {
      const answer = await askLoopback(`http://127.0.0.1:${crew.port}${path}`, { method, headers, body }).catch(
        () => null,
      )
      if (answer !== null && answer.status < 300) return answer.body
      await Bun.sleep(50)
    }
  }
  const { id }: JobBody = JSON.parse(await ask("/v1/jobs", "POST", list))
  for (;;) {
    const job: JobBody = JSON.parse(await ask(`/v1/jobs/${id}`))
    if (job.state === "done" || job.state === "failed")
      return { ...job, resultRows: (await ask(`/v1/jobs/${id}/results`)).trimEnd().split("\n").length - 1 }
    await Bun.sleep(50)
  }
}

const endedPids = ({ lines }: WorkersServer): readonly unknown[] =>
  lines.filter(({ msg }) => msg === "a worker ended and is replaced").map(({ pid }) => pid)

/** Another account that asks both workers for their health and for checks, on connections that stay. */
class Others {
  readonly #crew: WorkersServer
  readonly #key: string
  readonly #watchers: readonly Promise<void>[]
  readonly #breaches: string[] = []
  /** Who had the connections that broke. */
  readonly #brokenPids: number[] = []
  #tookMs: number[] = []
  #isOver = false

  constructor(crew: WorkersServer, key: string) {
    this.#crew = crew
    this.#key = key
    this.#watchers = Array.from({ length: WATCHERS }, async () => {
      while (!this.#isOver) await this.#watch()
    })
  }

  /** The 99th percentile of the checks since the last call, in milliseconds. */
  takeP99(): number {
    const sorted = this.#tookMs.toSorted((one, other) => one - other)
    this.#tookMs = []
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
  }

  /** What must not be: a refusal, or a connection that broke and was none of a worker that ended. */
  async end(): Promise<readonly string[]> {
    this.#isOver = true
    await Promise.all(this.#watchers)
    const ended = endedPids(this.#crew)
    const wrong = this.#brokenPids.filter(pid => !ended.includes(pid))
    return [...this.#breaches, ...wrong.map(pid => `worker ${pid} lives and has broken off a connection`)]
  }

  async #watch(): Promise<void> {
    const connection = await connectRaw(this.#crew.port).catch(() => null)
    if (connection === null) return
    let pid: number | null = null
    try {
      while (!this.#isOver) {
        connection.get("/v1/health")
        const health = await connection.answer()
        pid ??= connection.owner(this.#crew.workers())
        const startedAt = performance.now()
        connection.check(this.#key, { domain: "gmail.com" })
        const check = await connection.answer()
        this.#tookMs.push(performance.now() - startedAt)
        for (const { status } of [health, check])
          if (status !== 200) this.#breaches.push(`a worker answered another account ${status}`)
        await Bun.sleep(CALLER_PAUSE_MS)
      }
    } catch {
      // One that was never answered is that of the worker that hangs.
      if (pid !== null) this.#brokenPids.push(pid)
    } finally {
      connection.close()
    }
  }
}
