import { classifySuffix, isCountrySuffix } from "../address/public-suffix.ts"
import { EditDistanceIndex } from "./edit-distance-index.ts"
import { type KnownName, type KnownNames, RankTable, type SplitName, splitName } from "./known-names.ts"
import { nearestBySuffix, type ProviderLabel, ProviderLabels } from "./provider-labels.ts"
import { correctRunOn, hasExtraEnd, withoutDigitsBefore, withoutSuffixLetters } from "./run-on-corrector.ts"
import { TwoPartCorrector } from "./two-part-corrector.ts"
import { findTypo, type Typo, type TypoKind } from "./typo.ts"
import {
  isCompoundName,
  isDistinctive,
  isLikelyTypo,
  isMajorProvider,
  isRealName,
  isWidelyUsed,
  likelierCandidate,
  type TypoCandidate,
} from "./typo-likelihood.ts"

/** Finds the provider that a mistyped domain was meant to be. */
export class TypoCorrector {
  readonly #knownNames: KnownNames
  readonly #providers: ProviderLabels
  readonly #nearbyLabels: EditDistanceIndex
  readonly #twoPartCorrector: TwoPartCorrector
  /** Provider names by the hash of their text without dots. */
  readonly #byUndotted: RankTable
  #lastNear: { readonly text: string; readonly indexes: readonly number[] } = { text: "", indexes: [] }

  constructor(knownNames: KnownNames) {
    this.#knownNames = knownNames
    this.#providers = new ProviderLabels(knownNames)
    this.#nearbyLabels = new EditDistanceIndex(this.#providers.texts())
    this.#twoPartCorrector = new TwoPartCorrector(knownNames, this.#providers, this.#nearbyLabels)
    const ranks = this.#providers.ranks()
    this.#byUndotted = new RankTable(ranks.length)
    for (const rank of ranks) this.#byUndotted.add(undottedHash(knownNames.read(rank).name), rank)
  }

