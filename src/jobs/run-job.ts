import { isSystemError } from "../base/errors.ts"
import type { LogMessage } from "../base/log-events.ts"
import type { Clock, Random, Stopwatch } from "../base/outside-world.ts"
import { ListContext } from "../check/lookup-context.ts"
import { JOB_LIMITS, type JobReason } from "../contract/jobs.ts"
import type { JobMoment } from "../customers/jobs/job-body.ts"
import { failJob, finishJob, releaseJob, stopJob, suspectRowOf } from "../customers/jobs/job-leases.ts"
import { bytesLeft } from "../customers/jobs/job-lifecycle.ts"
import {
  addCharged,
  type ChargedRows,
  commitBlock,
  countUnits,
  type JobOwner,
  readJobOwner,
  type UnitAllowance,
  unitsLeft,
} from "../customers/jobs/job-progress.ts"
import type { Job, JobCounts, JobProgress } from "../customers/jobs/job-row.ts"
import type { Store } from "../customers/store/core/store.ts"
import { StoreError } from "../customers/store/core/store-error.ts"
import { DuplicateTable } from "../rows/duplicates.ts"
import { READ_ROW_BYTES, type WorkCounts } from "../rows/garbage-collector.ts"
import { type InputRow, isCharged, readRow } from "../rows/input-rows.ts"
import type { ReadingPlan } from "../rows/reading-plan.ts"
import { readBlock } from "../rows/row-reader.ts"
import {
  addRowCounts,
  type CheckRowsDeps,
  checkRows,
  ROW_KINDS,
  ROW_META_BYTES,
  type RowResults,
  resultFormatOf,
  withHeader,
} from "./check-rows.ts"
import { inputFileName, type JobFile, type JobFiles, resultFileName } from "./job-files.ts"
import { countUnacknowledgedRows } from "./read-results.ts"
import { planOfList } from "./receive-list.ts"
import { DamagedSegment, type PlacedSegment, readSegments, type SegmentFile, writeSegment } from "./segments.ts"

/** What checking a job needs. */
export type RunJobDeps = CheckRowsDeps & {
  readonly store: Store
  readonly files: JobFiles
  readonly random: Random
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly commitBounds: CommitBounds
  readonly distinctInputsMax: number
  /** For how many hours a job is kept after its end. */
  readonly keepHours: number
  /** Is told what was checked, or read without a check, when nothing of it is under way any more. */
  readonly onChecked: (done: Partial<WorkCounts>) => void
  /** Units a day of a tier; null: unlimited. */
  readonly unitsPerDayOf: (tier: number) => number | null
  /** The day whose units are taken now. */
  readonly today: () => number
  /** Is told how many units of an account's day are leased after a block was charged. */
  readonly onLeased: (leased: {
    readonly subject: string
    readonly day: number
    readonly leased: number
    readonly perDay: number
  }) => void
  /** Is told that the job is past the rows that may have ended a process. */
  readonly onCleared: () => void
  /** Is told of a job that fails because it ended its process too often, with the number of the first row without a result, from one. */
  readonly onGivenUp: (jobId: string, row: number) => void
  /** Receives what failed and is tried again, or is a defect. */
  readonly onError: (message: LogMessage, error: unknown, jobId?: string) => void
}

/** Thrown by `pause` when the process stops: the job is given back. */
export class JobInterrupted extends Error {
  override readonly name = "JobInterrupted"
}

/** How the work on a job ended. `lost`: it was deleted, or another process has it. */
export type JobRunEnd = "done" | "stopped" | "failed" | "released" | "lost"

/**
 * Checks the rows of a claimed job from where it stands, a block after the other: the results of some blocks are on the disk before one
 * transaction charges them and records them as done. Rejects when the store or the disk fails, and has given the job back then.
 */
export async function runJob(deps: RunJobDeps, job: Job): Promise<JobRunEnd> {
  const run = new JobRun(deps, job)
  try {
    return await run.run()
  } catch (error) {
    if (error instanceof DamagedSegment)
      return await end(failJob(deps.store, job, "files_lost", momentOf(deps)), "failed")
    await releaseJob(deps.store, job, isOrderly(error))
    if (error instanceof JobInterrupted) return "released"
    throw error
  } finally {
    await run.close()
  }
}

/** Whether the process stops, or the store or the disk failed. Any other error is a defect, which a row may cause again and again. */
const isOrderly = (error: unknown): boolean =>
  error instanceof JobInterrupted ||
  error instanceof StoreError ||
  (isSystemError(error) && !String(error.code).startsWith("ERR_"))

