import { foldConfusables } from "./confusables.ts"
import { areNeighbourKeys, areSimilarVowels } from "./typo.ts"

/** What an edit counts that no finger makes by accident, such as one letter for another on the far side of the keyboard. */
export type KeyingCosts = { readonly unlikely: number }

/**
 * How many slips of the fingers turn `meant` into `typed`: swapped neighbours, a letter left out, typed twice or typed
 * with the key beside it, and a similar letter in place of the right one are one slip each (optimal string alignment).
 * Any other edit counts `unlikely`. A digit is never left out or replaced by accident: names with numbers come in series.
 */
export function keyingDistance(typed: string, meant: string, { unlikely }: KeyingCosts): number {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: meant.length + 1 }, (_, column) => omissionCost(meant, column))
  for (let row = 0; row < typed.length; row++) {
    const extra = insertionCost(typed, row, unlikely)
    const current = [(last[0] ?? 0) + extra]
    for (let column = 0; column < meant.length; column++) {
      const intended = meant.charAt(column)
      const omitted = (current[column] ?? 0) + (isDigit(intended) ? Number.POSITIVE_INFINITY : 1)
      const inserted = (last[column + 1] ?? 0) + extra
      const replaced = (last[column] ?? 0) + replacementCost(typed, row, intended, unlikely)
      const isSwap = areSwapped(typed, row - 1, meant, column - 1)
      const swapped = isSwap ? (beforeLast[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(omitted, inserted, replaced, swapped))
    }
    beforeLast = last
    last = current
  }
  return last[meant.length] ?? 0
}

/** The slips of leaving out the first so many letters. */
const omissionCost = (meant: string, count: number): number =>
  /\d/.test(meant.slice(0, count)) ? Number.POSITIVE_INFINITY : count

function insertionCost(typed: string, index: number, unlikely: number): number {
  const letter = typed.charAt(index)
  const adjacent = [typed.charAt(index - 1), typed.charAt(index + 1)]
  const isByAccident = letter === "-" || adjacent.some(other => other === letter || areNeighbourKeys(letter, other))
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
