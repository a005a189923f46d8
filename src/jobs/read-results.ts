import type { Recommendation } from "../contract/policies.ts"
import type { Job } from "../customers/jobs/job-row.ts"
import { ROW_KINDS, ROW_META_BYTES, type RowKind } from "./check-rows.ts"
import { type JobFiles, resultFileName } from "./job-files.ts"
import { DamagedSegment, readSegmentLengths, readSegments, type Segment, type SegmentFile } from "./segments.ts"

/** The results with one of these recommendations; null: all. */
export type ResultFilter = ReadonlySet<Recommendation> | null

const isWanted = (kind: RowKind, only: ResultFilter): boolean =>
  only === null || kind === "header" || (kind !== "skipped" && only.has(kind))

/** The bytes of the results, with the header. */
export const resultsLength = ({ counts: { bytesBy } }: Pick<Job, "counts">, only: ResultFilter): number =>
  ROW_KINDS.filter(kind => isWanted(kind, only)).reduce((sum, kind) => sum + (bytesBy[kind] ?? 0), 0)

/**
 * The results of a job as far as it is, from byte `from` up to before byte `to` of those that are wanted. Holds a block at a time.
 * Throws a `DamagedSegment` when a file is damaged or missing.
 */
export async function* readResults(
  files: JobFiles,
  job: Pick<Job, "id" | "fileKey" | "parts">,
  only: ResultFilter,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, undefined> {
  if (from >= to) return
  for await (const { at, bytes } of wantedTexts(files, job, only, from)) {
    const wanted = bytes.subarray(Math.max(0, from - at), Math.max(0, to - at))
    if (wanted.length > 0) yield wanted
    if (at + bytes.length >= to) return
  }
}

/** The wanted text of each segment, and how much of it stands before. Segments before byte `from` may be left out. */
async function* wantedTexts(
  files: JobFiles,
  { id, fileKey: key, parts }: Pick<Job, "id" | "fileKey" | "parts">,
  only: ResultFilter,
  from: number,
): AsyncGenerator<{ readonly at: number; readonly bytes: Uint8Array }, undefined> {
  let at = 0
  for (const part of parts) {
    const name = resultFileName(id, part.lease)
    const file = await files.open(name)
    if (file === null || key === null) throw new DamagedSegment("a file with results is missing")
    try {
      const target = { file, name, key }
      // Where all rows are wanted, what stands before the first wanted byte is not decrypted.
      const skipped = only === null ? await skipText(target, part.bytes, from - at) : NOTHING_SKIPPED
      at += skipped.textLength
      for await (const segment of readSegments(target, skipped.end, part.bytes)) {
        const bytes = wantedBytes(segment, only)
        yield { at, bytes }
        at += bytes.length
      }
    } finally {
      await file.close()
    }
  }
}

const NOTHING_SKIPPED: Skipped = { end: 0, textLength: 0 }

/** Skips whole segments with at most so much text: where the last of them ends, and how much it was. */
async function skipText(target: SegmentFile, to: number, lengthMax: number): Promise<Skipped> {
  let skipped: Skipped = NOTHING_SKIPPED
  while (skipped.end < to) {
    const { end, textLength } = await readSegmentLengths(target, skipped.end)
    if (skipped.textLength + textLength > lengthMax) break
    skipped = { end, textLength: skipped.textLength + textLength }
  }
  return skipped
}

type Skipped = { readonly end: number; readonly textLength: number }

/** The results of a segment that are wanted. */
function wantedBytes({ meta, text }: Segment, only: ResultFilter): Uint8Array {
  if (only === null) return text
  const rows = Buffer.from(meta.buffer, meta.byteOffset, meta.length)
  const wanted: Uint8Array[] = []
  let at = 0
  for (let row = 0; row < rows.length; row += ROW_META_BYTES) {
    const end = at + rows.readUInt32LE(row)
    const kind = ROW_KINDS[rows[row + 4] ?? 0] ?? "header"
    if (isWanted(kind, only)) wanted.push(text.subarray(at, end))
    at = end
  }
  return Buffer.concat(wanted)
}

/** The rows with results of the claim before, of which no transaction knows. */
export async function countUnacknowledgedRows(
  files: JobFiles,
  { id, lease, fileKey, parts }: Pick<Job, "id" | "lease" | "fileKey" | "parts">,
): Promise<number> {
  const before = lease - 1
  const name = resultFileName(id, before)
  const file = await files.open(name)
  if (file === null || fileKey === null) return 0
  const from = parts.find(part => part.lease === before)?.bytes ?? 0
  let rows = 0
  try {
    for await (const { meta } of readSegments({ file, name, key: fileKey }, from, Number.POSITIVE_INFINITY))
      for (let at = 4; at < meta.length; at += ROW_META_BYTES) if (ROW_KINDS[meta[at] ?? 0] !== "header") rows++
  } catch (error) {
    // The last one was cut off by the end of the process, or there is none.
    if (!(error instanceof DamagedSegment)) throw error
  } finally {
    await file.close()
  }
  return rows
}
