import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { createAccount } from "../../src/customers/accounts/accounts.ts"
import { createKey } from "../../src/customers/keys/keys.ts"
import { latestChangeId } from "../../src/customers/store/change-log/change-log.ts"
import { createChangePoller } from "../../src/customers/store/change-log/change-poller.ts"
import { acceptTerms, currentTermsVersion, publishTerms } from "../../src/customers/terms/terms.ts"
import { random } from "../customers/temp-store.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { settled } from "../support/time.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

const DAY_MS = 86_400_000
const NOTICE_MS = LIMITS.termsNoticeDays * DAY_MS
const LINK = '<https://mailkind.example/terms/2>; rel="terms-of-service"'
const WARNING = '299 mailkind "The terms have changed. Version 2 must be accepted before 2026-01-31T00:00:00Z."'
const PAGE = "https://shop.example"

async function publish({ changes }: Pick<Harness, "changes">, version = "2", isMaterial = true): Promise<void> {
  await publishTerms(changes, { version, url: `https://mailkind.example/terms/${version}`, isMaterial })
  await settled()
}

/** What an answer tells of the terms. */
const facts = ({ status, body, headers }: ApiResponse) => ({
  status,
  code: typeof body["code"] === "string" ? body["code"] : null,
  warning: headers.get("warning"),
  link: headers.get("link"),
})
const inGrace = (status: number, code: string | null = null) => ({ status, code, warning: WARNING, link: LINK })
const silent = (status: number, code: string | null = null) => ({ status, code, warning: null, link: null })
const REFUSED = { status: 403, code: "terms_not_accepted", warning: null, link: LINK }

/** A request of each kind that an account's secret key may send. */
const KEYED = [
  ["GET /v1/check?domain=stripe.com", {}, 200],
  ["POST /v1/check", { body: { domain: "stripe.com" } }, 200],
  ["POST /v1/check", { body: { email: "business@mailkind.test" } }, 200],
  ["POST /v1/check/batch", { body: { items: ["stripe.com"] } }, 200],
  ["HEAD /v1/usage", {}, 200],
  ["GET /v1/usage", {}, 200],
  ["POST /v1/feedback", { body: { domain: "stripe.com", expected_category: "personal" } }, 202],
] as const

describe("before any terms are published", () => {
  test("nothing is told of terms, however much time goes by", async () => {
    const { ask, time } = await testApp()
    await time.tick(400 * DAY_MS)
    for (const [line, sent, status] of KEYED) expect(facts(await ask(line, sent))).toEqual(silent(status))
  })
})

