import type { Streams } from "../../../base/streams.ts"
import type { Subject } from "../../../check/address/subject.ts"
import type { Policy } from "../../../contract/policies.ts"
import type { FileFormat } from "../../../rows/file-format.ts"
import { type CheckedCounts, type CollectorDeps, createMemoryCollector } from "../../../rows/garbage-collector.ts"
import type { ReadingPlan } from "../../../rows/reading-plan.ts"
import { RESULT_FORMATS, type ResultExtras, type ResultFormat } from "../../../rows/result-format.ts"
import { RowChecker } from "../../../rows/row-checker.ts"
import { readBlock } from "../../../rows/row-reader.ts"
import { type CheckCommandDeps, commandRequest } from "../../check.ts"
import { SummaryCounter, type SummaryCounts } from "../summary.ts"
import { encodeFrame, readFrames } from "./frames.ts"

/** What a worker is told first. */
export type WorkerJob = {
  readonly plan: ReadingPlan
  readonly to: FileFormat
  readonly hasSafeCells: boolean
  readonly extras: ResultExtras
  readonly policy: Policy
  readonly isOffline: boolean
  readonly memoryMb: number
}

/** A message to a worker: the job first, then blocks of whole rows. `place`: how many rows stand before the block. */
export type WorkerTask =
  | { readonly kind: "job"; readonly job: WorkerJob }
  | { readonly kind: "block"; readonly id: number; readonly place: number }

/** A message of a worker: it is ready, it has failed, or it has results, which are the bytes of the frame. */
export type WorkerReport =
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "results"; readonly id: number; readonly isLast: boolean; readonly counts: SummaryCounts }

/** What a worker needs. */
export type WorkerDeps = CollectorDeps & {
  readonly streams: Streams
  readonly openCheck: (isOffline: boolean) => Promise<CheckCommandDeps>
  readonly runInterval: (everyMs: number, work: () => void) => () => void
}

/** How often results are sent, even when they come slowly; and how much text is sent at once. */
const SEND_INTERVAL_MS = 125
const SEND_LENGTH = 65_536

/** Classifies the blocks that come on the standard input, and writes their results to the standard output, until the input ends. */
export async function serveBlocks(deps: WorkerDeps): Promise<void> {
  const { streams, openCheck, runInterval } = deps
  const { chunks } = await streams.openSource("-")
  const sender = new ResultSender(streams.stdout.write)
  let classifier: BlockClassifier | null = null
  const endTicks = runInterval(SEND_INTERVAL_MS, () => sender.send(false))
  let collectAfter: (checked: CheckedCounts) => void = () => undefined
  try {
    for await (const { meta, bytes } of readFrames<WorkerTask>(chunks)) {
      if (meta.kind === "job") {
        collectAfter = createMemoryCollector(deps, meta.job.memoryMb)
        classifier = new BlockClassifier(await openCheck(meta.job.isOffline), meta.job, sender)
        await sender.report({ kind: "ready" })
      } else if (classifier !== null) collectAfter(await classifier.classify(meta, bytes))
    }
    await classifier?.drain()
    await sender.sent()
  } catch (error) {
    await sender.report({ kind: "failed", message: error instanceof Error ? error.message : String(error) })
  } finally {
    endTicks()
  }
}

/** Classifies blocks one after the other. The checks of a block may still run while the next one begins. */
class BlockClassifier {
  readonly #job: WorkerJob
  readonly #sender: ResultSender
  readonly #checker: RowChecker
  readonly #format: ResultFormat["format"]

  constructor({ check, testDomain }: CheckCommandDeps, job: WorkerJob, sender: ResultSender) {
    this.#job = job
    this.#sender = sender
    const options = { hasSafeCells: job.hasSafeCells, extras: job.extras, tellsCached: true }
    const { format, parts } = RESULT_FORMATS[job.to](job.plan.columns, options)
    this.#format = format
    const checkSubject = (subject: Subject) => check(commandRequest(subject, job.policy, parts))
    this.#checker = new RowChecker({ testDomain, check: checkSubject })
  }

  /** Resolves with what was checked when the rows are on their way and those before have left room. */
  async classify(
    { id, place: before }: { readonly id: number; readonly place: number },
    bytes: Uint8Array,
  ): Promise<CheckedCounts> {
    const { plan } = this.#job
    const rows = readBlock(bytes, plan, false)
    if (rows.length === 0) this.#sender.addNothing(id)
    const checked = await this.#checker.check(rows, (row, outcome, at) => {
      const place = before + at + 1
      const text = this.#format(row, outcome, place)
      this.#sender.add(id, at === rows.length - 1, text, counter =>
        counter.count(outcome, row, place, plan.columns.names.length),
      )
    })
    await this.#sender.sent()
    return checked
  }

  readonly drain = (): Promise<void> => this.#checker.drain()
}

/** Sends results in large pieces, each with its counts. */
class ResultSender {
  readonly #write: Streams["stdout"]["write"]
  #text = ""
  #id = -1
  #counter = new SummaryCounter()
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(write: Streams["stdout"]["write"]) {
    this.#write = write
  }

  add(id: number, isLast: boolean, text: string, count: (counter: SummaryCounter) => void): void {
    this.#id = id
    this.#text += text
    count(this.#counter)
    if (isLast || this.#text.length >= SEND_LENGTH) this.send(isLast)
  }

  /** A block without rows has no results. */
  addNothing(id: number): void {
    void this.report({ kind: "results", id, isLast: true, counts: new SummaryCounter().counts() })
  }

  send(isLast: boolean): void {
    if (this.#text === "") return
    void this.report({ kind: "results", id: this.#id, isLast, counts: this.#counter.counts() }, this.#text)
    this.#text = ""
    this.#counter = new SummaryCounter()
  }

  report(meta: WorkerReport, text = ""): Promise<void> {
    const frame = encodeFrame(meta, text)
    this.#lastWrite = this.#lastWrite.then(() => this.#write(frame))
    // `sent` rejects too.
    this.#lastWrite.catch(() => undefined)
    return this.#lastWrite
  }

  /** Resolves when everything so far was taken. */
  readonly sent = (): Promise<void> => this.#lastWrite
}
