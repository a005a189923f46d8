import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { Value } from "@sinclair/typebox/value"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"
import { FeedbackReceipt, REPORTABLE_CATEGORIES } from "../../src/contract/feedback-schema.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { unitSubject } from "../../src/customers/accounts/unit-subjects.ts"
import { addEntries, OPERATOR } from "../../src/customers/own-lists/own-lists.ts"
import { testApp } from "../support/app.ts"
import { anotherAccount } from "./another-account.ts"
import { entry } from "./own-list-entry.ts"

const harness = await testApp()
const { ask } = harness
const report = (body: unknown, more: Parameters<typeof ask>[1] = {}) => ask("POST /v1/feedback", { body, ...more })
const expected = { expected_category: "business" } as const

/** A domain that no other case has reported. */
let count = 0
const fresh = (): string => `granite-${count++}.com`

/** The statuses and the pointers of a refusal. */
async function refused(body: unknown, more: Parameters<typeof ask>[1] = {}) {
  const { status, body: problem } = await report(body, more)
  return { status, code: problem["code"], errors: problem["errors"] }
}

const badAt = (pointer: string) => ({
  status: 400,
  code: "invalid_input",
  errors: [{ pointer, detail: expect.any(String) }],
})

describe("202", () => {
  test("a report is answered with its receipt and nothing besides", async () => {
    const { status, body, headers } = await report({ email: "jane@gmail.com", ...expected })
    expect(status).toBe(202)
    expect(Value.Check(FeedbackReceipt, body)).toBe(true)
    expect(body).toEqual({
      id: expect.stringMatching(/^fb_[0-9A-Za-z]+$/),
      status: "received",
      domain: "gmail.com",
      current_category: "personal",
      reported_category: "business",
    })
    expect(headers.get("content-type")).toBe("application/json")
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("x-request-id")).toMatch(/^req_/)
  })

  test.each(REPORTABLE_CATEGORIES.map(category => [category] as const))("%s can be expected", async category => {
    const { status, body } = await report({ domain: fresh(), expected_category: category })
    expect([status, body["reported_category"]]).toEqual([202, category])
  })

  test.each([
    [{ domain: "STRIPE.com." }, "stripe.com"],
    [{ domain: "  bücher-granite.de\n" }, "xn--bcher-granite-wob.de"],
    [{ email: " Jane+x@Sub.Granite-Sub.COM " }, "sub.granite-sub.com"],
    [{ email: '"jane doe"@granite-quoted.com' }, "granite-quoted.com"],
    [{ domain: "no-such-tld-granite.nosuchtld" }, "no-such-tld-granite.nosuchtld"],
  ])("the domain of %j is %s, and its category is what a check says", async (sent, domain) => {
    const { status, body } = await report({ ...sent, ...expected })
    expect([status, body["domain"]]).toEqual([202, domain])
    expect(body["current_category"]).toBe((await ask("POST /v1/check", { body: sent })).body["category"])
  })

  test.each([{ email: "jane@@granite-twice.com" }, { domain: "mailkind.test" }, { email: "business@mailkind.test" }])(
    "%j names nothing that a report can correct",
    async sent => {
      const { status, body } = await report({ ...sent, ...expected })
      expect([status, body["code"]]).toEqual([400, "invalid_input"])
    },
  )

  test.each(["mailinator.com", "duck.com", "mit.edu", "nasa.gov", "stripe.com", "granite-unknown.com"])(
    "the current category of %s is what a check says",
    async domain => {
      const { body } = await report({ domain, expected_category: "invalid" })
      expect(body["current_category"]).toBe((await ask("POST /v1/check", { body: { domain } })).body["category"])
    },
  )

  test("the current category is what a check says also where the operator's allow list took the domain out of a set", async () => {
    const own = await testApp()
    await addEntries(own.changes, OPERATOR, "allow", [entry("mailinator.com")])
    const { body } = await own.ask("POST /v1/check", { body: { domain: "mailinator.com" } })
    const receipt = await own.ask("POST /v1/feedback", { body: { domain: "mailinator.com", ...expected } })
    expect(receipt.body["current_category"]).toBe(body["category"])
  })

  test("members that are not known are ignored, and a JSON media type of another name is JSON", async () => {
    const body = { domain: fresh(), ...expected, policy: 7, url: "https://x.com", __proto__: null, deep: [] }
    expect((await report(body)).status).toBe(202)
    const headers = { "Content-Type": "application/vnd.x+json; charset=utf-8" }
    expect((await report({ domain: fresh(), ...expected }, { headers })).status).toBe(202)
    expect((await report(`\uFEFF{"domain":"${fresh()}","expected_category":"relay"}`)).status).toBe(202)
  })
})

