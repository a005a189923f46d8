import { createHash } from "node:crypto"
import { crc32 } from "node:zlib"
import { isoDate, utcDay } from "../../../base/time.ts"

/**
 * A pack is one immutable file. Numbers are unsigned and little-endian; texts are UTF-8 JSON without white space.
 *
 *     0    magic            8   89 "MKP" 0D 0A 1A 0A: reveals stripped high bits and converted line ends
 *     8    format           4   PACK_FORMAT
 *    12    length           4   of the file: reveals a truncated file without reading it
 *    16    header check     4   CRC-32 of bytes 0 to 16 and 20 to 124
 *    20    checksum        32   SHA-256 of every byte from 52 on
 *    52    sections        72   offset and length of each of PACK_SECTIONS, in this order and without gaps:
 *   124    meta                 JSON: version, built_at, sets, sources, rules, entries
 *          lengths              for each name length 1 to 253: bucket count, offset of its buckets, offset of its rows
 *          filter               one bit for each hash of a name, a power of two of bytes; a clear bit means a miss
 *          buckets              for each length, bucket count + 1 row numbers of 3 bytes: bucket b holds the rows
 *                               from entry b up to entry b + 1; a length without names has neither buckets nor rows
 *          rows                 for each length L, rows of L + 2 bytes: the name, its class
 *          classes              8 bytes each: mask of the kept sets and of their strength (2), listing count (2), first listing (4)
 *          listings             7 bytes each: set, source, outcome (0 kept, else 1 + the rule's number), the day on
 *                               which the entry was added (2; days since DAY_ZERO, 0: with the source), the day on
 *                               which it was last seen (2; 0: its source is no window)
 *          patterns             JSON: [suffix pattern, class], sorted by pattern
 *          texts                JSON: words, groupDomains, targets by kind
 *
 * The bucket of a name depends on its length and on a hash that runs from its last character to its first, so one pass
 * over a host yields the hash of every parent, each at its dot. A bucket has four rows on average, sorted by name; names
 * are compared byte by byte, so two names with the same hash are two rows. The filter fits the processor's cache and
 * saves nine misses in ten the access to the rows: a miss takes 280 ns without it and 150 ns with it. A class is a
 * combination of listings that many names share. A name whose class has ANCHOR_BIT is the literal tail of suffix
 * patterns; a host without such a parent skips the patterns.
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
export const PACK_FORMAT = 4
export const HEADER_BYTES = 124

/** The offsets of the header's fields, in bytes. */
export const HEADER_OFFSETS = { format: 8, length: 12, check: 16, checksum: 20, sections: 52 } as const

/** The length of the longest name, and the sizes of table entries in bytes. */
export const PACK_NAME_LENGTH_MAX = 253
export const LENGTH_ENTRY_BYTES = 12
export const BUCKET_ENTRY_BYTES = 3
export const CLASS_ENTRY_BYTES = 8
export const LISTING_ENTRY_BYTES = 7
export const CLASS_NUMBER_BYTES = 2

/** 31 December 2019: the day before the first day that can be encoded. The 179 years after it can be. */
const DAY_ZERO = 18_262
const DAYS_MAX = 0xffff

/** The number of a day (ISO 8601); 0 for null and for a day out of range. */
export function encodeDay(date: string | null): number {
  const number = date === null ? 0 : utcDay(Date.parse(date)) - DAY_ZERO
  return number > 0 && number <= DAYS_MAX ? number : 0
}

/** The day of a number; null for 0. */
export const decodeDay = (number: number): string | null => (number === 0 ? null : isoDate(DAY_ZERO + number))

/** The average number of rows in a bucket. Fewer rows cost more bytes for buckets, more rows cost more comparisons. */
export const ROWS_PER_BUCKET = 4

/** Keeps the product in `bucketIndex` within 32 bits. */
export const BUCKETS_MAX = 0xffff
export const ROWS_MAX = 0xffffff
export const CLASSES_MAX = 0xffff

/** The bit of a class whose names are literal tails of suffix patterns. It is above the bits of all sets. */
export const ANCHOR_BIT = 0x8000

