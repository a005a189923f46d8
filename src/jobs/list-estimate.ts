import type { Pause } from "../base/concurrency.ts"
import { DistinctCounter } from "../base/distinct-count.ts"
import { JOB_LIMITS } from "../contract/jobs.ts"
import { duplicateKeys } from "../rows/duplicates.ts"
import { READ_ROW_BYTES } from "../rows/garbage-collector.ts"
import { type ReadRow, readRow } from "../rows/input-rows.ts"
import { type ListBlock, type ListReading, type ReceivedList, receiveList } from "./receive-list.ts"

/** A row of a list as it is read, shortened: its cells, and what is checked of it. */
export type SampleRow = {
  readonly cells: readonly string[]
  /** Null: it is skipped, or cannot be read. */
  readonly checked: string | null
  readonly isSkipped: boolean
  readonly isCleaned: boolean
  /** Further addresses of its cell. */
  readonly others: readonly string[]
}

/** What a check of a list would take. */
export type ListEstimate = ReceivedList & {
  /** As a `DistinctCounter` counts them. */
  readonly uniqueDomains: number
  readonly unitsNeeded: number
  readonly rowsSkipped: number
  readonly rowsCleaned: number
  /** Rows with the same mailbox or domain as an earlier one. Null: there are too many inputs to count them exactly. */
  readonly rowsRepeated: number | null
  /** The first rows. They hold addresses: for the sender of the list alone. */
  readonly sample: readonly SampleRow[]
}

const SAMPLE_ROWS_MAX = 5
const SAMPLE_TEXT_LENGTH_MAX = 100
const SAMPLE_OTHERS_MAX = 3

/** What reading a list needs that is not checked; see `JobServiceDeps`. */
type EstimateDeps = {
  readonly testDomain: string
  readonly pauseReading: Pause
  readonly onChecked: (done: { readonly bytes: number }) => void
}

/** Reads a list and keeps nothing of it but its first rows and some hashes of its domains, until it has ended. Throws a `RefusedList`. */
export async function estimateList(
  { testDomain, pauseReading: pause, onChecked }: EstimateDeps,
  chunks: AsyncIterable<Uint8Array>,
  reading: ListReading,
  bytesMax: number,
): Promise<ListEstimate> {
  const seen = new SeenRows()
  const count = async ({ rows: read }: ListBlock): Promise<void> => {
    const rows = read()
    onChecked({ bytes: rows.length * READ_ROW_BYTES })
    for (const row of rows) {
      seen.add(readRow(row, testDomain))
      const others = pause()
      if (others instanceof Promise) await others
    }
  }
  const received = await receiveList(chunks, reading, bytesMax, count, pause)
  return { ...received, ...seen.sums() }
}

/** What is counted of the rows of a list, and the first of them. */
class SeenRows {
  readonly #domains = new DistinctCounter()
  readonly #inputs = new DistinctCounter()
  readonly #sample: SampleRow[] = []
  #unitsNeeded = 0
  #skipped = 0
  #cleaned = 0
  #compared = 0

  add(read: ReadRow): void {
    const { row, subject } = read
    if (this.#sample.length < SAMPLE_ROWS_MAX) this.#sample.push(sampleRow(read))
    if (row.cleaned !== null) this.#cleaned++
    if (subject === null) this.#skipped++
    else if (!subject.isTest) this.#unitsNeeded++
    if (subject !== null && subject.domain !== null) this.#domains.add(subject.domain)
    const key = subject === null ? null : duplicateKeys(subject).own
    if (key === null) return
    this.#compared++
    this.#inputs.add(key)
  }

  sums(): Omit<ListEstimate, keyof ReceivedList> {
    return {
      ...{ uniqueDomains: this.#domains.count, unitsNeeded: this.#unitsNeeded },
      rowsRepeated: this.#inputs.isExact ? this.#compared - this.#inputs.count : null,
      ...{ rowsSkipped: this.#skipped, rowsCleaned: this.#cleaned, sample: this.#sample },
    }
  }
}

const sampleRow = ({ row, subject }: ReadRow): SampleRow => ({
  cells: (row.cells ?? [row.input]).slice(0, JOB_LIMITS.columnsMax).map(shortened),
  checked: subject === null || row.fault !== null ? null : shortened(row.cleaned?.text ?? row.input),
  isSkipped: subject === null,
  isCleaned: row.cleaned !== null,
  others: (row.cleaned?.others ?? []).slice(0, SAMPLE_OTHERS_MAX).map(shortened),
})

const shortened = (text: string): string =>
  text.length > SAMPLE_TEXT_LENGTH_MAX ? `${text.slice(0, SAMPLE_TEXT_LENGTH_MAX)}…` : text
