import { isFormulaStart } from "../base/csv.ts"
import type { Job } from "../customers/jobs/job-row.ts"
import type { ReadingPlan } from "../rows/reading-plan.ts"
import { resultFormatOf } from "./check-rows.ts"
import { inputFileName, type JobFiles } from "./job-files.ts"
import { type ResultFilter, readResults, resultsLength } from "./read-results.ts"
import { planOfList } from "./receive-list.ts"
import { DamagedSegment, readSegments } from "./segments.ts"

/**
 * All results of a list whose results are CSV, for a spreadsheet: a byte order mark before them, and an apostrophe before each cell that it
 * would take for a formula. Nothing while there are none. Throws a `DamagedSegment` when a file is damaged or missing.
 */
export async function* readSpreadsheet(
  files: JobFiles,
  job: Job,
  only: ResultFilter,
): AsyncGenerator<Uint8Array, undefined> {
  const length = resultsLength(job, only)
  if (length === 0) return
  const { columns } = await planOf(files, job)
  // The lines above a table are no records, so the header is written anew.
  yield Buffer.from(resultFormatOf(job, { ...columns, hasMark: true }, true).header)
  const headerBytes = job.counts.bytesBy["header"] ?? 0
  let at = 0
  // Each chunk has whole rows, since all of them are read.
  for await (const chunk of readResults(files, job, only, 0, length)) {
    const rows = Buffer.from(chunk).subarray(Math.max(0, headerBytes - at))
    at += chunk.length
    if (rows.length > 0) yield Buffer.from(withSafeCells(rows.toString(), columns.delimiter))
  }
}

/** How many bytes `readSpreadsheet` gives. Only reading all of them tells, since apostrophes are added. */
export async function spreadsheetLength(files: JobFiles, job: Job, only: ResultFilter): Promise<number> {
  let length = 0
  for await (const chunk of readSpreadsheet(files, job, only)) length += chunk.length
  return length
}

/** The bytes of chunks from byte `from` up to before byte `to`. */
export async function* sliceChunks(
  chunks: AsyncIterable<Uint8Array>,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, undefined> {
  let at = 0
  if (from >= to) return
  for await (const chunk of chunks) {
    const wanted = chunk.subarray(Math.max(0, from - at), Math.max(0, to - at))
    at += chunk.length
    if (wanted.length > 0) yield wanted
    if (at >= to) return
  }
}

/** Puts an apostrophe before the text of such cells. The records are well-formed, as we write them. */
export function withSafeCells(records: string, delimiter: string): string {
  // Most texts have nothing that looks like the beginning of a formula.
  if (!isFormulaStart(records) && !new RegExp(`[\\n"${RegExp.escape(delimiter)}][=+\\-@\\t\\r]`).test(records))
    return records
  let safe = ""
  let [writtenTo, isQuoted, isCellStart] = [0, false, true]
  for (let at = 0; at < records.length; at++) {
    const char = records[at] ?? ""
    if (isCellStart && char === '"' && !isQuoted) {
      isQuoted = true
      continue
    }
    if (isCellStart && (isQuoted || char !== delimiter) && isFormulaStart(char)) {
      safe += `${records.slice(writtenTo, at)}'`
      writtenTo = at
    }
    isCellStart = !isQuoted && (char === delimiter || char === "\n")
    // A doubled quote closes the cell and opens it again.
    if (char === '"') isQuoted = !isQuoted
  }
  return safe + records.slice(writtenTo)
}

/** How the list of a job is read, whose first block shows the names of its columns. */
async function planOf(files: JobFiles, job: Job): Promise<ReadingPlan> {
  const name = inputFileName(job.id)
  const file = await files.open(name)
  if (file === null || job.fileKey === null) throw new DamagedSegment("the list is missing")
  try {
    for await (const { text } of readSegments({ file, name, key: job.fileKey }, 0, job.inputBytes))
      return planOfList(text, job)
    throw new DamagedSegment("the list has no first block")
  } finally {
    await file.close()
  }
}
