import { dirname, resolve } from "node:path"
import { describeRoom } from "../../base/disk-space.ts"
import type { Streams, TextSink } from "../../base/streams.ts"
import { escapeControls } from "../../base/untrusted-text.ts"
import { type DuplicateTable, firstOfOutcome } from "../../rows/duplicates.ts"
import { type InputRow, readRow } from "../../rows/input-rows.ts"
import type { InputColumns } from "../../rows/reading-plan.ts"
import type { ResultFormat } from "../../rows/result-format.ts"
import type { RowOutcome } from "../../rows/row-checker.ts"
import { CommandError } from "../output.ts"
import { ResumeState, readPartial } from "./resume-state.ts"
import { SummaryCounter, type SummaryCounts } from "./summary.ts"

/** The destination of results: the standard output (null), or a file that is new, resumed or overwritten. */
export type ResultsTarget = {
  readonly out: string | null
  readonly mode: "new" | "resume" | "over"
  /** A file for what a format writes aside; null: there is none. */
  readonly aside: string | null
  /** Whether a run can be continued later. */
  readonly canResume: boolean
}

const sameFileError = (): CommandError => new CommandError("One file cannot take both. Name another file.", 2)

/** Throws a `CommandError` when the file must not be written: it is the input, or exists without `--resume` or `--force`. */
export async function assertTargetWritable(
  streams: Streams,
  input: string,
  { out, mode, aside, canResume }: ResultsTarget,
): Promise<void> {
  if (aside !== null) {
    if (aside === "-") throw new CommandError("Name a file for the rows that are left out.", 2)
    if (out !== null && (resolve(out) === resolve(aside) || (await streams.isSameFile(out, aside))))
      throw sameFileError()
    await assertTargetWritable(streams, input, { out: aside, mode, aside: null, canResume })
  }
  if (out === null) return
  if (/\.(?:xlsx|zip|gz)$/i.test(out))
    throw new CommandError(`${escapeControls(out)} would hold plain text. Name it .csv, .ndjson or .txt.`, 2)
  const [size, isInput] = await withWriteErrors(
    out,
    0,
    Promise.all([streams.size(out), streams.isSameFile(out, input)]),
  )
  if (isInput) throw new CommandError("The results cannot replace their input. Name another file.", 2)
  if (mode === "new" && size !== null && size > 0) {
    const remedy = canResume ? "Continue it with --resume, or replace it with --force." : "Replace it with --force."
    throw new CommandError(`${escapeControls(out)} exists already. ${remedy}`)
  }
}

/** Writes results in the order in which they are given, after those of an earlier run. */
export class ResultsWriter {
  readonly #streams: Streams
  readonly #target: ResultsTarget
  readonly #testDomain: string
  #resultFormat: ResultFormat | null = null
  readonly #duplicates: DuplicateTable | null
  #rememberedCount = 0
  #columnCount = 0
  #resume: ResumeState | null = null
  #writer: BufferedWriter | null = null
  #aside: BufferedWriter | null = null
  /** Counts the results of this run. */
  readonly tally = new SummaryCounter()

  /** `duplicates`: finds the first row with the same mailbox or domain; null: they are not told. */
  constructor(streams: Streams, target: ResultsTarget, testDomain: string, duplicates: DuplicateTable | null) {
    this.#streams = streams
    this.#target = target
    this.#testDomain = testDomain
    this.#duplicates = duplicates
  }

  /** Whether a `flush` is due. */
  get isFull(): boolean {
    return this.#writer?.isFull === true || this.#aside?.isFull === true
  }

  /** The number of results of earlier runs. */
  get resumedCount(): number {
    return this.#resume?.partial.count ?? 0
  }

  /** The number of all results. */
  get count(): number {
    return this.resumedCount + this.tally.resultCount
  }

