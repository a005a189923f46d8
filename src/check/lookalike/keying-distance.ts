import { looksLike } from "./confusables.ts"
import { areNeighbourKeys, areSimilarVowels } from "./typo.ts"

/** `unlikely`: what an edit counts that no finger makes by accident, such as one letter for another on the far side of the keyboard. */
export type KeyingCosts = {
  readonly unlikely: number
  /** A larger distance is infinite, and is known as such after few letters: a typed text may be long. */
  readonly max: number
}

/**
 * How many slips of the fingers turn `meant` into `typed`: swapped neighbours, a letter left out, typed twice or typed
 * with the key beside it, and a similar letter in place of the right one are one slip each (optimal string alignment).
 * Any other edit counts `unlikely`. A digit is never left out or replaced by accident: names with numbers come in series.
 */
export function keyingDistance(typed: string, meant: string, costs: KeyingCosts): number {
  const { max } = costs
  // An edit changes the length by one at most.
  if (Math.abs(typed.length - meant.length) > max) return Number.POSITIVE_INFINITY
  // Most suffixes have hardly a letter in common, and each that only one of them has was added, left out or replaced.
  if (foreignLetters(typed, meant) > max || foreignLetters(meant, typed) > max) return Number.POSITIVE_INFINITY
  let [beforeLast, last, current] = rows
  writeOmissionCosts(meant, last)
  let leastBefore = 0
  for (let row = 0; row < typed.length; row++) {
    const least = writeNextRow(typed, row, meant, { beforeLast, last, current, costs })
    // A swap goes on from the row before the last.
    if (leastBefore > max && least > max) return Number.POSITIVE_INFINITY
    leastBefore = least
    ;[beforeLast, last, current] = [last, current, beforeLast]
  }
  const distance = last[meant.length] ?? 0
  return distance > max ? Number.POSITIVE_INFINITY : distance
}

/** How many letters of a text another one does not have, or fewer: a few characters count as the same. */
function foreignLetters(text: string, other: string): number {
  let letters = 0
  for (let index = 0; index < other.length; index++) letters |= 1 << (other.charCodeAt(index) & 31)
  let count = 0
  for (let index = 0; index < text.length; index++) if ((letters & (1 << (text.charCodeAt(index) & 31))) === 0) count++
  return count
}

/** The rows of all calls, so that none allocates. */
const rows: readonly [number[], number[], number[]] = [[], [], []]

type Rows = {
  readonly beforeLast: readonly number[]
  readonly last: readonly number[]
  /** Is written. */
  readonly current: number[]
  readonly costs: KeyingCosts
}

/**
 * Writes the distances of one letter more of `typed` from each start of `meant`, infinite where the lengths differ too much.
 * Returns the least of them.
 */
function writeNextRow(typed: string, row: number, meant: string, { beforeLast, last, current, costs }: Rows): number {
  const { unlikely, max } = costs
  const extra = insertionCost(typed, row, unlikely)
  let least = (last[0] ?? 0) + extra
  current[0] = least
  for (let column = 0; column < meant.length; column++) {
    if (Math.abs(column - row) > max) {
      current[column + 1] = Number.POSITIVE_INFINITY
      continue
    }
    const intended = meant.charAt(column)
    const omitted = (current[column] ?? 0) + (isDigit(intended) ? Number.POSITIVE_INFINITY : 1)
    const inserted = (last[column + 1] ?? 0) + extra
    const replaced = (last[column] ?? 0) + replacementCost(typed, row, intended, unlikely)
    const isSwap = areSwapped(typed, row - 1, meant, column - 1)
    const swapped = isSwap ? (beforeLast[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY
    const distance = Math.min(omitted, inserted, replaced, swapped)
    current[column + 1] = distance
    least = Math.min(least, distance)
  }
  return least
}

/** Writes the slips of leaving out the first letters, from none to all. */
function writeOmissionCosts(meant: string, costs: number[]): void {
  costs[0] = 0
  for (let count = 0; count < meant.length; count++)
    costs[count + 1] = isDigit(meant.charAt(count)) ? Number.POSITIVE_INFINITY : (costs[count] ?? 0) + 1
}

function insertionCost(typed: string, index: number, unlikely: number): number {
  const letter = typed.charAt(index)
  const [before, after] = [typed.charAt(index - 1), typed.charAt(index + 1)]
  const isByAccident =
    letter === "-" ||
    before === letter ||
    after === letter ||
    areNeighbourKeys(letter, before) ||
    areNeighbourKeys(letter, after)
  return isByAccident && !isDigit(letter) ? 1 : unlikely
}

function replacementCost(typed: string, index: number, intended: string, unlikely: number): number {
  const letter = typed.charAt(index)
  if (letter === intended) return 0
  if (isDigit(intended)) return Number.POSITIVE_INFINITY
  const isRepeat = letter === typed.charAt(index - 1) || letter === typed.charAt(index + 1)
  const isAlike = areSimilarVowels(letter, intended) || looksLike(letter, intended)
  return isRepeat || isAlike || areNeighbourKeys(letter, intended) ? 1 : unlikely
}

/** Whether the two letters at each index are the same in the other order. */
const areSwapped = (typed: string, at: number, meant: string, meantAt: number): boolean =>
  at >= 0 &&
  meantAt >= 0 &&
  typed.charAt(at) === meant.charAt(meantAt + 1) &&
  typed.charAt(at + 1) === meant.charAt(meantAt)

const isDigit = (letter: string): boolean => letter >= "0" && letter <= "9"
