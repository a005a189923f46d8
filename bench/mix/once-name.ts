/** Words that a company's name ends with here, and what its domain ends with. */
const PLACES = "works logistics partners foundry systems holding supply studio freight legal".split(" ")
const SUFFIXES = "com io de co.uk eu fr net".split(" ")

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
  const ending = number % 2 === 0 ? `-${PLACES[(number >> 1) % PLACES.length]}` : ""
  return `${name}${ending}.${SUFFIXES[number % SUFFIXES.length]}`
}
