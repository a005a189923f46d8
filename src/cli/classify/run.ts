import { untilAborted } from "../../base/concurrency.ts"
import type { Stopwatch } from "../../base/outside-world.ts"
import type { ByteSource, PipedProcess, Streams } from "../../base/streams.ts"
import { escapeControls } from "../../base/untrusted-text.ts"
import type { Policy } from "../../contract/policies.ts"
import type { CsvOptions } from "../../rows/csv-reader.ts"
import { type CheckedCounts, createCollector } from "../../rows/garbage-collector.ts"
import { decodeInput } from "../../rows/input-decoder.ts"
import type { InputLine, InputRow, RowReader } from "../../rows/input-rows.ts"
import { LineSplitter } from "../../rows/line-splitter.ts"
import { type Block, RecordCutter } from "../../rows/record-cutter.ts"
import type { FileFormat } from "../../rows/result-format.ts"
import { RowChecker } from "../../rows/row-checker.ts"
import { createRowReader } from "../../rows/row-reader.ts"
import { type OptionNames, UnreadableFile } from "../../rows/unreadable-file.ts"
import { type CheckCommandDeps, commandRequest } from "../check.ts"
import { CommandError } from "../output.ts"
import { ServerError } from "../server.ts"
import { BlockPool } from "./parallel/block-pool.ts"
import { createProgress } from "./progress.ts"
import { assertTargetWritable, type ResultsTarget, ResultsWriter, streamErrorMessage } from "./results-writer.ts"
import type { ClassifySummary } from "./summary.ts"

/** Dependencies of `classify`. */
export type ClassifyDeps = {
  readonly streams: Streams
  /** Where progress is drawn; null: the standard error is not a terminal. */
  readonly terminal: NodeJS.WritableStream | null
  readonly stopwatch: Stopwatch
  /** Collects garbage: all of it, or only young objects, which is quick. */
  readonly collectGarbage: (isAll: boolean) => void
  /** Calls `work` every `everyMs` until the returned function is called. */
  readonly runInterval: (everyMs: number, work: () => void) => () => void
  /** Resolves with the name of the first signal that stops the process. */
  readonly stopSignal: () => Promise<string>
  /** Starts a process of `serveBlocks`. Absent: all work is done here. */
  readonly startWorker?: () => PipedProcess
}

