import { createHash } from "node:crypto"
import { assert } from "../../../base/errors.ts"
import { compareText } from "../../../base/text.ts"
import { LISTING_RULE_NAMES } from "../listing-rules.ts"
import { LOW_TRUST_BIT, SET_BITS, SET_NAMES, type SetName } from "../sets.ts"
import type { Listing, PackContents, PackMeta, PackTarget } from "./pack-contents.ts"
import * as format from "./pack-format.ts"
import { headerCrc, packChecksum } from "./pack-format.ts"
import { literalTail } from "./suffix-pattern.ts"

/** Writes a pack. Equal contents give equal bytes, whatever the order of the names. */
export function writePack(contents: PackContents): Uint8Array<ArrayBuffer> {
  const classified = classifyNames(contents, true) ?? classifyNames(contents, false)
  assert(classified !== null, "a pack numbers its classes in two bytes")
  const { rows, patterns, classes } = classified
  const lists = encodeClasses(classes, contents.sources)
  const text = { words: contents.words, groupDomains: contents.groupDomains, targets: targetsByKind(contents.targets) }
  const version = packVersion(contents.builtAt, [
    encodeJson([...rows]),
    encodeJson(patterns),
    lists.listings,
    encodeJson(text),
  ])
  const meta: PackMeta = {
    version,
    built_at: contents.builtAt,
    sets: SET_NAMES,
    sources: contents.sources,
    rules: LISTING_RULE_NAMES,
    entries: countEntries(rows, patterns, classes),
  }
  const metaBytes = encodeJson(meta)
  const names = encodeNames(rows, format.HEADER_BYTES + metaBytes.length)
  const sections: Record<format.PackSectionName, Uint8Array> = {
    meta: metaBytes,
    ...names,
    ...lists,
    patterns: encodeJson(patterns),
    texts: encodeJson(text),
  }
  return sealPack(format.PACK_SECTIONS.map(name => sections[name]))
}

type ListingClass = { readonly key: string; readonly mask: number; readonly listings: readonly Listing[] }
type NameRow = readonly [name: string, classNumber: number]

/**
 * Sorts names and patterns, gives each the number of its class, and puts the classes in a fixed order. `hasDays`: listings keep
 * their days. Null: there are more classes than a pack can number, which only very many different days can cause.
 */
function classifyNames(contents: PackContents, hasDays: boolean) {
  const classes = new Map<string, ListingClass>()
  const keyed: (readonly [name: string, key: string])[] = []
  const anchors = new Set<string>()
  const names = new Map(contents.names)
  for (const name of names.keys()) if (name.includes("*")) anchors.add(literalTail(name))
  for (const anchor of anchors) if (!names.has(anchor)) names.set(anchor, [])
  for (const [name, listings] of names) {
    const told = hasDays ? listings : listings.map(withoutDays)
    const found = listingClassOf(told, anchors.has(name), contents.lowTrustSources)
    classes.set(found.key, found)
    keyed.push([name, found.key])
  }
  const ordered = [...classes.values()].sort((a, b) => compareText(a.key, b.key))
  if (ordered.length > format.CLASSES_MAX) return null
  const numbers = new Map(ordered.map(({ key }, number) => [key, number]))
  const all = keyed.sort((a, b) => compareText(a[0], b[0])).map(([name, key]): NameRow => [name, numbers.get(key) ?? 0])
  return {
    rows: all.filter(([name]) => !name.includes("*")),
    patterns: all.filter(([name]) => name.includes("*")),
    classes: ordered,
  }
}

function listingClassOf(
  listings: readonly Listing[],
  isAnchor: boolean,
  lowTrustSources: ReadonlySet<string>,
): ListingClass {
  const kept = listings.filter(({ outcome }) => outcome === "kept")
  const disposable = kept.filter(({ set }) => set === "disposable")
  const isLowTrust = disposable.length > 0 && disposable.every(({ source }) => lowTrustSources.has(source))
  const marks = (isAnchor ? format.ANCHOR_BIT : 0) | (isLowTrust ? LOW_TRUST_BIT : 0)
  const mask = kept.reduce((bits, { set }) => bits | SET_BITS[set], marks)
  const key = listings
    .map(({ set, source, outcome, since, lastSeen = "" }) => `${set} ${source} ${outcome} ${since ?? ""} ${lastSeen}`)
    .join("\n")
  return { key: `${isAnchor} ${isLowTrust}\n${key}`, mask, listings }
}

/** A listing whose days a pack has no room for. */
const withoutDays = ({ set, source, outcome }: Listing): Listing => ({ set, source, outcome, since: null })

function encodeClasses(classes: readonly ListingClass[], sources: readonly string[]) {
  const listings: number[] = []
  const bytes = new Uint8Array(classes.length * format.CLASS_ENTRY_BYTES)
  const view = new DataView(bytes.buffer)
  for (const [number, one] of classes.entries()) {
    const at = number * format.CLASS_ENTRY_BYTES
    view.setUint16(at, one.mask, true)
    view.setUint16(at + 2, one.listings.length, true)
    view.setUint32(at + 4, listings.length / format.LISTING_ENTRY_BYTES, true)
    for (const { set, source, outcome, since, lastSeen = null } of one.listings) {
      const rule = outcome === "kept" ? 0 : 1 + LISTING_RULE_NAMES.indexOf(outcome)
      assert(sources.includes(source), "a listing names one of the pack's sources")
      const [added, seen] = [format.encodeDay(since), format.encodeDay(lastSeen)]
      listings.push(SET_NAMES.indexOf(set), sources.indexOf(source), rule)
      listings.push(added & 0xff, added >>> 8, seen & 0xff, seen >>> 8)
    }
  }
  return { classes: bytes, listings: new Uint8Array(listings) }
}

