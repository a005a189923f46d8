import { describe, expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { parseAddressOrDomain } from "../../src/check/address/parse-subject.ts"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { POLICIES, POLICY_NAMES } from "../../src/contract/policies.ts"
import { ACCOUNT_REASONS, REASON_NAMES, type Reason } from "../../src/contract/reasons.ts"
import { ReducedResult } from "../../src/contract/result-schema.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { TEST_ADDRESSES } from "../../src/contract/test-addresses.ts"
import { unitSubject } from "../../src/customers/accounts/unit-subjects.ts"
import { parseEntry } from "../../src/customers/own-lists/entries.ts"
import { addEntries, OWN_LISTS } from "../../src/customers/own-lists/own-lists.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { fakeNetwork } from "../support/fake-network.ts"

const PAGE = "https://app.example.com"
const harness = await testApp({ tier: 0 })
const page = await harness.newKey([PAGE])

type More = { readonly body?: unknown; readonly key?: string | null; readonly headers?: Record<string, string> }

/** Asks as the page does; a second passes first, so that no limit is met. */
async function fromPage(line: string, { body, key = page.text, headers = {} }: More = {}): Promise<ApiResponse> {
  await harness.time.tick(1000)
  return await harness.ask(line, { body, key, headers: { Origin: PAGE, ...headers } })
}
const check = (body: unknown, more: More = {}) => fromPage("POST /v1/check", { body, ...more })

/** The same question, asked by the account's secret key. */
const inFull = async (body: unknown) => {
  await harness.time.tick(1000)
  return (await harness.ask("POST /v1/check", { body })).body
}

const REAL_NAMES = [
  { email: "jane@gmail.com" },
  { email: "Jane+tag@mailinator.com" },
  { email: "jane@duck.com" },
  { email: "jane@mit.edu" },
  { email: "sales@stripe.com", policy: "strict" },
  { email: "friends@googlegroups.com" },
  { email: "jane@gmial.com" },
  { email: "jane@@acme", policy: "lenient" },
  { domain: "nasa.gov" },
  { domain: "a-name-that-nobody-lists.com", workspace: false },
  { url: "https://www.stripe.com/pricing" },
]
const TEST_INPUTS = Object.keys(TEST_ADDRESSES).map(localPart => ({ email: `${localPart}@mailkind.test` }))

describe("the reduced result", () => {
  test("there is a test address for each category", () => {
    expect(new Set(Object.values(TEST_ADDRESSES).map(({ category }) => category))).toEqual(new Set(CATEGORY_NAMES))
  })

  test.each([...REAL_NAMES, ...TEST_INPUTS].map(input => [input] as const))("%j", async input => {
    const { status, body, headers } = await check(input)
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(Object.keys(ReducedResult.properties).sort())
    expect([...Value.Errors(ReducedResult, body)]).toEqual([])
    expect(headers.get("content-type")).toBe("application/json")
    expect(headers.get("cache-control")).toBe("no-store")
    const full = await inFull(input)
    for (const name of Object.keys(ReducedResult.properties).filter(each => !["reasons", "workspace"].includes(each)))
      expect({ [name]: body[name] }).toEqual({ [name]: full[name] })
    const told = (full["reasons"] as Reason[]).filter(reason => !ACCOUNT_REASONS.has(reason))
    expect(body["reasons"]).toEqual(told.slice(0, LIMITS.publishableReasonsMax))
    expect(body["workspace"]).toMatchObject({
      suite_a: (full["workspace"] as { suite_a: { detected: boolean } }).suite_a.detected,
      suite_b: (full["workspace"] as { suite_b: { detected: boolean } }).suite_b.detected,
    })
  })

  test("does not tell what the account's lists and reports say, so that no visitor probes them", async () => {
    const own = await testApp()
    const { text } = await own.newKey([PAGE])
    const entries = ["blocked.example.com", "allowed.example.com"].map(name => parseEntry(name, parseAddressOrDomain))
    for (const [at, list] of OWN_LISTS.entries())
      await addEntries(
        own.changes,
        { accountId: own.accountId },
        list,
        [entries[at]].filter(entry => entry != null),
      )
    for (const domain of ["blocked.example.com", "allowed.example.com"]) {
      const body = { domain }
      const full = (await own.ask("POST /v1/check", { body })).body["reasons"] as Reason[]
      expect(full.some(reason => ACCOUNT_REASONS.has(reason))).toBe(true)
      const reply = await own.ask("POST /v1/check", { body, key: text, headers: { Origin: PAGE } })
      expect(reply.body["reasons"]).toEqual(
        full.filter(reason => !ACCOUNT_REASONS.has(reason)).slice(0, LIMITS.publishableReasonsMax),
      )
    }
    expect([...ACCOUNT_REASONS].every(reason => REASON_NAMES.includes(reason))).toBe(true)
  })

  test.each([
    ["suite-b", { suite_a: false, suite_b: true, suite_b_mail: true }],
    ["suite-b-tenant", { suite_a: false, suite_b: true, suite_b_mail: false }],
    ["suite-a", { suite_a: true, suite_b: false, suite_b_mail: false }],
    ["business", { suite_a: false, suite_b: false, suite_b_mail: false }],
    ["degraded", { suite_a: false, suite_b: false, suite_b_mail: null }],
  ])("for %s says who runs the mail", async (localPart, workspace) => {
    expect((await check({ email: `${localPart}@mailkind.test` })).body["workspace"]).toEqual(workspace)
  })

  test("is the same for GET and POST, whichever header the key is in", async () => {
    const posted = await check({ email: "jane@gmail.com" })
    const got = await fromPage("GET /v1/check?email=jane%40gmail.com")
    const other = await fromPage("GET /v1/check?email=jane%40gmail.com", {
      key: null,
      headers: { "X-API-Key": page.text },
    })
    expect(got.body).toEqual(posted.body)
    expect(other.body).toEqual(posted.body)
  })

  test("follows the policy that was asked for", async () => {
    for (const policy of POLICY_NAMES)
      for (const category of CATEGORY_NAMES)
        expect((await check({ email: `${category}@mailkind.test`, policy })).body["recommendation"]).toBe(
          POLICIES[policy][category],
        )
  })

  test("is what a deep check gets too, for one unit", async () => {
    const left = async () =>
      (await harness.customers.units.readRemaining(
        unitSubject(harness.accountId, "publishable"),
        LIMITS.publishableUnitsPerDay,
      )) ?? Number.NaN
    for (const input of REAL_NAMES) {
      const plain = await check(input)
      const before = await left()
      const deep = await check({ ...input, deep: true })
      expect(deep.body).toEqual(plain.body)
      expect(deep.body["reasons"]).not.toContain("deep_unavailable")
      expect(before - (await left())).toBe(1)
    }
    expect((await fromPage("GET /v1/check?domain=stripe.com&deep=1")).body["reasons"]).not.toContain("deep_unavailable")
  })

  test("an input is refused as it is for a secret key", async () => {
    for (const body of [{}, { email: 7 }, { email: "jane@gmail.com", policy: "none" }, { email: "a\u0000@b.com" }, "{"])
      expect((await check(body)).body["code"]).toBe("invalid_input")
    expect((await check("x".repeat(LIMITS.bodyBytesMax + 1))).body["code"]).toBe("payload_too_large")
  })
})

describe("the endpoints for secret keys", () => {
  const closed = Object.values(ROUTES).filter(({ access }) => access === "secret key")

  test.each(closed.map(({ method, path }) => [method, path] as const))(
    "%s %s wants a secret key and says so, whatever else is wrong",
    async (method, path) => {
      for (const headers of [{ Origin: PAGE }, { Origin: "https://evil.example" }, { Origin: "null" }]) {
        const response = await fromPage(`${method} ${path}`, method === "POST" ? { headers, body: "{" } : { headers })
        expect({ status: response.status, code: response.body["code"] }).toEqual({ status: 401, code: "invalid_key" })
        expect(response.body["detail"]).toContain("secret key")
        expect(response.headers.get("www-authenticate")).toContain("Bearer")
      }
    },
  )

  test("there are such endpoints", () => expect(closed.length).toBeGreaterThanOrEqual(2))
})

describe("origins", async () => {
  const many = await testApp()
  const key = await many.newKey([
    "https://a.com",
    "http://localhost:3000",
    "https://bücher.example:443",
    "https://[2001:db8::1]:8443/",
    "http://plain.example:80",
  ])
  const asks = async (origin: string | null, text = key.text) => {
    await many.time.tick(1000)
    return await many.ask("GET /v1/check?domain=stripe.com", {
      key: text,
      headers: origin === null ? {} : { Origin: origin },
    })
  }

  test.each([
    "https://a.com",
    "https://a.com:443",
    "HTTPS://A.COM",
    "http://localhost:3000",
    "https://xn--bcher-kva.example",
    "https://XN--BCHER-KVA.EXAMPLE:443",
    "https://[2001:db8::1]:8443",
    "http://plain.example",
    "http://plain.example:80",
  ])("%s is allowed", async origin => {
    const { status, headers } = await asks(origin)
    expect({ status, readableBy: headers.get("access-control-allow-origin") }).toEqual({
      status: 200,
      readableBy: origin,
    })
  })

  test.each([
    "null",
    "",
    "*",
    "https://*",
    "https://*.a.com",
    "http://a.com",
    "http://a.com:443",
    "https://a.com:80",
    "https://a.com:8443",
    "ftp://a.com",
    "file://",
    "chrome-extension://a.com",
    "https://b.com",
    "https://www.a.com",
    "https://a.com.evil.example",
    "https://evila.com",
    "https://a.com.",
    "https://a.com/",
    "https://a.com/path",
    "https://a.com?x=1",
    "https://a.com#x",
    "https://user@a.com",
    "https://user:secret@a.com",
    "https://a.com@evil.example",
    "https://a.com\\@evil.example",
    "https://a.com https://evil.example",
    "https://a.com, https://evil.example",
    "https://a.com\u00ad",
    "a.com",
    "//a.com",
    "http://localhost",
    "http://localhost:3001",
    "https://localhost:3000",
    "http://127.0.0.1:3000",
    "https://xn--bcher-kva.com",
    "https://bucher.example",
    "https://[2001:db8::1]",
    "https://[2001:db8::2]:8443",
    "http://plain.example:8080",
    `https://${"a".repeat(10_000)}.com`,
  ])("%j is forbidden", async origin => {
    const { status, body, headers } = await asks(origin)
    expect({ status, code: body["code"] }).toEqual({ status: 403, code: "forbidden_origin" })
    expect(headers.get("access-control-allow-origin")).toBeNull()
    expect(body["detail"]).toBe("This key does not allow this origin.")
  })

  test("a request without an origin is forbidden, and told that a page would send one", async () => {
    const { status, body } = await asks(null)
    expect({ status, code: body["code"] }).toEqual({ status: 403, code: "forbidden_origin" })
    expect(body["detail"]).toContain("Origin")
  })

  test("a key made for A-labels and one made for letters allow the same origin", async () => {
    const labels = await many.newKey(["https://xn--mller-kva.example"])
    const letters = await many.newKey(["https://MÜLLER.example"])
    for (const { text } of [labels, letters]) {
      expect((await asks("https://xn--mller-kva.example", text)).status).toBe(200)
      expect((await asks("https://xn--muller-kva.example", text)).status).toBe(403)
    }
  })

  test("an origin that another key of the account allows is forbidden", async () => {
    expect((await asks("https://xn--mller-kva.example")).body["code"]).toBe("forbidden_origin")
  })

  test("a secret key is answered whatever the origin", async () => {
    for (const origin of ["null", "https://evil.example", "nonsense"])
      expect((await many.ask("GET /v1/check?domain=stripe.com", { headers: { Origin: origin } })).status).toBe(200)
  })

  test("a test address needs no key from any page, and with the key the page's origin counts", async () => {
    const line = "GET /v1/check?email=business%40mailkind.test"
    expect((await many.ask(line, { key: null, headers: { Origin: "https://evil.example" } })).status).toBe(200)
    expect((await many.ask(line, { key: key.text, headers: { Origin: "https://evil.example" } })).status).toBe(403)
  })
})

describe("asks", () => {
  const askedFor = async (email: string): Promise<{ readonly asked: readonly string[]; readonly body: unknown }> => {
    const { outside, requests } = fakeNetwork()
    const house = await testApp({ outside })
    const { text } = await house.newKey([PAGE])
    const { body } = await house.ask("POST /v1/check", { body: { email }, key: text, headers: { Origin: PAGE } })
    return { asked: requests, body }
  }

  test.each(["jane@gmail.com", "jane@mailinator.com", "jane@duck.com"])("nobody about %s", async email => {
    const { asked, body } = await askedFor(email)
    expect(asked).toEqual([])
    expect(body).toMatchObject({ workspace: { suite_a: false, suite_b: false, suite_b_mail: null } })
  })

  test("about other domains for what the answer shows", async () => {
    const name = "harbor-works-of-nobody.com"
    const { asked, body } = await askedFor(`jane@${name}`)
    expect(asked).toEqual([`MX ${name}`, `TXT ${name}`, `A mx.${name}`])
    expect(body).toMatchObject({ category: "business", reasons: ["mx_found", "spf_missing"] })
  })
})