describe("the same report again", () => {
  const DAY_MS = 86_400_000

  test("is a duplicate for 30 days, under the id of the first one, and then a new one", async () => {
    const own = await testApp()
    const again = async () =>
      (await own.ask("POST /v1/feedback", { body: { domain: "granite.com", ...expected } })).body
    const first = await again()
    expect(first["status"]).toBe("received")
    for (const passedMs of [0, 1, LIMITS.feedbackDuplicateDays * DAY_MS - 2]) {
      await own.time.tick(passedMs)
      expect(await again()).toEqual({ ...first, status: "duplicate" })
    }
    await own.time.tick(1)
    const next = await again()
    expect(next["status"]).toBe("received")
    expect(next["id"]).not.toBe(first["id"])
  })

  test("is one of the same domain, however the input is written and whatever the comment", async () => {
    const first = (await report({ email: "jane@granite-same.com", ...expected })).body
    for (const sent of [
      { domain: "GRANITE-same.com." },
      { email: "john@granite-same.com", comment: "another" },
      { email: "support+x@granite-same.com" },
    ])
      expect((await report({ ...sent, ...expected })).body).toEqual({ ...first, status: "duplicate" })
    const others = [
      { domain: "www.granite-same.com", ...expected },
      { domain: "granite-same.com", expected_category: "personal" },
    ]
    for (const sent of others) expect((await report(sent)).body["status"]).toBe("received")
  })

  test("is no duplicate when another account reports it, and is one by another key of the account", async () => {
    const domain = fresh()
    expect((await report({ domain, ...expected })).body["status"]).toBe("received")
    const { text } = await harness.newKey()
    expect((await report({ domain, ...expected }, { key: text })).body["status"]).toBe("duplicate")
    const other = await anotherAccount(harness.changes)
    expect((await report({ domain, ...expected }, { key: other.key })).body["status"]).toBe("received")
  })

  test("by many at once is one report", async () => {
    const domain = fresh()
    const all = await Promise.all(Array.from({ length: 20 }, () => report({ domain, ...expected })))
    expect(new Set(all.map(({ body }) => body["id"])).size).toBe(1)
    expect(all.filter(({ body }) => body["status"] === "received")).toHaveLength(1)
  })
})

describe("400", () => {
  test.each([
    [{ ...expected }, "/email"],
    [{ email: "jane@gmail.com", domain: "gmail.com", ...expected }, "/email"],
    [{ url: "https://gmail.com/", ...expected }, "/email"],
    [{ domain: "gmail.com" }, "/expected_category"],
    ...[null, 1, "", "unknown", "Business", "toString", ["business"], { business: 1 }].map(
      category => [{ domain: "gmail.com", expected_category: category }, "/expected_category"] as const,
    ),
    ...[null, 1, true, ["a@b.com"], { a: 1 }].map(email => [{ email, ...expected }, "/email"] as const),
    ...[null, 1, true, ["b.com"], { a: 1 }].map(domain => [{ domain, ...expected }, "/domain"] as const),
    ...[null, 1, false, ["x"], { a: 1 }].map(
      comment => [{ domain: "gmail.com", comment, ...expected }, "/comment"] as const,
    ),
    ...["a\u0000b", "\u0007", "a\u001b[0m", "a\u007f", "a\u0085b", "a\v", "\ud800", "a\udc00b"].map(
      comment => [{ domain: "gmail.com", comment, ...expected }, "/comment"] as const,
    ),
    [{ email: null, domain: "gmail.com", ...expected }, "/email"],
    ...[
      "",
      "   ",
      "a\u0000b.com",
      "a..com",
      "https://gmail.com",
      "jane@gmail.com",
      "127.0.0.1",
      "[::1]",
      "a b.com",
    ].map(domain => [{ domain, ...expected }, "/domain"] as const),
    ...["", "jane", "jane@", "Jane <jane@gmail.com>", "jane@[127.0.0.1]", "jane\u0007@gmail.com"].map(
      email => [{ email, ...expected }, "/email"] as const,
    ),
  ])("%j is refused at %s", async (sent, pointer) => {
    expect(await refused(sent)).toEqual(badAt(pointer))
  })

  test.each([["null"], ["[]"], ['"x"'], ["7"], [""], ["{"], ["{'a':1}"], [new Uint8Array([0x7b, 0xff, 0x7d])]])(
    "the body %j is no object",
    async sent => {
      expect(await refused(sent)).toEqual(badAt(""))
    },
  )

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])(
    "the media type %j is not JSON",
    async type => {
      expect(await refused({ domain: fresh(), ...expected }, { headers: { "Content-Type": type } })).toEqual(badAt(""))
    },
  )

  test("the far side of every length is refused and the near side is taken", async () => {
    const text = (length: number, character = "a") => character.repeat(length)
    for (const character of ["a", "é", "💧"])
      expect((await report({ domain: fresh(), comment: text(1000, character), ...expected })).status).toBe(202)
    for (const character of ["a", "é", "💧"])
      expect(await refused({ domain: fresh(), comment: text(1001, character), ...expected })).toEqual(badAt("/comment"))
    for (const comment of ["", "a\tb\r\nc", "💧", ` ${text(1000)}\n`])
      expect((await report({ domain: fresh(), comment, ...expected })).status).toBe(202)
    expect((await report({ email: `${text(64)}@granite-long.com`, ...expected })).status).toBe(202)
    expect(await refused({ email: `${text(65)}@granite-long.com`, ...expected })).toEqual(badAt("/email"))
    expect((await report({ domain: `${"a.".repeat(125)}com`, ...expected })).status).toBe(202)
    expect(await refused({ domain: `${"a.".repeat(126)}com`, ...expected })).toEqual(badAt("/domain"))
  })

  test("nothing of the input is repeated", async () => {
    for (const sent of [
      { email: "secret-name@", ...expected },
      { email: "secret-name@gmail.com", domain: "secret-name.com", ...expected },
      { domain: "gmail.com", expected_category: "secret-name" },
      '{"email":"secret-name',
    ])
      expect(JSON.stringify((await report(sent)).body)).not.toContain("secret-name")
  })
})

