/** What went wrong between the label that was meant and the one that was typed. */
export type Slip = {
  readonly kind: "swapped" | "moved" | "omitted" | "doubled" | "inserted" | "replaced"
  /** Where the two part, counted from 0. */
  readonly at: number
}

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
 * The one slip of the fingers or the ear that makes `typed` out of `meant`: two letters swapped, one moved past two
 * others, one left out, one doubled, a key hit beside another, a neighbouring key or a vowel of the same sound hit
 * instead, a letter hit twice in the place of the next, a hyphen too many or too few. Null: it is none, or more than
 * one. An `s` added at the end is no slip but a plural.
 */
export function slipBetween(typed: string, meant: string): Slip | null {
  const at = commonStart(typed, meant)
  if (typed.length === meant.length) return replacedOrSwapped(typed, meant, at)
  if (typed.length + 1 === meant.length) return leftOut(typed, meant, at)
  if (typed.length !== meant.length + 1 || typed.slice(at + 1) !== meant.slice(at)) return null
  const letter = typed.charAt(at)
  if (letter === typed.charAt(at - 1) || letter === typed.charAt(at + 1)) return { kind: "doubled", at }
  if (letter === "s" && at === meant.length) return null
  const isBeside = letter === "-" || isNear(letter, typed.charAt(at - 1)) || isNear(letter, typed.charAt(at + 1))
  return isBeside ? { kind: "inserted", at } : null
}

/** A digit is not left out: names with numbers come in series (`10mail`, `150mail`). */
function leftOut(typed: string, meant: string, at: number): Slip | null {
  return typed.slice(at) === meant.slice(at + 1) && !/\d/.test(meant.charAt(at)) ? { kind: "omitted", at } : null
}

function replacedOrSwapped(typed: string, meant: string, at: number): Slip | null {
  if (at === typed.length) return null
  const [letter, wanted] = [typed.charAt(at), meant.charAt(at)]
  if (typed.slice(at + 1) === meant.slice(at + 1)) {
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
