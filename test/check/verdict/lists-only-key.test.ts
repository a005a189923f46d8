import { expect, test } from "bun:test"
import fc from "fast-check"
import { unknown } from "../../../src/base/finding.ts"
import { ListMatch } from "../../../src/check/lists/list-match.ts"
import { LISTING_STRENGTHS, SET_BITS, SET_NAMES, STRENGTH_BITS } from "../../../src/check/lists/sets.ts"
import type { Evidence } from "../../../src/check/verdict/evidence.ts"
import { judge } from "../../../src/check/verdict/judge.ts"
import { LISTS_ONLY_KEYS, listsOnlyKey } from "../../../src/check/verdict/lists-only-key.ts"
import { POLICY_NAMES, RECOMMENDATIONS } from "../../../src/contract/policies.ts"
import { VERDICT_CASES } from "../../golden/verdict-cases.ts"
import { evidenceOf } from "../../support/evidence.ts"

const cause = fc.constantFrom("not_asked", "unavailable", "timed_out", "pending").map(unknown)
const fault = fc.constantFrom(
  "invalid_syntax",
  "too_long",
  "ip_literal",
  "public_suffix",
  "unknown_tld",
  "reserved_tld",
)

const listsOnly: fc.Arbitrary<Evidence> = fc.record({
  subject: fc.record({
    kind: fc.constantFrom("email", "domain", "url"),
    fault: fc.option(fault),
    isTest: fc.constant(false),
    hasSubaddress: fc.boolean(),
  }),
  listMatch: fc.tuple(fc.subarray(SET_NAMES, { maxLength: 3 }), fc.constantFrom(...LISTING_STRENGTHS)).map(
    ([sets, strength]) =>
      new ListMatch(
        sets.reduce((mask, set) => mask | SET_BITS[set], STRENGTH_BITS[strength]),
        "",
        0,
      ),
  ),
  hints: fc.record({
    isRole: fc.boolean(),
    hasSharedInbox: fc.boolean(),
    hasGroup: fc.boolean(),
    hasGroupService: fc.boolean(),
  }),
  suggestion: fc.constant(null),
  isHouseholdSlip: fc.constant(false),
  namePattern: fc.option(fc.constantFrom("education", "government")),
  lookalikeOf: fc.option(fc.constantFrom("paypal.com", "stripe.com")),
  testCategory: fc.constant(null),
  correction: fc.constant(null),
  mail: cause,
  suites: cause,
  tenant: cause,
  ageDays: cause,
  homepage: cause,
  blockedBy: fc.option(fc.constantFrom("operator", "account")),
  isAllowed: fc.boolean(),
  ruledAs: fc.option(fc.constantFrom(...RECOMMENDATIONS)),
  isCached: fc.boolean(),
})
const policy = fc.constantFrom(...POLICY_NAMES)

test("every number is whole, and a double holds it exactly", () => {
  expect(LISTS_ONLY_KEYS).toBeLessThan(Number.MAX_SAFE_INTEGER)
  fc.assert(
    fc.property(listsOnly, policy, (evidence, by) => {
      const key = listsOnlyKey(evidence, by) ?? -1
      expect(Number.isInteger(key) && key >= 0 && key < LISTS_ONLY_KEYS).toBe(true)
    }),
  )
})

test("evidence with equal numbers has equal verdicts, and evidence that differs in one fact another number", () => {
  const facts = [
    "subject",
    "listMatch",
    "hints",
    "namePattern",
    "mail",
    "tenant",
    "ageDays",
    "homepage",
    "blockedBy",
    "isAllowed",
    "ruledAs",
    "isCached",
  ] as const
  fc.assert(
    fc.property(listsOnly, listsOnly, policy, fc.constantFrom(...facts), (one, other, by, fact) => {
      const changed = { ...one, [fact]: other[fact] }
      const isSame = Bun.deepEquals(one[fact], other[fact]) && one.listMatch.mask === changed.listMatch.mask
      expect(listsOnlyKey(changed, by) === listsOnlyKey(one, by)).toBe(isSame)
      const renamed = { ...one, lookalikeOf: one.lookalikeOf && "another.com", suites: other.suites }
      expect(listsOnlyKey(renamed, by)).toBe(listsOnlyKey(one, by))
      expect(judge(renamed, by)).toEqual(judge(one, by))
    }),
    { numRuns: 2000 },
  )
})

test("evidence from the network, of a report, of a typo or of a test address has no number", () => {
  for (const facts of VERDICT_CASES) {
    const evidence = evidenceOf(facts)
    const isKnown = [evidence.mail, evidence.suites, evidence.tenant, evidence.ageDays, evidence.homepage].some(
      part => part.known,
    )
    const isSpecial = evidence.subject.isTest || evidence.correction !== null || evidence.suggestion !== null
    expect(listsOnlyKey(evidence, "b2b") === null).toBe(isKnown || isSpecial)
    const unasked = { ...evidence, suites: unknown("not_asked") }
    if (isSpecial) expect(listsOnlyKey(unasked, "b2b")).toBeNull()
  }
})
