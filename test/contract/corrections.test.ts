import { describe, expect, test } from "bun:test"
import { known, unknown } from "../../src/base/finding.ts"
import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import { createCheck, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import type { NetworkEvidence } from "../../src/check/evidence-defects.ts"
import { fullResult } from "../../src/check/result/result.ts"
import type { Category } from "../../src/contract/categories.ts"
import { REPORTABLE_CATEGORIES } from "../../src/contract/feedback-schema.ts"
import { POLICIES, POLICY_NAMES } from "../../src/contract/policies.ts"
import { decideFeedback } from "../../src/customers/feedback/decision.ts"
import { type AttributedLog, latestChangeId } from "../../src/customers/store/change-log/change-log.ts"
import { createChangePoller } from "../../src/customers/store/change-log/change-poller.ts"
import { lists, testApp } from "../support/app.ts"
import { settled } from "../support/time.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

/** The id of a new report that the domain is of the category. */
async function reported({ ask }: Harness, domain: string, category: Category): Promise<string> {
  const { body } = await ask("POST /v1/feedback", { body: { domain, expected_category: category } })
  return String(body["id"])
}

const checked = async ({ ask }: Harness, input: object) => (await ask("POST /v1/check", { body: input })).body

/** Waits until corrections have changed. */
async function corrected({ customers }: Harness, work: () => Promise<unknown>): Promise<void> {
  const { version } = customers.corrections
  await work()
  for (let turn = 0; customers.corrections.version === version && turn < 100; turn++) await settled()
  expect(customers.corrections.version).not.toBe(version)
}

describe("an accepted report", () => {
  test.each(REPORTABLE_CATEGORIES.map(category => [category] as const))(
    "makes the category %s, decisive and as the policies say",
    async category => {
      const harness = await testApp()
      const domain = category === "disposable" ? "gmail.com" : "mailinator.com"
      const id = await reported(harness, domain, category)
      await corrected(harness, () => decideFeedback(harness.changes, id, "accepted"))
      for (const policy of POLICY_NAMES) {
        const body = await checked(harness, { domain, policy })
        expect([body["category"], (body["reasons"] as string[])[0]]).toEqual([category, "corrected"]) // of the contract
        // DNS is never asked here, so that a business is looked at under all but one policy.
        const isReviewed = category === "business" && policy !== "lenient"
        expect(body["recommendation"]).toBe(isReviewed ? "review" : POLICIES[policy][category])
        expect(body["confidence"]).toBe(0.792)
      }
    },
  )

  test("is as sure as 0.99 while DNS answers", async () => {
    const harness = await testApp()
    const id = await reported(harness, "mailinator.com", "business")
    await corrected(harness, () => decideFeedback(harness.changes, id, "accepted"))
    const check = createCheck({
      activeLists: () => lists,
      networkProbe: () => ANSWERED,
      deepProbe: OFFLINE_DEEP_PROBE,
      corrections: harness.customers.corrections,
      clock: harness.clock,
      stopwatch: harness.clock,
    })
    const subject = parseSubject(detectSubjectKind("mailinator.com"), "mailinator.com", "mailkind.test")
    const outcome = await check({
      subject,
      policy: "b2b",
      isDeep: false,
      includeTenant: false,
      ownListMatch: NO_OWN_LIST_MATCH,
    })
    expect(fullResult(outcome, "req_1")).toMatchObject({
      category: "business",
      is_business: true,
      confidence: 0.99,
      recommendation: "allow",
      reasons: ["corrected", "disposable_domain", "resolves"],
      is_disposable: true,
      degraded: false,
    })
  })

  test("holds for the domain and all below it, in addresses and URLs, and for no other", async () => {
    const harness = await testApp()
    const id = await reported(harness, "granite-own.co.uk", "education")
    await corrected(harness, () => decideFeedback(harness.changes, id, "accepted"))
    for (const input of [
      { domain: "granite-own.co.uk" },
      { domain: "mail.Granite-own.co.uk" },
      { email: "jane+x@granite-own.co.uk" },
      { email: "support@deep.mail.granite-own.co.uk" },
      { url: "https://www.granite-own.co.uk/x" },
    ])
      expect(await checked(harness, input)).toMatchObject({ category: "education", is_business: true })
    for (const input of [
      { domain: "xgranite-own.co.uk" },
      { domain: "other.co.uk" },
      { url: "https://granite-own.uk" },
    ])
      expect((await checked(harness, input))["category"]).not.toBe("education")
    expect(await checked(harness, { email: "a..b@granite-own.co.uk" })).toMatchObject({
      category: "invalid",
      reasons: expect.arrayContaining(["invalid_syntax"]),
      confidence: 1,
    })
  })

  test("changes a verdict that was settled before, in every way in which it was asked", async () => {
    const harness = await testApp()
    const inputs = POLICY_NAMES.flatMap(policy => [
      { email: "jane@gmail.com", policy },
      { domain: "gmail.com", policy, workspace: false },
      { url: "https://gmail.com/", policy, deep: true },
    ])
    for (let round = 0; round < 4; round++)
      for (const input of inputs) expect((await checked(harness, input))["category"]).toBe("personal")
    const id = await reported(harness, "gmail.com", "relay")
    await corrected(harness, () => decideFeedback(harness.changes, id, "accepted"))
    for (const input of inputs) expect(await checked(harness, input)).toMatchObject({ category: "relay" })
    await corrected(harness, () => decideFeedback(harness.changes, id, "rejected"))
    for (const input of inputs) {
      const body = await checked(harness, input)
      expect(body["category"]).toBe("personal")
      expect(body["reasons"]).not.toContain("corrected")
    }
  })

  test("is what a report of the same domain names as the current category", async () => {
    const harness = await testApp()
    const id = await reported(harness, "gmail.com", "business")
    await corrected(harness, () => decideFeedback(harness.changes, id, "accepted"))
    const { body } = await harness.ask("POST /v1/feedback", {
      body: { email: "jane@gmail.com", expected_category: "personal" },
    })
    expect(body).toMatchObject({ status: "received", current_category: "business", reported_category: "personal" })
  })

  test("tells a page the category and not why, and who asks the same stays a duplicate", async () => {
    const harness = await testApp()
    const id = await reported(harness, "gmail.com", "business")
    await corrected(harness, () => decideFeedback(harness.changes, id, "accepted"))
    const { text } = await harness.newKey(["https://shop.example"])
    const { body } = await harness.ask("POST /v1/check", {
      body: { email: "jane@gmail.com" },
      key: text,
      headers: { Origin: "https://shop.example" },
    })
    expect(body).toMatchObject({
      category: "business",
      is_business: true,
      reasons: expect.not.arrayContaining(["corrected"]),
    })
    expect(
      (await harness.ask("POST /v1/feedback", { body: { domain: "gmail.com", expected_category: "business" } })).body,
    ).toMatchObject({ id, status: "duplicate" })
  })
})

describe("a report that was not accepted", () => {
  test("changes nothing, be it received or rejected", async () => {
    const harness = await testApp()
    const before = await checked(harness, { domain: "gmail.com" })
    const id = await reported(harness, "gmail.com", "disposable")
    const same = async () =>
      expect({ ...(await checked(harness, { domain: "gmail.com" })), request_id: 0 }).toEqual({
        ...before,
        request_id: 0,
      })
    await same()
    await decideFeedback(harness.changes, id, "rejected")
    await settled()
    await same()
  })
})

describe("a decision of another process", () => {
  test("is heard through the change log, both when it corrects and when it takes back", async () => {
    const harness = await testApp()
    const { keys, terms, corrections, ownLists } = harness.customers
    const since = await latestChangeId(harness.store)
    const faults: unknown[] = []
    const read = createChangePoller(harness.store, [keys, terms, corrections, ownLists], since, fault =>
      faults.push(fault),
    )
    const elsewhere: AttributedLog = { ...harness.changes, notify: () => undefined }
    const id = await reported(harness, "gmail.com", "relay")
    await decideFeedback(elsewhere, id, "accepted")
    await settled()
    expect(await checked(harness, { domain: "gmail.com" })).toMatchObject({ category: "personal" })
    await corrected(harness, async () => read())
    expect(await checked(harness, { domain: "gmail.com" })).toMatchObject({ category: "relay" })
    await settled()
    await decideFeedback(elsewhere, id, "rejected")
    await corrected(harness, async () => read())
    expect(await checked(harness, { domain: "gmail.com" })).toMatchObject({ category: "personal" })
    expect(faults).toEqual([])
  })
})

/** DNS answered, and knows the domain by an address record only. */
const ANSWERED: NetworkEvidence = {
  mail: known({
    exists: true,
    delivery: "implicit",
    isUnreachable: false,
    hasAddress: true,
    operatedBy: null,
    provider: null,
    mx: [],
    spf: known(null),
    dmarcPolicy: known(null),
  }),
  suites: known({ suiteA: [], suiteB: [], otherSuite: null }),
  tenant: unknown("not_asked"),
  isCached: false,
  freshUntilMs: Number.POSITIVE_INFINITY,
}
