import { expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { NO_HINTS } from "../../../src/check/address/address-hints.ts"
import { detectSubjectKind, parseSubject } from "../../../src/check/address/parse-subject.ts"
import { NO_OWN_LIST_MATCH } from "../../../src/check/check.ts"
import { fullResult, type JudgedDomain, judgeDomain } from "../../../src/check/result/result.ts"
import { POLICY_NAMES } from "../../../src/contract/policies.ts"
import { CheckResult } from "../../../src/contract/result-schema.ts"
import { VERDICT_CASES } from "../../golden/verdict-cases.ts"
import { check } from "../../support/app.ts"
import { evidenceOf } from "../../support/evidence.ts"

test("every result has exactly the members of the contract", () => {
  for (const facts of VERDICT_CASES) {
    for (const policy of POLICY_NAMES) {
      const subject = parseSubject(detectSubjectKind(facts.input), facts.input, "mailkind.test")
      const judged = judgeDomain(subject, evidenceOf(facts), policy)
      const outcome = { subject, hints: { ...NO_HINTS, ...facts.hints }, judged, tookMs: 1, wasFetched: false }
      expect([...Value.Errors(CheckResult, fullResult(outcome, "req_1"))]).toEqual([])
    }
  }
})

test("a verdict cached for one address is reused for the next of its domain, with nothing of the first address", async () => {
  const ask = (input: string, policy: "b2b" | "strict" = "b2b") =>
    check({
      subject: parseSubject(detectSubjectKind(input), input, "mailkind.test"),
      policy,
      isDeep: false,
      includeTenant: true,
      ownListMatch: NO_OWN_LIST_MATCH,
    })
  await ask("eve@settled-example.com")
  const [one, other] = [await ask("ada@settled-example.com"), await ask("bob@settled-example.com")]
  expect(other.judged).toBe(one.judged)
  expect(JSON.stringify(other.judged)).not.toContain("ada")
  expect(fullResult(other, "req_1").email).toBe("bob@settled-example.com")
  for (const differs of ["bob+tag@settled-example.com", "settled-example.com", "https://settled-example.com/"]) {
    const outcome = await ask(differs)
    expect(outcome.judged).not.toBe(one.judged)
    expect(fullResult(outcome, "req_1").has_subaddress).toBe(differs.includes("+"))
  }
  expect((await ask("ada@settled-example.com", "strict")).judged.policy).toBe("strict")
})

test("addresses whose hints are of the same kinds share a verdict, and each result has the words of its own address", async () => {
  const domain = "shared-hints-example.com"
  const ask = async (input: string, ownListMatch = NO_OWN_LIST_MATCH) => {
    const subject = parseSubject("email", input, "mailkind.test")
    return await check({ subject, policy: "strict", isDeep: false, includeTenant: true, ownListMatch })
  }
  await ask(`ada@${domain}`)
  await ask(`support@${domain}`)
  const [support, sales, team, plain] = [
    await ask(`support@${domain}`),
    await ask(`sales@${domain}`),
    await ask(`team@${domain}`),
    await ask(`ada@${domain}`),
  ]
  expect(sales.judged).toBe(support.judged)
  expect(fullResult(support, "req_1").shared_inbox).toEqual({ confidence: 0.3, match: "support" })
  expect(fullResult(sales, "req_1").shared_inbox).toEqual({ confidence: 0.3, match: "sales" })
  expect(fullResult(team, "req_1")).toMatchObject({
    group: { confidence: 0.3, match: "team" },
    shared_inbox: { match: null },
  })
  expect(fullResult(plain, "req_1")).toMatchObject({
    group: { match: null },
    shared_inbox: { match: null },
    is_role_account: false,
  })
  const blocked = { ...NO_OWN_LIST_MATCH, blockedBy: "account" } as const
  await ask(`ada@${domain}`, blocked)
  const [once, again] = [await ask(`ada@${domain}`, blocked), await ask(`bob@${domain}`, blocked)]
  expect(again.judged).toBe(once.judged)
  expect(fullResult(again, "req_1")).toMatchObject({ is_blocked: true, recommendation: "block" })
  expect(fullResult(await ask(`bob@${domain}`), "req_1")).toMatchObject({ is_blocked: false })
})

test("however many kinds of request come for one domain, each is answered correctly, and few are cached", async () => {
  const domain = "many-questions-example.com"
  const given: JudgedDomain[] = []
  for (let round = 0; round < 3; round++) {
    for (const policy of POLICY_NAMES) {
      for (const input of [`ada@${domain}`, `ada+x@${domain}`, domain, `https://${domain}/`]) {
        for (const isDeep of [true, false]) {
          const subject = parseSubject(detectSubjectKind(input), input, "mailkind.test")
          const outcome = await check({ subject, policy, isDeep, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH })
          given.push(outcome.judged)
          const result = fullResult(outcome, "req_1")
          expect(result).toMatchObject({
            policy,
            has_subaddress: input.includes("+"),
            email: input.includes("@") ? input : null,
          })
          expect(result.reasons.includes("deep_unavailable")).toBe(isDeep)
        }
      }
    }
  }
  const kept = new Set(given.filter((one, at) => given.indexOf(one) < at))
  expect(kept.size).toBeGreaterThan(0)
  expect(kept.size).toBeLessThanOrEqual(6)
})
