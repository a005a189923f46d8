import { describe, expect, test } from "bun:test"
import { DAY_MS } from "../../src/base/time.ts"
import type { Usage } from "../../src/contract/usage-schema.ts"
import { unitSubject } from "../../src/customers/accounts/unit-subjects.ts"
import { changeKey } from "../../src/customers/keys/key-changes.ts"
import { type KeyRestrictions, NO_CEILING, NO_RESTRICTIONS } from "../../src/customers/keys/key-restrictions.ts"
import { testApp } from "../support/app.ts"
import { deepProbeStub } from "../support/deep-probe-stub.ts"

const CHECK = "GET /v1/check?domain=gmail.com"
const DEEP = "GET /v1/check?domain=stripe.com&deep=true"
const BATCH = "POST /v1/check/batch"
const TEST_ADDRESS = "GET /v1/check?email=business%40mailkind.test"
const PAGE = "https://shop.example"

/** A house whose account has these limits, or none, and one key of it that is restricted. */
async function restricted(wanted: Partial<KeyRestrictions>, tiers = "0=-/-/-", options = {}) {
  const harness = await testApp({ tier: 0, tiers, deep: () => deepProbeStub, ...options })
  const change = (more: Partial<KeyRestrictions>, id = harness.keyId) =>
    changeKey(harness.changes, id, { restrictions: { ...NO_RESTRICTIONS, ...more } }, NO_CEILING)
  await change(wanted)
  const today = async () => ((await harness.ask("GET /v1/usage")).body as Usage).today // the schema is tested elsewhere
  return { ...harness, change, today }
}

describe("a key that expires", () => {
  test("is refused from the second on that its owner has set, also while it is cached, and on every route", async () => {
    const { ask, time, clock } = await restricted({ expiresAtMs: Date.UTC(2026, 0, 1) + 5_000 })
    expect((await ask(CHECK)).status).toBe(200)
    await time.tick(4_999)
    expect((await ask(CHECK)).status).toBe(200)
    await time.tick(1)
    expect(clock()).toBe(Date.UTC(2026, 0, 1, 0, 0, 5))
    for (const [line, body] of [
      [CHECK, undefined],
      ["POST /v1/check", { domain: "gmail.com" }],
      [BATCH, { items: ["gmail.com"] }],
      ["POST /v1/feedback", { domain: "granite.com", expected_category: "personal" }],
      ["GET /v1/usage", undefined],
      [TEST_ADDRESS, undefined],
    ] as const) {
      const { status, headers, body: problem } = await ask(line, { body })
      expect([line, status, problem["code"]]).toEqual([line, 401, "key_revoked"])
      expect(problem["detail"]).toBe("The key expired on 2026-01-01T00:00:05.000Z. Use another one.")
      expect(headers.get("www-authenticate")).toStartWith("Bearer")
    }
  })

  test("works again at once when its owner sets a later day", async () => {
    const { ask, time, change, clock } = await restricted({ expiresAtMs: Date.UTC(2026, 0, 1) + 1 })
    await time.tick(1)
    expect((await ask(CHECK)).status).toBe(401)
    await change({ expiresAtMs: clock() + DAY_MS })
    expect((await ask(CHECK)).status).toBe(200)
  })
})