describe.each([[0], [4]])("after a material change, to an account of tier %d,", tier => {
  const open = () => testApp({ tier, tiers: "0=100/100/1000" })

  test("every keyed answer carries the warning and the link for 30 days, and from then on is refused", async () => {
    const harness = await open()
    await publish(harness)
    for (const passedMs of [0, 1, NOTICE_MS - 2]) {
      await harness.time.tick(passedMs)
      for (const [line, sent, status] of KEYED) expect(facts(await harness.ask(line, sent))).toEqual(inGrace(status))
    }
    for (const passedMs of [1, 1, 400 * DAY_MS]) {
      await harness.time.tick(passedMs)
      for (const [line, sent] of KEYED) {
        const answer = await harness.ask(line, sent)
        expect(facts(answer)).toEqual(line.startsWith("HEAD") ? { ...REFUSED, code: null } : REFUSED)
      }
    }
  })

  test("refusals of later steps carry them too, and those of earlier steps do not", async () => {
    const harness = await open()
    await publish(harness)
    const { ask } = harness
    expect(facts(await ask("POST /v1/check", { body: {} }))).toEqual(inGrace(400, "invalid_input"))
    expect(facts(await ask("POST /v1/feedback", { body: {} }))).toEqual(inGrace(400, "invalid_input"))
    const large = "x".repeat(LIMITS.bodyBytesMax + 1)
    expect(facts(await ask("POST /v1/feedback", { body: large }))).toEqual(inGrace(413, "payload_too_large"))
    const failing = "GET /v1/check?email=error-500@mailkind.test"
    expect(facts(await ask(failing))).toEqual(inGrace(500, "internal_error"))
    expect(facts(await ask("GET /v1/nothing"))).toEqual(silent(404, "not_found"))
    expect(facts(await ask("PUT /v1/usage"))).toEqual(silent(405, "method_not_allowed"))
    expect(facts(await ask("GET /v1/usage", { key: null }))).toEqual(silent(401, "unauthorized"))
    expect(facts(await ask("GET /v1/usage", { key: "nonsense" }))).toEqual(silent(401, "invalid_key"))
    await harness.store.run("DROP TABLE usage")
    expect(facts(await ask("GET /v1/usage"))).toEqual(inGrace(500, "internal_error"))
  })

  test("acceptance in time ends the warning at once, and for good", async () => {
    const harness = await open()
    await publish(harness)
    expect(facts(await harness.ask("GET /v1/usage"))).toEqual(inGrace(200))
    await acceptTerms(harness.changes, harness.accountId)
    for (const passedMs of [0, NOTICE_MS, 400 * DAY_MS]) {
      await harness.time.tick(passedMs)
      for (const [line, sent, status] of KEYED) expect(facts(await harness.ask(line, sent))).toEqual(silent(status))
    }
  })

  test("acceptance after the end lets the account in at once", async () => {
    const harness = await open()
    await publish(harness)
    await harness.time.tick(NOTICE_MS)
    expect(facts(await harness.ask("GET /v1/usage"))).toEqual(REFUSED)
    await acceptTerms(harness.changes, harness.accountId)
    for (const [line, sent, status] of KEYED) expect(facts(await harness.ask(line, sent))).toEqual(silent(status))
  })

  test("a page's key is warned of and refused with its account", async () => {
    const harness = await open()
    const { text: key } = await harness.newKey([PAGE])
    const ask = (line: string, origin = PAGE) => harness.ask(line, { key, headers: { Origin: origin } })
    await publish(harness)
    await harness.time.tick(NOTICE_MS - 1)
    expect(facts(await ask("GET /v1/check?domain=stripe.com"))).toEqual(inGrace(200))
    expect(facts(await ask("GET /v1/check?domain="))).toEqual(inGrace(400, "invalid_input"))
    await harness.time.tick(1)
    expect(facts(await ask("GET /v1/check?domain=stripe.com"))).toEqual(REFUSED)
    expect(facts(await ask("GET /v1/usage"))).toEqual(REFUSED)
    expect(facts(await ask("GET /v1/check?domain=stripe.com", "https://evil.example"))).toEqual(REFUSED)
  })

  test("a page's key of the wrong kind, or from the wrong origin, is refused with the warning: those steps come later", async () => {
    const harness = await open()
    const { text: key } = await harness.newKey([PAGE])
    await publish(harness)
    const usage = await harness.ask("GET /v1/usage", { key, headers: { Origin: PAGE } })
    expect(facts(usage)).toEqual(inGrace(401, "invalid_key"))
    const check = await harness.ask("GET /v1/check?domain=stripe.com", {
      key,
      headers: { Origin: "https://evil.example" },
    })
    expect(facts(check)).toEqual(inGrace(403, "forbidden_origin"))
  })
})

describe("who sends no key is told nothing of terms", () => {
  test.each([
    ["GET /v1/check?email=business@mailkind.test", 200],
    ["GET /v1/health", 200],
    ["GET /docs/json", 200],
    ["OPTIONS /v1/check", 204],
  ] as const)("%s", async (line, status) => {
    const harness = await testApp()
    await publish(harness)
    for (const passedMs of [0, NOTICE_MS]) {
      await harness.time.tick(passedMs)
      const response = await harness.ask(line, { key: null })
      expect<object>({ ...facts(response), code: null }).toEqual(silent(status))
    }
  })
})

test("429: who is too fast, or has no units left, is warned too", async () => {
  const harness = await testApp({ tier: 0, tiers: "0=2/5/1" })
  await publish(harness)
  const check = () => harness.ask("GET /v1/check?domain=stripe.com")
  expect(facts(await check())).toEqual(inGrace(200))
  for (let count = 0; count < 3; count++) expect(facts(await check())).toEqual(inGrace(429, "quota_exceeded"))
  expect(facts(await check())).toEqual(inGrace(429, "rate_limited"))
})

