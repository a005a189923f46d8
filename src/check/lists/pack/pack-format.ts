import { createHash } from "node:crypto"
import { crc32 } from "node:zlib"
import { isoDate, utcDay } from "../../../base/time.ts"

/**
 * A pack is one immutable file. Numbers are unsigned and little-endian; texts are UTF-8 JSON without white space.
 *
 *     0    magic            8   89 "MKP" 0D 0A 1A 0A: shows cut high bits and changed line ends at once
 *     8    format           4   FORMAT_NUMBER
 *    12    length           4   of the whole file: a cut file is known without reading it
 *    16    header check     4   CRC-32 of bytes 0 to 16 and 20 to 124
 *    20    checksum        32   SHA-256 of every byte from 52 on
 *    52    sections        72   offset and length of each of SECTIONS, in this order and without gaps:
 *   124    meta                 JSON: version, built_at, sets, sources, rules, entries
 *          lengths              for each name length 1 to 253: bucket count, offset of its buckets, offset of its rows
 *          filter               one bit for each hash of a name, a power of two of bytes; a clear bit is a sure miss
 *          buckets              for each length, bucket count + 1 row numbers of 3 bytes: bucket b holds the rows
 *                               from entry b up to entry b + 1; a length without names has neither buckets nor rows
 *          rows                 for each length L, rows of L + 2 bytes: the name, its class
 *          classes              8 bytes each: mask of the kept sets (2), listing count (2), first listing (4)
 *          listings             5 bytes each: set, source, outcome (0 kept, else 1 + the rule's number), the day on
 *                               which the entry came in (2; days since DAY_ZERO, 0 with the source)
 *          patterns             JSON: [suffix pattern, class], sorted by pattern
 *          texts                JSON: words, groupDomains, targets by kind
 *
 * A name's bucket comes from its length and a hash that runs from its last character to its first. One pass over a
 * host so yields the hash of every parent, each at its dot. The rows of a bucket, four on average, are sorted by name,
 * and their bytes decide: two names with one hash are two rows. The filter is small enough to stay in the processor's
 * cache, and spares nine misses in ten the way to the rows: 280 ns a miss without it, 150 ns with it. A class is one combination of listings; names share
 * it. A name whose class has ANCHOR_BIT is the literal tail of suffix patterns, so a host that has no such parent
 * never looks at them.
 */
export const PACK_SECTIONS = [
  "meta",
  "lengths",
  "filter",
  "buckets",
  "rows",
  "classes",
  "listings",
  "patterns",
  "texts",
] as const

export type PackSectionName = (typeof PACK_SECTIONS)[number]

/** The first bytes of every pack. */
export const PACK_MAGIC = new Uint8Array([0x89, 0x4d, 0x4b, 0x50, 0x0d, 0x0a, 0x1a, 0x0a])
export const PACK_FORMAT = 2
export const HEADER_BYTES = 124

/** Where the header's fields stand, in bytes. */
export const HEADER_OFFSETS = { format: 8, length: 12, check: 16, checksum: 20, sections: 52 } as const

/** The longest name in a pack, and the sizes of the entries of its tables, in bytes. */
export const PACK_NAME_LENGTH_MAX = 253
export const LENGTH_ENTRY_BYTES = 12
export const BUCKET_ENTRY_BYTES = 3
export const CLASS_ENTRY_BYTES = 8
export const LISTING_ENTRY_BYTES = 5
export const CLASS_NUMBER_BYTES = 2

/** The day before the first that a listing can tell (1 January 2020); it tells the 179 years after it. */
const DAY_ZERO = 18_262
const DAYS_MAX = 0xffff

/** The number of a day (ISO 8601); 0 for null and for a day that cannot be told. */
export function encodeDay(date: string | null): number {
  const number = date === null ? 0 : utcDay(Date.parse(date)) - DAY_ZERO
  return number > 0 && number <= DAYS_MAX ? number : 0
}

/** The day of a number; null for 0. */
export const decodeDay = (number: number): string | null => (number === 0 ? null : isoDate(DAY_ZERO + number))

/** How many rows a bucket holds on average. Fewer cost directory bytes, more cost comparisons. */
export const ROWS_PER_BUCKET = 4

/** `bucketIndex` keeps its product within 32 bits. */
export const BUCKETS_MAX = 0xffff
export const ROWS_MAX = 0xffffff
export const CLASSES_MAX = 0xffff

/** The bit of a class whose names are tails of suffix patterns; above the bits of all sets. */
export const ANCHOR_BIT = 0x8000

/** The hash of the empty text. */
export const FNV_OFFSET_BASIS = 0x811c9dc5 | 0

/** The hash of `char` followed by the text that `hash` stands for (FNV-1a over the characters from last to first). */
export const prependToHash = (hash: number, char: number): number => Math.imul(hash ^ char, 0x01000193)