/** The four sections of the names, of which the first is at `offset` in the file. */
function encodeNames(rows: readonly NameRow[], offset: number) {
  const byLength: NameRow[][] = Array.from({ length: format.PACK_NAME_LENGTH_MAX + 1 }, () => [])
  for (const row of rows) byLength[row[0].length]?.push(row)
  const encoded = byLength.slice(1).map((names, index) => encodeNamesOfLength(names, index + 1))
  const lengths = new Uint8Array(format.PACK_NAME_LENGTH_MAX * format.LENGTH_ENTRY_BYTES)
  const view = new DataView(lengths.buffer)
  const filter = buildFilter(rows)
  let bucketsAt = offset + lengths.length + filter.length
  let rowsAt = bucketsAt + encoded.reduce((sum, { buckets }) => sum + buckets.length, 0)
  for (const [index, { bucketCount, buckets, rows }] of encoded.entries()) {
    view.setUint32(index * format.LENGTH_ENTRY_BYTES, bucketCount, true)
    view.setUint32(index * format.LENGTH_ENTRY_BYTES + 4, bucketsAt, true)
    view.setUint32(index * format.LENGTH_ENTRY_BYTES + 8, rowsAt, true)
    bucketsAt += buckets.length
    rowsAt += rows.length
  }
  return {
    lengths,
    filter,
    buckets: concatBytes(encoded.map(one => one.buckets)),
    rows: concatBytes(encoded.map(one => one.rows)),
  }
}

/** The filter with the bit of every name set. */
function buildFilter(rows: readonly NameRow[]): Uint8Array {
  const log2 = format.filterBitsLog2(rows.length)
  const filter = new Uint8Array(2 ** (log2 - 3))
  for (const [name] of rows) {
    const bit = format.filterBitIndex(format.mixHash(format.hashName(name)), 32 - log2)
    filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7))
  }
  return filter
}

/** The buckets and rows of the names of one length. `names` is sorted by name. */
function encodeNamesOfLength(names: readonly NameRow[], length: number) {
  if (names.length === 0) return { bucketCount: 0, buckets: new Uint8Array(), rows: new Uint8Array() }
  assert(names.length <= format.ROWS_MAX, "a pack numbers the rows of one length in three bytes")
  const bucketCount = Math.min(format.BUCKETS_MAX, Math.ceil(names.length / format.ROWS_PER_BUCKET))
  const byBucket: NameRow[][] = Array.from({ length: bucketCount }, () => [])
  for (const row of names) byBucket[format.bucketIndex(format.mixHash(format.hashName(row[0])), bucketCount)]?.push(row)
  const buckets = new Uint8Array((bucketCount + 1) * format.BUCKET_ENTRY_BYTES)
  const rows = new Uint8Array(names.length * (length + format.CLASS_NUMBER_BYTES))
  let number = 0
  for (const [at, bucket] of byBucket.entries()) {
    for (const [name, classNumber] of bucket) {
      const rowAt = number++ * (length + format.CLASS_NUMBER_BYTES)
      rows.set(new TextEncoder().encode(name), rowAt)
      rows.set([classNumber & 0xff, classNumber >>> 8], rowAt + length)
    }
    buckets.set([number & 0xff, (number >>> 8) & 0xff, number >>> 16], (at + 1) * format.BUCKET_ENTRY_BYTES)
  }
  return { bucketCount, buckets, rows }
}

/** Prepends the header to the sections. It is made last, since it contains their checksum. */
function sealPack(sections: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const file = concatBytes([new Uint8Array(format.HEADER_BYTES), ...sections])
  const view = new DataView(file.buffer)
  file.set(format.PACK_MAGIC)
  view.setUint32(format.HEADER_OFFSETS.format, format.PACK_FORMAT, true)
  view.setUint32(format.HEADER_OFFSETS.length, file.length, true)
  let offset = format.HEADER_BYTES
  for (const [at, { length }] of sections.entries()) {
    view.setUint32(format.HEADER_OFFSETS.sections + at * 8, offset, true)
    view.setUint32(format.HEADER_OFFSETS.sections + at * 8 + 4, length, true)
    offset += length
  }
  file.set(packChecksum(file), format.HEADER_OFFSETS.checksum)
  view.setUint32(format.HEADER_OFFSETS.check, headerCrc(file), true)
  return file
}

/** The names of the targets of each kind, in their order. That takes a third of the bytes of a list of targets. */
const targetsByKind = (targets: readonly PackTarget[]): Readonly<Record<PackTarget["kind"], readonly string[]>> => ({
  provider: targets.filter(({ kind }) => kind === "provider").map(({ name }) => name),
  organisation: targets.filter(({ kind }) => kind === "organisation").map(({ name }) => name),
})

function packVersion(builtAt: string, parts: readonly Uint8Array[]): string {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return `${builtAt.slice(0, 10)}-${hash.digest("hex").slice(0, 8)}`
}

function countEntries(
  rows: readonly NameRow[],
  patterns: readonly NameRow[],
  classes: readonly ListingClass[],
): Record<SetName, number> {
  const entries = Object.fromEntries(SET_NAMES.map(set => [set, 0])) as Record<SetName, number>
  for (const [, number] of [...rows, ...patterns]) {
    for (const set of SET_NAMES) if (((classes[number]?.mask ?? 0) & SET_BITS[set]) !== 0) entries[set]++
  }
  return entries
}

const encodeJson = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}
