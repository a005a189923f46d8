import type { Pause } from "../base/concurrency.ts"
import type { Random } from "../base/outside-world.ts"
import { JOB_LIMITS } from "../contract/jobs.ts"
import type { StoredReading } from "../contract/reading.ts"
import type { Job, JobOptions } from "../customers/jobs/job-row.ts"
import type { InputRow } from "../rows/input-rows.ts"
import { openInput, withOpened } from "../rows/open-input.ts"
import { planFile, planOfFirstBlock } from "../rows/plan-file.ts"
import type { ReadingOptions, ReadingPlan } from "../rows/reading-plan.ts"
import { type Block, cutBlocks } from "../rows/record-cutter.ts"
import { readBlock } from "../rows/row-reader.ts"
import { UnreadableFile } from "../rows/unreadable-file.ts"
import { inputFileName, type JobFiles } from "./job-files.ts"
import { DamagedSegment, writeSegment } from "./segments.ts"

/** Thrown when an uploaded list is not taken. The message is for its sender and holds nothing of the list but names of columns. */
export class RefusedList extends Error {
  override readonly name = "RefusedList"
  readonly reason: "too_large" | "unreadable"

  /** `cause`: why its rows cannot be read. */
  constructor(reason: RefusedList["reason"], message: string, cause?: UnreadableFile) {
    super(message, { cause })
    this.reason = reason
  }
}

/** How a list is asked to be read. `encoding` null: it is found. */
export type ListReading = ReadingOptions & {
  readonly encoding: string | null
  /** The name or the number of the sheet of a spreadsheet. Absent: the first one. */
  readonly sheet?: string | null
  /** Whether its name or its media type calls it JSON. Absent: no. */
  readonly isJson?: boolean
}

/** What a job tells of that. */
const readingOptionsOf = ({ format, column, hasHeader }: ReadableJob): ReadingOptions => ({
  ...{ format, column, hasHeader, delimiter: null, skippedLines: null, isForced: true },
})

/** How the list of a job is read, whose first block this is. Throws a `DamagedSegment` if a list of a version before cannot be told apart. */
export function planOfList(firstBlock: Uint8Array, job: Job): ReadingPlan {
  try {
    return planOfFirstBlock(firstBlock, job.reading, readingOptionsOf(job))
  } catch (error) {
    throw error instanceof UnreadableFile ? new DamagedSegment("the list cannot be read as it was") : error
  }
}

type ReadableJob = Pick<JobOptions, "format" | "column" | "hasHeader">

/** Rows of a list, as bytes of UTF-8, with the rows themselves where they were read. */
export type ListBlock = { readonly bytes: Uint8Array; readonly rows: () => readonly InputRow[] }

/** What an uploaded list holds, and how it is read. */
export type ReceivedList = {
  readonly rowsTotal: number
  readonly columnNames: readonly string[]
  /** The columns that look like that with the inputs, from 0. */
  readonly inputColumns: readonly number[]
  readonly reading: StoredReading
}

/**
 * Cuts the bytes of a list into blocks of whole rows and gives them to `onBlock`, one after the other: unpacks and decodes it, and
 * holds a block and a chunk at a time, and an archive or a spreadsheet whole. What a compressed list unpacks to is bounded as the list is, and so are its cells. `pause` is called
 * between pieces that take a few milliseconds at most. Throws a `RefusedList`.
 */
export async function receiveList(
  chunks: AsyncIterable<Uint8Array>,
  { encoding: asked, sheet = null, isJson = false, ...options }: ListReading,
  bytesMax: number,
  onBlock: (block: ListBlock) => Promise<void>,
  pause: Pause = () => undefined,
): Promise<ReceivedList> {
  let encoding = ""
  try {
    const refuse = (says: string): never => {
      throw new RefusedList("unreadable", `The list ${says}.`)
    }
    const { archiveBytesMax } = JOB_LIMITS
    const source = chunks[Symbol.asyncIterator]()
    const opened = await openInput(
      bounded(keptOpen(source), bytesMax),
      { encoding: asked, sheet, isJson, archiveBytesMax, pause },
      refuse,
      name => {
        encoding = name
      },
    )
    // Counted before and after it is unpacked: either may be the larger one.
    const planned = await planFile(bounded(opened.text, bytesMax), withOpened(options, opened))
    if (planned === null) throw new RefusedList("unreadable", "The list is empty.")
    const { columns, ...rule } = planned.plan
    const collector = new BlockCollector(planned.plan, onBlock)
    for await (const block of cutBlocks(planned.text, rule)) {
      if (block !== null) await collector.add(block)
      await pause()
    }
    const received = await collector.end()
    // What follows a compressed list is read too: it belongs to the body, and may be a part of a form that is refused.
    for await (const _ of bounded(keptOpen(source), bytesMax)) await pause()
    return { ...received, inputColumns: planned.inputColumns, reading: { ...rule, encoding } }
  } catch (error) {
    throw error instanceof UnreadableFile ? new RefusedList("unreadable", error.message, error) : error
  }
}

