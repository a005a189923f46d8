import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import type { Usage } from "../../../../src/contract/usage-schema.ts"
import { addEntries } from "../../../../src/customers/own-lists/own-lists.ts"
import { publishTerms } from "../../../../src/customers/terms/terms.ts"
import { entry } from "../../../contract/own-list-entry.ts"
import { deepProbeStub } from "../../../support/deep-probe-stub.ts"
import { errorAt, fieldIn, openSignedIn, signedInBrowser } from "../../../support/html-browser.ts"
import { HOSTILE } from "../../../support/open-site.ts"

const { path: TRY } = ROUTES.tryIt

type Browsing = Awaited<ReturnType<typeof openSignedIn>>

const tried = ({ post }: Pick<Browsing, "post">, input: string, more: Readonly<Record<string, string>> = {}) =>
  post(TRY, { asked: input, policy: "b2b", ...more })

const usageOf = async ({ harness }: Browsing) => (await harness.ask("GET /v1/usage")).body as Usage // its schema has a test of its own

/** The JSON in the fold. */
const resultIn = (html: string): Record<string, unknown> => {
  const text = html.match(/id="verdict-json"><code>(.*?)<\/code>/s)?.[1] ?? "null"
  return JSON.parse(text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&"))
}

describe("what is tried", () => {
  test.each([
    ["jane@gmail.com", { email: "jane@gmail.com", category: "personal" }],
    [" gmail.com ", { email: null, domain: "gmail.com", category: "personal" }],
    ["https://mailinator.com/x?a=b@c", { url: "https://mailinator.com/x?a=b@c", category: "disposable" }],
    ["mailinator.com/inbox", { url: "mailinator.com/inbox", category: "disposable" }],
    ["ftp://mailinator.com", { url: "ftp://mailinator.com", category: "invalid" }],
    ["jane@@acme", { category: "invalid" }],
    ["Hello, world", { category: "invalid" }],
  ])("%p is an address, a website or a domain by its form", async (input, result) => {
    const page = await tried(await openSignedIn(), input)
    expect(page.status).toBe(200)
    expect(resultIn(page.html)).toMatchObject({ policy: "b2b", ...result })
    expect(fieldIn(page.html, "asked")).toBe(input.trim())
  })

  test.each([
    ["Jane <jane@gmail.com>", { email: "jane@gmail.com", category: "personal" }],
    ["<mailto:jane@gmail.com>", { email: "jane@gmail.com", category: "personal" }],
    ["mailto:jane@gmail.com?subject=x", { email: "jane@gmail.com", category: "personal" }],
    ["<a@gmail.com>, <b@gmail.com>", { category: "invalid" }],
  ])("%p is a copied address if there is one in it", async (input, result) => {
    expect(resultIn((await tried(await openSignedIn(), input)).html)).toMatchObject(result)
  })

  test("is judged by the policy and the account's own lists", async () => {
    const browsed = await openSignedIn()
    const { changes, accountId } = browsed.harness
    await addEntries(changes, { accountId }, "block", [entry("acme.com")])
    expect(resultIn((await tried(browsed, "jane@gmail.com", { policy: "strict" })).html)).toMatchObject({
      policy: "strict",
      recommendation: "block",
    })
    const blocked = await tried(browsed, "jane@acme.com", { policy: "lenient" })
    expect(resultIn(blocked.html)).toMatchObject({ is_blocked: true, recommendation: "block" })
    expect(blocked.html).toContain('<option value="lenient" selected>lenient</option>')
  })

  test("stands on the page as text", async () => {
    const page = await tried(await openSignedIn(), `${HOSTILE}@x`)
    expect(page.html).not.toContain("<script>")
    expect(page.text).toContain(`${HOSTILE}@x`)
  })

  test.each([
    ["asked", "", {}, "Enter an email address"],
    ["asked", "jane\u0000@gmail.com", {}, "invisible character"],
    [
      "asked",
      `https://acme.com/${"x".repeat(LIMITS.urlLengthMax)}`,
      {},
      "A website address has at most 2,048 characters",
    ],
    ["asked", `${"x".repeat(60_000)}@acme.com`, {}, "The part before the @ is longer than 64 characters"],
    ["policy", "gmail.com", { policy: "toString" }, "Choose one"],
    ["policy", "gmail.com", { policy: "" }, "Choose one"],
  ])("is refused at the %s when it cannot be asked (%#)", async (field, input, more, description) => {
    const browsed = await openSignedIn()
    const page = await tried(browsed, input, more)
    expect(page.status).toBe(400)
    expect(errorAt(page.html, field)).toContain(description)
    expect((await usageOf(browsed)).today.used).toBe(0)
  })
})

describe("the units of what is tried", () => {
  test("are the account's, and counted under no key", async () => {
    const browsed = await openSignedIn({ tier: 0, deep: () => deepProbeStub })
    await tried(browsed, "jane@gmail.com")
    await tried(browsed, "gmail.com", { deep: "yes" })
    const { today } = await usageOf(browsed)
    expect(today).toMatchObject({ used: 6, remaining: 994, checks: 1, deep_checks: 1 })
    expect(today.by_category.personal).toBe(2)
    expect(today.by_key.map(({ id, used }) => [id, used])).toEqual([[browsed.harness.keyId, 0]])
    expect((await browsed.get(ROUTES.dashboard.path)).text).toContain("This dashboard 2")
    const { headers } = await browsed.harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    expect(headers.get("ratelimit")).toContain('"day";r=993')
  })

  test("of a deep check that tells nothing deep are those of a plain one", async () => {
    const browsed = await openSignedIn({ tier: 0 })
    await tried(browsed, "gmail.com", { deep: "yes" })
    expect((await usageOf(browsed)).today).toMatchObject({ used: 1, deep_checks: 0 })
  })

  test("are none for a test address", async () => {
    const browsed = await openSignedIn({ tier: 0 })
    expect(resultIn((await tried(browsed, "disposable@mailkind.test")).html)).toMatchObject({ category: "disposable" })
    expect((await usageOf(browsed)).today.used).toBe(0)
  })

  test("once they are used up are refused in words, and what was typed is kept", async () => {
    const browsed = await openSignedIn({ tier: 0, tiers: "0=-/-/6" })
    for (let unit = 0; unit < 3; unit++) await tried(browsed, "gmail.com")
    const deep = await tried(browsed, "gmail.com", { deep: "yes" })
    expect(deep.status).toBe(429)
    expect(deep.text).toContain("A deep check costs 5 units, any other check one.")
    expect(deep.headers.get("retry-after")).toBe("86400")
    expect(fieldIn(deep.html, "asked")).toBe("gmail.com")
    for (let unit = 3; unit < 6; unit++) expect((await tried(browsed, "gmail.com")).status).toBe(200)
    expect((await tried(browsed, "gmail.com")).status).toBe(429)
    expect((await browsed.harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })).status).toBe(429)
    expect((await usageOf(browsed)).today.used).toBe(6)
  })

  test("go back when the check fails by our fault", async () => {
    const browsed = await openSignedIn({ tier: 0, deep: () => deepProbeStub })
    const { corrections } = browsed.harness.customers
    const { of } = corrections
    Object.assign(corrections, {
      of: () => {
        throw new Error("broken")
      },
    })
    const page = await tried(browsed, "gmail.com", { deep: "yes" })
    expect(page.status).toBe(500)
    expect(page.headers.get("content-type")).toStartWith("text/html")
    expect((await usageOf(browsed)).today.used).toBe(0)
    Object.assign(corrections, { of })
    const { headers } = await browsed.harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })
    expect(headers.get("ratelimit")).toContain('"day";r=999')
  })
})

