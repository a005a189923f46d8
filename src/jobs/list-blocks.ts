import type { JobOptions } from "../customers/jobs/job-row.ts"
import type { CsvPosition, InputColumns, InputRow } from "../rows/input-rows.ts"
import { linesOf } from "../rows/record-cutter.ts"
import { createRowReader } from "../rows/row-reader.ts"

/** How the rows of a list are read. */
export type ListFormat = Pick<JobOptions, "format" | "column" | "hasHeader">

/** Reads the rows of a list, a block of whole rows after the other. The first block has the header and must come first. */
export class BlockParser {
  readonly #options: Parameters<typeof createRowReader>[0]
  #position: CsvPosition | null = null
  #columns: InputColumns | null = null
  #isFirst = true

  constructor({ format, column, hasHeader }: ListFormat) {
    this.#options = { from: format, csv: { column, delimiter: null, hasHeader } }
  }

  /** The columns of the list; null: no header was read. */
  get columns(): InputColumns | null {
    return this.#columns
  }

  /** Throws an `UnreadableFile` if the header cannot be read. */
  parse(bytes: Uint8Array): readonly InputRow[] {
    const reader = createRowReader(this.#options, this.#position)
    const rows: InputRow[] = []
    for (const line of linesOf(bytes, this.#isFirst)) reader.push(line, rows)
    reader.end(rows)
    if (this.#isFirst) {
      this.#position = reader.position()
      this.#columns = reader.columns()
      this.#isFirst = false
    }
    return rows
  }
}
