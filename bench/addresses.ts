import { seeded } from "./seeded.ts"

/**
 * The addresses that the HTTP bench asks about: fifty each of personal, disposable and education, and fifty at
 * business-like names that no list holds. The same on every run and machine.
 */
export function benchAddresses(): readonly string[] {
  const random = seeded(20_240_229)
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? ""
  const business = Array.from({ length: A_KIND }, (_, at) => `${pick(TRADES)}-${pick(PLACES)}${at}.${pick(SUFFIXES)}`)
  const kinds = [PERSONAL, DISPOSABLE, EDUCATION, business]
  const addresses = kinds.flatMap(domains =>
    Array.from({ length: A_KIND }, (_, at) => `${pick(FIRST)}.${pick(LAST)}${at}@${domains[at % domains.length]}`),
  )
  return shuffled(addresses, random)
}

const A_KIND = 50

const PERSONAL = "gmail.com yahoo.com outlook.com hotmail.com icloud.com aol.com gmx.de web.de mail.ru proton.me".split(
  " ",
)
const DISPOSABLE =
  "mailinator.com yopmail.com guerrillamail.com 10minutemail.com temp-mail.org trashmail.com sharklasers.com getnada.com maildrop.cc dispostable.com".split(
    " ",
  )
const EDUCATION =
  "stanford.edu mit.edu cs.princeton.edu ox.ac.uk cam.ac.uk student.unimelb.edu.au u-tokyo.ac.jp tsinghua.edu.cn ethz.ch iitb.ac.in".split(
    " ",
  )
const TRADES = "harbor granite lattice meridian copper juniper anvil quarry beacon willow".split(" ")
const PLACES = "works logistics partners foundry systems holding supply studio freight legal".split(" ")
const SUFFIXES = "com io de co.uk eu fr net".split(" ")
const FIRST = "jane omar li anna pedro noor ivan sofia kofi mei".split(" ")
const LAST = "smith tanaka mueller okafor rossi novak garcia singh larsen dubois".split(" ")

function shuffled(values: readonly string[], random: () => number): readonly string[] {
  return values
    .map(value => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}