/** Whether the last claim of the job ended with its process (DECISIONS 108). */
export const isSuspect = ({ stalledClaims }: Job): boolean => stalledClaims > 1

const momentOf = ({ clock, keepHours }: RunJobDeps): JobMoment => ({ nowMs: clock(), keepHours })

const end = async (isMoved: Promise<boolean>, how: JobRunEnd): Promise<JobRunEnd> => ((await isMoved) ? how : "lost")

/** How much is checked before it is charged and recorded: a commit waits for the disk, and with it all requests of this process do. */
export type CommitBounds = { readonly rows: number; readonly ms: number }

/** Rows that are checked and not charged yet, and what they may cost. */
type PendingRows = {
  readonly allowance: UnitAllowance
  /** Those of the account when the first of them was checked. */
  readonly rules: JobOwner["rules"]
  /** Units that were left when the first of them was checked; null: as many as wanted. */
  readonly left: number | null
  readonly startedAt: number
  readonly rowsCount: number
  readonly charged: ChargedRows
  /** The counts of all rows that are done, with these. */
  readonly counts: JobCounts
  /** Where their results end in the file of this lease, and where the space of the account is used up. */
  readonly resultsEnd: number
  readonly resultsEndMax: number
  /** Where the next row stands. */
  readonly position: Pick<JobProgress, "inputOffset" | "inputSkipped">
}

/** `again`: others took the units meanwhile, so what was checked is given up, and the work begins anew where it is charged. */
type StepEnd = JobRunEnd | "again"

class JobRun {
  readonly #deps: RunJobDeps
  readonly #job: Job
  #progress: JobProgress
  #pending: PendingRows | null = null
  #results: SegmentFile | null = null
  #input: JobFile | null = null
  /** How the list is read; null: its first block was not read yet. */
  #plan: ReadingPlan | null = null
  readonly #context: ListContext
  readonly #duplicates: DuplicateTable | null

  constructor(deps: RunJobDeps, job: Job) {
    this.#deps = deps
    this.#job = job
    this.#context = new ListContext(deps.clock())
    this.#progress = job
    this.#duplicates = job.tellsDuplicates ? new DuplicateTable(deps.distinctInputsMax) : null
  }

