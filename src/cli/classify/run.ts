import { untilAborted } from "../../base/concurrency.ts"
import type { Stopwatch } from "../../base/outside-world.ts"
import type { ByteSource, PipedProcess, Streams } from "../../base/streams.ts"
import { escapeControls } from "../../base/untrusted-text.ts"
import type { Policy } from "../../contract/policies.ts"
import { commandDuplicates } from "../../rows/duplicates.ts"
import { type FileFormat, readFileName } from "../../rows/file-format.ts"
import { type CheckedCounts, type CollectorDeps, createMemoryCollector } from "../../rows/garbage-collector.ts"
import { openInput, withOpened } from "../../rows/open-input.ts"
import { type PlannedFile, planFile } from "../../rows/plan-file.ts"
import type { ReadingOptions, ReadingPlan } from "../../rows/reading-plan.ts"
import { type Block, cutBlocks } from "../../rows/record-cutter.ts"
import { RESULT_FORMATS, type ResultExtras, type ResultFormat } from "../../rows/result-format.ts"
import { RowChecker } from "../../rows/row-checker.ts"
import { readBlock } from "../../rows/row-reader.ts"
import { type OptionNames, UnreadableFile } from "../../rows/unreadable-file.ts"
import { type CheckCommandDeps, commandRequest } from "../check.ts"
import { CommandError } from "../output.ts"
import { ServerError } from "../server.ts"
import { BlockPool } from "./parallel/block-pool.ts"
import { startWorkerHere } from "./parallel/worker-here.ts"
import { createProgress } from "./progress.ts"
import { assertTargetWritable, type ResultsTarget, ResultsWriter, streamErrorMessage } from "./results-writer.ts"
import type { ClassifySummary } from "./summary.ts"

/** Dependencies of `classify`. */
export type ClassifyDeps = CollectorDeps & {
  readonly streams: Streams
  /** Where progress is drawn; null: the standard error is not a terminal. */
  readonly terminal: NodeJS.WritableStream | null
  readonly stopwatch: Stopwatch
  /** Calls `work` every `everyMs` until the returned function is called. */
  readonly runInterval: (everyMs: number, work: () => void) => () => void
  /** Resolves with the name of the first signal that stops the process. */
  readonly stopSignal: () => Promise<string>
  /** Calls `work` after this turn of the event loop has handled everything that has arrived. */
  readonly nextTick: (work: () => void) => void
  /** Starts a process of `serveBlocks`. Absent: all work is done here. */
  readonly startWorker?: () => PipedProcess
}

/** `path` is a file, or `-` for the standard input. */
export type ClassifyJob = {
  readonly path: string
  readonly reading: ReadingOptions
  /** The format of the results; null: that of the file. */
  readonly to: FileFormat | null
  /** Whether cells of CSV results that a spreadsheet would take for formulas get an apostrophe. */
  readonly hasSafeCells: boolean
  /** Makes what is written of each row of a file in an encoding. Null: verdicts are written, in the format `to`. */
  readonly makeFormat: ((plan: ReadingPlan, encoding: string | null) => ResultFormat) | null
  /** What results have besides. Duplicates are found in one process. */
  readonly extras: ResultExtras
  /** The encoding of the file; null: it is found. */
  readonly encoding: string | null
  /** The name or the number of the sheet of a spreadsheet; null: the first one. */
  readonly sheet: string | null
  readonly policy: Policy
  readonly isOffline: boolean
  /** Whether a server is asked, which takes units. */
  readonly isCharged: boolean
  readonly target: ResultsTarget
  /** How many processes may work at once. */
  readonly jobCount: number
  /** How many megabytes each process may have. */
  readonly memoryMb: number
}

/** How often finished results are written and progress is drawn, even when results come slowly. */
const FLUSH_INTERVAL_MS = 125

/**
 * Classifies all inputs of a file in their order, in memory that does not grow with the file. An invalid input never ends the
 * run. Rejects with a `CommandError` when a file cannot be read or written, and on a stop signal, after the finished results
 * were written completely. Rejects with the system's error when the reader of the output closes it.
 */
