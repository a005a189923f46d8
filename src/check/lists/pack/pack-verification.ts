import { countGarbage } from "../../../base/garbage.ts"
import { type PackMeta, parsePatterns, parseTexts } from "./pack-contents.ts"
import * as format from "./pack-format.ts"
import { type PackSections, packChecksum } from "./pack-format.ts"
import { ClassTable, NameTable, readUint16, readUint24 } from "./pack-tables.ts"

/** Whether a pack is intact; if not, its first fault. */
export type PackVerification = { readonly ok: true } | { readonly ok: false; readonly message: string }

/** Verifies every byte of a pack with a valid header: the checksum, the tables, the order of the rows, all classes. */
export function verifyPack(bytes: Uint8Array, sections: PackSections, meta: PackMeta): PackVerification {
  const message =
    checksumFault(bytes) ??
    tablesFault(bytes, sections) ??
    classesFault(sections, meta) ??
    rowsFault(bytes, sections) ??
    textsFault(sections)
  return message === null ? { ok: true } : { ok: false, message }
}

/** Verifies only the checksum. It takes a tenth of the time and is enough for a pack that this program has written. */
export function verifyPackChecksum(bytes: Uint8Array): PackVerification {
  const message = checksumFault(bytes)
  return message === null ? { ok: true } : { ok: false, message }
}

function checksumFault(bytes: Uint8Array): string | null {
  const actual = packChecksum(bytes)
  return actual.every((byte, index) => byte === bytes[format.HEADER_OFFSETS.checksum + index])
    ? null
    : "The checksum does not match."
}

/** The buckets and rows of the names of one length. Offsets are in bytes. */
type LengthBlock = {
  readonly length: number
  readonly bucketCount: number
  readonly bucketsAt: number
  readonly rowsAt: number
}

function lengthBlocks({ lengths }: PackSections): readonly LengthBlock[] {
  const view = new DataView(lengths.buffer, lengths.byteOffset, lengths.byteLength)
  return Array.from({ length: format.PACK_NAME_LENGTH_MAX }, (_, index) => {
    const offset = index * format.LENGTH_ENTRY_BYTES
    const [bucketCount, bucketsAt, rowsAt] = [0, 4, 8].map(part => view.getUint32(offset + part, true))
    return { length: index + 1, bucketCount: bucketCount ?? 0, bucketsAt: bucketsAt ?? 0, rowsAt: rowsAt ?? 0 }
  })
}

/** Buckets and rows follow each other without gaps, and row numbers only grow. */
function tablesFault(bytes: Uint8Array, sections: PackSections): string | null {
  let bucketsAt = sections.buckets.byteOffset - bytes.byteOffset
  let rowsAt = sections.rows.byteOffset - bytes.byteOffset
  const bucketsEnd = bucketsAt + sections.buckets.length
  for (const block of lengthBlocks(sections)) {
    if (block.bucketsAt !== bucketsAt || block.rowsAt !== rowsAt)
      return `Names of length ${block.length} are not in their place.`
    if (block.bucketCount === 0) continue
    bucketsAt += (block.bucketCount + 1) * format.BUCKET_ENTRY_BYTES
    if (block.bucketCount > format.BUCKETS_MAX || bucketsAt > bucketsEnd) return "The buckets overrun their section."
    const numbers = bucketStarts(bytes, block)
    if (numbers[0] !== 0 || numbers.some((number, index) => index > 0 && number < (numbers[index - 1] ?? 0)))
      return `The buckets of length ${block.length} are out of order.`
    rowsAt += (numbers.at(-1) ?? 0) * (block.length + format.CLASS_NUMBER_BYTES)
  }
  const isFull =
    bucketsAt === bucketsEnd && rowsAt === sections.rows.byteOffset - bytes.byteOffset + sections.rows.length
  return isFull ? null : "The buckets or the rows do not fill their section."
}

