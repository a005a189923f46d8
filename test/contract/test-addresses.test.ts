import { expect, setDefaultTimeout, test } from "bun:test"
import { POLICIES, POLICY_NAMES } from "../../src/contract/policies.ts"
import { TEST_ADDRESSES, TEST_PROBLEMS } from "../../src/contract/test-addresses.ts"
import { testApp } from "../support/app.ts"

setDefaultTimeout(300_000)

const keyless = async (body: object) => (await testApp()).ask("POST /v1/check", { body, key: null })

test("every test address is answered without a key, with its category, whatever the tag, case or subdomain", async () => {
  for (const [localPart, row] of Object.entries(TEST_ADDRESSES)) {
    for (const email of [
      `${localPart}@mailkind.test`,
      `${localPart.toUpperCase()}+tag@Mailkind.Test`,
      `${localPart}@eu.mailkind.test`,
    ]) {
      const { status, body } = await keyless({ email })
      expect({ status, category: body["category"], test: (body["reasons"] as string[])[0] }).toEqual({
        status: 200,
        category: row.category,
        test: "test_address",
      })
    }
  }
})

test("any policy applies to a test address as usual", async () => {
  for (const policy of POLICY_NAMES) {
    for (const category of [
      "business",
      "personal",
      "disposable",
      "relay",
      "education",
      "government",
      "invalid",
      "unknown",
    ] as const) {
      const { body } = await keyless({ email: `${category}@mailkind.test`, policy })
      expect({ category, policy, is: body["recommendation"] }).toEqual({
        category,
        policy,
        is: POLICIES[policy][category],
      })
    }
  }
})

test.each([
  ["role", { is_role_account: true, is_business: true }],
  ["shared", { shared_inbox: { confidence: 0.3, match: "shared" } }],
  ["group", { group: { confidence: 0.3, match: "group" } }],
  ["group-service", { group: { confidence: 1, match: "googlegroups.com" } }],
  ["lookalike", { is_lookalike: true, recommendation: "review" }],
  ["typo", { did_you_mean: "gmail.com", recommendation: "review" }],
  ["new-domain", { domain_age_days: 3, is_new_domain: true, recommendation: "review" }],
  ["blocked", { is_blocked: true, recommendation: "block" }],
  ["disposable", { is_disposable: true }],
  ["weak-listing", { is_disposable: true, confidence: 0.6, recommendation: "review" }],
  ["relay", { is_relay: true }],
  ["personal", { is_free_provider: true }],
  [
    "suite-a",
    {
      integrations: { suite_a_ready: true, suite_b_ready: false },
      mail: expect.objectContaining({ provider: "suite_a" }),
    },
  ],
  [
    "suite-b",
    {
      integrations: { suite_a_ready: false, suite_b_ready: true },
      mail: expect.objectContaining({ provider: "suite_b" }),
    },
  ],
  [
    "suite-b-tenant",
    { integrations: { suite_a_ready: false, suite_b_ready: true }, mail: expect.objectContaining({ provider: null }) },
  ],
  ["pending", { workspace: expect.objectContaining({ pending: true }) }],
  ["degraded", { degraded: true, recommendation: "review" }],
  ["cached", { cached: true, degraded: false }],
  ["anything-else", { category: "unknown" }],
])("%s@ shows what it is for", async (localPart, expected) => {
  expect((await keyless({ email: `${localPart}@mailkind.test` })).body).toMatchObject(expected)
})

test("each error address is refused with its problem", async () => {
  for (const [localPart, { code }] of Object.entries(TEST_PROBLEMS)) {
    expect((await keyless({ email: `${localPart}+x@mailkind.test` })).body["code"]).toBe(code)
  }
  expect((await keyless({ email: "error-429@mailkind.test" })).headers.get("retry-after")).toBe("1")
  const quota = await keyless({ email: "error-quota@mailkind.test" })
  expect(quota.body).toMatchObject({ resets_at: "2026-01-02T00:00:00.000Z", retry_after: 86_400 })
})

test("a bad policy beside a test address is invalid input, without a key too", async () => {
  expect((await keyless({ email: "business@mailkind.test", policy: "none" })).body["code"]).toBe("invalid_input")
  expect((await keyless({ email: "business@mailkind.test", domain: "x.com" })).body["code"]).toBe("invalid_input")
})

test("the test domain as a domain or URL needs a key and is unknown", async () => {
  const { ask } = await testApp()
  for (const body of [{ domain: "mailkind.test" }, { url: "https://www.mailkind.test/x" }]) {
    expect((await ask("POST /v1/check", { body })).body).toMatchObject({
      category: "unknown",
      reasons: ["test_address"],
    })
    expect((await ask("POST /v1/check", { body, key: null })).status).toBe(401)
  }
})

test("a name that only looks like the test domain needs a key", async () => {
  for (const email of ["business@xmailkind.test", "business@mailkind.test.com", "business@mailkind.tests"]) {
    expect((await keyless({ email })).status).toBe(401)
  }
})
