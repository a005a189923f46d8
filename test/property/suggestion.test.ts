import { expect, test } from "bun:test"
import { join } from "node:path"
import fc from "fast-check"
import { classifySuffix } from "../../src/check/address/public-suffix.ts"
import { ROOT } from "../architecture/source-files.ts"
import { lists } from "../support/app.ts"

const suggestion = (domain: string): string | null =>
  lists.lookupDomain(domain, classifySuffix(domain).registrable).suggestion

const SETS = ["personal", "relay", "education", "government", "organisation"]
const listed = (await Promise.all(SETS.map(namesIn))).flat()
const providers = lists.pack.targets.flatMap(({ name, kind }) => (kind === "provider" ? [name] : []))

async function namesIn(set: string): Promise<readonly string[]> {
  const lines = (await Bun.file(join(ROOT, `data/curated/${set}.txt`)).text()).split("\n")
  return lines.flatMap(line => (line === "" || line.startsWith("#") ? [] : [line.split(/\s/)[0] ?? ""]))
}

test("no listed name gets a suggestion, so a suggestion gets none", () => {
  expect(providers.length).toBeGreaterThan(4000)
  expect([...listed, ...providers].filter(name => suggestion(name) !== null)).toEqual([])
})

test("a suggestion is a provider, whatever was typed near one", () => {
  const known = new Set(providers)
  const typed = fc
    .tuple(fc.constantFrom(...providers), fc.nat(20), fc.nat(2), fc.constantFrom("", "a", "l", "m", "o", "-", ".", "1"))
    .map(([name, at, cut, put]) => `${name.slice(0, at)}${put}${name.slice(at + cut)}`)
  fc.assert(
    fc.property(typed, domain => {
      const offered = suggestion(domain)
      expect(offered === null || known.has(offered)).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test("of names that can be spoken and nobody listed, fewer than one in two hundred is taken for a slip", () => {
  const spoken = fc
    .array(fc.tuple(fc.constantFrom(..."bcdfghjklmnprstvwyz"), fc.constantFrom(..."aeiou")), {
      minLength: 2,
      maxLength: 5,
    })
    .map(syllables => syllables.flat().join(""))
  const domains = fc.sample(
    fc.tuple(spoken, fc.constantFrom("com", "de", "fr", "it", "ru", "co.uk")).map(parts => parts.join(".")),
    { seed: 1, numRuns: 4_000 },
  )
  expect(domains.filter(domain => suggestion(domain) !== null).length).toBeLessThan(50)
})