export async function classify(
  deps: ClassifyDeps,
  checker: CheckCommandDeps,
  job: ClassifyJob,
): Promise<ClassifySummary> {
  const { streams, stopwatch, runInterval, stopSignal, terminal } = deps
  await assertTargetWritable(streams, job.path, job.target)
  const source = await withReadErrors(job.path, streams.openSource(job.path))
  const results = new ResultsWriter(
    ...([streams, job.target, checker.testDomain] as const),
    job.extras.tellsDuplicates ? commandDuplicates(deps.memory) : null,
  )
  const stop = new AbortController()
  void stopSignal().then(() => stop.abort(new Stopped()))
  const startedAt = stopwatch()
  const progress = createProgress(terminal, source.byteCount, stopwatch)
  const read = { bytes: 0 }
  const endTicks = runInterval(FLUSH_INTERVAL_MS, () => {
    progress.update(read.bytes, results.count)
    // The next write reports an error.
    results.flush().catch(() => undefined)
  })
  const { signal } = stop
  const collectAfter = createMemoryCollector(deps, job.memoryMb)
  const run: Run = { source, read, checker, job, results, signal, collectAfter }
  try {
    await classifyAll(run, workersOf(deps, checker, job))
  } catch (error) {
    if (error instanceof Stopped) throw interruptedError(results, job.target)
    const canResume = error instanceof ServerError && job.target.canResume && results.count > 0
    throw canResume ? new CommandError(`${error.message} ${RESUME_ADVICE}`) : error
  } finally {
    endTicks()
    progress.stop()
    await results.close()
  }
  return results.tally.summary(stopwatch() - startedAt, results.resumedCount, job.isCharged)
}

/** The parts of one run. */
type Run = {
  readonly source: ByteSource
  readonly read: { bytes: number }
  readonly checker: CheckCommandDeps
  readonly job: ClassifyJob
  readonly results: ResultsWriter
  /** Is aborted with `Stopped`. */
  readonly signal: AbortSignal
  readonly collectAfter: (checked: CheckedCounts) => void
}

/** The reason of a stop signal. */
class Stopped extends Error {
  override readonly name = "Stopped"
}

/** Starts the workers of a run, of which one is in this process. */
type StartWorkers = () => readonly PipedProcess[]

/** How the workers of a run are started; null: it has none. Which row is the first of several is known only where all rows are. */
function workersOf(deps: ClassifyDeps, checker: CheckCommandDeps, job: ClassifyJob): StartWorkers | null {
  const { startWorker } = deps
  const { jobCount, extras } = job
  if (startWorker === undefined || jobCount === 1 || extras.tellsDuplicates) return null
  return () => [...Array.from({ length: jobCount - 1 }, startWorker), startWorkerHere(deps, checker)]
}

/** Resolves when all inputs have their results. */
async function classifyAll(run: Run, startWorkers: StartWorkers | null): Promise<void> {
  const { job, results, signal } = run
  const planned = await untilAborted(withReadErrors(job.path, planOf(run)), signal)
  if (planned !== null) await classifyPlanned(run, planned, startWorkers)
  await results.end()
}

/** An archive or a spreadsheet is held whole while it is read. */
const ARCHIVE_BYTES_MAX = 268_435_456

/** How the file is read; null: it is empty. */
async function planOf({ source, read, results, job }: Run): Promise<PlannedFile | null> {
  const { path, encoding, sheet, reading } = job
  const refuse = (says: string): never => {
    throw new CommandError(`${inputName(path)} ${says}.`)
  }
  const asked = { encoding, sheet, isJson: readFileName(path).isJson, archiveBytesMax: ARCHIVE_BYTES_MAX }
  try {
    const opened = await openInput(countBytes(source.chunks, read), asked, refuse, results.tally.tellEncoding)
    return await planFile(opened.text, withOpened(reading, opened))
  } catch (error) {
    throw error instanceof UnreadableFile
      ? new CommandError(error.describe(FLAG_NAMES), error.isWrongUse ? 2 : 1)
      : error
  }
}

const FLAG_NAMES: OptionNames = {
  ...{ column: "--column", noHeader: "--no-header", format: "--format" },
  ...{ delimiter: "--delimiter", skip: "--skip", force: "--force" },
}

/** A file whose reading is decided: how its results are made, and its blocks. */
type Work = {
  readonly plan: ReadingPlan
  readonly to: FileFormat
  /** The parts of an answer that its results show. */
  readonly parts: number
  readonly blocks: AsyncGenerator<Block, undefined>
}

async function classifyPlanned(
  run: Run,
  { plan, text }: PlannedFile,
  startWorkers: StartWorkers | null,
): Promise<void> {
  const { job, results } = run
  const to = job.to ?? plan.format
  if (job.hasSafeCells && to !== "csv")
    throw new CommandError("Only csv has cells. Use --safe-cells with csv results.", 2)
  const { tellsCanonical, tellsDuplicates, columns } = job.extras
  if (columns !== null && to !== "csv")
    throw new CommandError("Only csv has columns. Use --columns with csv results.", 2)
  if ((tellsCanonical || tellsDuplicates) && to === "text")
    throw new CommandError("Text has no columns. Use --canonical and --duplicates with csv or ndjson results.", 2)
  results.tally.tellReading(plan, job.reading)
  const options = { hasSafeCells: job.hasSafeCells, extras: job.extras, tellsCached: true }
  const format = job.makeFormat?.(plan, results.tally.encoding) ?? RESULT_FORMATS[to](plan.columns, options)
  await results.start(plan.columns, format, to === "csv")
  const work: Work = { plan, to, parts: format.parts, blocks: wholeBlocks(text, plan) }
  try {
    const pool = await classifyHere(run, work, startWorkers)
    if (pool !== null) await classifyInPool(run, work, pool)
  } finally {
    // On a stop signal, does not wait for a read that is pending.
    work.blocks.return(undefined).catch(() => undefined)
  }
}