describe("401", () => {
  test("without a key every report is refused, a bad one and one of a test address too", async () => {
    for (const body of [{ domain: fresh(), ...expected }, { email: "business@mailkind.test", ...expected }, "{", {}])
      expect(await refused(body, { key: null })).toMatchObject({ status: 401, code: "unauthorized" })
  })

  test("a publishable key is of the wrong kind, from whatever origin", async () => {
    const { text } = await harness.newKey(["https://shop.example"])
    for (const headers of [{ Origin: "https://shop.example" }, { Origin: "https://evil.example" }, {}])
      expect(await refused({ domain: fresh(), ...expected }, { key: text, headers })).toMatchObject({
        status: 401,
        code: "invalid_key",
      })
  })
})

test("413: the last octet that fits is read and the next is not", async () => {
  const body = (octets: number) => JSON.stringify({ domain: fresh(), ...expected }).padEnd(octets)
  expect((await report(body(LIMITS.bodyBytesMax))).status).toBe(202)
  expect(await refused(body(LIMITS.bodyBytesMax + 1))).toMatchObject({ status: 413, code: "payload_too_large" })
  const streamed = (octets: number) => new Blob([body(octets)]).stream()
  expect((await report(streamed(LIMITS.bodyBytesMax))).status).toBe(202)
  expect(await refused(streamed(LIMITS.bodyBytesMax + 1))).toMatchObject({ status: 413, code: "payload_too_large" })
})

test("405: reports are posted, and only posted", async () => {
  for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE"]) {
    const { status, headers } = await harness.app(new Request("http://localhost/v1/feedback", { method }))
    expect([method, status, headers.get("allow")]).toEqual([method, 405, "POST, OPTIONS"])
  }
})