  async run(): Promise<JobRunEnd> {
    const { files, store } = this.#deps
    const { id, fileKey: key, inputBytes } = this.#job
    if (key === null) return "lost"
    if (this.#job.stalledClaims > JOB_LIMITS.stalledClaimsMax) return await this.#giveUp()
    const name = inputFileName(id)
    this.#input = await files.open(name)
    if (this.#input === null) return await end(failJob(store, this.#job, "files_lost", momentOf(this.#deps)), "failed")
    if (isSuspect(this.#job) && !(await this.#suspect())) return "lost"
    const input = { file: this.#input, name, key }
    for await (const { text } of readSegments(input, 0, inputBytes)) {
      this.#plan = planOfList(text, this.#job)
      break
    }
    await this.#rememberInputs(input)
    for (;;) {
      const ended = await this.#runFrom(input, this.#progress.inputOffset)
      if (ended !== "again") return ended
      this.#pending = null
    }
  }

  async close(): Promise<void> {
    await this.#input?.close()
    await this.#results?.file.close()
  }

  async #giveUp(): Promise<JobRunEnd> {
    const { store, onGivenUp } = this.#deps
    onGivenUp(this.#job.id, this.#job.rowsDone + 1)
    return await end(failJob(store, this.#job, "no_progress", momentOf(this.#deps)), "failed")
  }

  /** Finds out how far the process got that ended: it has left results of whole blocks. False: another process has the job. */
  async #suspect(): Promise<boolean> {
    const { files, store } = this.#deps
    const suspectRow = this.#job.suspectRow ?? this.#job.rowsDone + (await countUnacknowledgedRows(files, this.#job))
    this.#progress = { ...this.#progress, suspectRow }
    return await suspectRowOf(store, this.#job, suspectRow)
  }

  /** Reads the rows that are done again, which may be the first ones of those that follow. */
  async #rememberInputs(input: SegmentFile): Promise<void> {
    const { rowsDone } = this.#progress
    if (this.#duplicates === null || rowsDone === 0) return
    let row = 0
    for await (const segment of readSegments(input, 0, this.#job.inputBytes)) {
      await this.#deps.pause()
      const rows = readBlock(segment.text, this.#readingPlan, segment.start === 0)
      this.#deps.onChecked({ bytes: rows.length * READ_ROW_BYTES })
      for (const one of rows) {
        if (row === rowsDone) return
        this.#duplicates.firstOf(readRow(one, this.#deps.testDomain).subject, null, ++row)
      }
    }
  }

  async #runFrom(input: SegmentFile, offset: number): Promise<StepEnd> {
    const { store } = this.#deps
    for await (const segment of readSegments(input, offset, this.#job.inputBytes)) {
      await this.#deps.pause()
      const skipped = segment.start === this.#progress.inputOffset ? this.#progress.inputSkipped : 0
      const rows = readBlock(segment.text, this.#readingPlan, segment.start === 0)
      const ended = await this.#checkBlock(rows, skipped, segment)
      if (ended !== null) return ended
    }
    return (await this.#commit()) ?? (await end(finishJob(store, this.#job, momentOf(this.#deps)), "done"))
  }

  /** Null: the rows of the block are checked. */
  async #checkBlock(
    all: readonly InputRow[],
    skipped: number,
    { start, end: next }: Pick<PlacedSegment, "start" | "end">,
  ): Promise<StepEnd | null> {
    for (let done = skipped; ; ) {
      const pending = this.#pending ?? (await this.#begin(start, done))
      if (typeof pending === "string") return pending
      const rows = all.slice(done, done + this.#rowsAtOnce(pending))
      const affordable = this.#affordableRows(rows, pending)
      done += affordable.length
      const isWhole = done === all.length
      const position = isWhole ? { inputOffset: next, inputSkipped: 0 } : { inputOffset: start, inputSkipped: done }
      const isStopped = !isWhole && affordable.length === 0
      const ended = await (isStopped ? this.#useUp(pending) : this.#checkRows(affordable, pending, position))
      if (ended !== null || isWhole) return ended
    }
  }

  /** The rows that are checked together: all of a block, but each suspect one alone. */
  #rowsAtOnce({ rowsCount }: PendingRows): number {
    const { rowsDone, suspectRow } = this.#progress
    return suspectRow === null ? Number.POSITIVE_INFINITY : Math.max(1, suspectRow - rowsDone - rowsCount)
  }

  /** No unit is left for the next row. Null: what is pending is charged now, and there may be others. */
  #useUp({ rowsCount }: PendingRows): Promise<StepEnd | null> {
    return rowsCount === 0 ? this.#stop("units_used_up") : this.#commit()
  }

  async #checkRows(
    rows: readonly InputRow[],
    before: PendingRows,
    position: PendingRows["position"],
  ): Promise<StepEnd | null> {
    const pending = await this.#check(rows, before, position)
    this.#pending = pending
    return this.#isCommitDue(pending) ? await this.#commit() : null
  }

  /** Asks for the owner of the job and the units that are left. */
  async #begin(inputOffset: number, inputSkipped: number): Promise<PendingRows | JobRunEnd> {
    const { store, clock, stopwatch } = this.#deps
    const owner = await readJobOwner(store, this.#job, clock())
    if (owner === null) return "lost"
    if (owner.isSuspended) return await this.#stop("account_suspended")
    if (!owner.isKeyUsable) return await end(failJob(store, this.#job, "key_revoked", momentOf(this.#deps)), "failed")
    const space = await bytesLeft(store, this.#job.accountId)
    if (space <= 0) return await this.#stop("space_used_up")
    const allowance = this.#allowanceOf(owner)
    const left = await unitsLeft(store, this.#job, allowance)
    const position = { inputOffset, inputSkipped }
    return {
      ...{ allowance, rules: owner.rules, left, position, startedAt: stopwatch(), rowsCount: 0, charged: {} },
      ...{ counts: this.#progress.counts, resultsEnd: this.#ownBytes, resultsEndMax: this.#ownBytes + space },
    }
  }

  #stop(reason: JobReason): Promise<JobRunEnd> {
    return end(stopJob(this.#deps.store, this.#job, reason, momentOf(this.#deps)), "stopped")
  }

  #allowanceOf({ tier, keyUnitsPerDay }: JobOwner): UnitAllowance {
    return { day: this.#deps.today(), perDay: this.#deps.unitsPerDayOf(tier), keyPerDay: keyUnitsPerDay }
  }

  /** The first rows, as many as there are units for. Test addresses and rows without an input cost nothing. */
  #affordableRows(rows: readonly InputRow[], { left: atFirst, charged }: PendingRows): readonly InputRow[] {
    const left = atFirst === null ? null : atFirst - countUnits(charged)
    if (left === null || rows.length <= left) return rows
    let units = 0
    const end = rows.findIndex(row => isCharged(row, this.#deps.testDomain) && units++ === left)
    return end < 0 ? rows : rows.slice(0, end)
  }

  /** The pending rows with these. */
  async #check(
    rows: readonly InputRow[],
    pending: PendingRows,
    position: PendingRows["position"],
  ): Promise<PendingRows> {
    const { columns } = this.#readingPlan
    const format = resultFormatOf(this.#job, columns)
    const rowsBefore = this.#progress.rowsDone + pending.rowsCount
    const isFirst = this.#progress.parts.length === 0 && pending.resultsEnd === 0
    const results = { format, columnCount: columns.names.length, duplicates: this.#duplicates }
    const job = { ...this.#job, rules: pending.rules }
    const checked = await checkRows(this.#deps, job, rows, rowsBefore, results, this.#context)
    this.#deps.onChecked({ rows: rows.length, lookups: checked.lookups })
    await this.#deps.pause()
    const written = isFirst ? withHeader(checked, format) : checked
    return {
      ...pending,
      position,
      rowsCount: pending.rowsCount + rows.length,
      charged: addCharged(pending.charged, checked.charged),
      counts: addRowCounts(pending.counts, written),
      resultsEnd: await this.#write(written, pending.resultsEnd),
    }
  }

  get #readingPlan(): ReadingPlan {
    if (this.#plan === null) throw new DamagedSegment("the list has no first block")
    return this.#plan
  }

  #isCommitDue({ rowsCount, startedAt, resultsEnd, resultsEndMax }: PendingRows): boolean {
    const { commitBounds, stopwatch } = this.#deps
    const { rowsDone, suspectRow } = this.#progress
    if (suspectRow !== null && rowsDone + rowsCount >= suspectRow) return true
    // The next rows are begun with a look at what the account has stored.
    if (resultsEnd >= resultsEndMax) return true
    return rowsCount >= commitBounds.rows || stopwatch() - startedAt >= commitBounds.ms
  }

  /** Charges and records what is pending, once it is on the disk. Null: that is done. */
  async #commit(): Promise<StepEnd | null> {
    const pending = this.#pending
    if (pending === null) return null
    const { store, stopwatch, onLeased } = this.#deps
    const { allowance, startedAt, rowsCount, position, charged, counts, resultsEnd } = pending
    const before = this.#progress
    await this.#results?.file.sync()
    const rowsDone = before.rowsDone + rowsCount
    // Only a job that is past the block of the suspect rows got further than the claim before.
    const isPast = before.suspectRow === null || (rowsDone > before.suspectRow && position.inputSkipped === 0)
    const progress: JobProgress = {
      ...before,
      ...position,
      rowsDone,
      unitsUsed: before.unitsUsed + countUnits(charged),
      busyMs: before.busyMs + (stopwatch() - startedAt),
      parts: this.#partsWith(resultsEnd),
      resultBytes: Object.values(counts.bytesBy).reduce((sum, bytes) => sum + bytes, 0),
      counts,
      ...(isPast && { stalledClaims: 1, suspectRow: null }),
    }
    const result = await commitBlock(store, this.#job, { charged, progress }, allowance)
    if (result.kind !== "committed") return result.kind === "lost" ? "lost" : "again"
    this.#progress = progress
    this.#pending = null
    if (isPast && before.suspectRow !== null) this.#deps.onCleared()
    if (result.leased !== null && allowance.perDay !== null)
      onLeased({ subject: this.#job.accountId, day: allowance.day, leased: result.leased, perDay: allowance.perDay })
    return null
  }

  /** How many bytes of the file of this lease count. Those after them are of a block that was not charged. */
  get #ownBytes(): number {
    return this.#progress.parts.find(({ lease }) => lease === this.#job.lease)?.bytes ?? 0
  }

  #partsWith(ownBytes: number): JobProgress["parts"] {
    const { lease } = this.#job
    return [...this.#progress.parts.filter(part => part.lease !== lease), { lease, bytes: ownBytes }]
  }

  /** Writes results from a byte of the file on, and gives where they end. */
  async #write({ written }: RowResults, at: number): Promise<number> {
    const { files, random } = this.#deps
    const { id, lease, fileKey: key } = this.#job
    const name = resultFileName(id, lease)
    this.#results ??= { file: await files.create(name), name, key: key ?? new Uint8Array() }
    const meta = Buffer.alloc(written.length * ROW_META_BYTES)
    for (const [row, { text, kind }] of written.entries()) {
      meta.writeUInt32LE(Buffer.byteLength(text), row * ROW_META_BYTES)
      meta[row * ROW_META_BYTES + 4] = ROW_KINDS.indexOf(kind)
    }
    const text = Buffer.from(written.map(row => row.text).join(""))
    return await writeSegment(this.#results, at, { meta, text }, random)
  }
}
