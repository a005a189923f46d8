import { type LabelIndex, type Listed, type ListedLabel, split } from "./label-index.ts"
import { disguised } from "./lookalike.ts"
import {
  isHousehold,
  isLarge,
  isLikely,
  isRealName,
  isTelling,
  isUsedMore,
  likelier,
  type Meant,
} from "./misspelling.ts"
import { NearLabels } from "./near-labels.ts"
import { standingOf } from "./public-suffix.ts"
import { isOneEdit, slipBetween } from "./slip.ts"

/** Finds the provider that was meant by a mistyped domain. */
export class Suggestions {
  readonly #index: LabelIndex
  readonly #providers: readonly Provider[]
  readonly #near: NearLabels
  readonly #labels: ReadonlyMap<string, Provider>
  readonly #listedLabels: ReadonlySet<string>
  /** Provider names without their dots. */
  readonly #undotted: ReadonlyMap<string, Listed>

  constructor(labels: readonly ListedLabel[], index: LabelIndex) {
    this.#index = index
    this.#listedLabels = new Set(labels.map(({ label }) => label))
    this.#providers = providersOf(labels)
    this.#near = new NearLabels(this.#providers.map(({ label }) => label))
    this.#labels = new Map(this.#providers.map(provider => [provider.label, provider]))
    const undotted = new Map<string, Listed>()
    for (const name of this.#providers.flatMap(({ names }) => names)) {
      const text = undot(name.name)
      if (!undotted.has(text)) undotted.set(text, name)
    }
    this.#undotted = undotted
  }

  /**
   * The provider name that `domain` is one likely slip away from; null: none, or two that are as likely. The domain is
   * no target, nor under one.
   */
  find(domain: string, registrable: string): string | null {
    const [label, suffix] = split(domain)
    const found =
      this.#bySuffix(domain, registrable, label, suffix) ??
      this.#byDots(domain) ??
      (domain === registrable ? this.#byLabel(label, suffix) : null)
    return found?.name ?? null
  }

  /** A provider's label with a wrong suffix, or none. */
  #bySuffix(domain: string, registrable: string, label: string, suffix: string): Listed | null {
    const names = this.#labels.get(label)?.names
    if (names === undefined) return null
    if (suffix === "") return label.length >= 3 && isTelling(label) ? names[0] : null
    const [near, another] = nearest(names, suffix)
    if (!canExist(domain)) return another === undefined ? (near ?? anywhere(names, suffix)) : null
    const isWhole = domain === registrable
    if (near !== undefined && another === undefined && (isWhole ? isCut : isNested)(near, suffix, registrable))
      return near
    return isWhole ? anywhere(names, suffix) : null
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

  /** The suffix of a provider behind its label with one slip in it, or behind what looks like its label. */
  #byLabel(label: string, suffix: string): Listed | null {
    const [likeliest, another] = this.#misspelt(label, suffix)
    if (likeliest === undefined || this.#isRealName(label)) return this.#byLooks(label, suffix)
    return another === undefined ? likeliest.name : null
  }

  /** The providers' names under the suffix of whose labels `typed` is likely a slip; several: they are as likely. */
  #misspelt(typed: string, suffix: string): readonly Meant[] {
    let likeliest = NONE
    for (const place of this.#near.find(typed)) {
      const name = this.#providers[place]?.names.find(each => each.suffix === suffix)
      const slip = name === undefined ? null : slipBetween(typed, name.label)
      if (name === undefined || slip === null || !isLikely(typed, { name, slip })) continue
      likeliest = withMore(likeliest, { name, slip })
    }
    return likeliest
  }

  /** A provider's name in disguise under its own suffix: `gma1l.com`. */
  #byLooks(label: string, suffix: string): Listed | null {
    const meant = disguised(this.#index, label, suffix)
    return meant !== null && meant.kind === "provider" && meant.suffix === suffix ? meant : null
  }

  #isRealName(label: string): boolean {
    return this.#listedLabels.has(label) || isRealName(label)
  }
}

/** A label of providers' names, most popular first. */
type Provider = { readonly label: string; readonly names: readonly [Listed, ...Listed[]] }

function providersOf(labels: readonly ListedLabel[]): readonly Provider[] {
  return labels.flatMap(({ label, names }) => {
    const [first, ...others] = names.filter(({ kind }) => kind === "provider")
    return first === undefined ? [] : [{ label, names: [first, ...others] as const }]
  })
}

const NONE: readonly Meant[] = []

/** The likeliest of those that are alike likely and one more. */
function withMore(alike: readonly Meant[], more: Meant): readonly Meant[] {
  const [first] = alike
  if (first === undefined) return [more]
  const better = likelier(first, more)
  return better === null ? [...alike, more] : better === more ? [more] : alike
}

/**
 * The names whose suffix is one edit away from the typed one: if one or more are a slip of the fingers away, only
 * those (`dw` is `de`, not `dk`); of these the one that is used far more. Several: they are as likely.
 */
function nearest(names: readonly Listed[], suffix: string): readonly Listed[] {
  const edits = names.filter(name => isOneEdit(suffix, name.suffix))
  const slips = edits.filter(name => slipBetween(suffix, name.suffix) !== null)
  const [first, second, ...others] = slips.length > 0 ? slips : edits
  if (first === undefined || second === undefined) return first === undefined ? [] : [first]
  return isUsedMore(first, second) ? [first] : [first, second, ...others]
}

/**
 * Whether an existing suffix is a name that somebody may have registered in the country of the suffix that was meant:
 * `con.br` for `com.br`. Whoever has that name would hardly call a host `uol`.
 */
function isNested({ label, suffix: meant }: Listed, suffix: string, registrable: string): boolean {
  const isSameCountry = meant.includes(".") && meant.slice(-3) === suffix.slice(-3)
  return suffix === registrable && isSameCountry && label.length >= 3 && isTelling(label)
}

/** Whether an existing suffix is likelier `com`, `net` or `org` cut short than the home of another firm. */
function isCut(meant: Listed, suffix: string): boolean {
  const { label } = meant
  if (meant.suffix.length !== 3 || suffix.length !== 2 || !isLarge(meant) || !isTelling(label)) return false
  return label.length >= 5 || (label.length >= 3 && /^[co]m$/.test(suffix))
}

/** Whether the name's top-level domain exists in public DNS. */
function canExist(domain: string): boolean {
  const { fault } = standingOf(domain)
  return fault !== "unknown_tld" && fault !== "reserved_tld"
}

/** A top-level domain, or a second-level one of a country: `net`, `com.br`. `blogspot.com` is a host of sites. */
const isOfCountry = (suffix: string): boolean => /^[a-z]{2,}$|^[a-z]{2,3}\.[a-z]{2}$/.test(suffix)

/**
 * A household name behind any suffix: the one in the suffix's country, `yahoo.co.uk` for `yahoo.uk`, else the most
 * popular; null: the label is no household name, or sites stand under that suffix.
 */
function anywhere(names: readonly [Listed, ...Listed[]], suffix: string): Listed | null {
  if (!isHousehold(names[0].label) || !isOfCountry(suffix)) return null
  const country = suffix.slice(suffix.lastIndexOf(".") + 1)
  const isThere = (name: Listed) => name.suffix === country || name.suffix.endsWith(`.${country}`)
  return (country.length === 2 ? names.find(isThere) : undefined) ?? names[0]
}

const undot = (name: string): string => name.replaceAll(".", "")
