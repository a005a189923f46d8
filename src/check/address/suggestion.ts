import { LIMITS } from "../../contract/limits.ts"
import { isPlain } from "./affixes.ts"
import { isCommonWord } from "./common-word.ts"
import { type LabelIndex, type Listed, type ListedLabel, split } from "./label-index.ts"
import { disguised } from "./lookalike.ts"
import { standingOf } from "./public-suffix.ts"
import { isOneEdit, type Slip, slipBetween } from "./slip.ts"

/**
 * Labels that name a mailbox provider to everybody: right behind them any suffix is a slip, and short ones may be
 * misspelt.
 */
const HOUSEHOLD = new Set(["gmail", "googlemail", "hotmail", "icloud", "outlook", "protonmail", "yahoo", "yandex"])

/** Real names that are one slip away from a provider's and no common words. */
const REAL = new Set(["cloud", "evil", "gail", "libro", "mali", "orage", "postel", "sian", "telnet", "ymail"])

/** So many provider labels, from the most popular, are large enough that a name beside them is rather theirs. */
const misspeltMax = 150
/** So many are large enough for this though they have four letters only. */
const shortMisspeltMax = 40

/** Finds the provider that was meant by a mistyped domain. */
export class Suggestions {
  readonly #index: LabelIndex
  /** The most popular labels, by length: any slip is looked for in these. */
  readonly #large: readonly (readonly Candidate[])[]
  /** All labels by their letters: a swap and a doubled letter leave the letters as they are. */
  readonly #byLetters: ReadonlyMap<number, readonly Candidate[]>
  readonly #labels: ReadonlyMap<string, Candidate>
  readonly #listedLabels: ReadonlySet<string>
  /** Provider names without their dots. */
  readonly #undotted: ReadonlyMap<string, Listed>

  constructor(labels: readonly ListedLabel[], index: LabelIndex) {
    this.#index = index
    this.#listedLabels = new Set(labels.map(({ label }) => label))
    const candidates = providers(labels)
    this.#labels = new Map(candidates.map(candidate => [candidate.label, candidate]))
    const large = candidates.slice(0, misspeltMax)
    this.#large = Array.from({ length: LIMITS.labelOctetsMax + 2 }, (_, length) =>
      large.filter(({ label }) => label.length === length),
    )
    this.#byLetters = Map.groupBy(candidates, ({ letters }) => letters)
    const undotted = new Map<string, Listed>()
    for (const name of candidates.flatMap(({ names }) => names)) {
      const text = undot(name.name)
      if (!undotted.has(text)) undotted.set(text, name)
    }
    this.#undotted = undotted
  }

  /**
   * The provider name that `domain` is one likely slip away from; null: none. The domain is no target, nor under one.
   */
  find(domain: string, registrable: string): string | null {
    const [label, suffix] = split(domain)
    const found =
      this.#bySuffix(domain, registrable, label, suffix) ??
      this.#byDots(domain) ??
      (domain === registrable ? (this.#byLabel(label, suffix) ?? this.#byLooks(label, suffix)) : null)
    return found?.name ?? null
  }

  /** A provider's label with a wrong suffix, or none. */
  #bySuffix(domain: string, registrable: string, label: string, suffix: string): Listed | null {
    const candidate = this.#labels.get(label)
    if (candidate === undefined) return null
    const { names } = candidate
    if (suffix === "") return label.length >= 3 && isTelling(label) ? names[0] : null
    const near = names.find(name => isOneEdit(suffix, name.suffix))
    const anywhere = HOUSEHOLD.has(label) ? resettled(names, suffix) : null
    if (!canExist(domain)) return near ?? anywhere
    if (domain !== registrable) return null
    return near !== undefined && isCut(candidate, suffix, near.suffix) ? near : anywhere
  }

  /**
   * A dot that is missing or stands one place off: `gmailcom`, `gmailc.om`. A dot too many counts where nothing can
   * exist.
   */
  #byDots(domain: string): Listed | null {
    const meant = this.#undotted.get(undot(domain))
    if (meant === undefined || meant.label.length < 3) return null
    const [dots, dotsMeant] = [domain.split(".").length, meant.name.split(".").length]
    if (dots === 1) return meant
    const isMoved = dots <= dotsMeant && meant.label.length >= 5 && domain.startsWith(meant.label.slice(0, -1))
    return isMoved || !canExist(domain) ? meant : null
  }

  /** The suffix of a provider behind its label with one slip in it. */
  #byLabel(label: string, suffix: string): Listed | null {
    const letters = lettersOf(label)
    let best = misspelt(this.#byLetters.get(letters) ?? [], label, suffix)
    for (let length = label.length - 1; length <= label.length + 1; length++) {
      for (const candidate of this.#large[length] ?? []) {
        if (bitCount(letters ^ candidate.letters) > 2) continue
        best = morePopular(best, misspelt([candidate], label, suffix))
      }
    }
    return best === null || this.#isRealName(label) ? null : best
  }

  /** A provider's name in disguise under its own suffix: `gma1l.com`. */
  #byLooks(label: string, suffix: string): Listed | null {
    const meant = disguised(this.#index, label, suffix)
    return meant !== null && meant.kind === "provider" && meant.suffix === suffix ? meant : null
  }

  #isRealName(label: string): boolean {
    return REAL.has(label) || this.#listedLabels.has(label) || isCommonWord(label)
  }
}