test("what is refused for its terms costs nothing and is counted nowhere", async () => {
  const harness = await testApp({ tier: 0, tiers: "0=2/5/10" })
  await publish(harness)
  await harness.time.tick(NOTICE_MS)
  for (let count = 0; count < 20; count++) {
    const response = await harness.ask("GET /v1/check?domain=stripe.com")
    expect(facts(response)).toEqual(REFUSED)
    expect(response.headers.has("ratelimit")).toBe(false)
  }
  await acceptTerms(harness.changes, harness.accountId)
  const { body } = await harness.ask("GET /v1/usage")
  expect(body["today"]).toMatchObject({ used: 0, remaining: 10, checks: 0, rate_limited: 0 })
})

describe("of several changes", () => {
  test("those that are not material ask for nothing", async () => {
    const harness = await testApp()
    await publish(harness, "2", false)
    await harness.time.tick(NOTICE_MS)
    for (const [line, sent, status] of KEYED) expect(facts(await harness.ask(line, sent))).toEqual(silent(status))
  })

  test("the first material one sets the end, and the current one is what has to be accepted", async () => {
    const harness = await testApp()
    await publish(harness, "1")
    await harness.time.tick(DAY_MS)
    await publish(harness, "2")
    const reply = await harness.ask("GET /v1/usage")
    expect(facts(reply)).toEqual(inGrace(200))
    await harness.time.tick(NOTICE_MS - DAY_MS - 1)
    expect(facts(await harness.ask("GET /v1/usage"))).toEqual(inGrace(200))
    await harness.time.tick(1)
    expect(facts(await harness.ask("GET /v1/usage"))).toEqual(REFUSED)
    await acceptTerms(harness.changes, harness.accountId)
    expect(facts(await harness.ask("GET /v1/usage"))).toEqual(silent(200))
    await publish(harness, "3")
    expect((await harness.ask("GET /v1/usage")).headers.get("warning")).toContain("Version 3 ")
  })

  test("the same published again changes nothing", async () => {
    const harness = await testApp()
    await publish(harness)
    await harness.time.tick(NOTICE_MS - 1)
    await publish(harness)
    await harness.time.tick(1)
    expect(facts(await harness.ask("GET /v1/usage"))).toEqual(REFUSED)
  })
})

test("an account that was made after the change has accepted it, beside one that has not", async () => {
  const harness = await testApp()
  await publish(harness)
  await harness.time.tick(NOTICE_MS)
  const termsVersion = await currentTermsVersion(harness.store)
  const made = await createAccount(harness.changes, random, { email: "new@example.com", tier: 4, termsVersion })
  if (made.kind !== "created") throw new Error(made.kind)
  const { id: accountId } = made.account
  const key = await createKey(harness.changes, random, { accountId, kind: "secret", name: null, origins: [] })
  if (key.kind !== "created") throw new Error(key.kind)
  expect(facts(await harness.ask("GET /v1/usage", { key: key.text }))).toEqual(silent(200))
  expect(facts(await harness.ask("GET /v1/usage"))).toEqual(REFUSED)
})

test("what another process publishes and accepts is heard through the change log", async () => {
  const harness = await testApp()
  const { keys, terms, corrections, ownLists } = harness.customers
  const followers = [keys, terms, corrections, ownLists]
  const faults: unknown[] = []
  const read = createChangePoller(harness.store, followers, await latestChangeId(harness.store), fault =>
    faults.push(fault),
  )
  const received = async () => {
    read()
    for (let turn = 0; turn < 10; turn++) await settled()
    return facts(await harness.ask("GET /v1/usage"))
  }
  const elsewhere = { changes: { ...harness.changes, notify: () => undefined } }
  await harness.ask("GET /v1/usage")
  await publish(elsewhere)
  expect(facts(await harness.ask("GET /v1/usage"))).toEqual(silent(200))
  expect(await received()).toEqual(inGrace(200))
  await harness.time.tick(NOTICE_MS)
  expect(facts(await harness.ask("GET /v1/usage"))).toEqual(REFUSED)
  await acceptTerms(elsewhere.changes, harness.accountId)
  expect(await received()).toEqual(silent(200))
  expect(faults).toEqual([])
})
