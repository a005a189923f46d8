import { foldConfusables } from "./confusables.ts"
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
  let beforeLast: readonly number[] = []
  let last = omissionCosts(meant)
  for (let row = 0; row < typed.length; row++) {
    const current = nextRow(typed, row, meant, { last, beforeLast, costs })
    // A swap goes on from the row before the last.
    if (Math.min(...last, ...current) > max) return Number.POSITIVE_INFINITY
    beforeLast = last
    last = current
  }
  const distance = last[meant.length] ?? 0
  return distance > max ? Number.POSITIVE_INFINITY : distance
}

/** How many letters of a text another one does not have. */
function foreignLetters(text: string, other: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) if (!other.includes(text.charAt(index))) count++
  return count
}

type Rows = {
  readonly last: readonly number[]
  readonly beforeLast: readonly number[]
  readonly costs: KeyingCosts
}

/** The distances of one letter more of `typed` from each start of `meant`; infinite where the lengths differ too much. */
function nextRow(typed: string, row: number, meant: string, { last, beforeLast, costs }: Rows): readonly number[] {
  const { unlikely, max } = costs
  const extra = insertionCost(typed, row, unlikely)
  const current = [(last[0] ?? 0) + extra]
  for (let column = 0; column < meant.length; column++) {
    if (Math.abs(column - row) > max) {
      current.push(Number.POSITIVE_INFINITY)
      continue
    }
    const intended = meant.charAt(column)
    const omitted = (current[column] ?? 0) + (isDigit(intended) ? Number.POSITIVE_INFINITY : 1)
    const inserted = (last[column + 1] ?? 0) + extra
    const replaced = (last[column] ?? 0) + replacementCost(typed, row, intended, unlikely)
    const isSwap = areSwapped(typed, row - 1, meant, column - 1)
    const swapped = isSwap ? (beforeLast[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY
    current.push(Math.min(omitted, inserted, replaced, swapped))
  }
  return current
}

/** The slips of leaving out the first letters, from none to all. */
function omissionCosts(meant: string): readonly number[] {
  const costs = [0]
  for (let count = 0; count < meant.length; count++)
    costs.push(isDigit(meant.charAt(count)) ? Number.POSITIVE_INFINITY : (costs[count] ?? 0) + 1)
  return costs
}

function insertionCost(typed: string, index: number, unlikely: number): number {
  const letter = typed.charAt(index)
  const [before, after] = [typed.charAt(index - 1), typed.charAt(index + 1)]
  const isBeside = areNeighbourKeys(letter, before) || areNeighbourKeys(letter, after)
  const isByAccident = letter === "-" || before === letter || after === letter || isBeside
  return isByAccident && !isDigit(letter) ? 1 : unlikely
}

function replacementCost(typed: string, index: number, intended: string, unlikely: number): number {
  const letter = typed.charAt(index)
  if (letter === intended) return 0
  if (isDigit(intended)) return Number.POSITIVE_INFINITY
  const isRepeat = letter === typed.charAt(index - 1) || letter === typed.charAt(index + 1)
  const isAlike = areSimilarVowels(letter, intended) || foldConfusables(letter) === foldConfusables(intended)
  return isRepeat || isAlike || areNeighbourKeys(letter, intended) ? 1 : unlikely
}

/** Whether the two letters at each index are the same in the other order. */
const areSwapped = (typed: string, at: number, meant: string, meantAt: number): boolean =>
  at >= 0 &&
  meantAt >= 0 &&
  typed.charAt(at) === meant.charAt(meantAt + 1) &&
  typed.charAt(at + 1) === meant.charAt(meantAt)

const isDigit = (letter: string): boolean => letter >= "0" && letter <= "9"