const bucketStarts = (bytes: Uint8Array, { bucketCount, bucketsAt }: LengthBlock): readonly number[] =>
  Array.from({ length: bucketCount + 1 }, (_, index) =>
    readUint24(bytes, bucketsAt + index * format.BUCKET_ENTRY_BYTES),
  )

function classesFault({ classes, listings }: PackSections, meta: PackMeta): string | null {
  const table = new ClassTable(classes, listings, meta.sources)
  const view = new DataView(classes.buffer, classes.byteOffset, classes.byteLength)
  if (classes.length % format.CLASS_ENTRY_BYTES !== 0) return "The classes are cut."
  let end = 0
  for (let number = 0; number < classes.length / format.CLASS_ENTRY_BYTES; number++) {
    const offset = number * format.CLASS_ENTRY_BYTES
    const count = view.getUint16(offset + 2, true)
    const isIntact = view.getUint32(offset + 4, true) === end && table.listingsOf(number).length === count
    if (!isIntact) return `Class ${number} has listings that mean nothing.`
    end += count
  }
  return end * format.LISTING_ENTRY_BYTES === listings.length ? null : "Listings belong to no class."
}

/** Every row is a lower-case ASCII name with a class, in its bucket, in order, without duplicates, and can be found. */
function rowsFault(bytes: Uint8Array, sections: PackSections): string | null {
  const names = new NameTable(bytes, sections.lengths, sections.filter, new Uint16Array())
  const classCount = sections.classes.length / format.CLASS_ENTRY_BYTES
  for (const block of lengthBlocks(sections)) {
    const numbers = block.bucketCount === 0 ? [] : bucketStarts(bytes, block)
    const rowCount = numbers.at(-1) ?? 0
    for (let number = 0; number < rowCount; number++) {
      countGarbage()
      const fault = rowFault(rowAt(bytes, block, number), names, classCount)
      if (fault !== null) return `Row ${number} of length ${block.length} ${fault}.`
    }
    const unsorted = orderFault(bytes, block, numbers)
    if (unsorted !== null) return unsorted
  }
  return null
}

function rowAt(bytes: Uint8Array, { length, rowsAt }: LengthBlock, number: number): Uint8Array {
  const width = length + format.CLASS_NUMBER_BYTES
  return bytes.subarray(rowsAt + number * width, rowsAt + (number + 1) * width)
}

function rowFault(row: Uint8Array, names: NameTable, classCount: number): string | null {
  const length = row.length - format.CLASS_NUMBER_BYTES
  const name = Buffer.from(row.subarray(0, length)).toString("latin1")
  const classNumber = readUint16(row, length)
  if (!/^[a-z0-9.-]+$/.test(name)) return "is not a name"
  if (classNumber >= classCount) return "has no class"
  return names.classOf(name) === classNumber ? null : "cannot be found"
}

function orderFault(bytes: Uint8Array, block: LengthBlock, numbers: readonly number[]): string | null {
  const starts = new Set(numbers)
  for (let number = 1; number < (numbers.at(-1) ?? 0); number++) {
    const [before, row] = [rowAt(bytes, block, number - 1), rowAt(bytes, block, number)]
    if (!starts.has(number) && Buffer.compare(before.subarray(0, block.length), row.subarray(0, block.length)) >= 0)
      return `Row ${number} of length ${block.length} is out of order.`
  }
  return null
}

/** The fault of suffix patterns that cannot be decoded. */
export const DAMAGED_PATTERNS = "The suffix patterns are damaged."
/** The fault of words, group services or targets that cannot be decoded. */
export const DAMAGED_TEXTS = "The words or targets are damaged."

function textsFault({ patterns, texts, classes }: PackSections): string | null {
  const read = parsePatterns(patterns)
  if (read === null) return DAMAGED_PATTERNS
  const classCount = classes.length / format.CLASS_ENTRY_BYTES
  if (read.some(([, number]) => number < 0 || number >= classCount)) return "A suffix pattern has no class."
  return parseTexts(texts) === null ? DAMAGED_TEXTS : null
}
