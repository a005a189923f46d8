import type { Stopwatch } from "../../base/outside-world.ts"
import type { ByteSource, Streams } from "../../base/streams.ts"
import { NO_OWN_LIST_MATCH } from "../../check/check.ts"
import type { CheckOutcome } from "../../check/result/result.ts"
import type { Policy } from "../../contract/policies.ts"
import type { CheckCommandDeps } from "../check.ts"
import { CommandError, escapeControls } from "../output.ts"
import { type CsvOptions, CsvRowReader } from "./csv-reader.ts"
import { decodeInput } from "./input-decoder.ts"
import {
  createNdjsonRowReader,
  type InputLine,
  type InputRow,
  type RowReader,
  rowSubject,
  TEXT_ROW_READER,
} from "./input-rows.ts"
import { LineSplitter } from "./line-splitter.ts"
import { OrderedQueue } from "./ordered-queue.ts"
import { createProgress } from "./progress.ts"
import type { FileFormat } from "./result-format.ts"
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
}

/** `path` is a file, or `-` for the standard input. */
type ClassifyJob = {
  readonly path: string
  readonly from: FileFormat
  readonly to: FileFormat
  /** Whether cells of CSV results that a spreadsheet would take for formulas get an apostrophe. */
  readonly hasSafeCells: boolean
  readonly csv: CsvOptions
  /** The encoding of the file; null: UTF-8, or UTF-16 if the file shows it. */
  readonly encoding: string | null
  readonly policy: Policy
  readonly target: ResultsTarget
}

/** How often finished results are written and progress is drawn, even when results come slowly. */
const FLUSH_INTERVAL_MS = 125

/**
 * Garbage is collected after so many rows, and every tenth time completely. Otherwise the heap of a run over millions of rows
 * grows to 240 MB resident, of which 30 MB are in use. With both kinds it stays under 190 MB and takes no more processor time
 * than the runtime's own collections did; with only one kind it does not.
 */
const ROWS_PER_COLLECTION = 10_000
const COLLECTIONS_PER_FULL = 10

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
  const stop = new StopSignal()
  void stopSignal().then(() => stop.request())
  const startedAt = stopwatch()
  const progress = createProgress(terminal, source.byteCount, stopwatch)
  const read = { bytes: 0 }
  const endTicks = runInterval(FLUSH_INTERVAL_MS, () => {
    progress.update(read.bytes, results.count)
    // The next write reports an error.
    results.flush().catch(() => undefined)
  })
  try {
    const isWhole = await classifyAll(source, read, checker, job, collectGarbage, results, stop)
    if (!isWhole) throw interruptedError(results, job.target)
  } finally {
    endTicks()
    progress.stop()
    await results.close()
  }
  return results.tally.summary(stopwatch() - startedAt, results.resumedCount)
}

/** Resolves with whether all inputs have their results; false: a stop signal came first. */
async function classifyAll(
  source: ByteSource,
  read: { bytes: number },
  { check, testDomain }: CheckCommandDeps,
  job: ClassifyJob,
  tidy: ClassifyDeps["collectGarbage"],
  results: ResultsWriter,
  stop: StopSignal,
): Promise<boolean> {
  const order = new OrderedQueue<InputRow, CheckOutcome>(results.write)
  const answer = async (rows: readonly InputRow[]): Promise<void> => {
    for (const row of rows) {
      const subject = rowSubject(row, testDomain)
      order.add(
        row,
        textLength(row),
        check({ subject, policy: job.policy, isDeep: false, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH }),
      )
      if (results.isFull) await results.flush()
      if (order.isFull) await stop.orStop(order.waitForRoom())
      if (stop.isRequested) return
    }
  }
  const tidyAfter = createCollector(tidy)
  for await (const rows of readRows(source, read, job, results, stop)) {
    await answer(await results.unfinishedRows(rows))
    await results.flush()
    tidyAfter(rows.length)
  }
  await stop.orStop(order.drain())
  if (stop.isRequested) return false
  await results.end()
  return true
}

/** The rows of a file, those of one chunk at a time. Ends early on a stop signal. */
async function* readRows(
  source: ByteSource,
  read: { bytes: number },
  job: ClassifyJob,
  results: ResultsWriter,
  stop: StopSignal,
): AsyncGenerator<readonly InputRow[]> {
  const { path } = job
  const splitter = new LineSplitter()
  const reader = createRowReader(job)
  const parts = decodeInput(countBytes(source.chunks, read), job.encoding, says => {
    throw new CommandError(`${inputName(path)} ${says}.`)
  })
  try {
    for (let isLast = false; !isLast; ) {
      const next = await stop.orStop(withReadErrors(path, parts.next()))
      if (next === null) return
      const rows: InputRow[] = []
      isLast = next.done === true
      for (const line of splitLines(splitter, next)) reader.push(line, rows)
      if (isLast) reader.end(rows)
      const columns = reader.columns()
      if (!results.hasColumns && columns !== null) await results.start(columns)
      yield rows
    }
  } finally {
    // On a stop signal, does not wait for a read that is pending.
    parts.return(undefined).catch(() => undefined)
  }
}

/** The lines that are complete with the next chunk, or with the end of the file. */
function splitLines(splitter: LineSplitter, next: IteratorResult<Uint8Array, undefined>): readonly InputLine[] {
  const lines: InputLine[] = []
  if (next.done === true) splitter.end(lines)
  else splitter.push(next.value, lines)
  return lines
}

/** Counts the bytes that were taken from a file. */
async function* countBytes(parts: AsyncIterable<Uint8Array>, read: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    read.bytes += part.length
    yield part
  }
}

function createRowReader({ from, csv }: ClassifyJob): RowReader {
  if (from === "csv") return new CsvRowReader(csv)
  return from === "ndjson" ? createNdjsonRowReader(csv.column) : TEXT_ROW_READER
}

/** How much text a row holds while it waits for its result. */
const textLength = ({ input, cells }: InputRow): number =>
  cells === null ? input.length : cells.reduce((length, cell) => length + cell.length, 0)

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

function interruptedError(results: ResultsWriter, { out }: ResultsTarget): CommandError {
  const onward = out === null ? "" : " Continue with the same command and --resume."
  return new CommandError(`Stopped after ${results.count} results. They are complete.${onward}`)
}

/** Counts finished rows and collects garbage when it is time. */
function createCollector(tidy: ClassifyDeps["collectGarbage"]): (rowsCount: number) => void {
  let untidy = 0
  let times = 0
  return rowsCount => {
    untidy += rowsCount
    if (untidy < ROWS_PER_COLLECTION) return
    untidy = 0
    times++
    tidy(times % COLLECTIONS_PER_FULL === 0)
  }
}

/** A stop request, and waits that end with it. Only one wait at a time. */
class StopSignal {
  #isRequested = false
  #endWait: () => void = () => undefined

  get isRequested(): boolean {
    return this.#isRequested
  }

  request(): void {
    this.#isRequested = true
    this.#endWait()
  }

  /** The value of the promise; null: the stop request came first. */
  orStop<T>(promised: Promise<T>): Promise<T | null> {
    return new Promise((resolve, reject) => {
      this.#endWait = () => resolve(null)
      if (this.#isRequested) this.#endWait()
      // Handles a late rejection too: an unhandled one would end the process.
      promised.then(resolve, reject)
    })
  }
}
