import { expect, test } from "bun:test"
import { join } from "node:path"
import { judge } from "../../src/check/verdict/judge.ts"
import { matchingReasons } from "../../src/check/verdict/rules.ts"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"
import { POLICY_NAMES, RECOMMENDATIONS } from "../../src/contract/policies.ts"
import { REASON_NAMES } from "../../src/contract/reasons.ts"
import { evidenceOf } from "../support/evidence.ts"
import { VERDICT_CASES } from "./verdict-cases.ts"

const GOLDEN = join(import.meta.dir, "verdicts.jsonl")

const lines = VERDICT_CASES.map(facts => {
  const evidence = evidenceOf(facts)
  const { category, confidence, reasons, isDegraded } = judge(evidence, "b2b")
  return JSON.stringify({
    told: facts,
    category,
    confidence,
    [POLICY_NAMES.join("/")]: POLICY_NAMES.map(policy => judge(evidence, policy).recommendation).join("/"),
    reasons,
    ...(isDegraded ? { degraded: true } : {}),
  })
})

test("each case has the verdict that was reviewed", async () => {
  const text = `${lines.join("\n")}\n`
  if (process.env["UPDATE_GOLDEN"] === "1") await Bun.write(GOLDEN, text)
  expect(text).toBe(await Bun.file(GOLDEN).text())
})

test("every reason has a case in which it holds", () => {
  const held = new Set(VERDICT_CASES.flatMap(facts => matchingReasons(evidenceOf(facts))))
  expect(REASON_NAMES.filter(reason => !held.has(reason))).toEqual([])
})

test("every category is some case's verdict", () => {
  const given = new Set(VERDICT_CASES.map(facts => judge(evidenceOf(facts), "b2b").category))
  expect(CATEGORY_NAMES.filter(category => !given.has(category))).toEqual([])
})

test("strict is never softer than b2b, and b2b never softer than lenient", () => {
  const severity = (facts: (typeof VERDICT_CASES)[number], policy: (typeof POLICY_NAMES)[number]) =>
    RECOMMENDATIONS.indexOf(judge(evidenceOf(facts), policy).recommendation)
  for (const facts of VERDICT_CASES) {
    expect(severity(facts, "strict")).toBeGreaterThanOrEqual(severity(facts, "b2b"))
    expect(severity(facts, "b2b")).toBeGreaterThanOrEqual(severity(facts, "lenient"))
  }
})

test("hints never change a recommendation", () => {
  for (const facts of VERDICT_CASES) {
    const evidence = evidenceOf(facts)
    const hinted = { ...evidence, hints: { ...evidence.hints, hasSharedInbox: true, hasGroup: true } }
    for (const policy of POLICY_NAMES)
      expect(judge(hinted, policy).recommendation).toBe(judge(evidence, policy).recommendation)
  }
})

test("the absence of DNS alone never blocks anybody", () => {
  for (const policy of POLICY_NAMES) {
    expect(judge(evidenceOf({ input: "jane@acme.com", mail: "unavailable" }), policy).recommendation).not.toBe("block")
    expect(judge(evidenceOf({ input: "acme.com", mail: "unavailable" }), policy).recommendation).not.toBe("block")
  }
})
