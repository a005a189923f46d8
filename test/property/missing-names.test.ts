import { expect, test } from "bun:test"
import fc from "fast-check"
import { SET_NAMES } from "../../src/check/lists/sets.ts"
import { judge, severity } from "../../src/check/verdict/judge.ts"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"
import { POLICY_NAMES } from "../../src/contract/policies.ts"
import { evidenceOf, type Told } from "../support/evidence.ts"

/** Evidence without the network: any sets, hints, corrections and own lists. */
const told: fc.Arbitrary<Told> = fc.record(
  {
    input: fc.constantFrom("jane@acme.edu", "postmaster+x@acme.gov", "acme.edu", "https://www.acme.gov/"),
    sets: fc.subarray([...SET_NAMES]),
    strength: fc.constantFrom("strong" as const, "single" as const, "weak" as const),
    hints: fc.record({ isRole: fc.boolean() }),
    correction: fc.constantFrom(...CATEGORY_NAMES),
    namePattern: fc.constantFrom("education" as const, "government" as const),
    ageDays: fc.integer({ min: 0, max: 60 }),
    blockedBy: fc.constant("account" as const),
    isAllowed: fc.constant(true as const),
  },
  { requiredKeys: ["input"] },
)
const policy = fc.constantFrom(...POLICY_NAMES)
const NO_NAME = { exists: false, delivery: "none", hasAddress: false, mx: [], spf: null, dmarcPolicy: null } as const

test("a school or government domain that does not exist is reviewed at least, blocked by strict, and told as domain_not_found", () => {
  fc.assert(
    fc.property(told, policy, (facts, name) => {
      const verdict = judge(evidenceOf({ ...facts, mail: NO_NAME }), name)
      expect(verdict.reasons).toContain("domain_not_found")
      if (verdict.category !== "education" && verdict.category !== "government") return
      const isDecided = facts.isAllowed === true || facts.blockedBy !== undefined
      if (!isDecided) expect(verdict.recommendation).toBe(name === "strict" ? "block" : "review")
      const isOfSuffix = verdict.reasons[0] === "education_suffix" || verdict.reasons[0] === "government_suffix"
      if (isOfSuffix) expect(verdict.confidence).toBe(0.5)
    }),
  )
})

test("a name that does not exist keeps the category that lists and reports give it, and is never recommended more than one that exists", () => {
  fc.assert(
    fc.property(told, policy, (facts, name) => {
      const missing = judge(evidenceOf({ ...facts, mail: NO_NAME }), name)
      const existing = judge(evidenceOf({ ...facts, mail: {} }), name)
      if (missing.reasons[0] !== "domain_not_found" && existing.reasons[0] === missing.reasons[0]) {
        expect(missing.category).toBe(existing.category)
        expect(severity(missing.recommendation)).toBeGreaterThanOrEqual(severity(existing.recommendation))
      }
    }),
  )
})

test("without an answer from DNS no name counts as one that does not exist", () => {
  fc.assert(
    fc.property(told, policy, fc.constantFrom({}, { mail: "unavailable" as const }), (facts, name, unanswered) => {
      const verdict = judge(evidenceOf({ ...facts, ...unanswered }), name)
      expect(verdict.reasons).not.toContain("domain_not_found")
      const isPlainSchool = facts.sets?.join() === "education_suffix" && verdict.reasons.length === 1
      if (isPlainSchool) expect(verdict.recommendation).toBe("allow")
    }),
  )
})