  /**
   * The provider that `domain` probably mistypes; null: none, or several that are equally likely. The domain must not be
   * a target or a subdomain of one. `homoglyph` is the known name that the label of the registrable domain looks like.
   */
  correct(domain: string, registrableName: SplitName, homoglyph: KnownName | null): KnownName | null {
    const registrable = registrableName.name
    const split = domain === registrable ? registrableName : splitName(domain)
    const { label, suffix } = split
    const provider = this.#providers.find(label)
    return (
      correctRunOn(this.#providerNamed, split, registrable, provider !== null) ??
      (provider === null ? null : this.#correctSuffix(domain, registrable, provider, suffix)) ??
      this.#correctDots(domain) ??
      (domain === registrable
        ? (this.#correctLabel(label, suffix, homoglyph) ?? this.#correctEnds(label, suffix))
        : null) ??
      this.#correctBothParts(domain, registrable, label, suffix)
    )
  }

  /** The household name whose label has a dot too many, where what follows the dot is another provider: `g.mail.com`. */
  correctSplitLabel(domain: string): KnownName | null {
    const meant = this.#withSameLetters(domain)
    return meant !== null && isMajorProvider(meant.label) && domain.endsWith(`.${meant.suffix}`) ? meant : null
  }

  /** Corrects a provider's label with a wrong suffix, or without one. */
  #correctSuffix(
    domain: string,
    registrable: string,
    { label, names }: ProviderLabel,
    suffix: string,
  ): KnownName | null {
    if (suffix === "") return label.length >= 3 && isDistinctive(label) && isWidelyUsed(names[0]) ? names[0] : null
    if (!hasExistingTld(domain)) return correctUnknownSuffix(names, suffix)
    const isRegistrable = domain === registrable
    if (!isRegistrable && isMajorProvider(label) && COM_OF_COUNTRY.test(suffix)) return withoutCountry(names, suffix)
    const [nearest, another] = nearestBySuffix(names, suffix)
    const isLikely = isRegistrable ? isTruncatedSuffix : isNestedUnderSameCountry
    if (nearest !== undefined && another === undefined && isLikely(nearest, suffix, registrable)) return nearest
    return isRegistrable ? majorProviderFor(names, suffix) : null
  }

  /**
   * Corrects a dot that is missing or off by one position: `gmailcom`, `gmailc.om`. An extra dot counts only if the
   * top-level domain does not exist, or inside a label that no host would be called by (`hotm.ail.com`).
   */
  #correctDots(domain: string): KnownName | null {
    const meant = this.#withSameLetters(domain)
    if (meant === null || meant.label.length < 3) return null
    const [dots, dotsMeant] = [domain.split(".").length, meant.name.split(".").length]
    if (dots === 1) return meant
    const { label } = meant
    const isMoved = dots <= dotsMeant && label.length >= 5 && domain.startsWith(label.slice(0, -1))
    const isLate = dots === dotsMeant && isWidelyUsed(meant) && isDistinctive(label) && domain.startsWith(label)
    const isExtra = dots === dotsMeant + 1 && domain.endsWith(`.${meant.suffix}`) && isSplitByAccident(meant, domain)
    return isMoved || isLate || isExtra || !hasExistingTld(domain) ? meant : null
  }

  /** Corrects a label with one typo, or one that looks like a provider's (`gma1l.com`), under that provider's suffix. */
  #correctLabel(label: string, suffix: string, homoglyph: KnownName | null): KnownName | null {
    const [likeliest, another] = this.#likelyTypos(label, suffix)
    if (likeliest !== undefined && !this.#isRealName(label)) return another === undefined ? likeliest.name : null
    if (homoglyph?.kind === "provider" && homoglyph.suffix === suffix) return homoglyph
    if (likeliest !== undefined) return null
    const meant = this.#twoPartCorrector.correctTwoSlips(label, suffix)
    return meant === null || this.#isRealName(label) ? null : meant
  }

  /** Corrects a label with digits, a letter or a part of the suffix beside a provider's. */
  #correctEnds(label: string, suffix: string): KnownName | null {
    const rest = withoutDigitsBefore(label)
    const meant = rest === null ? this.#withoutExtraEnd(label, suffix) : this.#majorNear(rest, suffix)
    return meant === null || this.#isRealName(label) || isCompoundName(label) ? null : meant
  }

  #withoutExtraEnd(label: string, suffix: string): KnownName | null {
    for (const index of this.#near(label)) {
      const name = this.#providers.at(index)?.names.find(each => each.suffix === suffix)
      if (name !== undefined && hasExtraEnd(label, name)) return name
    }
    return withoutSuffixLetters(this.#providerNamed, label, suffix)
  }

