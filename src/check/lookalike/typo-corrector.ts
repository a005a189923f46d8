import { classifySuffix } from "../address/public-suffix.ts"
import { EditDistanceIndex } from "./edit-distance-index.ts"
import { type FoldedLabelIndex, type KnownLabel, type KnownName, splitLabel } from "./label-index.ts"
import { matchHomoglyph } from "./lookalike.ts"
import { findTypo, isOneEditApart } from "./typo.ts"
import {
  isDistinctive,
  isFarMoreUsed,
  isLikelyTypo,
  isMajorProvider,
  isRealName,
  isWidelyUsed,
  likelierCandidate,
  type TypoCandidate,
} from "./typo-likelihood.ts"

/** Finds the provider that was meant by a mistyped domain. */
export class TypoCorrector {
  readonly #labelIndex: FoldedLabelIndex
  readonly #providers: readonly ProviderLabel[]
  readonly #nearbyLabels: EditDistanceIndex
  readonly #providersByLabel: ReadonlyMap<string, ProviderLabel>
  readonly #knownLabels: ReadonlySet<string>
  /** Provider names without their dots. */
  readonly #namesByUndotted: ReadonlyMap<string, KnownName>

  constructor(labels: readonly KnownLabel[], index: FoldedLabelIndex) {
    this.#labelIndex = index
    this.#knownLabels = new Set(labels.map(({ label }) => label))
    this.#providers = providerLabels(labels)
    this.#nearbyLabels = new EditDistanceIndex(this.#providers.map(({ label }) => label))
    this.#providersByLabel = new Map(this.#providers.map(provider => [provider.label, provider]))
    const undotted = new Map<string, KnownName>()
    for (const name of this.#providers.flatMap(({ names }) => names)) {
      const text = removeDots(name.name)
      if (!undotted.has(text)) undotted.set(text, name)
    }
    this.#namesByUndotted = undotted
  }

  /**
   * The provider name that `domain` is one likely slip away from; null: none, or two that are as likely. The domain is
   * no target, nor under one.
   */
  correct(domain: string, registrable: string): string | null {
    const [label, suffix] = splitLabel(domain)
    const found =
      this.#correctSuffix(domain, registrable, label, suffix) ??
      this.#correctDots(domain) ??
      (domain === registrable ? this.#correctLabel(label, suffix) : null)
    return found?.name ?? null
  }

  /** A provider's label with a wrong suffix, or none. */
  #correctSuffix(domain: string, registrable: string, label: string, suffix: string): KnownName | null {
    const names = this.#providersByLabel.get(label)?.names
    if (names === undefined) return null
    if (suffix === "") return label.length >= 3 && isDistinctive(label) ? names[0] : null
    const [near, another] = nearestBySuffix(names, suffix)
    if (!hasExistingTld(domain)) return another === undefined ? (near ?? majorProviderFor(names, suffix)) : null
    const isWhole = domain === registrable
    if (
      near !== undefined &&
      another === undefined &&
      (isWhole ? isTruncatedSuffix : isNestedUnderSameCountry)(near, suffix, registrable)
    )
      return near
    return isWhole ? majorProviderFor(names, suffix) : null
  }

  /**
   * A dot that is missing or stands one place off: `gmailcom`, `gmailc.om`. A dot too many counts where nothing can
   * exist.
   */
  #correctDots(domain: string): KnownName | null {
    const meant = this.#namesByUndotted.get(removeDots(domain))
    if (meant === undefined || meant.label.length < 3) return null
    const [dots, dotsMeant] = [domain.split(".").length, meant.name.split(".").length]
    if (dots === 1) return meant
    const isMoved = dots <= dotsMeant && meant.label.length >= 5 && domain.startsWith(meant.label.slice(0, -1))
    return isMoved || !hasExistingTld(domain) ? meant : null
  }

  /** The suffix of a provider behind its label with one slip in it, or behind what looks like its label. */
  #correctLabel(label: string, suffix: string): KnownName | null {
    const [likeliest, another] = this.#likelyTypos(label, suffix)
    if (likeliest === undefined || this.#isRealName(label)) return this.#correctHomoglyph(label, suffix)
    return another === undefined ? likeliest.name : null
  }

  /** The providers' names under the suffix of whose labels `typed` is likely a slip; several: they are as likely. */
  #likelyTypos(typed: string, suffix: string): readonly TypoCandidate[] {
    let likeliest = NO_CANDIDATES
    for (const place of this.#nearbyLabels.candidates(typed)) {
      const name = this.#providers[place]?.names.find(each => each.suffix === suffix)
      const typo = name === undefined ? null : findTypo(typed, name.label)
      if (name === undefined || typo === null || !isLikelyTypo(typed, { name, typo })) continue
      likeliest = addCandidate(likeliest, { name, typo })
    }
    return likeliest
  }

  /** A provider's name in disguise under its own suffix: `gma1l.com`. */
  #correctHomoglyph(label: string, suffix: string): KnownName | null {
    const meant = matchHomoglyph(this.#labelIndex, label, suffix)
    return meant !== null && meant.kind === "provider" && meant.suffix === suffix ? meant : null
  }

  #isRealName(label: string): boolean {
    return this.#knownLabels.has(label) || isRealName(label)
  }
}

