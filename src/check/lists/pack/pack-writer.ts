import { createHash } from "node:crypto"
import { assert } from "../../../base/errors.ts"
import { countGarbage } from "../../../base/garbage.ts"
import { compareText } from "../../../base/text.ts"
import { LISTING_RULE_NAMES } from "../listing-rules.ts"
import { NameNumbers } from "../name-numbers.ts"
import { SET_BITS, SET_NAMES, type SetName, STRENGTH_BITS } from "../sets.ts"
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
  const version = packVersion(contents.builtAt, versionParts(rows, patterns, lists.listings, text))
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

/** Names in a sorted order, each with the number of its class: no objects, since there are hundreds of thousands. */
type NameRows = {
  readonly names: NameNumbers
  /** The numbers of the names, sorted by name. */
  readonly order: Uint32Array
  /** The class of each name of `order`. */
  readonly classNumbers: Uint16Array
}

type ListingClass = { readonly key: string; readonly mask: number; readonly listings: readonly Listing[] }
type PatternRow = readonly [pattern: string, classNumber: number]

/**
 * Sorts names and patterns, gives each the number of its class, and puts the classes in a fixed order. `hasDays`: listings keep
 * their days. Null: there are more classes than a pack can number, which only very many different days can cause.
 */
function classifyNames(contents: PackContents, hasDays: boolean) {
  const { names, listings, anchors } = collectNames(contents)
  const classOf = classFinder(contents, hasDays)
  const found = new Uint32Array(names.size).map((_, number) =>
    classOf.find(listings[number] ?? [], anchors.has(number)),
  )
  const { classes } = classOf
  if (classes.length > format.CLASSES_MAX) return null
  const ordered = classes.toSorted((a, b) => compareText(a.key, b.key))
  const numbers = new Map(ordered.map((one, number) => [one, number]))
  const classNumbers = Uint16Array.from(classes, one => numbers.get(one) ?? 0)
  const numberOf = (name: number): number => classNumbers[found[name] ?? 0] ?? 0
  const order = names.sorted()
  const rows = order.filter(number => !names.isPattern(number))
  const patterns = order.filter(number => names.isPattern(number))
  return {
    // Not `Uint16Array.from`, which makes an array of objects first.
    rows: { names, order: rows, classNumbers: new Uint16Array(rows.length).map((_, at) => numberOf(rows[at] ?? 0)) },
    patterns: Array.from(patterns, (number): PatternRow => [names.nameOf(number), numberOf(number)]),
    classes: ordered,
  }
}

/** All names with their listings, the anchors of suffix patterns among them, which may have none. */
function collectNames(contents: PackContents) {
  const { nameNumbers: names = new NameNumbers() } = contents
  const listings: (readonly Listing[])[] = []
  const tails = new Set<string>()
  for (const [name, own] of contents.names) {
    listings[names.add(name)] = own
    if (name.includes("*")) tails.add(literalTail(name))
  }
  return { names, listings, anchors: new Set(Array.from(tails, tail => names.add(tail))) }
}

/** Finds the index of the class of some listings. Equal classes are one; the same listings are compared once. */
function classFinder({ strengthOf }: PackContents, hasDays: boolean) {
  const classes: ListingClass[] = []
  const indexByKey = new Map<string, number>()
  const indexByListings = { name: new Map<readonly Listing[], number>(), anchor: new Map<readonly Listing[], number>() }
  const find = (listings: readonly Listing[], isAnchor: boolean): number => {
    const known = indexByListings[isAnchor ? "anchor" : "name"]
    const before = known.get(listings)
    if (before !== undefined) return before
    const found = listingClassOf(hasDays ? listings : listings.map(withoutDays), isAnchor, strengthOf)
    const index = indexByKey.get(found.key) ?? classes.push(found) - 1
    indexByKey.set(found.key, index)
    known.set(listings, index)
    return index
  }
  return { classes, find }
}

