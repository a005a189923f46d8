import type { PipedProcess } from "../../../base/streams.ts"
import type { Block } from "../../../rows/record-cutter.ts"
import { CommandError } from "../../output.ts"
import type { SummaryCounts } from "../summary.ts"
import type { WorkerJob, WorkerReport } from "./block-worker.ts"
import { encodeFrame, readFrames } from "./frames.ts"

/** Results of a block as they are written. */
type Results = { readonly bytes: Uint8Array; readonly counts: SummaryCounts; readonly isLast: boolean }

/** How many blocks a worker has at once: one in work, the next, and those whose results wait for an earlier block. */
const BLOCKS_PER_WORKER = 4

type PoolWorker = { readonly process: PipedProcess; blockCount: number; isReady: boolean }

/**
 * Worker processes that classify blocks. Their results are given to `onResults` in the order of the blocks, however fast each
 * worker is. Rejects everywhere with a `CommandError` once a worker has failed or ended.
 */
export class BlockPool {
  readonly #workers: PoolWorker[]
  readonly #onResults: (results: Results) => void
  /** Results of blocks behind the head, which is the block whose results are given now. */
  readonly #waiting = new Map<number, Results[]>()
  readonly #workerOf = new Map<number, PoolWorker>()
  #headId = 0
  #nextId = 0
  #failure: CommandError | null = null
  #isClosed = false
  #onChange: () => void = () => undefined

  constructor(processes: readonly PipedProcess[], job: WorkerJob, onResults: (results: Results) => void) {
    this.#onResults = onResults
    this.#workers = processes.map(process => ({ process, blockCount: 0, isReady: false }))
    for (const worker of this.#workers) {
      void this.#readReports(worker)
      void this.#write(worker, encodeFrame({ kind: "job", job }, ""))
    }
  }

  /** Whether all workers can begin. */
  get isReady(): boolean {
    return this.#failure !== null || this.#workers.every(({ isReady }) => isReady)
  }

  /** Resolves when a worker has taken the block, for which it waits. `place`: how many rows stand before it. */
  async submit({ bytes }: Block, place: number): Promise<void> {
    let free = this.#freeWorker()
    for (; free === null; free = this.#freeWorker()) await this.#nextChange()
    const id = this.#nextId++
    free.blockCount++
    this.#workerOf.set(id, free)
    void this.#write(free, encodeFrame({ kind: "block", id, place }, bytes))
  }

  /** Resolves when all results were given. */
  async drain(): Promise<void> {
    while (this.#headId < this.#nextId) await this.#nextChange()
    if (this.#failure !== null) throw this.#failure
  }

  /** Ends the workers. Resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { process } of this.#workers) process.kill()
    await Promise.all(this.#workers.map(({ process }) => process.exited))
  }

  #freeWorker(): PoolWorker | null {
    if (this.#failure !== null) throw this.#failure
    const [idlest] = this.#workers.toSorted((one, other) => one.blockCount - other.blockCount)
    return idlest !== undefined && idlest.blockCount < BLOCKS_PER_WORKER ? idlest : null
  }

  async #readReports(worker: PoolWorker): Promise<void> {
    for await (const { meta, bytes } of readFrames<WorkerReport>(worker.process.chunks)) {
      if (meta.kind === "ready") worker.isReady = true
      else if (meta.kind === "failed") this.#fail(meta.message)
      else this.#take(meta.id, { bytes, counts: meta.counts, isLast: meta.isLast })
      this.#onChange()
    }
    const { exitCode, killedBy } = await worker.process.exited
    if (!this.#isClosed) this.#fail(workerEndMessage(killedBy ?? `exit code ${exitCode}`))
  }

  #fail(message: string): void {
    this.#failure ??= new CommandError(message)
    this.#onChange()
  }

  #take(id: number, results: Results): void {
    if (this.#isClosed) return
    if (id === this.#headId) this.#give(results)
    else {
      const behind = this.#waiting.get(id)
      if (behind === undefined) this.#waiting.set(id, [results])
      else behind.push(results)
    }
  }

  #give(results: Results): void {
    this.#onResults(results)
    if (!results.isLast) return
    const worker = this.#workerOf.get(this.#headId)
    if (worker !== undefined) worker.blockCount--
    this.#workerOf.delete(this.#headId)
    this.#headId++
    const next = this.#waiting.get(this.#headId) ?? []
    this.#waiting.delete(this.#headId)
    for (const one of next) this.#give(one)
  }

  /** A worker that has ended reports nothing more, which is where that is told. */
  async #write({ process }: PoolWorker, bytes: Uint8Array): Promise<void> {
    await process.write(bytes).catch(() => undefined)
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) reject(this.#failure)
      this.#onChange = () => (this.#failure === null ? resolve() : reject(this.#failure))
    })
  }
}

const workerEndMessage = (how: string): string =>
  `A process of this run ended (${how}), maybe for want of memory. --jobs 1 needs the least. An interrupted run continues with --resume.`
