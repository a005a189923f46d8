import { BENCH_WORDS } from "./addresses.ts"

/** Two letters each, so that a name can be spoken. */
const SYLLABLES = [..."bdfghklmnprstv"].flatMap(consonant => [..."aeiou"].map(vowel => consonant + vowel))
const SYLLABLES_A_NAME = 4
const NAMES = SYLLABLES.length ** SYLLABLES_A_NAME
/** No factor of `NAMES`, so that each number below it has a name of its own, and neighbours differ from the first syllable on. */
const STRIDE = 7_368_787

/**
 * A domain such as a small company has, which no list holds: another one for each number below 24 million, and the same on
 * every run.
 */
export function onceName(number: number): string {
  let left = (number * STRIDE) % NAMES
  let name = ""
  for (let at = 0; at < SYLLABLES_A_NAME; at++) {
    name += SYLLABLES[left % SYLLABLES.length]
    left = Math.floor(left / SYLLABLES.length)
  }
  const { places, suffixes } = BENCH_WORDS
  const ending = number % 2 === 0 ? `-${places[(number >> 1) % places.length]}` : ""
  return `${name}${ending}.${suffixes[number % suffixes.length]}`
}