/** `path` is a file, or `-` for the standard input. */
export type ClassifyJob = {
  readonly path: string
  readonly from: FileFormat
  readonly to: FileFormat
  /** Whether cells of CSV results that a spreadsheet would take for formulas get an apostrophe. */
  readonly hasSafeCells: boolean
  readonly csv: CsvOptions
  /** The encoding of the file; null: UTF-8, or UTF-16 if the file shows it. */
  readonly encoding: string | null
  readonly policy: Policy
  readonly isOffline: boolean
  readonly target: ResultsTarget
  /** How many processes may work at once. */
  readonly jobCount: number
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
  const { streams, stopwatch, runInterval, stopSignal, terminal, collectGarbage } = deps
  await assertTargetWritable(streams, job.path, job.target)
  const source = await withReadErrors(job.path, streams.openSource(job.path))
  const results = new ResultsWriter(streams, job, checker.testDomain)
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
  const run: Run = { source, read, checker, job, results, signal, collectAfter: createCollector(collectGarbage) }
  try {
    await classifyAll(run, deps.startWorker ?? null)
  } catch (error) {
    if (error instanceof Stopped) throw interruptedError(results, job.target)
    const canResume = error instanceof ServerError && job.target.out !== null && results.count > 0
    throw canResume ? new CommandError(`${error.message} ${RESUME_ADVICE}`) : error
  } finally {
    endTicks()
    progress.stop()
    await results.close()
  }
  return results.tally.summary(stopwatch() - startedAt, results.resumedCount)
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

/** Resolves when all inputs have their results. */
async function classifyAll(run: Run, startWorker: (() => PipedProcess) | null): Promise<void> {
  const isParallel = startWorker !== null && run.job.jobCount > 1
  const parts = readParts(run, isParallel)
  try {
    const pool = await classifyHere(run, parts, isParallel ? startWorker : null)
    if (pool !== null) await classifyInPool(run, parts, pool)
  } finally {
    // On a stop signal, does not wait for a read that is pending.
    parts.return(undefined).catch(() => undefined)
  }
  await run.results.end()
}

/** The next part. */
const nextPart = ({ job, signal }: Run, parts: AsyncIterator<Block>): Promise<IteratorResult<Block>> =>
  untilAborted(withReadErrors(job.path, parts.next()), signal)

/** After so many bytes, the rest of a file is worth the start of other processes, which takes about a tenth of a second. */
const PARALLEL_FROM_BYTES = 1_048_576

/**
 * Classifies in this process: all parts if `startWorker` is null, else those before the workers are ready. Resolves with the
 * workers that take the other parts; null: the input has ended. The header and the rows with results of an earlier run are always
 * read here.
 */
async function classifyHere(
  run: Run,
  parts: AsyncIterator<Block>,
  startWorker: (() => PipedProcess) | null,
): Promise<BlockPool | null> {
  const { job, results, signal } = run
  const { check, testDomain } = run.checker
  const checker = new RowChecker({
    testDomain,
    check: subject => check(commandRequest(subject, job.policy)),
    pause: () => (results.isFull ? results.flush() : undefined),
    signal,
  })
  const splitter = new LineSplitter()
  const reader = createRowReader(job)
  let pool: BlockPool | null = null
  let isHandedOver = false
  try {
    for (let isLast = false; !(isLast || isReady(pool, results)); ) {
      const next = await nextPart(run, parts)
      isLast = next.done === true
      await classifyPart(run, checker, reader, splitLines(splitter, next), isLast)
      if (startWorker !== null && !isLast) pool ??= startPool(run, reader, startWorker)
    }
    await checker.drain()
    isHandedOver = isReady(pool, results)
    return isHandedOver ? pool : null
  } finally {
    if (!isHandedOver) await pool?.close()
  }
}

/** Whether workers take the other parts: they have begun, and all results of an earlier run were matched with their rows. */
const isReady = (pool: BlockPool | null, results: ResultsWriter): boolean => pool?.isReady === true && results.isWriting

async function classifyPart(
  { results, collectAfter }: Run,
  checker: RowChecker,
  reader: RowReader,
  lines: readonly InputLine[],
  isLast: boolean,
): Promise<void> {
  const rows: InputRow[] = []
  withFlagNames(() => {
    for (const line of lines) reader.push(line, rows)
    if (isLast) reader.end(rows)
  })
  const columns = reader.columns()
  if (!results.hasColumns && columns !== null) await results.start(columns)
  const checked = await checker.check(await results.unfinishedRows(rows), results.write)
  await results.flush()
  collectAfter(checked)
}

const FLAG_NAMES: OptionNames = { column: "--column", noHeader: "--no-header", format: "--format" }

/** Turns an `UnreadableFile` into a `CommandError`. */
function withFlagNames(read: () => void): void {
  try {
    read()
  } catch (error) {
    throw error instanceof UnreadableFile
      ? new CommandError(error.describe(FLAG_NAMES), error.isWrongUse ? 2 : 1)
      : error
  }
}

/** Null: it is too early. */
function startPool({ job, read, results }: Run, reader: RowReader, startWorker: () => PipedProcess): BlockPool | null {
  const columns = reader.columns()
  if (columns === null || read.bytes < PARALLEL_FROM_BYTES) return null
  const { from, to, hasSafeCells, csv, policy, isOffline, jobCount } = job
  const processes = Array.from({ length: jobCount }, startWorker)
  return new BlockPool(
    processes,
    { from, to, hasSafeCells, csv, policy, isOffline, columns, position: reader.position() },
    ({ bytes, counts }) => results.writeBytes(bytes, counts),
  )
}

/** Classifies the other parts of a file, which are blocks of whole rows, in other processes. */
async function classifyInPool(run: Run, parts: AsyncIterator<Block>, pool: BlockPool): Promise<void> {
  const { results, signal } = run
  let place = results.count
  try {
    for (let next = await nextPart(run, parts); next.done !== true; next = await nextPart(run, parts)) {
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

/** The bytes of a file. `isCut`: each part has whole rows. */
async function* readParts({ source, read, job }: Run, isCut: boolean): AsyncGenerator<Block, undefined> {
  const { path, encoding, from, csv } = job
  const parts = decodeInput(countBytes(source.chunks, read), encoding, says => {
    throw new CommandError(`${inputName(path)} ${says}.`)
  })
  const cutter = isCut ? new RecordCutter(from === "csv", csv.delimiter) : null
  for await (const bytes of parts) {
    for (const part of cutter?.push(bytes) ?? [{ bytes, rowCount: 0 }]) if (part !== null) yield part
  }
  for (const rest of cutter?.end() ?? []) if (rest !== null) yield rest
}

/** The lines that are complete with the next chunk, or with the end of the file. */
function splitLines(splitter: LineSplitter, next: IteratorResult<Block>): readonly InputLine[] {
  const lines: InputLine[] = []
  if (next.done === true) splitter.end(lines)
  else splitter.push(next.value.bytes, lines)
  return lines
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

function interruptedError(results: ResultsWriter, { out }: ResultsTarget): CommandError {
  const onward = out === null ? "" : ` ${RESUME_ADVICE}`
  return new CommandError(`Stopped after ${results.count} results. They are complete.${onward}`)
}