describe("a key with units of its own", () => {
  test("is refused when they are used up, with its own figures, while another key of the account goes on", async () => {
    const { ask, newKey, keyId, today } = await restricted({ unitsPerDay: 6 }, "0=-/-/100")
    const other = await newKey()
    expect((await ask(DEEP)).status).toBe(200)
    const { status, headers, body } = await ask(DEEP)
    expect([status, body["code"]]).toEqual([429, "quota_exceeded"])
    expect(body).toMatchObject({ needed: 5, remaining: 1, limit: 6, resets_at: "2026-01-02T00:00:00.000Z" })
    expect(String(body["detail"])).toContain("This key has its own limit")
    expect(headers.get("ratelimit-policy")).toBe('"day";q=6;w=86400')
    expect(headers.get("ratelimit")).toBe('"day";r=1;t=86400')
    expect((await ask(CHECK)).status).toBe(200)
    expect((await ask(CHECK)).status).toBe(429)
    const next = await ask(CHECK, { key: other.text })
    expect([next.status, next.headers.get("ratelimit")]).toEqual([200, '"day";r=93;t=86400'])
    expect((await today()).by_key.find(({ id }) => id === keyId)).toMatchObject({
      used: 6,
      daily_units: 6,
      remaining: 0,
    })
  })

  test("is told that none are left where only another process used them, and nothing is known of the account's", async () => {
    const { ask, store, keyId } = await restricted({ unitsPerDay: 6 }, "0=-/-/100")
    await store.run("INSERT INTO units (subject, day, leased) VALUES ($1, $2, 6)", [
      keyId,
      Date.UTC(2026, 0, 1) / DAY_MS,
    ])
    const { status, headers } = await ask(CHECK)
    expect([status, headers.get("ratelimit")]).toEqual([429, '"day";r=0;t=86400'])
  })

  test("is refused by the account's units when those are fewer, and loses none of its own by that", async () => {
    // The four units that are refused and the three that follow are more than the key has.
    const { ask, newKey } = await restricted({ unitsPerDay: 6 }, "0=-/-/10")
    const other = await newKey()
    expect((await ask(BATCH, { key: other.text, body: { items: Array(7).fill("gmail.com") } })).status).toBe(200)
    const refused = await ask(BATCH, { body: { items: Array(4).fill("gmail.com") } })
    expect(refused.body).toMatchObject({ code: "quota_exceeded", needed: 4, remaining: 3, limit: 10 })
    expect(refused.headers.get("ratelimit")).toBe('"day";r=3;t=86400')
    const { status, headers } = await ask(BATCH, { body: { items: Array(3).fill("gmail.com") } })
    expect([status, headers.get("ratelimit")]).toEqual([200, '"day";r=0;t=86400'])
  })

  test("of an account without limits is limited all the same, and batches are refused as a whole", async () => {
    const { ask, customers, keyId } = await restricted({ unitsPerDay: 3 })
    expect((await ask(BATCH, { body: { items: Array(4).fill("gmail.com") } })).body).toMatchObject({
      needed: 4,
      remaining: 3,
    })
    expect((await ask(BATCH, { body: { items: Array(3).fill("gmail.com") } })).status).toBe(200)
    expect(await customers.units.readRemaining(keyId, 3)).toBe(0)
  })

  test("gets them back at midnight, and for a check that failed through our fault", async () => {
    const { ask, store, time, customers } = await restricted({ unitsPerDay: 2 })
    await store.run("ALTER TABLE own_list_entries RENAME TO gone")
    customers.ownLists.invalidateAll()
    expect((await ask(CHECK)).status).toBe(500)
    await store.run("ALTER TABLE gone RENAME TO own_list_entries")
    const statuses = async () => [(await ask(CHECK)).status, (await ask(CHECK)).status, (await ask(CHECK)).status]
    expect(await statuses()).toEqual([200, 200, 429])
    await time.tick(DAY_MS)
    expect(await statuses()).toEqual([200, 200, 429])
  })

  test("never has one more than its limit, however many requests come at once", async () => {
    const { ask } = await restricted({ unitsPerDay: 20 }, "0=-/-/1000")
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(CHECK)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
  })

  test("that is lowered while requests run admits no request over the lower limit afterwards", async () => {
    const { ask, change } = await restricted({ unitsPerDay: 50 }, "0=-/-/1000")
    const before = Promise.all(Array.from({ length: 10 }, () => ask(CHECK)))
    await change({ unitsPerDay: 12 })
    const admitted = (await before).filter(({ status }) => status === 200).length
    const after = await Promise.all(Array.from({ length: 20 }, () => ask(CHECK)))
    expect(admitted + after.filter(({ status }) => status === 200).length).toBe(12)
  })
})

describe("a key with requests a second of its own", () => {
  test("is refused beyond them in words of its own, without using up the account's", async () => {
    const { ask, newKey } = await restricted({ requestsPerSecond: 1 }, "0=4/-/-")
    const other = await newKey()
    const first = await ask(CHECK)
    expect(first.headers.get("ratelimit-policy")).toBe('"second";q=1;w=1')
    expect(first.headers.get("ratelimit")).toBe('"second";r=1;t=1')
    expect((await ask(CHECK)).status).toBe(200)
    for (let count = 0; count < 20; count++) {
      const { status, body } = await ask(CHECK)
      expect([status, body["code"], body["limit"]]).toEqual([429, "rate_limited", 1])
      expect(String(body["detail"])).toContain("with this key")
    }
    const next = await ask(CHECK, { key: other.text })
    expect([next.status, next.headers.get("ratelimit")]).toEqual([200, '"second";r=4;t=1'])
  })

  test("of an account without limits is limited all the same, and the time brings it back", async () => {
    const { ask, time } = await restricted({ requestsPerSecond: 2 })
    const statuses = async () =>
      (await Promise.all(Array.from({ length: 6 }, () => ask(CHECK)))).map(({ status }) => status)
    expect((await statuses()).filter(status => status === 200)).toHaveLength(4)
    await time.tick(1_000)
    expect((await statuses()).filter(status => status === 200)).toHaveLength(2)
  })
})

