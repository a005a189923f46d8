import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import type { Usage } from "../../src/contract/usage-schema.ts"
import { revokeKey } from "../../src/customers/keys/keys.ts"
import { testApp } from "../support/app.ts"

setDefaultTimeout(300_000)

const PAGE = "https://app.example.com"
const TEST = "GET /v1/check?email=business%40mailkind.test"
const REAL = "GET /v1/check?domain=stripe.com"
const BURST = LIMITS.publishableClientPerSecond * LIMITS.burstFactor
const KEY_BURST = LIMITS.publishablePerSecond * LIMITS.burstFactor

/** A house with a publishable key, and how its visitors ask: each from an address of its own when none is named. */
async function visited(more: Parameters<typeof testApp>[0] = {}) {
  const harness = await testApp({ tier: 0, ...more })
  const page = await harness.newKey([PAGE])
  let visitors = 0
  const visit = (line: string, { key = page.text, peer = `198.51.${visitors >> 8}.${visitors++ & 255}` } = {}) =>
    harness.ask(line, { key, headers: { Origin: PAGE, "x-test-peer": peer } })
  return { ...harness, page, visit }
}

/** More is asked of no caller before it is refused. */
const ASKED_MAX = 2_000

/** How many are answered before the first that is refused. */
async function answeredBefore(ask: (at: number) => Promise<{ readonly status: number }>): Promise<number> {
  for (let count = 0; count < ASKED_MAX; count++) if ((await ask(count)).status === 429) return count
  throw new Error(`nothing was refused in ${ASKED_MAX} requests`)
}

describe("a publishable key", () => {
  test("answers ten a second, twenty at once, whoever the visitors are", async () => {
    const { visit, time } = await visited()
    expect(await answeredBefore(() => visit(TEST))).toBe(KEY_BURST)
    const { status, body, headers } = await visit(TEST)
    expect({ status, code: body["code"], limit: body["limit"], retry: headers.get("retry-after") }).toEqual({
      status: 429,
      code: "rate_limited",
      limit: LIMITS.publishablePerSecond,
      retry: "1",
    })
    expect(body["retry_after"]).toBe(1)
    await time.tick(1000)
    expect(await answeredBefore(() => visit(TEST))).toBe(LIMITS.publishablePerSecond)
  })

  test("answers one client address twice a second, four times at once, and the next address still", async () => {
    const { visit, time } = await visited()
    const one = () => visit(TEST, { peer: "192.0.2.1" })
    expect(await answeredBefore(one)).toBe(BURST)
    const { body, headers } = await one()
    expect({ code: body["code"], limit: body["limit"], retryAfter: body["retry_after"] }).toEqual({
      code: "rate_limited",
      limit: LIMITS.publishableClientPerSecond,
      retryAfter: 1,
    })
    expect(headers.get("retry-after")).toBe("1")
    expect((await visit(TEST, { peer: "192.0.2.2" })).status).toBe(200)
    await time.tick(1000)
    expect(await answeredBefore(one)).toBe(LIMITS.publishableClientPerSecond)
  })

  test("takes an IPv6 /64 for one client address", async () => {
    const { visit } = await visited()
    expect(await answeredBefore(at => visit(TEST, { peer: `2001:db8:0:1::${at + 1}` }))).toBe(BURST)
    expect((await visit(TEST, { peer: "2001:DB8:0:1:ffff:ffff:ffff:ffff" })).status).toBe(429)
    expect((await visit(TEST, { peer: "2001:db8:0:2::1" })).status).toBe(200)
  })

  test("tells what is left of it with every answer to its page, refusals too", async () => {
    const { visit } = await visited()
    const one = (line: string) => visit(line, { peer: "192.0.2.1" })
    const queries = [await one(TEST), await one(REAL), await one("GET /v1/check"), await one(TEST), await one(TEST)]
    expect(queries.map(({ status }) => status)).toEqual([200, 200, 400, 200, 429])
    for (const { headers } of queries.slice(0, 4)) {
      expect(headers.get("ratelimit-policy")).toBe(
        `"second";q=${LIMITS.publishablePerSecond};w=1, "day";q=${LIMITS.publishableUnitsPerDay};w=86400`,
      )
      expect(headers.get("ratelimit")).toMatch(/^"second";r=\d+;t=1(?:, "day";r=\d+;t=86400)?$/)
    }
    expect(queries[1]?.headers.get("ratelimit")).toContain(`"day";r=${LIMITS.publishableUnitsPerDay - 1};`)
    // The limit that the visitor met is another one than those of the key.
    expect(queries[4]?.headers.get("ratelimit")).toBe('"client";r=0;t=1')
    expect(queries[4]?.headers.get("ratelimit-policy")).toBe(
      `"client";q=${LIMITS.publishableClientPerSecond};w=1, "second";q=${LIMITS.publishablePerSecond};w=1, "day";q=${LIMITS.publishableUnitsPerDay};w=86400`,
    )
  })

  test("shares a thousand units a day with all others of its account, new and revoked ones, apart from the account's", async () => {
    for (const tier of [0, 4]) {
      const harness = await visited({ tier })
      const { visit, ask, time, newKey, customers, accountId } = harness
      const other = await newKey([PAGE])
      for (let at = 0; at < 10; at++) {
        await time.tick(500)
        expect((await visit(REAL, { key: other.text })).status).toBe(200)
      }
      await revokeKey(harness.changes, other.id, "owner")
      const unhurried = async () => {
        await time.tick(100)
        return await visit(REAL)
      }
      expect(await answeredBefore(unhurried)).toBe(LIMITS.publishableUnitsPerDay - 10)
      const { body, headers } = await unhurried()
      expect({ code: body["code"], limit: body["limit"], resetsAt: body["resets_at"] }).toEqual({
        code: "quota_exceeded",
        limit: LIMITS.publishableUnitsPerDay,
        resetsAt: "2026-01-02T00:00:00.000Z",
      })
      expect(headers.get("retry-after")).toBe(String(body["retry_after"]))
      expect((await visit(TEST)).status).toBe(200)
      const another = await newKey([PAGE])
      expect((await visit(REAL, { key: another.text })).body["code"]).toBe("quota_exceeded")
      expect(await customers.units.readRemaining(accountId, 1000)).toBe(1000)
      const { today } = (await ask("GET /v1/usage")).body as Usage // its schema has a test of its own
      expect(today).toMatchObject({ used: 0, publishable: { used: LIMITS.publishableUnitsPerDay, remaining: 0 } })
      expect((await ask(REAL)).status).toBe(200)
      await time.tick(86_400_000)
      expect((await visit(REAL)).status).toBe(200)
    }
  })

  test("is held to its own limits, not to those of the account, and takes nothing of the account's", async () => {
    const { visit, ask } = await visited({ tiers: "0=1/1/2" })
    expect(await answeredBefore(() => visit(REAL))).toBe(KEY_BURST)
    for (let at = 0; at < 2; at++) expect((await ask(REAL)).status).toBe(200)
  })

  test("of which another allows the same page counts for itself, for each visitor too", async () => {
    const { visit, newKey } = await visited()
    const other = await newKey([PAGE])
    const asOne = (key: string) => () => visit(TEST, { key, peer: "192.0.2.1" })
    expect(await answeredBefore(asOne(other.text))).toBe(BURST)
    expect((await visit(TEST, { peer: "192.0.2.1" })).status).toBe(200)
  })
})

