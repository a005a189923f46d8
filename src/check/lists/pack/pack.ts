import { assert } from "../../../base/errors.ts"
import { ListMatch, NO_LIST_MATCH } from "../list-match.ts"
import type { SetName, WordSetName } from "../sets.ts"
import {
  type Listing,
  type PackMeta,
  type PackTarget,
  type PackTexts,
  parseMeta,
  parsePatterns,
  parseTexts,
} from "./pack-contents.ts"
import { ANCHOR_BIT, PACK_NAME_LENGTH_MAX, type PackSections, readSections } from "./pack-format.ts"
import { ClassTable, NameTable } from "./pack-tables.ts"
import {
  DAMAGED_PATTERNS,
  DAMAGED_TEXTS,
  type PackVerification,
  verifyPack,
  verifyPackChecksum,
} from "./pack-verification.ts"
import { literalTail, patternMatchStart } from "./suffix-pattern.ts"

/** An open pack, or why the bytes are not a pack and what to do about it. */
export type OpenPackResult =
  | { readonly kind: "open"; readonly pack: Pack }
  | { readonly kind: "refused"; readonly message: string; readonly remedy: string }

/**
 * Opens a pack. It reads only the header and the description of the pack (a few hundred bytes), copies nothing and never
 * throws. The bytes must not change while the pack is in use. Verify it before its words, targets or patterns are used, which assert
 * that they can be decoded.
 */
export function openPack(bytes: Uint8Array): OpenPackResult {
  const read = readSections(bytes)
  if (read.kind === "refused") return read
  const meta = parseMeta(read.sections.meta)
  if (meta.kind === "refused") return meta
  return { kind: "open", pack: new Pack(bytes, read.sections, meta.meta) }
}

/** A suffix pattern with the bits of its sets. */
type MaskedPattern = { readonly text: string; readonly mask: number }

/** A pattern that matches a domain, with the index at which the matched part starts. */
type PatternMatch = MaskedPattern & { readonly start: number }

/** An open pack: finds the sets that match a domain, explains them, and has the words and targets. */
export class Pack {
  readonly #bytes: Uint8Array
  readonly #sections: PackSections
  readonly #meta: PackMeta
  readonly #names: NameTable
  readonly #classes: ClassTable
  #patterns: ReadonlyMap<string, readonly MaskedPattern[]> | null = null
  #texts: PackTexts | null = null

  /** Use `openPack`, which validates the header. */
  constructor(bytes: Uint8Array, sections: PackSections, meta: PackMeta) {
    this.#bytes = bytes
    this.#sections = sections
    this.#meta = meta
    this.#classes = new ClassTable(sections.classes, sections.listings, meta.sources)
    this.#names = new NameTable(bytes, sections.lengths, sections.filter, this.#classes.masks)
  }

  /** The day of the newest source and a hash of the contents; equal contents have equal versions. */
  get version(): string {
    return this.#meta.version
  }

  /** The date of the newest source: ISO 8601, UTC. */
  get builtAt(): string {
    return this.#meta.built_at
  }

  /** The number of entries of each set. */
  get entryCounts(): Readonly<Record<SetName, number>> {
    return this.#meta.entries
  }

  /** The words for local parts, by set. */
  get words(): Readonly<Record<WordSetName, readonly string[]>> {
    return this.#readTexts().words
  }

  /** The domains of group services. */
  get groupDomains(): readonly string[] {
    return this.#readTexts().groupDomains
  }

  /** The domains that others imitate or mistype, most imitated first. */
  get targets(): readonly PackTarget[] {
    return this.#readTexts().targets
  }

