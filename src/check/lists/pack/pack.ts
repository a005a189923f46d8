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
import { ANCHOR_BIT, PACK_NAME_LENGTH_MAX, type PackSectionName, readSections } from "./pack-format.ts"
import { ClassTable, NameTable } from "./pack-tables.ts"
import { type PackVerification, verifyPack, verifyPackChecksum } from "./pack-verification.ts"
import { literalTail, patternMatchStart } from "./suffix-pattern.ts"

/** An open pack, or why the bytes are none and what to do about it. */
export type OpenPackResult =
  | { readonly kind: "open"; readonly pack: Pack }
  | { readonly kind: "refused"; readonly says: string; readonly remedy: string }

/**
 * Opens a pack. It reads the header and the few hundred bytes in which the pack describes itself; it copies nothing
 * and never throws. The bytes must not change while the pack is in use.
 */
export function openPack(bytes: Uint8Array): OpenPackResult {
  const cut = readSections(bytes)
  if (cut.kind === "refused") return cut
  const meta = parseMeta(cut.sections.meta)
  if (meta.kind === "refused") return meta
  return { kind: "open", pack: new Pack(bytes, cut.sections, meta.meta) }
}

/** A suffix pattern with the bits of its sets. */
type MaskedPattern = { readonly text: string; readonly mask: number }

/** A pattern that matches a domain, and where in it the part that it matches starts. */
type PatternMatch = MaskedPattern & { readonly start: number }

/** One open pack: which sets hold a domain, why, and the words and targets that came with them. */
export class Pack {
  readonly #bytes: Uint8Array
  readonly #sections: Readonly<Record<PackSectionName, Uint8Array>>
  readonly #meta: PackMeta
  readonly #names: NameTable
  readonly #classes: ClassTable
  #patterns: ReadonlyMap<string, readonly MaskedPattern[]> | null = null
  #texts: PackTexts | null = null

  /** For `openPack`, which has looked at the header. */
  constructor(bytes: Uint8Array, sections: Readonly<Record<PackSectionName, Uint8Array>>, meta: PackMeta) {
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

  /** When the newest source is of: ISO 8601, UTC. */
  get builtAt(): string {
    return this.#meta.built_at
  }

  /** How many entries each set holds. */
  get entryCounts(): Readonly<Record<SetName, number>> {
    return this.#meta.entries
  }

  /** Words for the local part, by set. */
  get words(): Readonly<Record<WordSetName, ReadonlySet<string>>> {
    return this.#readTexts().words
  }

  /** The domains of group services. */
  get groupDomains(): ReadonlySet<string> {
    return this.#readTexts().groupDomains
  }

  /** The domains that others imitate or mistype, most imitated first. */
  get targets(): readonly PackTarget[] {
    return this.#readTexts().targets
  }

  /** Compares the checksum of all bytes with the one that was written. */
  verifyChecksum(): PackVerification {
    return verifyPackChecksum(this.#bytes)
  }

  /** Reads every byte: the checksum, and that every name can be found.  */
  verify(): PackVerification {
    return verifyPack(this.#bytes, this.#sections, this.#meta)
  }

  /**
   * Which sets hold `domain` (lower case, A-labels, no trailing dot), at its most specific level that any set holds.
   * Names hold for the domain and its parents down to `registrable` (null: no name holds), suffixes at any level. A text
   * that is no such domain is in no set. Without a hit nothing is allocated.
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

  /** What the sources say about exactly this name or suffix pattern, kept and dropped; empty when none lists it. */
  listingsOf(name: string): readonly Listing[] {
    const number = name.includes("*") ? this.#patternClass(name) : this.#names.classOf(name)
    return number < 0 ? [] : this.#classes.listingsOf(number)
  }

  /** Every name that some set holds or a rule dropped, shortest first; no suffix patterns. It reads the whole pack. */
  *names(): Generator<string> {
    for (const [name, number] of this.#names) if (this.#classes.listingsOf(number).length > 0) yield name
  }

  /** The suffix patterns that match `domain` or a parent, each with the level of the domain at which it does. */
  matchingPatterns(domain: string): readonly { readonly pattern: string; readonly level: string }[] {
    return [...this.#candidatePatterns(domain)].flatMap(({ text }) => {
      const start = patternMatchStart(domain, text)
      return start < 0 ? [] : [{ pattern: text, level: domain.slice(start) }]
    })
  }

  /** The answer for a domain that suffix patterns may match, when entries hold its part from `from` on by `mask`. */
  #matchWithPatterns(domain: string, mask: number, from: number): ListMatch {
    const deepest = this.#deepestPatternMatch(domain)
    if (deepest === null || (mask !== 0 && from < deepest.start))
      return mask === 0 ? NO_LIST_MATCH : new ListMatch(mask, domain, from)
    if (mask === 0 || deepest.start < from) return new ListMatch(deepest.mask, deepest.text, 0)
    return new ListMatch(mask | deepest.mask, domain, from)
  }

  /** The most specific pattern match; those of one level are one match. */
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
    for (let at = 0; at < domain.length; at = domain.indexOf(".", at) + 1 || domain.length)
      yield* this.#patternsByTail().get(domain.slice(at)) ?? []
  }

  #patternClass(pattern: string): number {
    return (parsePatterns(this.#sections.patterns) ?? []).find(([text]) => text === pattern)?.[1] ?? -1
  }

  /** The patterns by their literal tail, read on first use. */
  #patternsByTail(): ReadonlyMap<string, readonly MaskedPattern[]> {
    if (this.#patterns !== null) return this.#patterns
    const patterns = parsePatterns(this.#sections.patterns)
    assert(patterns !== null, "the suffix patterns of a pack in use are whole")
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
    this.#texts ??= parseTexts(this.#sections.texts)
    assert(this.#texts !== null, "the texts of a pack in use are whole")
    return this.#texts
  }
}
