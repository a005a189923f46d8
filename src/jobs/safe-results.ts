import { isFormulaStart } from "../base/csv.ts"
import type { Job } from "../customers/jobs/job-row.ts"
import { BlockReader } from "../rows/block-reader.ts"
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
  const delimiter = await delimiterOf(files, job)
  // Each chunk has whole rows, since all of them are read.
  for await (const chunk of readResults(files, job, only, 0, resultsLength(job, only)))
    yield Buffer.from(withSafeCells(Buffer.from(chunk).toString(), delimiter))
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

/** The delimiter of the results is that of the list, whose beginning shows it. */
async function delimiterOf(files: JobFiles, job: Job): Promise<string> {
  const name = inputFileName(job.id)
  const file = await files.open(name)
  if (file === null || job.fileKey === null) throw new DamagedSegment("the list is missing")
  try {
    const reader = new BlockReader(readingOptionsOf(job))
    for await (const { text } of readSegments({ file, name, key: job.fileKey }, 0, job.inputBytes)) {
      reader.read(text)
      break
    }
    return reader.plan?.columns.delimiter ?? ","
  } finally {
    await file.close()
  }
}
