import type { KnownName } from "./label-index.ts"
import type { Typo, TypoKind } from "./typo.ts"
import { isCommonWord, isGenericLabel } from "./word-lists.ts"

/** Labels that name a mailbox provider to everybody, whatever stands behind them. */
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

/** So many names, the first of the targets, are used by tens of millions each. */
const GIANTS_MAX = 20
/**
 * So many targets, from the first, are in order of use (`providers_first` of the catalogue); the rest are used less.
 */
export const RANKED_TARGETS_MAX = 116

/** How much a provider's name is used, most first. */
const USAGE_TIERS = ["household", "giant", "large", "small"] as const
type UsageTier = (typeof USAGE_TIERS)[number]

/** So long is every label, and so long is none. */
const [always, never] = [0, 64]

/**
 * The letters that a provider's label has at least where a slip in it is likelier than another name: the less the name
 * is used, the longer it must be. People see a wrong first key (`…First`), and a name often goes on without its last
 * letter. Of 31 000 real domains of firms, schools and offices, were they on no list, these numbers would have four
 * corrected.
 */
const LETTERS_MIN = {
  // household, giant, large, small
  swapped: lettersByTier(always, 4, 4, 5),
  doubled: lettersByTier(always, 3, 3, 4),
  halved: lettersByTier(always, 5, 5, 6),
  alike: lettersByTier(always, 4, 5, 6),
  omitted: lettersByTier(always, 6, 6, 6),
  omittedFirst: lettersByTier(6, never, never, never),
  omittedLast: lettersByTier(always, 7, 7, 10),
  replaced: lettersByTier(always, 4, 5, 8),
  replacedFirst: lettersByTier(always, 7, 7, never),
  inserted: lettersByTier(always, 4, 6, 7),
  insertedFirst: lettersByTier(always, never, never, never),
  added: lettersByTier(6, 8, 8, never),
  moved: lettersByTier(6, never, never, never),
} satisfies Partial<Record<TypoKind | `${TypoKind}${"First" | "Last"}`, Readonly<Record<UsageTier, number>>>>

/**
 * The same under `com`, where nearly every short name is some firm's, by whether the slip leaves the same letters.
 */
const LETTERS_MIN_IN_COM = { same: lettersByTier(always, always, 4, 5), other: lettersByTier(always, 6, 6, 10) }

function lettersByTier(
  household: number,
  giant: number,
  large: number,
  small: number,
): Readonly<Record<UsageTier, number>> {
  return { household, giant, large, small }
}

/** Real names that are one slip away from a provider's and no common words. */
const REAL_NAMES = new Set(["cloud", "evil", "gail", "libro", "mali", "orage", "postel", "sian", "telnet", "ymail"])

/** A provider's name with the slip that makes a typed label out of its label. */
export type TypoCandidate = { readonly name: KnownName; readonly typo: Typo }

/** Whether a label names a mailbox provider to everybody: right behind it any suffix is a slip. */
export const isMajorProvider = (label: string): boolean => MAJOR_PROVIDERS.has(label)

/** Whether a provider's name is one of those that very many people use. */
export const isWidelyUsed = ({ label, rank }: KnownName): boolean =>
  MAJOR_PROVIDERS.has(label) || rank < RANKED_TARGETS_MAX

/** Whether a provider's label says more than a word of the language does. */
export const isDistinctive = (label: string): boolean =>
  MAJOR_PROVIDERS.has(label) || !(isGenericLabel(label) || isCommonWord(label))

/** Whether a label is a word or a known name, and so rather typed on purpose. */
export const isRealName = (label: string): boolean => REAL_NAMES.has(label) || isCommonWord(label)

/** Whether a slip in a provider's label is likelier than that somebody has this name. */
export function isLikelyTypo(typed: string, { name, typo }: TypoCandidate): boolean {
  const { label, suffix } = name
  const [row, use, letters] = [letterRuleOf(typo, label), usageTierOf(name), letterCount(label)]
  if (typo.kind === "alike" && isAllDigits(label)) return letters >= 3
  if (letters < LETTERS_MIN[row][use] || (letters === 3 && !isDistinctive(label))) return false
  if (suffix === "com" && letters < LETTERS_MIN_IN_COM[letterChangeOf(typo)][use]) return false
  return !(row === "added" || row.endsWith("First")) || !isCompoundName(typed)
}

/**
 * The likelier of two: the name that is used more, else the slip that leaves the same letters. Null: they are as
 * likely.
 */
export function likelierCandidate(one: TypoCandidate, other: TypoCandidate): TypoCandidate | null {
  const byUse = USAGE_TIERS.indexOf(usageTierOf(one.name)) - USAGE_TIERS.indexOf(usageTierOf(other.name))
  const difference =
    byUse === 0
      ? LETTER_CHANGES.indexOf(letterChangeOf(one.typo)) - LETTER_CHANGES.indexOf(letterChangeOf(other.typo))
      : byUse
  return difference < 0 ? one : difference > 0 ? other : null
}

/** Whether one of two names with the same label is used far more than the other. */
export const isFarMoreUsed = (one: KnownName, other: KnownName): boolean => rankTier(one) < rankTier(other)

const rankTier = ({ rank }: KnownName): number => (rank < GIANTS_MAX ? 0 : rank < RANKED_TARGETS_MAX ? 1 : 2)

function usageTierOf(name: KnownName): UsageTier {
  return MAJOR_PROVIDERS.has(name.label) ? "household" : (USAGE_TIERS[rankTier(name) + 1] ?? "small")
}

/** In a label of four letters the last key is seen as the first is. */
function letterRuleOf({ kind, index }: Typo, label: string): keyof typeof LETTERS_MIN {
  if (kind !== "omitted" && kind !== "replaced" && kind !== "inserted") return kind
  if (index === 0 || (label.length === 4 && index >= 3)) return `${kind}First`
  return kind === "omitted" && index === label.length - 1 ? "omittedLast" : kind
}

/** What a slip leaves of the letters, likelier first. */
const LETTER_CHANGES = ["same", "other"] as const

/** Whether a slip leaves the same letters, but for their order, their look, or how often one stands. */
const letterChangeOf = ({ kind }: Typo): (typeof LETTER_CHANGES)[number] =>
  kind === "swapped" || kind === "doubled" || kind === "halved" || kind === "alike" ? "same" : "other"

/** A hyphen is no letter: `h-mail` is as short as `hmail`. */
const letterCount = (label: string): number => label.replaceAll("-", "").length

const isAllDigits = (label: string): boolean => /^\d+$/.test(label)

/** A word behind one letter (`tmail`, `ucloud`) or two words (`gotmail`): a name that somebody has made. */
function isCompoundName(typed: string): boolean {
  const isWord = (text: string): boolean => isCommonWord(text) || isGenericLabel(text)
  if (isWord(typed.slice(1))) return true
  for (let at = 3; at <= typed.length - 3; at++) {
    if (isWord(typed.slice(0, at)) && isWord(typed.slice(at))) return true
  }
  return false
}