  /** Prepares the destination for rows with these columns, of which this is written. `isCsv`: as records of CSV. */
  async start(columns: InputColumns, form: ResultFormat, isCsv: boolean): Promise<void> {
    this.#columnCount = columns.names.length
    this.#resultFormat = form
    const { out, mode } = this.#target
    if (out === null || mode !== "resume") return await this.#open(0)
    const left = await withWriteErrors(out, 0, readPartial(this.#streams, out, form, isCsv))
    if (left === null) throw mismatchError(out)
    this.#resume = new ResumeState(left, form, row => readRow(row, this.#testDomain))
  }

  /** The rows without a result. The file is opened for writing only when there is such a row and all earlier results were matched. */
  async unfinishedRows(rows: readonly InputRow[]): Promise<readonly InputRow[]> {
    if (this.#writer !== null || this.#resume === null) return rows
    const rest = this.#resume.unfinishedRows(rows)
    if (rest === null) throw mismatchError(this.#target.out ?? "")
    this.#rememberInputs(rows.slice(0, rows.length - rest.length))
    if (rest.length > 0) await this.#open(this.#resume.partial.bytes)
    return rest
  }

  readonly write = (row: InputRow, outcome: RowOutcome): void => {
    const place = this.count + 1
    const duplicates = this.#duplicates
    const first = firstOfOutcome(duplicates, outcome, place)
    this.tally.count(outcome, row, place, this.#columnCount)
    if (duplicates !== null) this.tally.tellDuplicate(first !== null, duplicates.isFull)
    if (this.#resultFormat === null) return
    this.#writer?.add(this.#resultFormat.format(row, outcome, place, first))
    this.#aside?.add(this.#resultFormat.aside?.() ?? "")
  }

  /** Rows with results of an earlier run may be the first ones of those that follow. */
  #rememberInputs(rows: readonly InputRow[]): void {
    if (this.#duplicates === null) return
    for (const row of rows)
      this.#duplicates.firstOf(readRow(row, this.#testDomain).subject, null, ++this.#rememberedCount)
  }

  /** Whether rows were all matched with the results of an earlier run, so that results are written now. */
  get isWriting(): boolean {
    return this.#writer !== null
  }

  /** Writes results that another process has made, as bytes of UTF-8. */
  readonly writeBytes = (bytes: Uint8Array, counts: SummaryCounts): void => {
    this.tally.add(counts)
    this.#writer?.addBytes(bytes)
  }

  /** Resolves when all results so far are written. */
  async flush(): Promise<void> {
    if (this.#writer !== null) await this.#withWriteErrors(this.#writer.flush())
    if (this.#aside !== null) await withWriteErrors(this.#target.aside, 0, this.#aside.flush())
  }

  /** The input has ended. */
  async end(): Promise<void> {
    if (this.#resume !== null && !this.#resume.isFullyMatched) throw mismatchError(this.#target.out ?? "")
    if (this.#writer === null) await this.#open(this.#resume?.partial.bytes ?? 0)
  }

  /** Writes the remaining results completely, and closes the file. */
  async close(): Promise<void> {
    if (this.#writer !== null) await this.#withWriteErrors(this.#writer.close())
    if (this.#aside !== null) await withWriteErrors(this.#target.aside, 0, this.#aside.close())
  }

  async #open(keptBytes: number): Promise<void> {
    const { out, aside } = this.#target
    const sink =
      out === null ? this.#streams.stdout : await this.#withWriteErrors(this.#streams.openSink(out, keptBytes))
    this.#writer = new BufferedWriter(sink)
    const header = this.#resultFormat?.header ?? ""
    if (keptBytes === 0) this.#writer.add(header)
    if (aside === null) return
    // Two paths may lead to one file, which is there only now.
    if (out !== null && (await this.#streams.isSameFile(out, aside))) throw sameFileError()
    this.#aside = new BufferedWriter(await withWriteErrors(aside, 0, this.#streams.openSink(aside, 0)))
    this.#aside.add(header)
  }

  #withWriteErrors<T>(work: Promise<T>): Promise<T> {
    return withWriteErrors(this.#target.out, this.#target.canResume ? this.count : 0, work)
  }
}

const mismatchError = (out: string): CommandError =>
  new CommandError(
    `${escapeControls(out)} does not hold results of this input in this format, so it cannot be continued. It was not changed.`,
  )

/** Turns a system error into a `CommandError` that says how to resume. */
async function withWriteErrors<T>(out: string | null, count: number, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const says = streamErrorMessage(error, out)
    if (says === null) throw error
    const name = out === null ? "the standard output" : escapeControls(out)
    const onward = out !== null && count > 0 ? " Fix this, and continue with the same command and --resume." : ""
    throw new CommandError(`Cannot write ${name}: ${says}.${onward}`)
  }
}

/** How much text is written at once, in UTF-16 units. */
const BUFFER_LENGTH = 262_144

/** Buffers text and writes it in large pieces, one after the other. Waiting for `flush` gives back pressure. */
class BufferedWriter {
  readonly #sink: TextSink
  #buffer = ""
  /** Bytes that the sink has not taken yet. */
  #pendingBytes = 0
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(sink: TextSink) {
    this.#sink = sink
  }

  /** Whether there is enough for one write. */
  get isFull(): boolean {
    return this.#buffer.length + this.#pendingBytes >= BUFFER_LENGTH
  }

  add(text: string): void {
    this.#buffer += text
  }

  addBytes(bytes: Uint8Array): void {
    void this.flush()
    this.#pendingBytes += bytes.length
    this.#write(bytes, () => {
      this.#pendingBytes -= bytes.length
    })
  }

  /** Resolves when all text so far is written. Rejects with the system's error, and after that always with the same one. */
  flush(): Promise<void> {
    const text = this.#buffer
    if (text === "") return this.#lastWrite
    this.#buffer = ""
    return this.#write(text, () => undefined)
  }

  #write(piece: string | Uint8Array, onTaken: () => void): Promise<void> {
    this.#lastWrite = this.#lastWrite.then(() => this.#sink.write(piece)).then(onTaken)
    // The next flush rejects too, and nobody may be waiting for this one.
    this.#lastWrite.catch(() => undefined)
    return this.#lastWrite
  }

  /** Writes the remaining text and closes the sink. */
  async close(): Promise<void> {
    try {
      await this.flush()
    } finally {
      await this.#sink.close()
    }
  }
}

/** The meaning of system error codes, as the rest of a sentence about a file. */
const ERROR_MESSAGES: Readonly<Record<string, string>> = {
  EACCES: "this user cannot open it",
  EBADF: "it is closed",
  EDQUOT: "the quota of this user is used up",
  EFBIG: "it has the maximum size of a file",
  EIO: "the device failed",
  EISDIR: "it is a directory",
  ELOOP: "it is a symbolic link, behind which somebody else may have put any file. Name the file itself",
  ENOENT: "there is no such file or directory",
  ENOSPC: "there is no space left",
  ENOTDIR: "a part of its path is not a directory",
  EPERM: "this user cannot open it",
  EROFS: "it cannot be written",
}

/**
 * Why a file could not be read or written; null: not a system error, or only a closed output pipe (`EPIPE`). `path`: where the file is, whose disk
 * may be full.
 */
export function streamErrorMessage(error: unknown, path: string | null = null): string | null {
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return null
  if (error.code === "EPIPE" || !/^E[A-Z0-9]+$/.test(error.code)) return null
  const message = ERROR_MESSAGES[error.code] ?? `the system says ${error.code}`
  const room = path !== null && error.code === "ENOSPC" ? describeRoom(dirname(resolve(path))) : null
  return room === null ? message : `${message}: ${escapeControls(room)}`
}