/** What is left of chunks, which can be read on by another reader when this one stops. */
async function* keptOpen(source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value
}

/** Receives the list of a job into its file. Throws a `RefusedList`. */
export async function storeList(
  { files, random, pauseReading }: { readonly files: JobFiles; readonly random: Random; readonly pauseReading: Pause },
  job: Job,
  reading: ListReading,
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<ReceivedList & { readonly inputBytes: number }> {
  const name = inputFileName(job.id)
  const file = await files.create(name)
  try {
    const target = { file, name, key: job.fileKey ?? new Uint8Array() }
    let inputBytes = 0
    const store = async ({ bytes }: ListBlock): Promise<void> => {
      inputBytes = await writeSegment(target, inputBytes, { meta: new Uint8Array(), text: bytes }, random)
    }
    const received = await receiveList(chunks, reading, bytesMax, store, pauseReading)
    await file.sync()
    return { inputBytes, ...received }
  } finally {
    await file.close()
  }
}

/** Chunks of a socket may be large, and a block must not be. They may have a byte each, which would cost as much work as a thousand. */
const CHUNK_BYTES = { least: 4096, most: 16_384 } as const

async function* bounded(chunks: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array, undefined> {
  let count = 0
  let [parts, partsBytes]: [Uint8Array[], number] = [[], 0]
  for await (const chunk of chunks) {
    count += chunk.length
    if (count > bytesMax) throw new RefusedList("too_large", `The list is larger than ${bytesMax} bytes.`)
    // A copy, because the memory of the chunk is reused.
    parts.push(new Uint8Array(chunk))
    partsBytes += chunk.length
    if (partsBytes < CHUNK_BYTES.least) continue
    const whole = Buffer.concat(parts)
    parts = []
    partsBytes = 0
    for (let at = 0; at < whole.length; at += CHUNK_BYTES.most) yield whole.subarray(at, at + CHUNK_BYTES.most)
  }
  if (partsBytes > 0) yield Buffer.concat(parts)
}

/** Collects whole rows until there are enough for a block. */
class BlockCollector {
  readonly #plan: ReadingPlan
  readonly #onBlock: (block: ListBlock) => Promise<void>
  #parts: Uint8Array[] = []
  #bytesCount = 0
  #rowCount = 0
  #rowsTotal = 0
  #isFirst = true

  constructor(plan: ReadingPlan, onBlock: (block: ListBlock) => Promise<void>) {
    this.#plan = plan
    this.#onBlock = onBlock
    const { length } = plan.columns.names
    if (length > JOB_LIMITS.columnsMax)
      throw new RefusedList("unreadable", `The list has ${length} columns. The limit is ${JOB_LIMITS.columnsMax}.`)
  }

  async add({ bytes, rowCount }: Block): Promise<void> {
    this.#append({ bytes, rowCount })
    if (this.#rowCount >= JOB_LIMITS.blockRows || this.#bytesCount >= JOB_LIMITS.blockBytes) await this.#flush()
  }

  async end(): Promise<Pick<ReceivedList, "rowsTotal" | "columnNames">> {
    if (this.#bytesCount > 0) await this.#flush()
    return { rowsTotal: this.#rowsTotal, columnNames: this.#plan.columns.names }
  }

  #append({ bytes, rowCount }: Block): void {
    this.#parts.push(bytes)
    this.#bytesCount += bytes.length
    this.#rowCount += rowCount
    this.#assertCells(this.#rowsTotal + this.#rowCount)
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#parts)
    const counted = this.#rowCount
    this.#parts = []
    this.#bytesCount = 0
    this.#rowCount = 0
    const isFirst = this.#isFirst
    this.#isFirst = false
    let parsed: readonly InputRow[] | null = null
    const rows = (): readonly InputRow[] => (parsed ??= readBlock(bytes, this.#plan, isFirst))
    // The first block has the header.
    this.#rowsTotal += isFirst ? rows().length : counted
    await this.#onBlock({ bytes, rows })
  }

  /** Each row has a cell of each column in the results, however short it is. */
  #assertCells(rowsCount: number): void {
    const { length } = this.#plan.columns.names
    if (rowsCount * length > JOB_LIMITS.cellsMax)
      throw new RefusedList(
        "unreadable",
        `The list has more than ${JOB_LIMITS.cellsMax} cells: its rows times its ${length} columns. Leave out columns, or split it.`,
      )
  }
}
