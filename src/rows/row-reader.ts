import { type CsvOptions, CsvRowReader } from "./csv-reader.ts"
import { type CsvPosition, createNdjsonRowReader, type RowReader, TEXT_ROW_READER } from "./input-rows.ts"
import type { FileFormat } from "./result-format.ts"

/** The reader of a format. `position`: where another reader of the file has read the header. */
export function createRowReader(
  { from, csv }: { readonly from: FileFormat; readonly csv: CsvOptions },
  position: CsvPosition | null = null,
): RowReader {
  if (from === "csv") return new CsvRowReader(csv, position)
  return from === "ndjson" ? createNdjsonRowReader(csv.column) : TEXT_ROW_READER
}
