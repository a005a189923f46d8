import { describe, expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { ACCOUNT_RULE_NAMES, type AccountRules } from "../../src/contract/account-rules.ts"
import { RulesAnswer } from "../../src/contract/account-rules-schema.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { RECOMMENDATIONS } from "../../src/contract/policies.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { exportAccount } from "../../src/customers/accounts/account-export.ts"
import { setAccountRules } from "../../src/customers/accounts/account-rules.ts"
import { listActsAbout } from "../../src/customers/audit/audit.ts"
import { addEntries } from "../../src/customers/own-lists/own-lists.ts"
import { latestChangeId } from "../../src/customers/store/change-log/change-log.ts"
import { createChangePoller } from "../../src/customers/store/change-log/change-poller.ts"
import { testApp } from "../support/app.ts"
import { anotherAccount } from "./another-account.ts"
import { entry } from "./own-list-entry.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

async function put({ ask }: Harness, rules: AccountRules, key?: string) {
  const { status, body } = await ask("PUT /v1/rules", { body: { rules }, ...(key === undefined ? {} : { key }) })
  expect(status).toBe(200)
  return body["rules"]
}

const rulesOf = async ({ ask }: Harness, key?: string) =>
  (await ask("GET /v1/rules", key === undefined ? {} : { key })).body["rules"]

/** All rules as the API tells them. */
const whole = (rules: AccountRules) => Object.fromEntries(ACCOUNT_RULE_NAMES.map(rule => [rule, rules[rule] ?? null]))

async function checked({ ask }: Harness, input: object, key?: string): Promise<CheckResult> {
  const { body } = await ask("POST /v1/check", { body: input, ...(key === undefined ? {} : { key }) })
  return body as CheckResult // as other tests see
}

const verdictOf = async (harness: Harness, input: object, key?: string) => {
  const { recommendation, reasons } = await checked(harness, input, key)
  return [recommendation, reasons.includes("account_rule")]
}

describe("GET and PUT /v1/rules", () => {
  test("tell every rule, cost nothing, and what is left out of a change is gone", async () => {
    const harness = await testApp()
    expect(await rulesOf(harness)).toEqual(whole({}))
    expect(await put(harness, { personal: "block", role_account: "review" })).toEqual(
      whole({ personal: "block", role_account: "review" }),
    )
    const { body } = await harness.ask("PUT /v1/rules", { body: { rules: { relay: "allow", personal: null } } })
    expect(Value.Check(RulesAnswer, body)).toBe(true)
    expect(await rulesOf(harness)).toEqual(whole({ relay: "allow" }))
    // What was told is taken again.
    expect((await harness.ask("PUT /v1/rules", { body: { rules: await rulesOf(harness) } })).status).toBe(200)
    expect(await rulesOf(harness)).toEqual(whole({ relay: "allow" }))
    await put(harness, {})
    expect(await rulesOf(harness)).toEqual(whole({}))
    expect((await harness.ask("GET /v1/usage")).body["today"]).toMatchObject({ used: 0 })
  })

  test("take every recommendation for every rule", async () => {
    const harness = await testApp()
    for (const recommendation of RECOMMENDATIONS) {
      const rules: AccountRules = Object.fromEntries(ACCOUNT_RULE_NAMES.map(rule => [rule, recommendation]))
      await put(harness, rules)
      expect(await rulesOf(harness)).toEqual(whole(rules))
    }
  })

  test.each([
    ["{}", "/rules", "object"],
    ['{"rules":null}', "/rules", "object"],
    ['{"rules":[{"personal":"block"}]}', "/rules", "object"],
    ['{"rules":{"jane@gmail.com":"block"}}', "/rules", "unknown name"],
    ['{"rules":{"__proto__":"block"}}', "/rules", "unknown name"],
    ['{"rules":{"invalid":"allow"}}', "/rules", "always blocked"],
    ['{"rules":{"personal":"Block"}}', "/rules/personal", "`allow`, `review`, `block`"],
    ['{"rules":{"personal":["block"]}}', "/rules/personal", "`allow`, `review`, `block`"],
    ['{"rules":{"personal":7}}', "/rules/personal", "`allow`, `review`, `block`"],
    ['{"rules":{"personal":{"personal":"block"}}}', "/rules/personal", "`allow`, `review`, `block`"],
    ['{"rules":{"personal":"block","relay":"allow","personal":"allow"}}', "/rules/personal", "contradict"],
    ['{"rules":{"personal":"block"},"rules":{"relay":"allow"}}', "/rules", "`rules` is given more than once"],
    ['{"rules":{"personal":"block"},"rul\\u0065s":{"personal":"block"}}', "/rules", "more than once"],
    ['{"rules":{"person\\u0061l":"block","personal":null}}', "/rules/personal", "contradict"],
    ['{"rules":{"personal":"block"},"rules":7}', "/rules", "object"],
    ['{"rules":7,"rules":{"personal":"block"}}', "/rules", "more than once"],
    ['["rules"]', "", "object"],
  ])("refuse %s, and nothing is changed", async (body, pointer, detail) => {
    const harness = await testApp()
    await put(harness, { relay: "block" })
    const refused = await harness.ask("PUT /v1/rules", { body, headers: { "Content-Type": "application/json" } })
    expect([refused.status, refused.body["code"]]).toEqual([400, "invalid_input"])
    expect(refused.body["errors"]).toEqual([{ pointer, detail: expect.stringContaining(detail) }])
    expect(JSON.stringify(refused.body)).not.toContain("jane")
    expect(await rulesOf(harness)).toEqual(whole({ relay: "block" }))
  })

  test("name both of two rules that contradict each other, and take a rule that is written twice alike", async () => {
    const harness = await testApp()
    const send = (body: string) =>
      harness.ask("PUT /v1/rules", { body, headers: { "Content-Type": "application/json" } })
    const { body } = await send('{"rules":{"personal":"block","personal":"allow"}}')
    expect(body["detail"]).toContain("`personal: block` and `personal: allow`")
    expect((await send('{"rules":{"personal":"block","personal":"block"}}')).status).toBe(200)
    const long = JSON.stringify(
      { rules: whole(Object.fromEntries(ACCOUNT_RULE_NAMES.map(rule => [rule, "review"]))) },
      null,
      8,
    )
    expect(long.length).toBeLessThan(LIMITS.rulesBodyBytesMax / 4)
    expect((await send(long)).status).toBe(200)
  })

  test("refuse bodies that are deep, long or full of names, in bounded time", async () => {
    const harness = await testApp()
    const send = async (body: string) =>
      (await harness.ask("PUT /v1/rules", { body, headers: { "Content-Type": "application/json" } })).body["code"]
    const room = LIMITS.rulesBodyBytesMax - 40
    expect(await send(`{"rules":${'{"a":'.repeat(room / 8)}1${"}".repeat(room / 8)}}`)).toBe("invalid_input")
    expect(await send(`{"rules":{${'"a":1,'.repeat(room / 6 - 1)}"a":1}}`)).toBe("invalid_input")
    expect(await send(`{"rules":{"${"\\\\".repeat(room / 4)}":1}}`)).toBe("invalid_input")
    expect(await send(`{"rules":{}}${" ".repeat(LIMITS.rulesBodyBytesMax - 11)}`)).toBe("payload_too_large")
  })
})

describe("the rules of an account", () => {
  test("hold for its checks by body, by query and in batches, whatever the policy, and for websites and domains", async () => {
    const harness = await testApp()
    await put(harness, { personal: "block", role_account: "block" })
    for (const policy of ["b2b", "lenient"]) {
      expect(await verdictOf(harness, { email: "jane@gmail.com", policy })).toEqual(["block", true])
      expect(await verdictOf(harness, { url: "https://gmail.com/", policy })).toEqual(["block", true])
      expect(await verdictOf(harness, { email: "jane@stripe.com", policy })).toEqual(
        await verdictOf(harness, { domain: "stripe.com", policy }),
      )
    }
    // The policy says so too.
    expect(await verdictOf(harness, { email: "jane@gmail.com", policy: "strict" })).toEqual(["block", false])
    const query = await harness.ask("GET /v1/check?email=jane@gmail.com")
    expect(query.body["recommendation"]).toBe("block")
    const { body } = await harness.ask("POST /v1/check/batch", {
      body: { items: ["jane@gmail.com", "gmail.com", "postmaster@stripe.com", "mailinator.com", "jane@@x"] },
    })
    const results = body["results"] as readonly CheckResult[] // as documented
    expect(results.map(({ recommendation, reasons }) => [recommendation, reasons.includes("account_rule")])).toEqual([
      ["block", true],
      ["block", true],
      ["block", true],
      ["block", false],
      ["block", false],
    ])
  })

  test("change a verdict that was settled before, at once, and taken back it is as it was", async () => {
    const harness = await testApp()
    const result = async () => ({ ...(await checked(harness, { email: "jane@gmail.com" })), request_id: "" })
    for (let round = 0; round < 4; round++) await result()
    const before = await result()
    for (const personal of ["block", "allow"] as const) {
      await put(harness, { personal })
      const [first, ...others] = before.reasons
      expect(await result()).toEqual({
        ...before,
        recommendation: personal,
        reasons: [first ?? "no_evidence", "account_rule", ...others],
      })
    }
    await put(harness, {})
    expect(await result()).toEqual(before)
  })

  test("stand below its own lists and those of the operator", async () => {
    const harness = await testApp()
    const { changes, accountId } = harness
    await put(harness, { personal: "block", business: "allow" })
    await addEntries(changes, { accountId }, "allow", [entry("gmail.com")])
    await addEntries(changes, { accountId }, "block", [entry("stripe.com")])
    expect(await verdictOf(harness, { email: "jane@gmail.com" })).toEqual(["allow", false])
    expect(await verdictOf(harness, { email: "jane@stripe.com" })).toEqual(["block", false])
    await addEntries(changes, "operator", "block", [entry("gmail.com")])
    expect(await verdictOf(harness, { email: "jane@gmail.com" })).toEqual(["block", false])
  })

  test("change no test address, whose verdict is fixed", async () => {
    const harness = await testApp()
    await put(harness, { personal: "block", business: "block" })
    expect(await verdictOf(harness, { email: "personal@mailkind.test" })).toEqual(["review", false])
    expect(await verdictOf(harness, { email: "business@mailkind.test" })).toEqual(["allow", false])
  })

  test("are its own: another account has others, and a second key of the account the same", async () => {
    const harness = await testApp()
    const other = await anotherAccount(harness.changes)
    const second = await harness.newKey()
    await put(harness, { personal: "block" })
    await put(harness, { personal: "allow", business: "review" }, other.key)
    expect(await rulesOf(harness)).toEqual(whole({ personal: "block" }))
    expect(await rulesOf(harness, second.text)).toEqual(whole({ personal: "block" }))
    const input = { email: "jane@gmail.com" }
    expect(await verdictOf(harness, input)).toEqual(["block", true])
    expect(await verdictOf(harness, input, second.text)).toEqual(["block", true])
    expect(await verdictOf(harness, input, other.key)).toEqual(["allow", true])
  })

  test("are not told to a page, which gets their recommendation", async () => {
    const harness = await testApp()
    const { text } = await harness.newKey(["https://shop.example"])
    await put(harness, { personal: "block" })
    const headers = { Origin: "https://shop.example" }
    const { body } = await harness.ask("POST /v1/check", { body: { email: "jane@gmail.com" }, key: text, headers })
    expect(body["recommendation"]).toBe("block")
    expect(body["reasons"]).not.toContain("account_rule")
    expect((await harness.ask("GET /v1/rules", { key: text, headers })).body["code"]).toBe("invalid_key")
  })

  test("reach another process through the change log", async () => {
    const harness = await testApp()
    const { keys, terms, corrections, ownLists } = harness.customers
    const listeners = [keys, terms, corrections, ownLists]
    const read = createChangePoller(harness.store, listeners, await latestChangeId(harness.store), () => undefined)
    const elsewhere = { ...harness.changes, notify: () => undefined }
    const input = { email: "jane@gmail.com" }
    expect(await verdictOf(harness, input)).toEqual(["review", false])
    await setAccountRules(elsewhere, harness.accountId, { personal: "block" })
    expect(await verdictOf(harness, input)).toEqual(["review", false])
    read()
    for (let turn = 0; turn < 100; turn++) if ((await verdictOf(harness, input))[0] === "block") break
    expect(await verdictOf(harness, input)).toEqual(["block", true])
  })

  test("are those of one change, whichever of many at a time was the last", async () => {
    const harness = await testApp()
    const sets: readonly AccountRules[] = RECOMMENDATIONS.map(recommendation =>
      Object.fromEntries(ACCOUNT_RULE_NAMES.map(rule => [rule, recommendation])),
    )
    for (let round = 0; round < 5; round++) {
      await Promise.all([...sets, ...sets].map(rules => put(harness, rules)))
      const held = await rulesOf(harness)
      expect(sets.some(rules => Bun.deepEquals(whole(rules), held))).toBe(true)
    }
  })

  test("stand in the audit trail and in the export", async () => {
    const harness = await testApp()
    const { store, accountId, keyId } = harness
    await put(harness, { new_domain: "review", personal: "block" })
    const act = (await listActsAbout(store, accountId, 10)).find(({ kind }) => kind === "rules_changed")
    expect(act).toMatchObject({
      kind: "rules_changed",
      source: "api",
      keyId,
      details: "personal: block, new_domain: review",
    })
    const parts: string[] = []
    for await (const part of exportAccount(store, 0, accountId)) parts.push(part)
    expect(JSON.parse(parts.join("")).account.rules).toEqual({ personal: "block", new_domain: "review" })
  })

  test("that hold already are no change: nothing is added to the audit trail and the change log", async () => {
    const harness = await testApp()
    const { store, accountId } = harness
    const acts = async () =>
      (await listActsAbout(store, accountId, 50)).filter(({ kind }) => kind === "rules_changed").length
    await put(harness, {})
    expect(await acts()).toBe(0)
    await put(harness, { personal: "block", relay: "allow" })
    const changeId = await latestChangeId(store)
    await put(harness, { relay: "allow", personal: "block" })
    expect([await acts(), await latestChangeId(store)]).toEqual([1, changeId])
    await put(harness, {})
    expect(await acts()).toBe(2)
  })
})