  /** Compares the checksum of all bytes with the written one. */
  verifyChecksum(): PackVerification {
    return verifyPackChecksum(this.#bytes)
  }

  /** Decodes the words, the targets and the suffix patterns, which are otherwise decoded on first use. It never throws. */
  verifyTexts(): PackVerification {
    if (this.#decodeTexts() === null) return { ok: false, message: DAMAGED_TEXTS }
    return this.#decodePatterns() === null ? { ok: false, message: DAMAGED_PATTERNS } : { ok: true }
  }

  /** Reads every byte: verifies the checksum, the tables, and that every name can be found. */
  verify(): PackVerification {
    return verifyPack(this.#bytes, this.#sections, this.#meta)
  }

  /**
   * The sets that match `domain` (A-labels in lower case, no trailing dot), at its most specific level that any set
   * matches. Names match the domain and its parents down to `registrable` (null: names do not match); suffixes match at
   * any level. Any other text matches no set. A miss allocates nothing.
   */
  match(domain: string, registrable: string | null): ListMatch {
    const length = domain.length
    if (length === 0 || length > PACK_NAME_LENGTH_MAX) return NO_LIST_MATCH
    const nameLengthMin = registrable === null ? length + 1 : registrable.length
    const deepest = this.#names.deepestMatch(domain, nameLengthMin)
    if (deepest === 0) return NO_LIST_MATCH
    const mask = deepest & (ANCHOR_BIT - 1)
    if ((deepest & ANCHOR_BIT) !== 0) return this.#matchWithPatterns(domain, mask, deepest >>> 16)
    return new ListMatch(mask, domain, deepest >>> 16)
  }

  /** All listings of exactly this name or suffix pattern, kept and dropped; empty if no source lists it. */
  listingsOf(name: string): readonly Listing[] {
    const number = name.includes("*") ? this.#patternClass(name) : this.#names.classOf(name)
    return number < 0 ? [] : this.#classes.listingsOf(number)
  }

  /** Every name with listings, kept or dropped, shortest first; without suffix patterns. It reads the complete pack. */
  *names(): Generator<string> {
    for (const [name, number] of this.#names) if (this.#classes.listingsOf(number).length > 0) yield name
  }

  /** The suffix patterns that match `domain` or a parent, each with the level of the domain that it matches. */
  matchingPatterns(domain: string): readonly { readonly pattern: string; readonly level: string }[] {
    return [...this.#candidatePatterns(domain)].flatMap(({ text }) => {
      const start = patternMatchStart(domain, text)
      return start < 0 ? [] : [{ pattern: text, level: domain.slice(start) }]
    })
  }

  /** The match of a domain that suffix patterns may match; `mask` and `start` are the match of its entries. */
  #matchWithPatterns(domain: string, mask: number, start: number): ListMatch {
    const deepest = this.#deepestPatternMatch(domain)
    if (deepest === null || (mask !== 0 && start < deepest.start))
      return mask === 0 ? NO_LIST_MATCH : new ListMatch(mask, domain, start)
    if (mask === 0 || deepest.start < start) return new ListMatch(deepest.mask, deepest.text, 0)
    return new ListMatch(mask | deepest.mask, domain, start)
  }

  /** The most specific pattern match, with the sets of all patterns that match at that level. */
  #deepestPatternMatch(domain: string): PatternMatch | null {
    const matches = [...this.#candidatePatterns(domain)]
      .map(pattern => ({ ...pattern, start: patternMatchStart(domain, pattern.text) }))
      .filter(({ start }) => start >= 0)
      .sort((a, b) => a.start - b.start)
    const [first] = matches
    if (first === undefined) return null
    const mask = matches.filter(({ start }) => start === first.start).reduce((bits, match) => bits | match.mask, 0)
    return { ...first, mask }
  }

  /** The patterns whose literal tail is the domain or a parent. */
  *#candidatePatterns(domain: string): Generator<MaskedPattern> {
    for (let start = 0; start < domain.length; start = domain.indexOf(".", start) + 1 || domain.length)
      yield* this.#patternsByTail().get(domain.slice(start)) ?? []
  }

  #patternClass(pattern: string): number {
    return (parsePatterns(this.#sections.patterns) ?? []).find(([text]) => text === pattern)?.[1] ?? -1
  }

  /** The patterns by their literal tail, read on first use. */
  #patternsByTail(): ReadonlyMap<string, readonly MaskedPattern[]> {
    const patterns = this.#decodePatterns()
    assert(patterns !== null, "the suffix patterns of an open pack are intact")
    return patterns
  }

  #decodePatterns(): ReadonlyMap<string, readonly MaskedPattern[]> | null {
    if (this.#patterns !== null) return this.#patterns
    const patterns = parsePatterns(this.#sections.patterns)
    if (patterns === null) return null
    const masked = patterns.map(([text, number]) => ({
      text,
      mask: (this.#classes.masks[number] ?? 0) & (ANCHOR_BIT - 1),
    }))
    this.#patterns = Map.groupBy(
      masked.filter(({ mask }) => mask !== 0),
      ({ text }) => literalTail(text),
    )
    return this.#patterns
  }

  #readTexts(): PackTexts {
    const texts = this.#decodeTexts()
    assert(texts !== null, "the texts of an open pack are intact")
    return texts
  }

  #decodeTexts(): PackTexts | null {
    this.#texts ??= parseTexts(this.#sections.texts)
    return this.#texts
  }
}