describe("a report", () => {
  test("costs a unit, a duplicate too, and tells nothing to an account without units", async () => {
    const own = await testApp({ tier: 0, tiers: "0=-/-/3" })
    const domain = fresh()
    const sent = (name: string) => own.ask("POST /v1/feedback", { body: { domain: name, ...expected } })
    expect([(await sent(domain)).status, (await sent(domain)).body["status"]]).toEqual([202, "duplicate"])
    expect((await own.ask("POST /v1/feedback", { body: { domain: "?", ...expected } })).status).toBe(400)
    expect((await own.ask("GET /v1/usage")).body["today"]).toMatchObject({ used: 2, remaining: 1, checks: 0 })
    expect((await sent(fresh())).headers.get("ratelimit")).toBe(`"day";r=0;t=86400`)
    const { status, body } = await sent(fresh())
    expect({ status, ...body }).toMatchObject({
      status: 429,
      code: "quota_exceeded",
      needed: 1,
      remaining: 0,
      limit: 3,
    })
    expect(JSON.stringify(body)).not.toContain("current_category")
    expect(await own.store.all("SELECT id FROM feedback")).toHaveLength(2)
    expect(await own.customers.units.readRemaining(unitSubject(own.accountId, "reports"), LIMITS.feedbackPerDay)).toBe(
      LIMITS.feedbackPerDay - 3,
    )
  })

  test("costs nothing when it fails by our own fault", async () => {
    const own = await testApp({ tier: 0, tiers: "0=-/-/3" })
    await own.store.run("ALTER TABLE feedback RENAME TO elsewhere", [])
    const sent = () => own.ask("POST /v1/feedback", { body: { domain: fresh(), ...expected } })
    for (let at = 0; at < 5; at++) expect((await sent()).body["code"]).toBe("internal_error")
    await own.store.run("ALTER TABLE elsewhere RENAME TO feedback", [])
    for (let at = 0; at < 3; at++) expect((await sent()).status).toBe(202)
    expect((await sent()).body["code"]).toBe("quota_exceeded")
  })

  test.each([0, 4])("is one of two hundred a UTC day at most, of an account of tier %d too", async tier => {
    const own = await testApp({ tier, tiers: "0=-/-/100000" })
    const other = await own.newKey()
    let count = 0
    const sent = () =>
      own.ask("POST /v1/feedback", {
        body: { domain: fresh(), ...expected },
        ...(count++ % 2 === 0 ? {} : { key: other.text }),
      })
    for (let at = 0; at < LIMITS.feedbackPerDay; at++) expect((await sent()).status).toBe(202)
    const usedBefore = (await own.ask("GET /v1/usage")).body["today"]
    const { status, body, headers } = await sent()
    expect({ status, ...body }).toMatchObject({
      status: 429,
      code: "quota_exceeded",
      limit: LIMITS.feedbackPerDay,
      needed: 1,
      remaining: 0,
      resets_at: "2026-01-02T00:00:00.000Z",
      detail: "An account can send 200 reports per day.",
    })
    expect(headers.get("retry-after")).toBe("86400")
    expect((await own.ask("GET /v1/usage")).body["today"]).toEqual(usedBefore)
    expect((await own.ask("GET /v1/check?domain=stripe.com")).status).toBe(200)
    await own.time.tick(86_400_000)
    expect((await sent()).status).toBe(202)
  })

  test("is no check, and is held to the requests a second", async () => {
    const own = await testApp({ tier: 0, tiers: "0=5/5/100" })
    const sent = () => own.ask("POST /v1/feedback", { body: { domain: fresh(), ...expected } })
    for (let at = 0; at < 5 * LIMITS.burstFactor; at++) expect((await sent()).status).toBe(202)
    const { status, body, headers } = await sent()
    expect([status, body["code"]]).toEqual([429, "rate_limited"])
    expect(headers.has("ratelimit")).toBe(true)
    await own.time.tick(1000)
    const { today } = (await own.ask("GET /v1/usage")).body as { today: Record<string, unknown> } // of the usage schema
    expect(today).toMatchObject({ used: 5 * LIMITS.burstFactor, checks: 0, rate_limited: 1 })
    expect(today["by_category"]).toEqual(Object.fromEntries(CATEGORY_NAMES.map(category => [category, 0])))
  })

  test("leaves nothing of an address in the database but its domain and its role", async () => {
    const own = await testApp()
    const secrets = ["zebulon.quux", "zebulon-tag", "quux-quoted", "zquuxcomment", "zquuxinvoice", "zquuxrefused"]
    for (const email of [
      "Zebulon.Quux+zebulon-tag@granite-kept.com",
      '"quux-quoted"@granite-kept2.com',
      "postmaster+zquuxinvoice@granite-kept3.com",
    ])
      expect((await own.ask("POST /v1/feedback", { body: { email, ...expected } })).status).toBe(202)
    const comment = "ask zquuxcomment@granite-kept4.com about it"
    await own.ask("POST /v1/feedback", { body: { domain: "granite-kept4.com", comment, ...expected } })
    await own.ask("POST /v1/feedback", { body: { email: "zquuxrefused@", ...expected } })
    await own.customers.usage.flush()
    const bytes = await databaseText(own.store)
    for (const secret of secrets) expect([secret, bytes.includes(secret)]).toEqual([secret, false])
    for (const kept of ["granite-kept.com", "granite-kept2.com", "postmaster", "about it"])
      expect([kept, bytes.includes(kept)]).toEqual([kept, true])
    expect(JSON.stringify(own.logged)).not.toMatch(/zebulon|quux/i)
  })

  test("keeps of a role name the word of our lists, and not what else the local part says", async () => {
    const own = await testApp()
    const kept: unknown[] = []
    for (const [at, local] of ["support", "SUPPORT+vip", "no-reply", "info7", "support-43"].entries()) {
      await own.ask("POST /v1/feedback", { body: { email: `${local}@granite-role${at}.com`, ...expected } })
      kept.push(await own.store.one("SELECT role_word FROM feedback WHERE domain = $1", [`granite-role${at}.com`]))
    }
    const words = ["support", "support", "no-reply", "info", "support"]
    expect(kept).toEqual(words.map(role_word => ({ role_word })))
  })
})

/** All that stands in the database's files, in lower case. */
async function databaseText(store: typeof harness.store): Promise<string> {
  const row = await store.one<{ file: string }>("SELECT file FROM pragma_database_list WHERE name = 'main'")
  const file = row?.file ?? ""
  const files = [file, `${file}-wal`].filter(path => existsSync(path))
  expect(files).toHaveLength(2)
  return files.map(path => readFileSync(path, "latin1").toLowerCase()).join("")
}
