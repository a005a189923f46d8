import { looksLike } from "./confusables.ts"

/** The difference between the intended label and the typed one. */
export type Typo = {
  readonly kind: TypoKind
  /** The index of the first character that differs. */
  readonly index: number
}

/**
 * `swapped`: two adjacent letters transposed. `moved`: a letter moved past two others. `doubled`: a letter typed twice.
 * `halved`: one of two equal letters missing. `alike`: letters or digits that look the same. `omitted`: another letter
 * missing. `replaced`: a neighbouring key, a similar vowel, or the previous or next letter instead of the right one.
 * `inserted`: an extra neighbouring key, hyphen, or letter from two positions away. `added`: any other extra letter
 * inside the label. `changed`: any other letter instead of a letter inside the label.
 */
export type TypoKind =
  | "swapped"
  | "moved"
  | "doubled"
  | "halved"
  | "alike"
  | "omitted"
  | "replaced"
  | "inserted"
  | "added"
  | "changed"

/** QWERTY, QWERTZ and AZERTY: rows of keys from the top, each shifted half a key to the right of the one above. */
const KEYBOARD_LAYOUTS = [
  ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"],
  ["1234567890", "qwertzuiop", "asdfghjkl", "yxcvbnm"],
  ["1234567890", "azertyuiop", "qsdfghjklm", "wxcvbn"],
]

/** A number for a pair of letters; NaN if one is missing. */
const pairOf = (one: string, other: string): number => one.charCodeAt(0) * 0x1_0000 + other.charCodeAt(0)

/** Pairs of vowels that sound alike in some language, and the letters for the sound that `yahoo` begins with. */
const SIMILAR_VOWELS = inBothOrders(["ae", "ei", "ey", "iy", "jy", "ao", "ou"])

/** The pairs of keys that are adjacent in one of the layouts. */
const NEIGHBOUR_KEYS = inBothOrders(
  KEYBOARD_LAYOUTS.flatMap(rows => rows.flatMap((keys, row) => adjacentKeyPairs(keys, rows[row + 1] ?? ""))),
)

/**
 * The single typo that turns `meant` into `typed`. Null: they are equal, or differ by more than one typo; only for
 * look-alike letters several are accepted. An `s` more or less at the end is a plural and not a typo, and any other letter added
 * before or after a name makes another name.
 */
export function findTypo(typed: string, meant: string): Typo | null {
  const index = commonPrefixLength(typed, meant)
  if (index === typed.length && index === meant.length) return null
  return findKeyingTypo(typed, meant, index) ?? (looksLike(typed, meant) ? { kind: "alike", index } : null)
}

function findKeyingTypo(typed: string, meant: string, index: number): Typo | null {
  if (typed.length === meant.length) return sameLengthTypo(typed, meant, index)
  if (typed.length + 1 === meant.length)
    return typed.slice(index) === meant.slice(index + 1) ? omissionTypo(meant, index) : null
  if (typed.length !== meant.length + 1) return null
  return typed.slice(index + 1) === meant.slice(index) ? insertionTypo(typed, index) : null
}

/**
 * A missing digit is not a typo: names with numbers come in series (`10mail`, `150mail`). Without the `s` at its end a
 * name is the singular (`roger`).
 */
function omissionTypo(meant: string, index: number): Typo | null {
  if (isDigit(meant.charAt(index)) || (meant.charAt(index) === "s" && index === meant.length - 1)) return null
  return { kind: meant.charAt(index) === meant.charAt(index - 1) ? "halved" : "omitted", index }
}

function insertionTypo(typed: string, index: number): Typo | null {
  const letter = typed.charAt(index)
  const adjacent = [typed.charAt(index - 1), typed.charAt(index + 1)]
  if (adjacent.includes(letter)) return { kind: "doubled", index }
  const isLast = index === typed.length - 1
  if (isLast && (letter === "s" || isDigit(letter))) return null
  if (index === 0 && isDigit(letter)) return null
  if (letter === "-" || adjacent.some(other => areNeighbourKeys(letter, other))) return { kind: "inserted", index }
  if (index === 0 || isLast || isDigit(letter)) return null
  return {
    kind: letter === typed.charAt(index - 2) || letter === typed.charAt(index + 2) ? "inserted" : "added",
    index,
  }
}