test.each([
  ["error-429", 429],
  ["error-quota", 429],
  ["error-500", 500],
])("the test address %s is refused as it asks for", async (localPart, status) => {
  const page = await tried(await openSignedIn(), `${localPart}@mailkind.test`)
  expect(page.status).toBe(status)
  expect(page.text).toContain("This test address always gets this problem.")
})

test("terms that were not accepted in time are said, and nothing is checked", async () => {
  const browsed = await openSignedIn({ tier: 0 })
  const { changes, time } = browsed.harness
  await publishTerms(changes, { version: "2", url: "https://mailkind.example/terms/2", isMaterial: true })
  expect((await tried(browsed, "gmail.com")).status).toBe(200)
  await time.tick(LIMITS.termsNoticeDays * 86_400_000)
  // A session ends sooner than that.
  const page = await tried(await signedInBrowser(browsed.harness), "gmail.com")
  expect(page.status).toBe(403)
  expect(page.text).toContain("the terms of version 2 have not been accepted")
  expect(page.html).not.toContain('id="verdict"')
})

test("the tier's rate is one for what is tried and what keys ask, and a refusal is counted", async () => {
  const browsed = await openSignedIn({ tier: 0 })
  const pages = await Promise.all(Array.from({ length: 12 }, () => tried(browsed, "gmail.com")))
  const refused = pages.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]?.text).toContain("Wait a moment, then try again.")
  expect(refused[0]?.headers.get("retry-after")).toBe("1")
  expect((await browsed.harness.ask("POST /v1/check", { body: { domain: "gmail.com" } })).status).toBe(429)
  await browsed.harness.time.tick(60_000)
  expect((await usageOf(browsed)).today.rate_limited).toBe(refused.length + 1)
})

test("what is tried is let in again when it was answered, however it was answered", async () => {
  const browsed = await openSignedIn({ tier: 0, tiers: "0=-/1/-" })
  for (const input of ["gmail.com", "error-429@mailkind.test", "", "gmail.com"]) await tried(browsed, input)
  expect((await tried(browsed, "gmail.com")).status).toBe(200)
})