/** The hash of the empty text. */
export const FNV_OFFSET_BASIS = 0x811c9dc5 | 0

/** The hash of `char` followed by the text of `hash` (FNV-1a over the characters from last to first). */
export const prependToHash = (hash: number, char: number): number => Math.imul(hash ^ char, 0x01000193)

/** Mixes a hash over 32 bits, since FNV's high bits are weak. Filter bit and bucket depend on the mixed hash. */
export const mixHash = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)

/** The bucket, 0 to `buckets` - 1, of the name with this mixed hash. */
export const bucketIndex = (mix: number, buckets: number): number =>
  Math.imul((mix ^ (mix >>> 12)) & 0xffff, buckets) >>> 16

/** The bit of the name with this mixed hash in a filter of 2^(32 - `shift`) bits. */
export const filterBitIndex = (mix: number, shift: number): number => mix >>> shift

/** The base-2 logarithm of the number of bits of a filter: eight to sixteen bits per name. */
export const filterBitsLog2 = (nameCount: number): number =>
  Math.min(31, Math.max(6, Math.ceil(Math.log2(nameCount * 8 + 1))))

/** The hash of a complete ASCII name. */
export function hashName(name: string): number {
  let hash = FNV_OFFSET_BASIS
  for (let index = name.length - 1; index >= 0; index--) hash = prependToHash(hash, name.charCodeAt(index))
  return hash
}

/** The SHA-256 of all bytes of a pack after the checksum. */
export const packChecksum = (file: Uint8Array): Uint8Array =>
  createHash("sha256").update(file.subarray(HEADER_OFFSETS.sections)).digest()

/** The CRC-32 of a pack's header without the CRC itself. It reveals a damaged header without reading the pack. */
export const headerCrc = (file: Uint8Array): number =>
  crc32(file.subarray(HEADER_OFFSETS.checksum, HEADER_BYTES), crc32(file.subarray(0, HEADER_OFFSETS.check)))

/** The sections of a pack, each a view of its bytes. */
export type PackSections = Readonly<Record<PackSectionName, Uint8Array>>

/** The sections of a pack, or why the bytes are not a pack that this program can read. */
export type ReadSectionsResult =
  | { readonly kind: "sections"; readonly sections: PackSections }
  | { readonly kind: "refused"; readonly message: string; readonly remedy: string }

const REBUILD_REMEDY = "Build it again with `mailkind lists build`."
const REPLACE_REMEDY = "Fetch or build it again; the file was cut or changed after it was written."

/** Reads only the header of a pack. It never throws. */
export function readSections(bytes: Uint8Array): ReadSectionsResult {
  if (bytes.length === 0) return refuseSections("The pack is empty.", REPLACE_REMEDY)
  if (PACK_MAGIC.some((byte, index) => index < bytes.length && bytes[index] !== byte))
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
  let end = HEADER_BYTES
  for (const [index, name] of PACK_SECTIONS.entries()) {
    const offset = view.getUint32(HEADER_OFFSETS.sections + index * 8, true)
    const length = view.getUint32(HEADER_OFFSETS.sections + index * 8 + 4, true)
    if (offset !== end || offset + length > bytes.length)
      return refuseSections(`The section ${name} is not in its place.`, REPLACE_REMEDY)
    sections[name] = bytes.subarray(offset, offset + length)
    end += length
  }
  if (end !== bytes.length) return refuseSections("Bytes follow the pack's last section.", REPLACE_REMEDY)
  if (sections.lengths?.length !== PACK_NAME_LENGTH_MAX * LENGTH_ENTRY_BYTES)
    return refuseSections("The table of lengths is cut.", REPLACE_REMEDY)
  const filterBytes = sections.filter?.length ?? 0
  if (filterBytes === 0 || (filterBytes & (filterBytes - 1)) !== 0)
    return refuseSections("The filter is cut.", REPLACE_REMEDY)
  // The loop has set every section.
  return { kind: "sections", sections: sections as Record<PackSectionName, Uint8Array> }
}

const refuseSections = (message: string, remedy: string): ReadSectionsResult => ({ kind: "refused", message, remedy })
