import { expect, test } from "bun:test"
import fc from "fast-check"
import { classifySuffix } from "../../src/check/address/public-suffix.ts"
import { KnownNameMatcher } from "../../src/check/lookalike/known-name-matcher.ts"
import { SLIPS } from "../check/lookalike/lookalike-cases.ts"
import { TARGETS } from "../check/lookalike/targets.ts"

const imitations = new KnownNameMatcher(TARGETS)
const listed = new Set(TARGETS.map(({ name }) => name))

/** The ten largest providers whose label has four letters or more: less can be anybody's. */
const LARGEST = TARGETS.filter(({ name, kind }) => kind === "provider" && name.indexOf(".") >= 4).slice(0, 10)

const answers = (from: KnownNameMatcher, domain: string) => {
  const { registrable } = classifySuffix(domain)
  const { suggestion, lookalikeOf } = from.match(domain, registrable)
  return [suggestion, lookalikeOf]
}

test("a target gets neither a suggestion nor a look-alike, nor does a name under it", () => {
  for (const { name } of TARGETS) {
    expect(answers(imitations, name)).toEqual([null, null])
    expect(answers(imitations, `mail.${name}`)).toEqual([null, null])
  }
})

test("each swap of two neighbouring letters of a large provider is corrected, unless it makes another target", () => {
  for (const { name } of LARGEST) {
    for (let at = 0; at + 1 < name.indexOf("."); at++) {
      const typed = `${name.slice(0, at)}${name.charAt(at + 1)}${name.charAt(at)}${name.slice(at + 2)}`
      if (typed === name || listed.has(typed) || UNSAID.has(typed)) continue
      expect([typed, imitations.match(typed, typed).suggestion]).toEqual([typed, name])
    }
  }
})

/** Swaps that make the name of a country. */
const UNSAID = new Set(["mali.ru"])

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/)
const near = fc
  .tuple(
    fc.constantFrom(...TARGETS),
    fc.nat(30),
    fc.constantFrom("", "-", ".", "0", "l", "rn", "login", "é", "а", "xn--"),
  )
  .map(([{ name }, at, inserted]) => `${name.slice(0, at)}${inserted}${name.slice(at)}`)
const anything = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 6 }).map(labels => labels.join(".")),
  near,
  fc.string({ maxLength: 253 }),
)

test("it answers every text, with a target or nothing", () => {
  fc.assert(
    fc.property(anything, anything, (domain, other) => {
      for (const registrable of [domain, other, domain.slice(domain.indexOf(".") + 1)]) {
        const { suggestion, lookalikeOf } = imitations.match(domain, registrable)
        for (const answer of [suggestion, lookalikeOf]) {
          expect(answer === null || listed.has(answer)).toBe(true)
        }
      }
    }),
    { numRuns: 2000 },
  )
})

test("answers do not depend on what was asked before", () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray(
        SLIPS.map(([domain]) => domain),
        { maxLength: 30 },
      ),
      domains => {
        const fresh = new KnownNameMatcher(TARGETS)
        for (const domain of domains) expect(answers(fresh, domain)).toEqual(answers(imitations, domain))
      },
    ),
    { numRuns: 20 },
  )
})

test("a suggestion comes from a provider", () => {
  const providers = new Set(TARGETS.filter(({ kind }) => kind === "provider").map(({ name }) => name))
  fc.assert(
    fc.property(near, domain => {
      const answer = imitations.match(domain, domain).suggestion
      expect(answer === null || providers.has(answer)).toBe(true)
    }),
  )
})