function listingClassOf(
  listings: readonly Listing[],
  isAnchor: boolean,
  strengthOf: PackContents["strengthOf"],
): ListingClass {
  const kept = listings.filter(({ outcome }) => outcome === "kept")
  const disposable = kept.filter(({ set }) => set === "disposable")
  const strength = disposable.length === 0 ? 0 : STRENGTH_BITS[strengthOf(disposable.map(({ source }) => source))]
  const marks = (isAnchor ? format.ANCHOR_BIT : 0) | strength
  const mask = kept.reduce((bits, { set }) => bits | SET_BITS[set], marks)
  const key = listings
    .map(({ set, source, outcome, since, lastSeen = "" }) => `${set} ${source} ${outcome} ${since ?? ""} ${lastSeen}`)
    .join("\n")
  return { key: `${isAnchor} ${strength}\n${key}`, mask, listings }
}

/** What the version of a pack is a hash of. */
function* versionParts(
  rows: NameRows,
  patterns: readonly PatternRow[],
  listings: Uint8Array,
  text: unknown,
): Generator<Uint8Array> {
  yield* rowTexts(rows)
  yield encodeJson(patterns)
  yield listings
  yield encodeJson(text)
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
function encodeNames(rows: NameRows, offset: number) {
  const { names, order } = rows
  const mixes = order.map(number => format.mixHash(hashOf(names, number)))
  const byLength = indexesByLength(rows)
  const rowBytes = Buffer.alloc(
    order.reduce((sum, number) => sum + names.lengthOf(number) + format.CLASS_NUMBER_BYTES, 0),
  )
  let rowsEnd = 0
  const encoded = byLength.map((indexes, at) => {
    const start = rowsEnd
    rowsEnd += indexes.length * (at + 1 + format.CLASS_NUMBER_BYTES)
    return encodeNamesOfLength(rows, mixes, indexes, rowBytes.subarray(start, rowsEnd))
  })
  const lengths = new Uint8Array(format.PACK_NAME_LENGTH_MAX * format.LENGTH_ENTRY_BYTES)
  const view = new DataView(lengths.buffer)
  const filter = buildFilter(mixes)
  let bucketsAt = offset + lengths.length + filter.length
  let rowsAt = bucketsAt + encoded.reduce((sum, { buckets }) => sum + buckets.length, 0)
  for (const [index, one] of encoded.entries()) {
    view.setUint32(index * format.LENGTH_ENTRY_BYTES, one.bucketCount, true)
    view.setUint32(index * format.LENGTH_ENTRY_BYTES + 4, bucketsAt, true)
    view.setUint32(index * format.LENGTH_ENTRY_BYTES + 8, rowsAt, true)
    bucketsAt += one.buckets.length
    rowsAt += one.rows.length
  }
  return {
    lengths,
    filter,
    buckets: concatBytes(encoded.map(one => one.buckets)),
    rows: rowBytes,
  }
}

/** The hash of a name, as `hashName` gives it. */
function hashOf(names: NameNumbers, number: number): number {
  let hash = format.FNV_OFFSET_BASIS
  for (let at = names.lengthOf(number) - 1; at >= 0; at--) hash = format.prependToHash(hash, names.codeAt(number, at))
  return hash
}

/** The indexes of the rows of each length from 1 to the longest, in the order of the rows. */
function indexesByLength({ names, order }: NameRows): readonly Uint32Array[] {
  const counts = new Uint32Array(format.PACK_NAME_LENGTH_MAX + 1)
  countGarbage(order.length)
  for (const number of order) counts[names.lengthOf(number)] = (counts[names.lengthOf(number)] ?? 0) + 1
  const byLength = Array.from(counts, count => new Uint32Array(count))
  const filled = new Uint32Array(format.PACK_NAME_LENGTH_MAX + 1)
  for (let index = 0; index < order.length; index++) {
    const length = names.lengthOf(order[index] ?? 0)
    const at = filled[length] ?? 0
    filled[length] = at + 1
    const indexes = byLength[length]
    if (indexes !== undefined) indexes[at] = index
  }
  return byLength.slice(1)
}

/** The filter with the bit of every name set; `mixes` are the mixed hashes of the names. */
function buildFilter(mixes: Uint32Array): Uint8Array {
  const log2 = format.filterBitsLog2(mixes.length)
  const filter = new Uint8Array(2 ** (log2 - 3))
  for (const mix of mixes) {
    const bit = format.filterBitIndex(mix, 32 - log2)
    filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7))
  }
  return filter
}

