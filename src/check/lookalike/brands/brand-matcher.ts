import BRANDS from "../../../../data/brands.txt" with { type: "text" }
import { HashFilter } from "../../../base/hash-filter.ts"
import { lazy } from "../../../base/lazy.ts"
import { pairAt } from "../../../base/text.ts"
import { isCountrySuffix } from "../../address/public-suffix.ts"
import { skeletonOf } from "../confusables.ts"
import { EditDistanceIndex } from "../edit-distance-index.ts"
import { isOneEditApart } from "../typo.ts"
import { affixWeight, isCommonWord } from "../word-lists.ts"
import { LabelAutomaton, type LabelHit } from "./brand-automaton.ts"
import { type Brand, LABEL_LENGTH_MAX, parseBrands } from "./brand-table.ts"
import { isCorporateWord, isLure, isStrongLure } from "./lures.ts"

/** A label found over a hyphen (`whats-app`), or by its look inside a word (`ipaypai`), is at least this long. */
const HYPHENATED_LENGTH_MIN = 8
const ALIKE_LENGTH_MIN = 7
/** A slip of a shorter label, or one that is shorter itself, is another word or another name too often. */
const SLIP_LENGTH_MIN = 6
const SLIP_LENGTH_MAX = LABEL_LENGTH_MAX + 1
/** A slip of a shorter label, but for two letters swapped, is an honest name so often that it counts only beside a lure (`kuvoin-login`). */
const LONE_SLIP_LENGTH_MIN = 8
/** A shorter label is a piece of other words so often that the letters run together with it have to be a word. */
const LONE_LABEL_LENGTH_MIN = 9
/** A slip of a label that is at least this long may be in its last letter, or in its first. */
const LAST_LETTER_SLIP_LENGTH_MIN = 8
const FIRST_LETTER_SLIP_LENGTH_MIN = 9
/** A shorter word is a word of some language, or the initials of many (`ing`, `att`). */
const UNCOMMON_LENGTH_MIN = 4
/** A word that is found by its look is at least this long: `ing` is no `lng`. */
const ALIKE_WORD_LENGTH_MIN = 5
/** A lure that is run together with a label has at least so many letters (`verify`, not `app`). */
const RUN_TOGETHER_LENGTH_MIN = 5

/** How a name imitates: by what of the brand stands in it, and where. */
export type ImitationForm =
  | "label"
  | "hyphenated label"
  | "label by its looks"
  | "word beside a lure"
  | "slip"
  | "slip beside a lure"
/** What a name imitates, and how. */
export type Imitation = { readonly brand: Brand; readonly form: ImitationForm }

/** Finds the household brand that a name imitates. */
export class BrandMatcher {
  readonly #brands: readonly Brand[]
  readonly #automaton: LabelAutomaton
  /** The brands that `#slips` has, in its order. */
  readonly #slipBrands: readonly Brand[]
  readonly #slips: EditDistanceIndex
  /** The starts and ends of what may be a slip: of three letters each, one stays as it is. */
  readonly #ends: HashFilter
  readonly #ownNames: ReadonlySet<string>
  /** The labels of all own names, as they are written: under a country's suffix they are a brand's too. */
  readonly #ownLabels: ReadonlySet<string>

  constructor(brands: readonly Brand[]) {
    this.#brands = brands
    this.#automaton = new LabelAutomaton(brands.map(({ label }) => label))
    this.#slipBrands = brands.filter(({ kind }) => kind === "coined")
    this.#slips = new EditDistanceIndex(this.#slipBrands.map(({ label }) => label))
    this.#ends = new HashFilter(this.#slipBrands.length * 3)
    for (const { label } of this.#slipBrands) {
      this.#ends.add(threeAt(label, 0, START))
      this.#ends.add(threeAt(label, label.length - 3, END))
      // The third and the fourth letter swapped change both ends of a label of six.
      if (label.length === 6) this.#ends.add(threeAt(label.slice(0, 2) + label.slice(3), 0, START))
    }
    this.#ownNames = new Set(brands.flatMap(({ names }) => names))
    this.#ownLabels = new Set([...this.#ownNames].map(name => name.slice(0, name.indexOf("."))))
  }

  /**
   * The name of the brand that a registrable domain imitates; null: none, or a brand's own. `isRealLabel` says whether a part is the label
   * of another known name.
   */
  match(registrable: string, label: string, isRealLabel: (part: string) => boolean): string | null {
    const text = label.startsWith("xn--") ? (skeletonOf(label)?.text ?? "") : label
    const brand = this.imitationIn(text, isRealLabel)?.brand
    if (brand === undefined || label === brand.label || this.owns(registrable)) return null
    return this.#ownLabels.has(label) && isBrandsSuffix(registrable.slice(label.length + 1)) ? null : brand.names[0]
  }

