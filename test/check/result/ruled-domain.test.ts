import { expect, test } from "bun:test"
import { judgeDomain } from "../../../src/check/result/result.ts"
import { ruledDomain, rulingOf } from "../../../src/check/result/ruled-domain.ts"
import { severity } from "../../../src/check/verdict/judge.ts"
import { ACCOUNT_RULE_NAMES, type AccountRules } from "../../../src/contract/account-rules.ts"
import { CATEGORY_NAMES } from "../../../src/contract/categories.ts"
import {
  POLICIES,
  POLICY_NAMES,
  type Policy,
  RECOMMENDATION_FLOORS,
  RECOMMENDATIONS,
  type Recommendation,
} from "../../../src/contract/policies.ts"
import { evidenceOf, type Told } from "../../support/evidence.ts"

const judged = (told: Told, policy: Policy = "b2b") => judgeDomain({ domain: "acme.com" }, evidenceOf(told), policy)
const ruled = (told: Told, rules: AccountRules, policy: Policy = "b2b") =>
  ruledDomain(judged(told, policy), rules).verdict.recommendation
const strictest = (all: readonly Recommendation[]): Recommendation =>
  all.reduce((most, each) => (severity(each) > severity(most) ? each : most), "allow")

/** Each reason that can have a rule, with evidence in which it holds, and what the policy says about it. */
const REASONS = [
  { rule: "role_account", told: { hints: { isRole: true } }, floor: "role" },
  { rule: "subaddress", told: { input: "jane+news@acme.com" }, floor: null },
  { rule: "free_subdomain", told: { sets: ["free_subdomain"] }, floor: null },
  { rule: "new_domain", told: { ageDays: 3 }, floor: "new_domain" },
  { rule: "lookalike_domain", told: { lookalikeOf: "paypal.com" }, floor: "lookalike" },
  { rule: "likely_typo", told: { suggestion: "acme.org" }, floor: "typo" },
] as const

/** A rule of each kind, or none. */
const CHOICES = [undefined, ...RECOMMENDATIONS]

test("under every policy, for every category, every set of reasons and every set of rules, the strictest of what speaks is recommended", () => {
  const wrong: string[] = []
  for (const { policy, category, held } of everyVerdict()) {
    const holding = REASONS.filter((_, at) => isHeld(held, at))
    const told = Object.assign({ input: "jane@acme.com", mail: {} }, ...holding.map(reason => reason.told))
    const domain = judged({ ...told, correction: category }, policy)
    for (const rules of everyRules(category, held)) {
      const expected = expectedOf(policy, category, holding, rules)
      if (ruledDomain(domain, rules).verdict.recommendation !== expected) wrong.push(JSON.stringify([policy, rules]))
    }
  }
  expect(wrong).toEqual([])
})

/** Whether the reason at a place of the table holds. */
const isHeld = (held: number, at: number): boolean => (held & (1 << at)) !== 0

function* everyVerdict() {
  for (const policy of POLICY_NAMES)
    for (const category of CATEGORY_NAMES)
      for (let held = 0; held < 2 ** REASONS.length; held++) yield { policy, category, held }
}

/** All rules for a category and the reasons that hold. Those that do not hold have a rule that would be seen. */
function* everyRules(category: string, held: number): Generator<AccountRules> {
  const free: readonly string[] = [category, ...REASONS.flatMap(({ rule }, at) => (isHeld(held, at) ? [rule] : []))]
  const others = REASONS.flatMap(({ rule }, at) => (isHeld(held, at) ? [] : [[rule, "block"] as const]))
  for (let code = 0; code < CHOICES.length ** free.length; code++) {
    const chosen = free.map((rule, at) => [rule, CHOICES[Math.floor(code / CHOICES.length ** at) % CHOICES.length]])
    yield Object.fromEntries([...others, ...chosen])
  }
}

/** What the table says, written down a second time. */
function expectedOf(
  policy: Policy,
  category: (typeof CATEGORY_NAMES)[number],
  holding: readonly (typeof REASONS)[number][],
  rules: AccountRules,
): Recommendation {
  if (category === "invalid") return "block"
  const ofReasons = holding.map(
    ({ rule, floor }) => rules[rule] ?? (floor === null ? "allow" : RECOMMENDATION_FLOORS[floor][policy]),
  )
  return strictest([rules[category] ?? POLICIES[policy][category], ...ofReasons])
}

test("an entry of an own list decides alone, whatever the rules are", () => {
  const everything = (recommendation: Recommendation): AccountRules =>
    Object.fromEntries(ACCOUNT_RULE_NAMES.map(rule => [rule, recommendation]))
  const told: Told = { input: "info+a@acme.com", mail: {}, hints: { isRole: true }, lookalikeOf: "paypal.com" }
  for (const recommendation of RECOMMENDATIONS) {
    const rules = everything(recommendation)
    expect(ruled({ ...told, blockedBy: "operator" }, rules)).toBe("block")
    expect(ruled({ ...told, blockedBy: "account" }, rules)).toBe("block")
    expect(ruled({ ...told, isAllowed: true }, rules)).toBe("allow")
    expect(ruled({ ...told, blockedBy: "operator", isAllowed: true }, rules)).toBe("block")
    expect(ruled({ input: "jane@@acme.com", isAllowed: true }, rules)).toBe("block")
    // The verdict of a test address is fixed.
    expect(ruled({ input: "business@mailkind.test" }, rules)).toBe("review")
  }
})

