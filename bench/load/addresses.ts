import type { Category } from "../../src/contract/categories.ts"
import { seeded } from "./seeded-random.ts"

/**
 * The addresses that the HTTP bench asks about: fifty each of personal, disposable and education, and fifty at
 * business-like names that no list holds. The same on every run and machine.
 */
export function benchAddresses(): readonly string[] {
  const random = seeded(20_240_229)
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? ""
  const { trades, places, suffixes, first, last } = BENCH_WORDS
  const business = Array.from({ length: A_KIND }, (_, at) => `${pick(trades)}-${pick(places)}${at}.${pick(suffixes)}`)
  const { personal, disposable, education } = BENCH_DOMAINS
  const kinds = [personal, disposable, education, business]
  const addresses = kinds.flatMap(domains =>
    Array.from({ length: A_KIND }, (_, at) => `${pick(first)}.${pick(last)}${at}@${domains[at % domains.length]}`),
  )
  return shuffled(addresses, random)
}

const A_KIND = 50

/** Well-known domains by what they are. */
export const BENCH_DOMAINS = {
  personal: "gmail.com yahoo.com outlook.com hotmail.com icloud.com aol.com gmx.de web.de mail.ru proton.me".split(" "),
  disposable:
    "mailinator.com yopmail.com guerrillamail.com 10minutemail.com temp-mail.org trashmail.com sharklasers.com getnada.com maildrop.cc dispostable.com".split(
      " ",
    ),
  education:
    "stanford.edu mit.edu cs.princeton.edu ox.ac.uk cam.ac.uk student.unimelb.edu.au u-tokyo.ac.jp tsinghua.edu.cn ethz.ch iitb.ac.in".split(
      " ",
    ),
} as const satisfies Partial<Record<Category, readonly string[]>>

/** Words that people and companies are named by here. */
export const BENCH_WORDS = {
  trades: "harbor granite lattice meridian copper juniper anvil quarry beacon willow".split(" "),
  places: "works logistics partners foundry systems holding supply studio freight legal".split(" "),
  suffixes: "com io de co.uk eu fr net".split(" "),
  first: "jane omar li anna pedro noor ivan sofia kofi mei".split(" "),
  last: "smith tanaka mueller okafor rossi novak garcia singh larsen dubois".split(" "),
} as const satisfies Record<string, readonly string[]>

function shuffled(values: readonly string[], random: () => number): readonly string[] {
  return values
    .map(value => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}

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