  /** The brand whose label, or a slip of it, is in a label. It is an imitation unless the brand owns the name. Null: there is none. */
  imitationIn(text: string, isRealLabel: (part: string) => boolean): Imitation | null {
    for (const hit of this.#automaton.hits(text)) {
      const brand = this.#brands[hit.index]
      const form = brand === undefined ? null : formOf(brand, text, hit)
      if (brand !== undefined && form !== null) return { brand, form }
    }
    return this.#slipIn(text, isRealLabel)
  }

  /** Whether the registrable domain belongs to a brand. */
  owns(registrable: string): boolean {
    return this.#ownNames.has(registrable)
  }

  /** The brand of whose label a part between hyphens is a slip. */
  #slipIn(text: string, isRealLabel: (part: string) => boolean): Imitation | null {
    for (let start = 0, end = 0; start <= text.length; start = end + 1) {
      const hyphen = text.indexOf("-", start)
      end = hyphen < 0 ? text.length : hyphen
      if (!this.#mayBeSlip(text, start, end)) continue
      const part = text.slice(start, end)
      const brand = this.#slipOfPart(part, isRealLabel)
      if (brand === null) continue
      if (isLoneSlip(part, brand.label)) return { brand, form: "slip" }
      if (text.split("-").some(isLure)) return { brand, form: "slip beside a lure" }
    }
    return null
  }

  /** False: the part of the text is no slip, which is so of most, and they are not cut out. */
  #mayBeSlip(text: string, start: number, end: number): boolean {
    const length = end - start
    if (length < SLIP_LENGTH_MIN || length > SLIP_LENGTH_MAX) return false
    return this.#ends.mayHave(threeAt(text, start, START)) || this.#ends.mayHave(threeAt(text, end - 3, END))
  }

  #slipOfPart(part: string, isRealLabel: (part: string) => boolean): Brand | null {
    for (const index of this.#slips.candidates(part)) {
      const brand = this.#slipBrands[index]
      if (brand !== undefined && isSlipOf(brand, part) && !isRealLabel(part) && !isCommonWord(part)) return brand
    }
    return null
  }
}

/** A hash of the three letters at the index, and of whether they start or end a label. */
const threeAt = (text: string, index: number, end: number): number =>
  Math.imul(pairAt(text, index) ^ Math.imul(text.charCodeAt(index + 2) + end, 0x9e3779b1), 0x85ebca6b) >>> 0
const START = 0
const END = 0x100

/** Suffixes of countries that are given away or sold to anybody, so that a brand's label there proves nothing. */
const OPEN_SUFFIXES: ReadonlySet<string> = new Set(["cf", "co", "ga", "gq", "la", "ml", "pw", "su", "tk", "ws"])
const isBrandsSuffix = (suffix: string): boolean => isCountrySuffix(suffix) && !OPEN_SUFFIXES.has(suffix)

/** Whether two texts are one slip apart. A letter more or less at the end is none where it is an `s`, the plural. */
export const isSlip = (typed: string, meant: string): boolean =>
  typed !== `${meant}s` && meant !== `${typed}s` && isOneEditApart(typed, meant)

/** Whether a slip is seen without a lure: that of a long label, two letters swapped, or one typed twice. */
const isLoneSlip = (part: string, label: string): boolean =>
  label.length >= LONE_SLIP_LENGTH_MIN ||
  lettersOf(part) === lettersOf(label) ||
  (part.length > label.length && withoutRuns(part) === withoutRuns(label))
const lettersOf = (text: string): string => text.split("").sort().join("")
const withoutRuns = (text: string): string => text.replace(/(.)\1+/g, "$1")

function isSlipOf({ label, others }: Brand, part: string): boolean {
  if (others.includes(part) || !isSlip(part, label)) return false
  const [hasFirst, hasLast] = [part.charAt(0) === label.charAt(0), part.at(-1) === label.at(-1)]
  return (
    (hasFirst || label.length >= FIRST_LETTER_SLIP_LENGTH_MIN) &&
    (hasLast || label.length >= LAST_LETTER_SLIP_LENGTH_MIN)
  )
}

/** How a label is written in a text: as its owner writes it, with a hyphen inside, or with letters that look like its own. */
type Spelling = "own" | "hyphenated" | "alike"

function spellingOf({ label, names }: Brand, found: string): Spelling {
  if (found === label) return "own"
  if (found.length === label.length || !found.includes("-")) return "alike"
  return names.some(name => name.startsWith(found)) ? "own" : "hyphenated"
}

