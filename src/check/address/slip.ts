import { fold } from "./fold.ts"

/** What went wrong between the label that was meant and the one that was typed. */
export type Slip = {
  readonly kind: SlipKind
  /** Where the two part, counted from 0. */
  readonly at: number
}

/**
 * `swapped`: two letters beside each other. `moved`: a letter past two others. `doubled`: a letter hit twice.
 * `halved`: one of two equal letters left out. `alike`: letters or digits that look the same. `omitted`: a letter left
 * out. `replaced`: a neighbouring key, a vowel of the same sound, or a letter hit again in the place of the next.
 * `inserted`: a key hit beside another, a hyphen, or a letter hit once more or too early. `added`: any other letter in
 * between.
 */
export type SlipKind =
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
const LAYOUTS = [
  ["qwertyuiop", "asdfghjkl", "zxcvbnm"],
  ["qwertzuiop", "asdfghjkl", "yxcvbnm"],
  ["azertyuiop", "qsdfghjklm", "wxcvbn"],
]

/** Vowels that sound alike somewhere. */
const VOWELS = ["ae", "ei", "iy", "ao", "ou"]

const NEIGHBOURS = neighbours()

/**
 * The one slip of the fingers, the ear or the eye that makes `typed` out of `meant`. Null: it is none, or more than
 * one; only of letters that look alike there may be several. An `s` added at the end is no slip but a plural, and
 * other letters before or behind a name make another name.
 */
export function slipBetween(typed: string, meant: string): Slip | null {
  const at = commonStart(typed, meant)
  if (at === typed.length && at === meant.length) return null
  return slipOfFingers(typed, meant, at) ?? (fold(typed) === fold(meant) ? { kind: "alike", at } : null)
}

function slipOfFingers(typed: string, meant: string, at: number): Slip | null {
  if (typed.length === meant.length) return swappedOrReplaced(typed, meant, at)
  if (typed.length + 1 === meant.length) return typed.slice(at) === meant.slice(at + 1) ? leftOut(meant, at) : null
  return typed.length === meant.length + 1 && typed.slice(at + 1) === meant.slice(at) ? putIn(typed, at) : null
}

/** A digit is not left out: names with numbers come in series (`10mail`, `150mail`). */
function leftOut(meant: string, at: number): Slip | null {
  if (isDigit(meant.charAt(at))) return null
  return { kind: meant.charAt(at) === meant.charAt(at - 1) ? "halved" : "omitted", at }
}

function putIn(typed: string, at: number): Slip | null {
  const letter = typed.charAt(at)
  const around = [typed.charAt(at - 1), typed.charAt(at + 1)]
  if (around.includes(letter)) return { kind: "doubled", at }
  const isLast = at === typed.length - 1
  if (letter === "s" && isLast) return null
  if (letter === "-" || around.some(near => isNear(letter, near))) return { kind: "inserted", at }
  if (at === 0 || isLast || isDigit(letter)) return null
  return { kind: letter === typed.charAt(at - 2) || letter === typed.charAt(at + 2) ? "inserted" : "added", at }
}

function swappedOrReplaced(typed: string, meant: string, at: number): Slip | null {
  const [letter, wanted] = [typed.charAt(at), meant.charAt(at)]
  if (typed.slice(at + 1) === meant.slice(at + 1)) {
    if (fold(letter) === fold(wanted)) return { kind: "alike", at }
    const isRepeat = letter === typed.charAt(at - 1) || letter === typed.charAt(at + 1)
    const isVowel = VOWELS.some(pair => pair.includes(letter) && pair.includes(wanted))
    return isRepeat || isVowel || isNear(letter, wanted) ? { kind: "replaced", at } : null
  }
  if (letter === meant.charAt(at + 1) && wanted === typed.charAt(at + 1)) {
    return typed.slice(at + 2) === meant.slice(at + 2) ? { kind: "swapped", at } : null
  }
  return isMoved(typed.slice(at), meant.slice(at)) || isMoved(meant.slice(at), typed.slice(at))
    ? { kind: "moved", at }
    : null
}

/** Whether the first letter of `meant` stands third in `typed`, and all else is in order: `loud`, `ould`. */
const isMoved = (typed: string, meant: string): boolean =>
  typed.slice(0, 2) === meant.slice(1, 3) && typed.charAt(2) === meant.charAt(0) && typed.slice(3) === meant.slice(3)

/**
 * Whether two texts are one omission, insertion, replacement or swap apart, whatever the keys. For suffixes, which are
 * few.
 */
export function isOneEdit(typed: string, meant: string): boolean {
  const at = commonStart(typed, meant)
  const [rest, wanted] = [typed.slice(at), meant.slice(at)]
  if (rest === wanted) return false
  if (rest.slice(1) === wanted || rest === wanted.slice(1) || rest.slice(1) === wanted.slice(1)) return true
  return rest.slice(2) === wanted.slice(2) && rest.charAt(0) === wanted.charAt(1) && rest.charAt(1) === wanted.charAt(0)
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
}

const isDigit = (letter: string): boolean => letter >= "0" && letter <= "9"

const isNear = (one: string, other: string): boolean => NEIGHBOURS.has(one + other)

/** Both orders of each pair of keys that touch in one of the layouts. */
function neighbours(): ReadonlySet<string> {
  const pairs = LAYOUTS.flatMap(rows => rows.flatMap((keys, row) => touching(keys, rows[row + 1] ?? "")))
  return new Set(pairs.flatMap(([one, other]) => [`${one}${other}`, `${other}${one}`]))
}

/** The pairs that the keys of a row make with the next key and with the two below. */
function touching(keys: string, below: string): readonly (readonly [string, string])[] {
  return [...keys].flatMap((key, place) =>
    [keys.charAt(place + 1), below.charAt(place - 1), below.charAt(place)]
      .filter(near => near !== "")
      .map(near => [key, near] as const),
  )
}
