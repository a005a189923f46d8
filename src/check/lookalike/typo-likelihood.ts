import type { KnownName } from "./known-names.ts"
import type { Typo, TypoKind } from "./typo.ts"
import { isCommonWord, isGenericLabel } from "./word-lists.ts"

/** Labels that everyone knows as a mailbox provider, under any suffix. */
const MAJOR_PROVIDERS = new Set([
  "gmail",
  "googlemail",
  "hotmail",
  "icloud",
  "outlook",
  "protonmail",
  "yahoo",
  "yandex",
])

/** The first so many targets have tens of millions of users each. */
const GIANTS_MAX = 20
/** The first so many targets are ordered by use (`providers_first` of the catalogue); the rest are used less. */
export const RANKED_TARGETS_MAX = 116

/** How much a provider's name is used, most used first. */
const USAGE_TIERS = ["major", "giant", "large", "small"] as const
type UsageTier = (typeof USAGE_TIERS)[number]

/** Lengths that every label reaches, and that none does. */
const [always, never] = [0, 64]

/**
 * The number of letters from which on a provider's label with this typo is likelier a typo than another name: the less a
 * name is used, the longer it must be. People notice a wrong first letter (`…First`), and many real names are another one
 * without its last letter. Of 42 000 real domains of companies, schools and offices, three that are no provider's would be
 * corrected with these numbers if they were on no list.
 */
const LETTERS_MIN = {
  // major, giant, large, small
  swapped: lettersByTier(always, 4, 4, 5),
  doubled: lettersByTier(always, 3, 3, 4),
  halved: lettersByTier(always, 5, 5, 6),
  alike: lettersByTier(always, 4, 5, 6),
  omitted: lettersByTier(always, 6, 6, 6),
  omittedFirst: lettersByTier(6, 7, 7, never),
  omittedLast: lettersByTier(always, 7, 7, 9),
  replaced: lettersByTier(always, 4, 5, 7),
  replacedFirst: lettersByTier(always, 6, 6, never),
  inserted: lettersByTier(always, 4, 5, 6),
  insertedFirst: lettersByTier(always, 7, 7, never),
  added: lettersByTier(always, 7, 7, never),
  changed: lettersByTier(6, 7, 8, never),
  moved: lettersByTier(always, 7, 7, never),
} satisfies Partial<Record<TypoKind | `${TypoKind}${"First" | "Last"}`, Readonly<Record<UsageTier, number>>>>

/**
 * The same under `com`, where nearly every short name belongs to a company. `same`: the typo keeps the same letters.
 */
const LETTERS_MIN_IN_COM = { same: lettersByTier(always, always, 4, 5), other: lettersByTier(always, 6, 6, 10) }

function lettersByTier(
  major: number,
  giant: number,
  large: number,
  small: number,
): Readonly<Record<UsageTier, number>> {
  return { major, giant, large, small }
}

/** Real names that are one typo away from a provider's name and are not common words. */
const REAL_NAMES = new Set([
  "cloud",
  "evil",
  "gail",
  "hicloud",
  "libro",
  "mali",
  "micloud",
  "orage",
  "postel",
  "sian",
  "telnet",
  "yazoo",
  "ymail",
])

/** A provider's name, and the typo that turns its label into the typed one. */
export type TypoCandidate = { readonly name: KnownName; readonly typo: Typo }

/** Whether everyone knows the label as a mailbox provider, so that any other suffix after it is a typo. */
export const isMajorProvider = (label: string): boolean => MAJOR_PROVIDERS.has(label)

/** Whether very many people use the provider. */
export const isWidelyUsed = ({ label, rank }: KnownName): boolean =>
  MAJOR_PROVIDERS.has(label) || rank < RANKED_TARGETS_MAX

/** Whether a provider's label is more than a common or generic word. */
export const isDistinctive = (label: string): boolean =>
  MAJOR_PROVIDERS.has(label) || !(isGenericLabel(label) || isCommonWord(label))

/** Whether a label is a word or a real name, and so was probably typed on purpose. */
export const isRealName = (label: string): boolean => REAL_NAMES.has(label) || isCommonWord(label)

/** Whether a typo in a provider's label is likelier than a real name that is spelled this way. */
export function isLikelyTypo(typed: string, { name, typo }: TypoCandidate): boolean {
  const { label, suffix } = name
  const [rule, tier] = [letterRuleOf(typo, label), usageTierOf(name)]
  const letters = letterCount(tier === "small" ? withoutGenericEnd(label) : label)
  if (typo.kind === "alike" && isAllDigits(label)) return letters >= 3
  if (letters < LETTERS_MIN[rule][tier] || (letters === 3 && !isDistinctive(label))) return false
  if (suffix === "com" && letters < LETTERS_MIN_IN_COM[letterChangeOf(typo)][tier]) return false
  if (!(rule === "added" || rule === "changed" || rule.endsWith("First"))) return true
  return isMailSpeltOut(typed, name) || !isCompoundName(typed)
}