/** Spreads a hash over 32 bits: FNV's high bits are weak. Filter and bucket are found with this. */
export const mixHash = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)

/** The bucket, 0 to `buckets` - 1, of the name whose mixed hash is given. */
export const bucketIndex = (mix: number, buckets: number): number =>
  Math.imul((mix ^ (mix >>> 12)) & 0xffff, buckets) >>> 16

/** The bit of a filter of 2^(32 - `shift`) bits that the name whose mixed hash is given sets. */
export const filterBitIndex = (mix: number, shift: number): number => mix >>> shift

/** How many bits the filter of `names` names has, as a power of two: eight to sixteen a name. */
export const filterBitsLog2 = (names: number): number => Math.min(31, Math.max(6, Math.ceil(Math.log2(names * 8 + 1))))

/** The hash of a whole ASCII name. */
export function hashName(name: string): number {
  let hash = FNV_OFFSET_BASIS
  for (let at = name.length - 1; at >= 0; at--) hash = prependToHash(hash, name.charCodeAt(at))
  return hash
}

/** SHA-256 of all that follows the checksum in a pack's bytes. */
export const packChecksum = (file: Uint8Array): Uint8Array =>
  createHash("sha256").update(file.subarray(HEADER_OFFSETS.sections)).digest()

/** CRC-32 of a pack's header but for the check itself. It tells a damaged header without reading the pack. */
export const headerCrc = (file: Uint8Array): number =>
  crc32(file.subarray(HEADER_OFFSETS.checksum, HEADER_BYTES), crc32(file.subarray(0, HEADER_OFFSETS.check)))

/** The sections of a pack, each a view of its bytes; or why the bytes are no pack that we can read. */
export type ReadSectionsResult =
  | { readonly kind: "sections"; readonly sections: Readonly<Record<PackSectionName, Uint8Array>> }
  | { readonly kind: "refused"; readonly says: string; readonly remedy: string }

const REBUILD_REMEDY = "Build it again with `mailkind lists build`."
const REPLACE_REMEDY = "Fetch or build it again; the file was cut or changed after it was written."

/** Reads the header of a pack, and nothing else of it. It never throws. */
export function readSections(bytes: Uint8Array): ReadSectionsResult {
  if (bytes.length === 0) return refuseSections("The pack is empty.", REPLACE_REMEDY)
  if (PACK_MAGIC.some((byte, at) => at < bytes.length && bytes[at] !== byte))
    return refuseSections("The file is not a pack.", REBUILD_REMEDY)
  if (bytes.length < HEADER_BYTES)
    return refuseSections(`The pack ends within its header, after ${bytes.length} bytes.`, REPLACE_REMEDY)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const format = view.getUint32(HEADER_OFFSETS.format, true)
  if (format !== PACK_FORMAT)
    return refuseSections(`The pack has format ${format}; this version reads ${PACK_FORMAT}.`, REBUILD_REMEDY)
  const length = view.getUint32(HEADER_OFFSETS.length, true)
  if (length !== bytes.length)
    return refuseSections(`The pack has ${bytes.length} bytes and says ${length}.`, REPLACE_REMEDY)
  if (headerCrc(bytes) !== view.getUint32(HEADER_OFFSETS.check, true))
    return refuseSections("The pack's header is damaged.", REPLACE_REMEDY)
  return cutSections(bytes, view)
}

function cutSections(bytes: Uint8Array, view: DataView): ReadSectionsResult {
  const sections: Partial<Record<PackSectionName, Uint8Array>> = {}
  let reached = HEADER_BYTES
  for (const [at, name] of PACK_SECTIONS.entries()) {
    const offset = view.getUint32(HEADER_OFFSETS.sections + at * 8, true)
    const length = view.getUint32(HEADER_OFFSETS.sections + at * 8 + 4, true)
    if (offset !== reached || offset + length > bytes.length)
      return refuseSections(`The section ${name} is not in its place.`, REPLACE_REMEDY)
    sections[name] = bytes.subarray(offset, offset + length)
    reached += length
  }
  if (reached !== bytes.length) return refuseSections("Bytes follow the pack's last section.", REPLACE_REMEDY)
  if (sections.lengths?.length !== PACK_NAME_LENGTH_MAX * LENGTH_ENTRY_BYTES)
    return refuseSections("The table of lengths is cut.", REPLACE_REMEDY)
  const filterBytes = sections.filter?.length ?? 0
  if (filterBytes === 0 || (filterBytes & (filterBytes - 1)) !== 0)
    return refuseSections("The filter is cut.", REPLACE_REMEDY)
  // Every section was set by the loop.
  return { kind: "sections", sections: sections as Record<PackSectionName, Uint8Array> }
}

const refuseSections = (says: string, remedy: string): ReadSectionsResult => ({ kind: "refused", says, remedy })