  /** The household name that a label is, or mistypes. */
  #majorNear(label: string, suffix: string): KnownName | null {
    const [likeliest, another] = this.#likelyTypos(label, suffix)
    const meant = this.#providerNamed(`${label}.${suffix}`) ?? (another === undefined ? likeliest?.name : undefined)
    return meant !== undefined && isMajorProvider(meant.label) ? meant : null
  }

  /**
   * Corrects a label with up to two typos under a top-level domain that does not exist, or a major provider's label with
   * one likely typo under a truncated `com`, or with the commonest ones under a suffix of a country (`gmal.ru`).
   */
  #correctBothParts(domain: string, registrable: string, label: string, suffix: string): KnownName | null {
    if (classifySuffix(domain).fault === "unknown_tld")
      return this.#isRealName(label) ? null : this.#twoPartCorrector.correct(label, suffix)
    const isTruncatedCom = TRUNCATED_COM.has(suffix)
    if (domain !== registrable || !(isTruncatedCom || isCountrySuffix(suffix))) return null
    const [likeliest, another] = this.#likelyTypos(label, "com")
    if (likeliest === undefined || another !== undefined || !isMajorProvider(likeliest.name.label)) return null
    if (this.#isRealName(label)) return null
    const { kind, index } = likeliest.typo
    return isTruncatedCom || (index > 0 && SLIPS_OF_FINGERS.has(kind)) ? likeliest.name : null
  }

  /** The names under the suffix whose label `typed` probably mistypes; several: they are equally likely. */
  #likelyTypos(typed: string, suffix: string): readonly TypoCandidate[] {
    let likeliest = NO_CANDIDATES
    const released = withoutHeldKeys(typed)
    for (const index of this.#near(released)) {
      const name = this.#providers.at(index)?.names.find(each => each.suffix === suffix)
      const typo = name === undefined ? null : findTypoOrHeldKey(typed, released, name.label)
      if (name === undefined || typo === null || !isLikelyTypo(typed, { name, typo })) continue
      likeliest = addCandidate(likeliest, { name, typo })
    }
    return likeliest
  }

  /** The indexes of the labels near a text. Several steps look at those of the same one. */
  #near(text: string): readonly number[] {
    if (this.#lastNear.text !== text) this.#lastNear = { text, indexes: this.#nearbyLabels.candidates(text) }
    return this.#lastNear.indexes
  }

  #isRealName(label: string): boolean {
    return this.#knownNames.firstRankOf(label) >= 0 || isRealName(label)
  }

  readonly #providerNamed = (text: string): KnownName | null => {
    const name = this.#knownNames.nameOf(text)
    return name?.kind === "provider" ? name : null
  }

  /** The first provider name that is the same without its dots; null: none. */
  #withSameLetters(domain: string): KnownName | null {
    let letters: string | null = null
    const rank = this.#byUndotted.find(undottedHash(domain), each => {
      letters ??= removeDots(domain)
      return removeDots(this.#knownNames.read(each).name) === letters
    })
    return rank < 0 ? null : this.#knownNames.at(rank)
  }
}

/** What was typed of another field after a suffix: `gmail.com14`. */
const DIGITS_AFTER_SUFFIX = /\d{1,4}$/

/** The name under the suffix nearest to one that does not exist: `con`, `com14`, `c`. */
function correctUnknownSuffix(names: readonly [KnownName, ...KnownName[]], suffix: string): KnownName | null {
  const typed = suffix.replace(DIGITS_AFTER_SUFFIX, "")
  if (typed === "c" || typed !== suffix) {
    const cut = names.find(name => name.suffix.startsWith(typed))
    if (cut !== undefined) return cut
  }
  const [nearest, another] = nearestBySuffix(names, typed)
  return another === undefined ? (nearest ?? majorProviderFor(names, suffix)) : null
}

/** In countries where `com` is no suffix it is a registered name, whose owner has no host `gmail`. */
const COM_OF_COUNTRY = /^com\.[a-z]{2}$/

/** The name to which a country was added, or that has another suffix there: `gmail.com.cl`, `yahoo.com.uk`. */
function withoutCountry(names: readonly KnownName[], suffix: string): KnownName | null {
  const ofCountry = `co${suffix.slice(-3)}`
  return names.find(name => name.suffix === ofCountry) ?? names.find(name => name.suffix === "com") ?? null
}

/** Slips that leave the letters of a label, or all but one, as they are. */
const SLIPS_OF_FINGERS: ReadonlySet<TypoKind> = new Set(["swapped", "omitted", "halved", "doubled"])

const TRUNCATED_COM: ReadonlySet<string> = new Set(["om", "co", "cm"])

/** A key that was held down counts as one slip: `hoootmail` is read as `hootmail`, and `yahoooo` as `yahoo`. */
const withoutHeldKeys = (typed: string): string => (hasTriple(typed) ? typed.replace(HELD_KEY, "$1$1") : typed)

/** Whether a character stands three times in a row. */
function hasTriple(text: string): boolean {
  for (let index = 2; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === text.charCodeAt(index - 1) && code === text.charCodeAt(index - 2)) return true
  }
  return false
}
const HELD_KEY = /([a-z])\1{2,}/

