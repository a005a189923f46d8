import { isPlain } from "./affixes.ts"
import { isCommonWord } from "./common-word.ts"
import type { Listed } from "./label-index.ts"
import type { Slip, SlipKind } from "./slip.ts"

/** Labels that name a mailbox provider to everybody, whatever stands behind them. */
const HOUSEHOLD = new Set(["gmail", "googlemail", "hotmail", "icloud", "outlook", "protonmail", "yahoo", "yandex"])

/** So many names, the first of the targets, are used by tens of millions each. */
const giantsMax = 20
/**
 * So many targets, from the first, are in order of use (`providers_first` of the catalogue); the rest are used less.
 */
export const largeMax = 116

/** How much a provider's name is used, most first. */
const USES = ["household", "giant", "large", "small"] as const
type Use = (typeof USES)[number]

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
  swapped: atLeast(always, 4, 4, 5),
  doubled: atLeast(always, 3, 3, 4),
  halved: atLeast(always, 5, 5, 6),
  alike: atLeast(always, 4, 5, 6),
  omitted: atLeast(always, 6, 6, 6),
  omittedFirst: atLeast(6, never, never, never),
  omittedLast: atLeast(always, 7, 7, 10),
  replaced: atLeast(always, 4, 5, 8),
  replacedFirst: atLeast(always, 7, 7, never),
  inserted: atLeast(always, 4, 6, 7),
  insertedFirst: atLeast(always, never, never, never),
  added: atLeast(6, 8, 8, never),
  moved: atLeast(6, never, never, never),
} satisfies Partial<Record<SlipKind | `${SlipKind}${"First" | "Last"}`, Readonly<Record<Use, number>>>>

/**
 * The same under `com`, where nearly every short name is some firm's, by whether the slip leaves the same letters.
 */
const LETTERS_MIN_IN_COM = { same: atLeast(always, always, 4, 5), other: atLeast(always, 6, 6, 10) }

function atLeast(household: number, giant: number, large: number, small: number): Readonly<Record<Use, number>> {
  return { household, giant, large, small }
}

/** Real names that are one slip away from a provider's and no common words. */
const REAL = new Set(["cloud", "evil", "gail", "libro", "mali", "orage", "postel", "sian", "telnet", "ymail"])

/** A provider's name with the slip that makes a typed label out of its label. */
export type Meant = { readonly name: Listed; readonly slip: Slip }

/** Whether a label names a mailbox provider to everybody: right behind it any suffix is a slip. */
export const isHousehold = (label: string): boolean => HOUSEHOLD.has(label)

/** Whether a provider's name is one of those that very many people use. */
export const isLarge = ({ label, rank }: Listed): boolean => HOUSEHOLD.has(label) || rank < largeMax

/** Whether a provider's label says more than a word of the language does. */
export const isTelling = (label: string): boolean => HOUSEHOLD.has(label) || !(isPlain(label) || isCommonWord(label))

/** Whether a label is a word or a known name, and so rather typed on purpose. */
export const isRealName = (label: string): boolean => REAL.has(label) || isCommonWord(label)

/** Whether a slip in a provider's label is likelier than that somebody has this name. */
export function isLikely(typed: string, { name, slip }: Meant): boolean {
  const { label, suffix } = name
  const [row, use, letters] = [rowOf(slip, label), useOf(name), lettersIn(label)]
  if (slip.kind === "alike" && isNumber(label)) return letters >= 3
  if (letters < LETTERS_MIN[row][use] || (letters === 3 && !isTelling(label))) return false
  if (suffix === "com" && letters < LETTERS_MIN_IN_COM[lettersOf(slip)][use]) return false
  return !(row === "added" || row.endsWith("First")) || !isOwnName(typed)
}

/**
 * The likelier of two: the name that is used more, else the slip that leaves the same letters. Null: they are as
 * likely.
 */
export function likelier(one: Meant, other: Meant): Meant | null {
  const byUse = USES.indexOf(useOf(one.name)) - USES.indexOf(useOf(other.name))
  const difference = byUse === 0 ? LETTERS.indexOf(lettersOf(one.slip)) - LETTERS.indexOf(lettersOf(other.slip)) : byUse
  return difference < 0 ? one : difference > 0 ? other : null
}

/** Whether one of two names with the same label is used far more than the other. */
export const isUsedMore = (one: Listed, other: Listed): boolean => placeOf(one) < placeOf(other)

const placeOf = ({ rank }: Listed): number => (rank < giantsMax ? 0 : rank < largeMax ? 1 : 2)

function useOf(name: Listed): Use {
  return HOUSEHOLD.has(name.label) ? "household" : (USES[placeOf(name) + 1] ?? "small")
}

/** In a label of four letters the last key is seen as the first is. */
function rowOf({ kind, at }: Slip, label: string): keyof typeof LETTERS_MIN {
  if (kind !== "omitted" && kind !== "replaced" && kind !== "inserted") return kind
  if (at === 0 || (label.length === 4 && at >= 3)) return `${kind}First`
  return kind === "omitted" && at === label.length - 1 ? "omittedLast" : kind
}

/** What a slip leaves of the letters, likelier first. */
const LETTERS = ["same", "other"] as const

/** Whether a slip leaves the same letters, but for their order, their look, or how often one stands. */
const lettersOf = ({ kind }: Slip): (typeof LETTERS)[number] =>
  kind === "swapped" || kind === "doubled" || kind === "halved" || kind === "alike" ? "same" : "other"

/** A hyphen is no letter: `h-mail` is as short as `hmail`. */
const lettersIn = (label: string): number => label.replaceAll("-", "").length

const isNumber = (label: string): boolean => /^\d+$/.test(label)

/** A word behind one letter (`tmail`, `ucloud`) or two words (`gotmail`): a name that somebody has made. */
function isOwnName(typed: string): boolean {
  const isWord = (text: string): boolean => isCommonWord(text) || isPlain(text)
  if (isWord(typed.slice(1))) return true
  for (let at = 3; at <= typed.length - 3; at++) {
    if (isWord(typed.slice(0, at)) && isWord(typed.slice(at))) return true
  }
  return false
}