test("the rule of a category replaces what the policy says of weak evidence and of doubts", () => {
  const forwarded: Told = { input: "jane@acme.com", mail: { operatedBy: "forwarder", provider: "improvmx" } }
  const weak: Told = { input: "x@acme.com", sets: ["disposable"], strength: "weak", mail: {} }
  const parked: Told = { input: "jane@acme.com", mail: {}, homepage: "parked" }
  const openSuffix: Told = { input: "jane@acme.com", sets: ["open_education_suffix"], mail: {} }
  const degraded: Told = { input: "jane@acme.com", mail: "unavailable" }
  expect([
    ruled(forwarded, {}, "strict"),
    ruled(forwarded, { business: "allow" }, "strict"),
    ruled(weak, {}),
    ruled(weak, { disposable: "block" }),
    ruled(weak, { disposable: "allow" }),
    ruled(parked, {}),
    ruled(parked, { business: "allow" }),
    ruled(openSuffix, {}),
    ruled(openSuffix, { education: "allow" }),
    ruled(degraded, {}),
    ruled(degraded, { unknown: "allow" }),
  ]).toEqual(["review", "allow", "review", "block", "allow", "review", "allow", "review", "allow", "review", "allow"])
})

test("where a free name gave the category, its rule stands above that of the category", () => {
  const told: Told = { input: "jane@acme.eu.cc", sets: ["free_subdomain"], mail: {} }
  expect(judged(told).verdict.reasons[0]).toBe("free_subdomain")
  expect([
    ruled(told, {}),
    ruled(told, { free_subdomain: "allow" }),
    ruled(told, { free_subdomain: "allow", unknown: "block" }),
    ruled(told, { free_subdomain: "block", unknown: "allow" }),
    ruled(told, { free_subdomain: "allow", lookalike_domain: "review" }),
    ruled({ ...told, lookalikeOf: "paypal.com" }, { free_subdomain: "allow" }),
    ruled({ ...told, mail: { operatedBy: "suite_a" } }, { free_subdomain: "block" }),
  ]).toEqual(["review", "allow", "allow", "block", "allow", "review", "block"])
})

test("a slip of a household name is lowered by the rule of its category and that of typos together", () => {
  const slip: Told = {
    input: "jane@gmial.com",
    sets: ["disposable"],
    suggestion: "gmail.com",
    isHouseholdSlip: true,
    mail: {},
  }
  expect([
    ruled(slip, {}),
    ruled(slip, { likely_typo: "allow" }),
    ruled(slip, { disposable: "allow" }),
    ruled(slip, { disposable: "allow", likely_typo: "allow" }),
    ruled(slip, { likely_typo: "block" }),
  ]).toEqual(["review", "review", "review", "allow", "block"])
})

test("`account_rule` follows the decisive reason exactly where the rules changed the recommendation", () => {
  const told: Told = { input: "info@gmail.com", sets: ["personal"], mail: {}, hints: { isRole: true } }
  expect(ruledDomain(judged(told), { personal: "block" }).verdict.reasons).toEqual([
    "free_provider",
    "account_rule",
    ...judged(told).verdict.reasons.slice(1),
  ])
  // These recommend what the policy does.
  for (const rules of [{}, { personal: "review" }, { role_account: "allow" }, { business: "block" }] as const) {
    const domain = judged(told)
    expect(ruledDomain(domain, rules)).toBe(domain)
  }
})

test("a verdict tells which rule decided, and none where the policy did once a rule had lowered the rest", () => {
  const told: Told = { input: "info@gmail.com", sets: ["personal"], mail: {}, hints: { isRole: true } }
  const ruleOf = (rules: AccountRules, policy: Policy) => rulingOf(judged(told, policy), rules)
  expect([
    ruleOf({ personal: "block" }, "b2b"),
    ruleOf({ personal: "allow", role_account: "block" }, "b2b"),
    ruleOf({ personal: "allow" }, "strict"),
    ruleOf({ business: "block" }, "strict"),
  ]).toEqual([
    { recommendation: "block", rule: "personal" },
    { recommendation: "block", rule: "role_account" },
    { recommendation: "review", rule: null },
    null,
  ])
})

test("accounts with different rules and the same recommendation share one verdict, and the one without rules stays as it is", () => {
  const domain = judged({ input: "info@gmail.com", sets: ["personal"], mail: {}, hints: { isRole: true } })
  const before = structuredClone(domain.verdict)
  const blocked = ruledDomain(domain, { personal: "block" })
  expect(ruledDomain(domain, { role_account: "block" })).toBe(blocked)
  expect(ruledDomain(domain, { personal: "allow" })).not.toBe(blocked)
  expect(domain.verdict).toEqual(before)
  expect(blocked.verdict).toEqual({ ...before, recommendation: "block", reasons: blocked.verdict.reasons })
})