/** A label of providers' names, most popular first. */
type ProviderLabel = { readonly label: string; readonly names: readonly [KnownName, ...KnownName[]] }

function providerLabels(labels: readonly KnownLabel[]): readonly ProviderLabel[] {
  return labels.flatMap(({ label, names }) => {
    const [first, ...others] = names.filter(({ kind }) => kind === "provider")
    return first === undefined ? [] : [{ label, names: [first, ...others] as const }]
  })
}

const NO_CANDIDATES: readonly TypoCandidate[] = []

/** The likeliest of those that are alike likely and one more. */
function addCandidate(alike: readonly TypoCandidate[], more: TypoCandidate): readonly TypoCandidate[] {
  const [first] = alike
  if (first === undefined) return [more]
  const better = likelierCandidate(first, more)
  return better === null ? [...alike, more] : better === more ? [more] : alike
}

/**
 * The names whose suffix is one edit away from the typed one: if one or more are a slip of the fingers away, only
 * those (`dw` is `de`, not `dk`); of these the one that is used far more. Several: they are as likely.
 */
function nearestBySuffix(names: readonly KnownName[], suffix: string): readonly KnownName[] {
  const edits = names.filter(name => isOneEditApart(suffix, name.suffix))
  const slips = edits.filter(name => findTypo(suffix, name.suffix) !== null)
  const [first, second, ...others] = slips.length > 0 ? slips : edits
  if (first === undefined || second === undefined) return first === undefined ? [] : [first]
  return isFarMoreUsed(first, second) ? [first] : [first, second, ...others]
}

/**
 * Whether an existing suffix is a name that somebody may have registered in the country of the suffix that was meant:
 * `con.br` for `com.br`. Whoever has that name would hardly call a host `uol`.
 */
function isNestedUnderSameCountry({ label, suffix: meant }: KnownName, suffix: string, registrable: string): boolean {
  const isSameCountry = meant.includes(".") && meant.slice(-3) === suffix.slice(-3)
  return suffix === registrable && isSameCountry && label.length >= 3 && isDistinctive(label)
}

/** Whether an existing suffix is likelier `com`, `net` or `org` cut short than the home of another firm. */
function isTruncatedSuffix(meant: KnownName, suffix: string): boolean {
  const { label } = meant
  if (meant.suffix.length !== 3 || suffix.length !== 2 || !isWidelyUsed(meant) || !isDistinctive(label)) return false
  return label.length >= 5 || (label.length >= 3 && /^[co]m$/.test(suffix))
}

/** Whether the name's top-level domain exists in public DNS. */
function hasExistingTld(domain: string): boolean {
  const { fault } = classifySuffix(domain)
  return fault !== "unknown_tld" && fault !== "reserved_tld"
}

/** A top-level domain, or a second-level one of a country: `net`, `com.br`. `blogspot.com` is a host of sites. */
const isTldOrCountrySuffix = (suffix: string): boolean => /^[a-z]{2,}$|^[a-z]{2,3}\.[a-z]{2}$/.test(suffix)

/**
 * A household name behind any suffix: the one in the suffix's country, `yahoo.co.uk` for `yahoo.uk`, else the most
 * popular; null: the label is no household name, or sites stand under that suffix.
 */
function majorProviderFor(names: readonly [KnownName, ...KnownName[]], suffix: string): KnownName | null {
  if (!isMajorProvider(names[0].label) || !isTldOrCountrySuffix(suffix)) return null
  const country = suffix.slice(suffix.lastIndexOf(".") + 1)
  const isThere = (name: KnownName) => name.suffix === country || name.suffix.endsWith(`.${country}`)
  return (country.length === 2 ? names.find(isThere) : undefined) ?? names[0]
}

const removeDots = (name: string): string => name.replaceAll(".", "")