/** The buckets of the names of one length, whose indexes are in the order of the names. Their rows are written into `rows`. */
function encodeNamesOfLength(
  { names, order, classNumbers }: NameRows,
  mixes: Uint32Array,
  indexes: Uint32Array,
  rows: Buffer,
) {
  if (indexes.length === 0) return { bucketCount: 0, buckets: new Uint8Array(), rows }
  assert(indexes.length <= format.ROWS_MAX, "a pack numbers the rows of one length in three bytes")
  const width = rows.length / indexes.length
  const bucketCount = Math.min(format.BUCKETS_MAX, Math.ceil(indexes.length / format.ROWS_PER_BUCKET))
  const bucketOf = (index: number): number => format.bucketIndex(mixes[index] ?? 0, bucketCount)
  const starts = new Uint32Array(bucketCount + 1)
  for (const index of indexes) starts[bucketOf(index) + 1] = (starts[bucketOf(index) + 1] ?? 0) + 1
  for (let bucket = 1; bucket <= bucketCount; bucket++)
    starts[bucket] = (starts[bucket] ?? 0) + (starts[bucket - 1] ?? 0)
  const buckets = new Uint8Array((bucketCount + 1) * format.BUCKET_ENTRY_BYTES)
  const view = Buffer.from(buckets.buffer)
  for (let bucket = 0; bucket <= bucketCount; bucket++)
    view.writeUIntLE(starts[bucket] ?? 0, bucket * format.BUCKET_ENTRY_BYTES, format.BUCKET_ENTRY_BYTES)
  const next = starts.slice()
  for (const index of indexes) {
    const row = next[bucketOf(index)] ?? 0
    next[bucketOf(index)] = row + 1
    countGarbage()
    const number = order[index] ?? 0
    const length = names.lengthOf(number)
    for (let at = 0; at < length; at++) rows[row * width + at] = names.codeAt(number, at)
    rows.writeUInt16LE(classNumbers[index] ?? 0, row * width + length)
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

function packVersion(builtAt: string, parts: Iterable<Uint8Array>): string {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return `${builtAt.slice(0, 10)}-${hash.digest("hex").slice(0, 8)}`
}

function countEntries(
  rows: NameRows,
  patterns: readonly PatternRow[],
  classes: readonly ListingClass[],
): Record<SetName, number> {
  const entries = Object.fromEntries(SET_NAMES.map(set => [set, 0])) as Record<SetName, number>
  const count = (number: number): void => {
    for (const set of SET_NAMES) if (((classes[number]?.mask ?? 0) & SET_BITS[set]) !== 0) entries[set]++
  }
  for (const number of rows.classNumbers) count(number)
  for (const [, number] of patterns) count(number)
  return entries
}

const ROWS_IN_TEXT = 1000

/** The JSON of all rows as pairs of name and class, in parts: the whole would take as much memory as all names. */
function* rowTexts({ names, order, classNumbers }: NameRows): Generator<Uint8Array> {
  for (let start = 0; start < order.length; start += ROWS_IN_TEXT) {
    const part = order.subarray(start, start + ROWS_IN_TEXT)
    const rows = Array.from(part, (number, at) => [names.nameOf(number), classNumbers[start + at]])
    countGarbage(part.length)
    yield new TextEncoder().encode(`${start === 0 ? "[" : ","}${JSON.stringify(rows).slice(1, -1)}`)
  }
  yield new TextEncoder().encode(order.length === 0 ? "[]" : "]")
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