const findTypoOrHeldKey = (typed: string, released: string, meant: string): Typo | null =>
  released === meant && typed !== meant
    ? { kind: "doubled", index: HELD_KEY.exec(typed)?.index ?? 0 }
    : findTypo(released, meant)

const NO_CANDIDATES: readonly TypoCandidate[] = []

/** The likeliest of equally likely candidates and another one. */
function addCandidate(likeliest: readonly TypoCandidate[], another: TypoCandidate): readonly TypoCandidate[] {
  const [first] = likeliest
  if (first === undefined) return [another]
  const better = likelierCandidate(first, another)
  return better === null ? [...likeliest, another] : better === another ? [another] : likeliest
}

/**
 * Whether an existing suffix is a name that may be registered in the same country as the intended suffix: `con.br` for
 * `com.br`. The owner of that name would hardly name a host `uol`; a host `yahoo` nobody has in another country either.
 */
function isNestedUnderSameCountry({ label, suffix: meant }: KnownName, suffix: string, registrable: string): boolean {
  const isDotted = meant.includes(".")
  const isSameCountry = isDotted && meant.slice(-3) === suffix.slice(-3)
  const isOneCountry = isSameCountry || (isDotted && isMajorProvider(label))
  return suffix === registrable && isOneCountry && label.length >= 3 && isDistinctive(label)
}

/**
 * Whether an existing suffix is likelier a truncated `com`, `net` or `org` than the suffix of another company, or has the
 * key beside the right one (`bet`, `cam`).
 */
function isTruncatedSuffix(meant: KnownName, suffix: string): boolean {
  const { label } = meant
  if (meant.suffix.length !== 3 || !isWidelyUsed(meant) || !isDistinctive(label)) return false
  if (suffix.length === 3) return label.length >= 6 && findTypo(suffix, meant.suffix)?.kind === "replaced"
  return suffix.length === 2 && (label.length >= 5 || (label.length >= 3 && /^[co]m$/.test(suffix)))
}

/** Whether a dot in a label is a slip: the letters after it are no word that a company is called by, or everyone knows the label. */
function isSplitByAccident(meant: KnownName, domain: string): boolean {
  if (isMajorProvider(meant.label)) return true
  const host = domain.slice(0, -meant.suffix.length - 1)
  const rest = host.slice(host.indexOf(".") + 1)
  return meant.label.length >= 6 && isWidelyUsed(meant) && isDistinctive(meant.label) && isDistinctive(rest)
}

/** Whether the name's top-level domain exists in public DNS. */
function hasExistingTld(domain: string): boolean {
  const { fault } = classifySuffix(domain)
  return fault !== "unknown_tld" && fault !== "reserved_tld"
}

/** Whether the suffix is a top-level domain or a second-level one of a country: `net`, `com.br`, but not `blogspot.com`. */
const isTldOrCountrySuffix = (suffix: string): boolean => /^[a-z]{2,}$|^[a-z]{2,3}\.[a-z]{2}$/.test(suffix)

/**
 * The name of a major provider for any suffix: the one in the suffix's country (`yahoo.co.uk` for `yahoo.uk`), or else
 * the most popular one. Null: the label is not a major provider's, or the suffix is one of hosted sites.
 */
function majorProviderFor(names: readonly [KnownName, ...KnownName[]], suffix: string): KnownName | null {
  if (!isMajorProvider(names[0].label) || !isTldOrCountrySuffix(suffix)) return null
  const country = suffix.slice(suffix.lastIndexOf(".") + 1)
  const isInCountry = (name: KnownName) => name.suffix === country || name.suffix.endsWith(`.${country}`)
  return (country.length === 2 ? names.find(isInCountry) : undefined) ?? names[0]
}

const removeDots = (name: string): string => name.replaceAll(".", "")

/** A hash of the text without its dots, which makes no string. */
function undottedHash(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code !== DOT) hash = Math.imul(hash ^ code, 0x01000193)
  }
  return hash ^ (hash >>> 15)
}
const DOT = ".".charCodeAt(0)
