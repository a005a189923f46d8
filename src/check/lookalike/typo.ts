import { foldConfusables } from "./confusables.ts"

/** What went wrong between the label that was meant and the one that was typed. */
export type Typo = {
  readonly kind: TypoKind
  /** Where the two part, counted from 0. */
  readonly index: number
}

/**
 * `swapped`: two letters beside each other. `moved`: a letter past two others. `doubled`: a letter hit twice.
 * `halved`: one of two equal letters left out. `alike`: letters or digits that look the same. `omitted`: a letter left
 * out. `replaced`: a neighbouring key, a vowel of the same sound, or a letter hit again in the place of the next.
 * `inserted`: a key hit beside another, a hyphen, or a letter hit once more or too early. `added`: any other letter in
 * between.
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

/** Rows of keys from the top, each shifted half a key to the right of the one above: QWERTY, QWERTZ, AZERTY. */
const KEYBOARD_LAYOUTS = [
  ["qwertyuiop", "asdfghjkl", "zxcvbnm"],
  ["qwertzuiop", "asdfghjkl", "yxcvbnm"],
  ["azertyuiop", "qsdfghjklm", "wxcvbn"],
]

/** Vowels that sound alike somewhere. */
const SIMILAR_VOWELS = ["ae", "ei", "iy", "ao", "ou"]

const NEIGHBOUR_KEYS = buildNeighbourKeys()

/**
 * The one slip of the fingers, the ear or the eye that makes `typed` out of `meant`. Null: it is none, or more than
 * one; only of letters that look alike there may be several. An `s` added at the end is no slip but a plural, and
 * other letters before or behind a name make another name.
 */
export function findTypo(typed: string, meant: string): Typo | null {
  const index = commonPrefixLength(typed, meant)
  if (index === typed.length && index === meant.length) return null
  return (
    findKeyingTypo(typed, meant, index) ??
    (foldConfusables(typed) === foldConfusables(meant) ? { kind: "alike", index } : null)
  )
}

function findKeyingTypo(typed: string, meant: string, at: number): Typo | null {
  if (typed.length === meant.length) return sameLengthTypo(typed, meant, at)
  if (typed.length + 1 === meant.length) return typed.slice(at) === meant.slice(at + 1) ? omissionTypo(meant, at) : null
  return typed.length === meant.length + 1 && typed.slice(at + 1) === meant.slice(at) ? insertionTypo(typed, at) : null
}

/** A digit is not left out: names with numbers come in series (`10mail`, `150mail`). */
function omissionTypo(meant: string, index: number): Typo | null {
  if (isDigit(meant.charAt(index))) return null
  return { kind: meant.charAt(index) === meant.charAt(index - 1) ? "halved" : "omitted", index }
}

function insertionTypo(typed: string, index: number): Typo | null {
  const letter = typed.charAt(index)
  const around = [typed.charAt(index - 1), typed.charAt(index + 1)]
  if (around.includes(letter)) return { kind: "doubled", index }
  const isLast = index === typed.length - 1
  if (letter === "s" && isLast) return null
  if (letter === "-" || around.some(near => areNeighbourKeys(letter, near))) return { kind: "inserted", index }
  if (index === 0 || isLast || isDigit(letter)) return null
  return {
    kind: letter === typed.charAt(index - 2) || letter === typed.charAt(index + 2) ? "inserted" : "added",
    index,
  }
}

function sameLengthTypo(typed: string, meant: string, index: number): Typo | null {
  const [letter, wanted] = [typed.charAt(index), meant.charAt(index)]
  if (typed.slice(index + 1) === meant.slice(index + 1)) {
    if (foldConfusables(letter) === foldConfusables(wanted)) return { kind: "alike", index }
    const isRepeat = letter === typed.charAt(index - 1) || letter === typed.charAt(index + 1)
    const isVowel = SIMILAR_VOWELS.some(pair => pair.includes(letter) && pair.includes(wanted))
    return isRepeat || isVowel || areNeighbourKeys(letter, wanted) ? { kind: "replaced", index } : null
  }
  if (letter === meant.charAt(index + 1) && wanted === typed.charAt(index + 1)) {
    return typed.slice(index + 2) === meant.slice(index + 2) ? { kind: "swapped", index } : null
  }
  return isLetterMoved(typed.slice(index), meant.slice(index)) || isLetterMoved(meant.slice(index), typed.slice(index))
    ? { kind: "moved", index }
    : null
}

/** Whether the first letter of `meant` stands third in `typed`, and all else is in order: `loud`, `ould`. */
const isLetterMoved = (typed: string, meant: string): boolean =>
  typed.slice(0, 2) === meant.slice(1, 3) && typed.charAt(2) === meant.charAt(0) && typed.slice(3) === meant.slice(3)

/**
 * Whether two texts are one omission, insertion, replacement or swap apart, whatever the keys. For suffixes, which are
 * few.
 */
export function isOneEditApart(typed: string, meant: string): boolean {
  const at = commonPrefixLength(typed, meant)
  const [rest, wanted] = [typed.slice(at), meant.slice(at)]
  if (rest === wanted) return false
  if (rest.slice(1) === wanted || rest === wanted.slice(1) || rest.slice(1) === wanted.slice(1)) return true
  return rest.slice(2) === wanted.slice(2) && rest.charAt(0) === wanted.charAt(1) && rest.charAt(1) === wanted.charAt(0)
}

function commonPrefixLength(one: string, other: string): number {
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
}

const isDigit = (letter: string): boolean => letter >= "0" && letter <= "9"

const areNeighbourKeys = (one: string, other: string): boolean => NEIGHBOUR_KEYS.has(one + other)

/** Both orders of each pair of keys that touch in one of the layouts. */
function buildNeighbourKeys(): ReadonlySet<string> {
  const pairs = KEYBOARD_LAYOUTS.flatMap(rows =>
    rows.flatMap((keys, row) => adjacentKeyPairs(keys, rows[row + 1] ?? "")),
  )
  return new Set(pairs.flatMap(([one, other]) => [`${one}${other}`, `${other}${one}`]))
}

/** The pairs that the keys of a row make with the next key and with the two below. */
function adjacentKeyPairs(keys: string, below: string): readonly (readonly [string, string])[] {
  return [...keys].flatMap((key, place) =>
    [keys.charAt(place + 1), below.charAt(place - 1), below.charAt(place)]
      .filter(near => near !== "")
      .map(near => [key, near] as const),
  )
}