test("the headers name the limit that was met, with its number, whether it is the key's, the account's or the client's", async () => {
  const { ask, time, newKey, customers, accountId, keyId, key } = await restricted(
    { requestsPerSecond: 100, unitsPerDay: 8 },
    "0=3/-/10",
  )
  const other = await newKey()
  const met = async (line: string, { key: sent = key as string | null, body = undefined as unknown } = {}) => {
    for (let at = 0; at < 10; at++) {
      const { status, headers, body: problem } = await ask(line, { key: sent, ...(body !== undefined && { body }) })
      if (status !== 429) continue
      const [, name = "", time = ""] = /"(\w+)";r=0;t=(\d+)/.exec(headers.get("ratelimit") ?? "") ?? []
      expect(headers.get("ratelimit-policy")).toContain(`"${name}";q=${problem["limit"]};w=`)
      expect(headers.get("retry-after")).toBe(time)
      return [name, problem["limit"]]
    }
    return null
  }
  expect(await met(TEST_ADDRESS)).toEqual(["second", 3])
  expect(await met(TEST_ADDRESS, { key: null })).toEqual(["client", 5])
  await time.tick(2000)
  await customers.units.take(unitSubject(accountId, "reports"), 200, 200)
  const report = { domain: "granite.com", expected_category: "personal" }
  expect(await met("POST /v1/feedback", { body: report })).toEqual(["reports", 200])
  await time.tick(2000)
  await customers.units.take(keyId, 8, 8)
  expect(await met(CHECK)).toEqual(["day", 8])
  await time.tick(2000)
  await customers.units.take(accountId, 10, 10)
  expect(await met(CHECK, { key: other.text })).toEqual(["day", 10])
})

describe("a key with networks", () => {
  test("is refused from elsewhere by 403, and let in from them, by IPv4 and IPv6", async () => {
    const { ask, change } = await restricted({ networks: ["198.51.100.0/24", "2001:db8:1::/48"] })
    const from = (address: string) => ask(CHECK, { headers: { "x-test-peer": address } })
    for (const address of ["198.51.100.7", "::ffff:198.51.100.7", "2001:db8:1:2::3"])
      expect([address, (await from(address)).status]).toEqual([address, 200])
    for (const address of ["198.51.101.7", "192.0.2.1", "2001:db8:2::1", "nowhere"]) {
      const { status, body } = await from(address)
      expect([address, status, body["code"]]).toEqual([address, 403, "forbidden_network"])
    }
    await change({})
    expect((await from("192.0.2.1")).status).toBe(200)
  })

  test("is judged by the client that a trusted proxy names, and by the peer otherwise", async () => {
    const { ask } = await restricted({ networks: ["203.0.113.9"] }, "0=-/-/-", { trustedProxies: "10.0.0.0/8" })
    const via = async (peer: string, forwarded: string) =>
      (await ask(CHECK, { headers: { "x-test-peer": peer, "x-forwarded-for": forwarded } })).status
    expect(await via("10.0.0.1", "203.0.113.9")).toBe(200)
    expect(await via("10.0.0.1", "203.0.113.9, 203.0.113.10")).toBe(403)
    expect(await via("10.0.0.1", "garbage")).toBe(403)
    expect(await via("192.0.2.1", "203.0.113.9")).toBe(403)
  })

  test("takes nothing of the account's requests or units when it is refused", async () => {
    const { ask, newKey } = await restricted({ networks: ["198.51.100.0/24"] }, "0=1/1/10")
    const other = await newKey()
    for (let count = 0; count < 10; count++) expect((await ask(CHECK)).status).toBe(403)
    expect((await ask(CHECK, { key: other.text })).headers.get("ratelimit")).toBe('"second";r=1;t=1, "day";r=9;t=86400')
  })
})

describe("a publishable key", () => {
  test("has units and requests a second of its own, within those that all of them share", async () => {
    const { ask, newKey, change } = await restricted({})
    const pub = await newKey([PAGE])
    await change({ unitsPerDay: 2 }, pub.id)
    const asked = () => ask(CHECK, { key: pub.text, headers: { Origin: PAGE } })
    expect((await asked()).headers.get("ratelimit-policy")).toBe('"second";q=10;w=1, "day";q=2;w=86400')
    expect((await asked()).status).toBe(200)
    const { body, headers } = await asked()
    expect(body).toMatchObject({ code: "quota_exceeded", limit: 2, remaining: 0 })
    expect(headers.get("access-control-allow-origin")).toBe(PAGE)
  })

  test("is let in from its new websites and no longer from the old ones at once", async () => {
    const { ask, newKey, changes } = await restricted({})
    const pub = await newKey([PAGE])
    const from = async (origin: string) => (await ask(CHECK, { key: pub.text, headers: { Origin: origin } })).status
    expect([await from(PAGE), await from("https://new.example")]).toEqual([200, 403])
    await changeKey(changes, pub.id, { origins: ["https://new.example"] })
    expect([await from(PAGE), await from("https://new.example")]).toEqual([403, 200])
  })
})

test("requests of secret keys are noticed with their network, and those of pages are not", async () => {
  const { ask, newKey, customers, store, keyId } = await restricted({})
  const pub = await newKey([PAGE])
  await ask(CHECK)
  await ask(CHECK, { key: pub.text, headers: { Origin: PAGE } })
  while ((await customers.keyNetworks.flush()) > 0);
  expect(await store.all<unknown>("SELECT key_id FROM key_networks")).toEqual([{ key_id: keyId }])
})