type Candidate = {
  readonly label: string
  readonly names: readonly [Listed, ...Listed[]]
  readonly place: number
  readonly letters: number
}

function providers(labels: readonly ListedLabel[]): readonly Candidate[] {
  const found: Candidate[] = []
  for (const { label, names } of labels) {
    const [first, ...others] = names.filter(({ kind }) => kind === "provider")
    if (first === undefined) continue
    found.push({ label, names: [first, ...others], place: found.length, letters: lettersOf(label) })
  }
  return found
}

/** The first name under the suffix whose label `typed` is likely a slip from; null: none. */
function misspelt(candidates: readonly Candidate[], typed: string, suffix: string): Listed | null {
  for (const candidate of candidates) {
    const slip = slipBetween(typed, candidate.label)
    if (slip === null || !isLikely(slip, candidate)) continue
    const name = candidate.names.find(each => each.suffix === suffix)
    if (name !== undefined) return name
  }
  return null
}

const morePopular = (one: Listed | null, other: Listed | null): Listed | null =>
  one === null || (other !== null && other.rank < one.rank) ? other : one

/** Whether an existing suffix is likelier `com`, `net` or `org` cut short than the home of another firm. */
function isCut({ label, place }: Candidate, suffix: string, meant: string): boolean {
  if (meant.length !== 3 || suffix.length !== 2 || place >= misspeltMax || !isTelling(label)) return false
  return label.length >= 5 || (label.length >= 3 && /^[co]m$/.test(suffix))
}

/**
 * Whether a slip in a provider's label is likelier than another name. The shorter the label and the smaller the
 * provider, the less may be wrong with it; nobody mistakes the first key, and each letter before `mail` is somebody's
 * service.
 */
function isLikely({ kind, at }: Slip, { label, place }: Candidate): boolean {
  if (label.length < 4) return false
  if (kind === "swapped" || kind === "doubled") return label.length > 4 || place < shortMisspeltMax
  if (place >= misspeltMax || (at === 0 && kind === "replaced")) return false
  if (HOUSEHOLD.has(label)) return label.length >= 6 || kind === "inserted" || (at > 0 && kind !== "moved")
  return at > 0 && kind !== "moved" && label.length >= (kind === "omitted" ? 7 : 6)
}

/** A label that says more than a word of the language does. */
const isTelling = (label: string): boolean => HOUSEHOLD.has(label) || !(isPlain(label) || isCommonWord(label))

/** Whether the name's top-level domain exists in public DNS. */
function canExist(domain: string): boolean {
  const { fault } = standingOf(domain)
  return fault !== "unknown_tld" && fault !== "reserved_tld"
}

/** A top-level domain, or a second-level one of a country: `net`, `com.br`. `blogspot.com` is a host of sites. */
const isOfCountry = (suffix: string): boolean => /^[a-z]{2,}$|^[a-z]{2,3}\.[a-z]{2}$/.test(suffix)

/**
 * The name in the country of a suffix, `yahoo.co.uk` for `yahoo.uk`, else the most popular; null: sites stand under
 * that suffix.
 */
function resettled(names: readonly [Listed, ...Listed[]], suffix: string): Listed | null {
  if (!isOfCountry(suffix)) return null
  const country = suffix.slice(suffix.lastIndexOf(".") + 1)
  const isThere = (name: Listed) => name.suffix === country || name.suffix.endsWith(`.${country}`)
  return (country.length === 2 ? names.find(isThere) : undefined) ?? names[0]
}

const undot = (name: string): string => name.replaceAll(".", "")

/** The letters of a text as bits: two texts one slip apart differ in two bits at most. */
function lettersOf(text: string): number {
  let letters = 0
  for (let at = 0; at < text.length; at++) letters |= 1 << (text.charCodeAt(at) & 31)
  return letters
}

function bitCount(bits: number): number {
  let left = bits
  let count = 0
  for (; left !== 0; left &= left - 1) count++
  return count
}