/** Whether a household name that ends with `mail` was typed with `email`: `gemail`, `hotemail`. */
const isMailSpeltOut = (typed: string, { label }: KnownName): boolean =>
  MAJOR_PROVIDERS.has(label) && label.endsWith("mail") && typed === `${label.slice(0, -"mail".length)}email`

/**
 * The number of letters from which on a provider's label may have two slips, where no real name can be (the top-level
 * domain does not exist).
 */
const LETTERS_MIN_TWO_SLIPS = lettersByTier(5, 6, 7, never)

/** Whether a provider's label is long and used enough for two slips in it. */
export const mayHaveTwoSlips = (name: KnownName): boolean =>
  letterCount(name.label) >= LETTERS_MIN_TWO_SLIPS[usageTierOf(name)]

/** The same where a real name can be: the suffix is the provider's own. */
const LETTERS_MIN_UNMISTAKABLE = lettersByTier(7, 8, 8, never)

/** Whether a provider's label is long and used enough for two slips in it under the provider's own suffix. */
export const isUnmistakable = (name: KnownName): boolean =>
  letterCount(name.label) >= LETTERS_MIN_UNMISTAKABLE[usageTierOf(name)] && isDistinctive(name.label)

/** How much a provider is used: the index of its tier, 0 for the most used. */
export const usageTierIndex = (name: KnownName): number => USAGE_TIERS.indexOf(usageTierOf(name))

/** The likelier of two candidates: the name used more, or else the typo that keeps the same letters. Null: equally likely. */
export function likelierCandidate(one: TypoCandidate, other: TypoCandidate): TypoCandidate | null {
  const tierDifference = usageTierIndex(one.name) - usageTierIndex(other.name)
  const difference =
    tierDifference === 0
      ? LETTER_CHANGES.indexOf(letterChangeOf(one.typo)) - LETTER_CHANGES.indexOf(letterChangeOf(other.typo))
      : tierDifference
  return difference < 0 ? one : difference > 0 ? other : null
}

/** Whether the first of two names with the same label is used far more than the second. */
export const isFarMoreUsed = (one: KnownName, other: KnownName): boolean => rankTier(one) < rankTier(other)

const rankTier = ({ rank }: KnownName): number => (rank < GIANTS_MAX ? 0 : rank < RANKED_TARGETS_MAX ? 1 : 2)

function usageTierOf(name: KnownName): UsageTier {
  return MAJOR_PROVIDERS.has(name.label) ? "major" : (USAGE_TIERS[rankTier(name) + 1] ?? "small")
}

/** In a label of four letters people notice a wrong last letter as well as a wrong first one. */
function letterRuleOf({ kind, index }: Typo, label: string): keyof typeof LETTERS_MIN {
  if (kind !== "omitted" && kind !== "replaced" && kind !== "inserted") return kind
  if (index === 0 || (label.length === 4 && index >= 3)) return `${kind}First`
  return kind === "omitted" && index === label.length - 1 ? "omittedLast" : kind
}

/** Whether a typo keeps the same letters, apart from their order, look or repetition. The likelier one first. */
const LETTER_CHANGES = ["same", "other"] as const

const letterChangeOf = ({ kind }: Typo): (typeof LETTER_CHANGES)[number] =>
  kind === "swapped" || kind === "doubled" || kind === "halved" || kind === "alike" ? "same" : "other"

/** Hyphens do not count: `h-mail` is as short as `hmail`. */
const letterCount = (label: string): number => label.replaceAll("-", "").length

/** A word that many names end with tells nothing of whose name it is: of `owl-online` the `owl` counts. */
const withoutGenericEnd = (label: string): string => {
  const hyphen = label.lastIndexOf("-")
  return hyphen > 0 && isGenericLabel(label.slice(hyphen + 1)) ? label.slice(0, hyphen) : label
}

const isAllDigits = (label: string): boolean => /^\d+$/.test(label)

/** Whether the label is a word after one letter (`tmail`, `ucloud`) or two words (`gotmail`), and so an invented name. */
export function isCompoundName(typed: string): boolean {
  const isWord = (text: string): boolean => isCommonWord(text) || isGenericLabel(text)
  if (isWord(typed.slice(1))) return true
  for (let middle = 3; middle <= typed.length - 3; middle++) {
    if (isWord(typed.slice(0, middle)) && isWord(typed.slice(middle))) return true
  }
  return false
}