describe("without a key", () => {
  const keyless = async () => {
    const harness = await testApp({ tier: 0 })
    const from = (peer: string, line = TEST) => harness.ask(line, { key: null, headers: { "x-test-peer": peer } })
    return { ...harness, from }
  }

  test("a client address has five a second, and is told when to come again", async () => {
    const { from, time } = await keyless()
    expect(await answeredBefore(() => from("192.0.2.1"))).toBe(LIMITS.keylessPerSecond)
    const { status, body, headers } = await from("192.0.2.1")
    expect({ status, code: body["code"], limit: body["limit"], retryAfter: body["retry_after"] }).toEqual({
      status: 429,
      code: "rate_limited",
      limit: LIMITS.keylessPerSecond,
      retryAfter: 1,
    })
    expect(headers.get("retry-after")).toBe("1")
    expect((await from("192.0.2.2")).status).toBe(200)
    await time.tick(1000)
    expect(await answeredBefore(() => from("192.0.2.1"))).toBe(LIMITS.keylessPerSecond)
  })

  test("an IPv6 /64 is one client address, and an IPv4 address is the same when it is written as IPv6", async () => {
    const { from } = await keyless()
    expect(await answeredBefore(at => from(`2001:db8:0:1:${at + 1}::1`))).toBe(LIMITS.keylessPerSecond)
    expect((await from("2001:0db8:0000:0001::")).status).toBe(429)
    expect((await from("2001:db8:0:2::1")).status).toBe(200)
    expect(await answeredBefore(() => from("::ffff:192.0.2.9"))).toBe(LIMITS.keylessPerSecond)
    expect((await from("192.0.2.9")).status).toBe(429)
  })

  test("HEAD and POST count with GET, and what is refused as unauthorized counts for nothing", async () => {
    const { from, ask } = await keyless()
    const peer = { key: null, headers: { "x-test-peer": "192.0.2.1" } }
    for (let at = 0; at < 20; at++) expect((await from("192.0.2.1", REAL)).status).toBe(401)
    for (let at = 0; at < LIMITS.keylessPerSecond; at++) {
      const [line, body] =
        at % 2 === 0 ? [TEST.replace("GET", "HEAD")] : ["POST /v1/check", { email: "a@mailkind.test" }]
      expect((await ask(line ?? "", { ...peer, body })).status).toBe(200)
    }
    expect((await from("192.0.2.1")).status).toBe(429)
  })

  test("and with one, each has its own: a caller with a key takes nothing from those without", async () => {
    const { from, ask } = await keyless()
    for (let at = 0; at < 10; at++)
      expect((await ask(TEST, { headers: { "x-test-peer": "192.0.2.1" } })).status).toBe(200)
    expect(await answeredBefore(() => from("192.0.2.1"))).toBe(LIMITS.keylessPerSecond)
  })
})

describe("requests without a key", () => {
  test("are refused unread beyond a number a second from one client address, and those of others are read", async () => {
    const { ask, time } = await testApp()
    const from = (peer: string) => (body: object) =>
      ask("POST /v1/check", { body, key: null, headers: { "x-test-peer": peer } })
    const busy = from("192.0.2.1")
    const READ_BURST = 2 * LIMITS.keylessReadsPerSecond
    expect(await answeredBefore(() => busy({ email: "jane@acme.com" }))).toBe(READ_BURST)
    expect((await busy({ email: "business@mailkind.test" })).body).toMatchObject({
      code: "rate_limited",
      limit: LIMITS.keylessReadsPerSecond,
    })
    expect((await from("192.0.2.2")({ email: "business@mailkind.test" })).status).toBe(200)
    await time.tick(1000)
    expect((await busy({ email: "jane@acme.com" })).status).toBe(401)
    expect((await busy({ email: "business@mailkind.test" })).status).toBe(200)
  })
})