/** How the label in this place makes the text an imitation of the brand; null: it does not. */
function formOf(brand: Brand, text: string, hit: LabelHit): ImitationForm | null {
  const spelling = spellingOf(brand, text.slice(hit.start, hit.end))
  if ((spelling === "own" && isOwnersForm(text, hit)) || isInOther(brand, text, hit)) return null
  if (brand.kind === "word")
    return isWordPlausible(brand, spelling) && isBesideLure(brand, text, hit) ? "word beside a lure" : null
  return isPlaceOfLabel(brand, spelling, text, hit) ? FORMS[spelling] : null
}

const FORMS = {
  own: "label",
  hyphenated: "hyphenated label",
  alike: "label by its looks",
} as const satisfies Record<Spelling, ImitationForm>

const isWordPlausible = ({ label }: Brand, spelling: Spelling): boolean =>
  spelling === "own" || (spelling === "alike" && label.length >= ALIKE_WORD_LENGTH_MIN)

/** Whether a coined label, or one that starts a part, imitates where it stands. */
function isPlaceOfLabel({ kind, label }: Brand, spelling: Spelling, text: string, { start, end }: LabelHit): boolean {
  if (spelling === "hyphenated" && label.length < HYPHENATED_LENGTH_MIN) return false
  const startsPart = start === 0 || !/[a-z]/.test(text.charAt(start - 1))
  const endsPart = end === text.length || text.charAt(end) === "-"
  if (spelling === "alike" && label.length < ALIKE_LENGTH_MIN)
    return startsPart && endsPart && label.length >= ALIKE_WORD_LENGTH_MIN
  if (startsPart && (kind === "coined" || endsPart)) return true
  if (kind === "coined") return label.length >= LONE_LABEL_LENGTH_MIN || isWord(lettersBefore(text, start))
  const after = lettersAfter(text, end)
  return startsPart && (after === "" || label.length >= LONE_LABEL_LENGTH_MIN || isLure(after))
}

const lettersBefore = (text: string, start: number): string => /[a-z]*$/.exec(text.slice(0, start))?.[0] ?? ""
const lettersAfter = (text: string, end: number): string => /^[a-z]*/.exec(text.slice(end))?.[0] ?? ""

/** Whether letters before a label are a word, so that the label is no piece of another one (`stonedrive`). */
const isWord = (letters: string): boolean =>
  SHORT_WORDS.has(letters) ||
  (letters.length > 2 && (isCommonWord(letters) || isLure(letters) || affixWeight(letters) !== null))
const SHORT_WORDS: ReadonlySet<string> = new Set(["at", "eu", "go", "in", "my", "on", "to", "uk", "us"])

/** Whether what was found is a part of an honest word, or looks like the label and is one. */
function isInOther({ label, others }: Brand, text: string, { start, end }: LabelHit): boolean {
  if (others.length === 0) return false
  const joined = text.replaceAll("-", "")
  const joinedStart = text.slice(0, start).replaceAll("-", "").length
  const joinedEnd = text.slice(0, end).replaceAll("-", "").length
  return others.some(other => {
    if (other === label) return false
    const at = joined.indexOf(other, Math.max(0, joinedEnd - other.length))
    return at !== -1 && at <= joinedStart
  })
}

/** Whether nothing but one corporate word stands beside the label. */
function isOwnersForm(text: string, { start, end }: LabelHit): boolean {
  if (start > 0 && end < text.length) return false
  const other = start === 0 ? text.slice(end) : text.slice(0, start)
  return isCorporateWord(other.replace(/^-|-$/, "")) || (start > 0 && OWNERS_PREFIXES.has(other))
}

/** What a brand puts before its label without a hyphen, where `at-` and `to-` are a lure (`byspotify.com`). */
const OWNERS_PREFIXES = new Set(["at", "by", "on", "to", "with"])

/** Whether a label that others use too is a part of its own, or one of two words run together, beside a word that asks for trust. */
function isBesideLure({ label, beside }: Brand, text: string, { start, end }: LabelHit): boolean {
  const isCommon = label.length < UNCOMMON_LENGTH_MIN || isCommonWord(label)
  const isTrusted = (part: string) => beside.has(part) || (isCommon ? isStrongLure(part) : isLure(part))
  const startsPart = start === 0 || text.charAt(start - 1) === "-"
  const endsPart = end === text.length || text.charAt(end) === "-"
  if (startsPart && endsPart) return `${text.slice(0, start)}-${text.slice(end)}`.split("-").some(isTrusted)
  if (label.length < RUN_TOGETHER_LENGTH_MIN || text.includes("-")) return false
  const other = start === 0 ? text.slice(end) : end === text.length ? text.slice(0, start) : ""
  return other.length >= RUN_TOGETHER_LENGTH_MIN && /[a-z]/.test(other) && isTrusted(other)
}

/** The matcher of the bundled table, made on first use. */
export const bundledBrands = lazy(() => new BrandMatcher(parseBrands(BRANDS)))