function sameLengthTypo(typed: string, meant: string, index: number): Typo | null {
  const [letter, intended] = [typed.charAt(index), meant.charAt(index)]
  if (typed.slice(index + 1) === meant.slice(index + 1)) return replacementTypo(typed, meant, index)
  if (letter === meant.charAt(index + 1) && intended === typed.charAt(index + 1)) {
    return typed.slice(index + 2) === meant.slice(index + 2) ? { kind: "swapped", index } : null
  }
  return isLetterMoved(typed.slice(index), meant.slice(index)) || isLetterMoved(meant.slice(index), typed.slice(index))
    ? { kind: "moved", index }
    : null
}

function replacementTypo(typed: string, meant: string, index: number): Typo | null {
  const [letter, intended] = [typed.charAt(index), meant.charAt(index)]
  if (looksLike(letter, intended)) return { kind: "alike", index }
  const isRepeat = letter === typed.charAt(index - 1) || letter === typed.charAt(index + 1)
  if (isRepeat || areSimilarVowels(letter, intended) || areNeighbourKeys(letter, intended))
    return { kind: "replaced", index }
  const isInner = index > 0 && index < meant.length - 1
  return isInner && !isDigit(letter) && !isDigit(intended) ? { kind: "changed", index } : null
}

/** Whether the first letter of `meant` is the third of `typed` and the rest is in order: `loud`, `ould`. */
const isLetterMoved = (typed: string, meant: string): boolean =>
  typed.slice(0, 2) === meant.slice(1, 3) && typed.charAt(2) === meant.charAt(0) && typed.slice(3) === meant.slice(3)

/**
 * Whether the Damerau-Levenshtein distance of two texts is one: one deletion, insertion, substitution or transposition,
 * whatever the keys. For suffixes and brands, which are few.
 */
export function isOneEditApart(typed: string, meant: string): boolean {
  const index = commonPrefixLength(typed, meant)
  const [rest, goal] = [typed.slice(index), meant.slice(index)]
  if (rest === goal) return false
  if (rest.slice(1) === goal || rest === goal.slice(1) || rest.slice(1) === goal.slice(1)) return true
  return rest.slice(2) === goal.slice(2) && rest.charAt(0) === goal.charAt(1) && rest.charAt(1) === goal.charAt(0)
}

function commonPrefixLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && length < other.length && one.charCodeAt(length) === other.charCodeAt(length)) length++
  return length
}

const isDigit = (letter: string): boolean => letter >= "0" && letter <= "9"

/** Whether two different letters are vowels that sound alike in some language. */
export const areSimilarVowels = (one: string, other: string): boolean => SIMILAR_VOWELS.has(pairOf(one, other))

/** Whether the keys of both letters are adjacent in some layout. */
export const areNeighbourKeys = (one: string, other: string): boolean => NEIGHBOUR_KEYS.has(pairOf(one, other))

/** The numbers of pairs of letters and of the same with the letters swapped. */
function inBothOrders(pairs: readonly string[]): ReadonlySet<number> {
  return new Set(pairs.flatMap(([one = "", other = ""]) => [pairOf(one, other), pairOf(other, one)]))
}

/** The pairs of each key of a row with the next key and with the two keys below. */
function adjacentKeyPairs(keys: string, below: string): readonly string[] {
  return [...keys].flatMap((key, column) =>
    [keys.charAt(column + 1), below.charAt(column - 1), below.charAt(column)]
      .filter(neighbour => neighbour !== "")
      .map(neighbour => key + neighbour),
  )
}
