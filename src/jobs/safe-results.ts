import { isFormulaStart } from "../base/csv.ts"
import type { Job } from "../customers/jobs/job-row.ts"
import { planOfFirstBlock } from "../rows/plan-file.ts"
import type { ReadingPlan } from "../rows/reading-plan.ts"
import { resultFormatOf } from "./check-rows.ts"
import { inputFileName, type JobFiles } from "./job-files.ts"
import { type ResultFilter, readResults, resultsLength } from "./read-results.ts"
import { readingOptionsOf } from "./receive-list.ts"
import { DamagedSegment, readSegments } from "./segments.ts"

/**
 * All results of a CSV list that are wanted, with an apostrophe before each cell that a spreadsheet would take for a formula.
 * Throws a `DamagedSegment` when a file is damaged or missing.
 */
export async function* readSafeResults(
  files: JobFiles,
  job: Job,
  only: ResultFilter,
): AsyncGenerator<Uint8Array, undefined> {
  const { columns } = await planOf(files, job)
  // The lines above a table are no records, so the header is written anew.
  const headerBytes = job.counts.bytesBy["header"] ?? 0
  if (headerBytes > 0) yield Buffer.from(resultFormatOf(job, columns, true).header)
  let at = 0
  // Each chunk has whole rows, since all of them are read.
  for await (const chunk of readResults(files, job, only, 0, resultsLength(job, only))) {
    const rows = Buffer.from(chunk).subarray(Math.max(0, headerBytes - at))
    at += chunk.length
    yield Buffer.from(withSafeCells(rows.toString(), columns.delimiter))
  }
}

/** Puts an apostrophe before the text of such cells. The records are well-formed, as we write them. */
export function withSafeCells(records: string, delimiter: string): string {
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
      return planOfFirstBlock(text, job.reading, readingOptionsOf(job))
    throw new DamagedSegment("the list has no first block")
  } finally {
    await file.close()
  }
}