/** The blocks of a file. */
async function* wholeBlocks(text: AsyncIterable<Uint8Array>, plan: ReadingPlan): AsyncGenerator<Block, undefined> {
  for await (const block of cutBlocks(text, plan)) if (block !== null) yield block
}

const nextBlock = ({ job, signal }: Run, blocks: AsyncIterator<Block>): Promise<IteratorResult<Block>> =>
  untilAborted(withReadErrors(job.path, blocks.next()), signal)

/** After so many bytes, the rest of a file is worth the start of other processes, which takes about a tenth of a second. */
const PARALLEL_FROM_BYTES = 1_048_576

/**
 * Classifies in this process: all blocks if `startWorkers` is null, else those before the workers are ready. Resolves with the
 * workers that take the other blocks; null: the input has ended. The header and the rows with results of an earlier run are always
 * read here.
 */
async function classifyHere(
  run: Run,
  { plan, to, parts, blocks }: Work,
  startWorkers: StartWorkers | null,
): Promise<BlockPool | null> {
  const { job, results, signal, collectAfter, read } = run
  const { check, testDomain } = run.checker
  const checker = new RowChecker({
    testDomain,
    check: subject => check(commandRequest(subject, job.policy, parts)),
    pause: () => (results.isFull ? results.flush() : undefined),
    signal,
  })
  let pool: BlockPool | null = null
  let isHandedOver = false
  let isFirst = true
  try {
    for (let next = await nextBlock(run, blocks); next.done !== true; ) {
      const rows = await results.unfinishedRows(readBlock(next.value.bytes, plan, isFirst))
      isFirst = false
      const checked = await checker.check(rows, results.write)
      await results.flush()
      collectAfter(checked)
      if (startWorkers !== null && read.bytes >= PARALLEL_FROM_BYTES)
        pool ??= startPool(run, { plan, to }, startWorkers())
      if (isReady(pool, results)) break
      next = await nextBlock(run, blocks)
    }
    await checker.drain()
    isHandedOver = isReady(pool, results)
    return isHandedOver ? pool : null
  } finally {
    if (!isHandedOver) await pool?.close()
  }
}

/** Whether workers take the other blocks: they have begun, and all results of an earlier run were matched with their rows. */
const isReady = (pool: BlockPool | null, results: ResultsWriter): boolean => pool?.isReady === true && results.isWriting

function startPool(
  { job, results }: Run,
  { plan, to }: Pick<Work, "plan" | "to">,
  processes: readonly PipedProcess[],
): BlockPool {
  const { hasSafeCells, extras, policy, isOffline, memoryMb } = job
  return new BlockPool(
    processes,
    { plan, to, hasSafeCells, extras, policy, isOffline, memoryMb },
    ({ bytes, counts }) => results.writeBytes(bytes, counts),
  )
}

/** Classifies the other blocks of a file in other processes. */
async function classifyInPool(run: Run, { blocks }: Work, pool: BlockPool): Promise<void> {
  const { results, signal } = run
  let place = results.count
  try {
    for (let next = await nextBlock(run, blocks); next.done !== true; next = await nextBlock(run, blocks)) {
      await untilAborted(pool.submit(next.value, place), signal)
      place += next.value.rowCount
      if (results.isFull) await results.flush()
    }
    await untilAborted(pool.drain(), signal)
    await results.flush()
  } finally {
    await pool.close()
  }
}

/** Counts the bytes that were taken from a file. */
async function* countBytes(parts: AsyncIterable<Uint8Array>, read: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    read.bytes += part.length
    yield part
  }
}

const inputName = (path: string): string => (path === "-" ? "The standard input" : escapeControls(path))

/** Turns a system error into a `CommandError`. */
async function withReadErrors<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const says = streamErrorMessage(error)
    throw says === null
      ? error
      : new CommandError(`Cannot read ${path === "-" ? "the standard input" : escapeControls(path)}: ${says}.`)
  }
}

const RESUME_ADVICE = "Continue with the same command and --resume."

function interruptedError({ count }: ResultsWriter, { canResume }: ResultsTarget): CommandError {
  return new CommandError(`Stopped after ${count} results. They are complete.${canResume ? ` ${RESUME_ADVICE}` : ""}`)
}
