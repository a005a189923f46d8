import { describe, expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { LIMITS } from "../../src/contract/limits.ts"
import { ProblemBody } from "../../src/contract/schemas.ts"
import { TIERS } from "../../src/contract/tiers.ts"
import { setTier } from "../../src/customers/accounts/accounts.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { deepProbeStub } from "../support/deep-probe-stub.ts"
import { settled } from "../support/time.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

const TEST = "GET /v1/check?email=business%40mailkind.test"
const REAL = "GET /v1/check?domain=stripe.com"
const DEEP = `${REAL}&deep=true`
const DAY_MS = 86_400_000
/** Nothing but the units of a day limits tier 0. */
const daily = (units: number) => testApp({ tier: 0, tiers: `0=-/-/${units}`, deep: () => deepProbeStub })

/** Tiers that limit something, each with its number. */
const LIMITED = TIERS.flatMap(({ name, requestsPerSecond, inFlight, unitsPerDay }, tier) =>
  requestsPerSecond === null || inFlight === null || unitsPerDay === null
    ? []
    : [{ tier, name, requestsPerSecond, inFlight, unitsPerDay }],
)

/** More is asked of no tier before it is refused. */
const ASKED_MAX = 5_000

/** How often something is answered before it is refused; the refusal. */
async function untilRefused(
  ask: () => Promise<ApiResponse>,
): Promise<{ readonly count: number; readonly refusal: ApiResponse }> {
  for (let count = 0; count < ASKED_MAX; count++) {
    const response = await ask()
    if (response.status === 429) return { count, refusal: response }
    expect(response.status).toBe(200)
  }
  throw new Error(`nothing was refused in ${ASKED_MAX} requests`)
}

const codesOf = async (queries: readonly Promise<ApiResponse>[]): Promise<(string | number)[]> =>
  (await Promise.all(queries)).map(({ status, body }) => (status === 200 ? 200 : String(body["code"])))

/** Holds that a refusal says when to come again, and what the limit is; gives the seconds. */
function expectRefused({ status, headers, body }: ApiResponse, code: string, limit: number): number {
  const { retry_after: retryAfter } = body
  expect({ status, code: body["code"], limit: body["limit"], retry: headers.get("retry-after") }).toEqual({
    status: 429,
    code,
    limit,
    retry: String(retryAfter),
  })
  expect(retryAfter).toBeInteger()
  expect(retryAfter).toBeGreaterThan(0)
  return Number(retryAfter)
}

/** Requests whose body does not end until they are told to. */
function held({ ask }: Harness, count: number) {
  const bodies: ReadableStreamDefaultController[] = []
  const queries = Array.from({ length: count }, () => {
    const body = new ReadableStream({ start: controller => void bodies.push(controller) })
    return ask("POST /v1/check", { body })
  })
  return {
    queries,
    finish: (at: number): void => {
      bodies[at]?.enqueue(new TextEncoder().encode('{"domain":"stripe.com"}'))
      bodies[at]?.close()
    },
    breakOff: (at: number): void => bodies[at]?.error(new Error("the client is gone")),
  }
}

describe("requests a second", () => {
  test.each(LIMITED)(
    "of tier $tier, $name: twice the rate at once, then the rate",
    async ({ tier, requestsPerSecond }) => {
      const { ask, time } = await testApp({ tier })
      const { count, refusal } = await untilRefused(() => ask(TEST))
      expect(count).toBe(requestsPerSecond * LIMITS.burstFactor)
      const retryAfter = expectRefused(refusal, "rate_limited", requestsPerSecond)
      await time.tick(retryAfter * 1000)
      expect((await untilRefused(() => ask(TEST))).count).toBe(requestsPerSecond * retryAfter)
      await time.tick(60_000)
      expect((await untilRefused(() => ask(TEST))).count).toBe(requestsPerSecond * LIMITS.burstFactor)
    },
  )

  test("are those of the account: its keys share them, and no other account's count", async () => {
    const harness = await testApp({ tier: 0 })
    const { text } = await harness.newKey()
    for (let at = 0; at < 5; at++)
      for (const key of [harness.key, text]) expect((await harness.ask(TEST, { key })).status).toBe(200)
    for (const key of [harness.key, text]) expectRefused(await harness.ask(TEST, { key }), "rate_limited", 5)
    const other = await testApp({ tier: 0 })
    expect((await other.ask(TEST)).status).toBe(200)
  })

  test("a request that is refused later on counts; one that is refused before does not", async () => {
    const { ask } = await testApp({ tier: 0 })
    for (let at = 0; at < 20; at++) {
      expect((await ask("GET /v1/nothing")).status).toBe(404)
      expect((await ask("DELETE /v1/check")).status).toBe(405)
      expect((await ask(TEST, { key: "svc_live_nonsense" })).status).toBe(401)
    }
    for (let at = 0; at < 5; at++) {
      expect((await ask("POST /v1/check", { body: {} })).status).toBe(400)
      expect((await ask("GET /v1/usage")).status).toBe(200)
    }
    expect((await ask(TEST)).body["code"]).toBe("rate_limited")
  })

  test("nothing limits the tier without limits", async () => {
    const harness = await testApp({ tier: TIERS.length - 1 })
    const many = Array.from({ length: 3000 }, () => harness.ask(REAL))
    expect(new Set(await codesOf(many))).toEqual(new Set([200]))
  })
})

describe("requests in flight", () => {
  test.each(LIMITED)("of tier $tier, $name: as many as the tier has, and one more when one ends", async row => {
    const { tier, inFlight } = row
    const harness = await testApp({ tier })
    const { queries, finish, breakOff } = held(harness, inFlight)
    await settled()
    expectRefused(await harness.ask(TEST), "rate_limited", inFlight)
    finish(0)
    expect((await queries[0])?.status).toBe(200)
    expect((await harness.ask(TEST)).status).toBe(200)
    breakOff(1)
    expect((await queries[1])?.status).toBeGreaterThanOrEqual(400)
    const again = held(harness, 2)
    await settled()
    expectRefused(await harness.ask(TEST), "rate_limited", inFlight)
    for (let at = 2; at < inFlight; at++) finish(at)
    for (const at of [0, 1]) again.finish(at)
    expect(new Set(await codesOf([...queries.slice(2), ...again.queries]))).toEqual(new Set([200]))
    expect(harness.customers.inFlight.callersCount).toBe(0)
  })

  test("are those of the account, and a request that is refused leaves none behind", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=-/2/-" })
    const { text } = await harness.newKey()
    const { queries, finish } = held(harness, 2)
    await settled()
    for (const key of [harness.key, text]) expectRefused(await harness.ask(TEST, { key }), "rate_limited", 2)
    for (const at of [0, 1]) finish(at)
    await Promise.all(queries)
    for (const [line, status] of [
      ["GET /v1/check", 400],
      ["GET /v1/check?email=error-500%40mailkind.test", 500],
      ["GET /v1/check?email=error-429%40mailkind.test", 429],
      ["GET /v1/usage", 200],
      ["HEAD /v1/usage", 200],
    ] as const)
      for (let at = 0; at < 3; at++) expect((await harness.ask(line)).status).toBe(status)
    expect(harness.customers.inFlight.callersCount).toBe(0)
  })
})

describe("units a day", () => {
  test.each(LIMITED)(
    "of tier $tier, $name: the last one is taken and the next is refused",
    async ({ tier, unitsPerDay }) => {
      const { ask, time, customers, accountId } = await testApp({ tier })
      await time.tick(3_600_000)
      await customers.units.take(accountId, unitsPerDay - 1, unitsPerDay)
      expect((await ask(REAL)).status).toBe(200)
      const refusal = await ask(REAL)
      expect(expectRefused(refusal, "quota_exceeded", unitsPerDay)).toBe(23 * 3600)
      expect(refusal.body["resets_at"]).toBe("2026-01-02T00:00:00.000Z")
    },
  )

  test("a thousand checks of the free tier are answered, one by one, and no more until midnight UTC", async () => {
    const { ask, time } = await testApp({ tier: 0 })
    const unhurried = async () => {
      await time.tick(200)
      return await ask(REAL)
    }
    expect((await untilRefused(unhurried)).count).toBe(1000)
    const { body } = await unhurried()
    await time.tick(Number(body["retry_after"]) * 1000 - 1000)
    expect((await ask(REAL)).body["code"]).toBe("quota_exceeded")
    await time.tick(1000)
    expect((await untilRefused(unhurried)).count).toBe(1000)
  })

  test("never more than the quota is admitted, however many ask at the same moment, with any key", async () => {
    const harness = await daily(100)
    const { text } = await harness.newKey()
    const codes = await codesOf(
      Array.from({ length: 300 }, (_, at) => harness.ask(REAL, at % 2 === 0 ? {} : { key: text })),
    )
    expect(codes.filter(code => code === 200)).toHaveLength(100)
    expect(codes.filter(code => code === "quota_exceeded")).toHaveLength(200)
  })

  test("a refusal tells what the request needs and what is left, as a sentence and as members", async () => {
    const { ask } = await daily(9)
    expect((await ask(REAL)).status).toBe(200)
    const batch = (count: number) =>
      ask("POST /v1/check/batch", { body: { items: Array.from({ length: count }, (_, at) => `a${at}.com`) } })
    const told = ({ status, body }: ApiResponse) => ({ status, ...body })
    const limit = { status: 429, code: "quota_exceeded", limit: 9 }
    expect(told(await batch(9))).toMatchObject({
      ...limit,
      needed: 9,
      remaining: 8,
      detail: "The request needs 9 units. Today 8 of 9 are left.",
    })
    expect((await batch(5)).status).toBe(200)
    expect(told(await ask(DEEP))).toMatchObject({
      ...limit,
      needed: LIMITS.deepCheckUnits,
      remaining: 3,
      detail: "The request needs 5 units. Today 3 of 9 are left.",
    })
    expect(told(await batch(100))).toMatchObject({ ...limit, needed: 100, remaining: 3 })
    expect((await batch(2)).status).toBe(200)
    expect(told(await batch(2))).toMatchObject({ detail: "The request needs 2 units. Today 1 of 9 is left." })
    expect((await ask(REAL)).status).toBe(200)
    const last = told(await ask(REAL))
    expect(last).toMatchObject({
      needed: 1,
      remaining: 0,
      detail: "The request needs 1 unit. Today 0 of 9 are left.",
    })
    expect([...Value.Errors(ProblemBody, (await ask(REAL)).body)]).toEqual([])
    expect(told(await ask("GET /v1/check?email=error-quota%40mailkind.test"))).toMatchObject({
      needed: 1,
      remaining: 0,
    })
  })

  test("a deep check takes five, all or none", async () => {
    const { ask } = await daily(9)
    expect(await codesOf([ask(DEEP)])).toEqual([200])
    expect((await ask(DEEP)).body["code"]).toBe("quota_exceeded")
    expect((await untilRefused(() => ask(REAL))).count).toBe(9 - LIMITS.deepCheckUnits)
  })

  test("errors, test addresses and usage cost nothing, also when no unit is left", async () => {
    const { ask } = await daily(1)
    for (let round = 0; round < 2; round++) {
      for (const [line, body, status] of [
        [TEST, undefined, 200],
        [`${TEST}&deep=true`, undefined, 200],
        ["GET /v1/check?email=error-500%40mailkind.test", undefined, 500],
        ["GET /v1/check?email=error-429%40mailkind.test", undefined, 429],
        ["GET /v1/check?domain=stripe.com&deep=perhaps", undefined, 400],
        ["POST /v1/check", {}, 400],
        ["POST /v1/check", { domain: "stripe.com", policy: "none" }, 400],
        ["POST /v1/check", "x".repeat(LIMITS.bodyBytesMax + 1), 413],
        ["POST /v1/feedback", {}, 400],
        ["GET /v1/usage", undefined, 200],
      ] as const)
        expect({ line, status: (await ask(line, { body })).status }).toEqual({ line, status })
      expect((await ask(REAL)).status).toBe(round === 0 ? 200 : 429)
    }
  })

  test("an address that is simply invalid is an answer, and costs a unit", async () => {
    const { ask } = await daily(1)
    expect((await ask("GET /v1/check?email=nonsense")).status).toBe(200)
    expect((await ask(REAL)).body["code"]).toBe("quota_exceeded")
  })

  test("a failure of ours costs nothing", async () => {
    const { ask, store, customers, accountId } = await daily(3)
    await store.run("ALTER TABLE own_list_entries RENAME TO elsewhere", [])
    for (let at = 0; at < 5; at++) expect((await ask(REAL)).body["code"]).toBe("internal_error")
    await store.run("ALTER TABLE elsewhere RENAME TO own_list_entries", [])
    expect(customers.units.remaining(accountId, 3)).toBe(3)
    expect((await untilRefused(() => ask(REAL))).count).toBe(3)
  })
})

describe("midnight UTC", () => {
  test("during a check leaves its units and its usage on one day, that of its charge", async () => {
    const held: { goOn?: () => void } = {}
    const deep = () => ({
      ...deepProbeStub,
      lookup: async (domain: string) => {
        await new Promise<void>(resolve => Object.assign(held, { goOn: resolve }))
        return await deepProbeStub.lookup(domain)
      },
    })
    const { ask, time } = await testApp({ tier: 0, deep })
    await time.tick(DAY_MS - 1)
    const pending = ask(DEEP)
    await settled()
    await time.tick(1)
    held.goOn?.()
    const { status, headers } = await pending
    expect([status, headers.get("ratelimit")]).toEqual([200, '"second";r=5;t=1'])
    const { body } = await ask("GET /v1/usage")
    expect(body["today"]).toMatchObject({ date: "2026-01-02", used: 0, remaining: 1000 })
    expect(body["daily"]).toMatchObject({ 0: { used: 0 }, 1: { date: "2026-01-01", used: 5, deep_checks: 1 } })
  })

  test("begins a new day with all of its units", async () => {
    const { ask, time } = await daily(2)
    await time.tick(DAY_MS - 1)
    expect((await untilRefused(() => ask(REAL))).refusal.body["retry_after"]).toBe(1)
    await time.tick(1)
    expect((await untilRefused(() => ask(REAL))).count).toBe(2)
  })

  test("a clock that is set back over it keeps the later day, and says when that one ends", async () => {
    const { ask, time } = await daily(4)
    await time.tick(DAY_MS - 1000)
    expect((await ask(REAL)).status).toBe(200)
    await time.tick(1000)
    for (let at = 0; at < 3; at++) expect((await ask(REAL)).status).toBe(200)
    await time.tick(-1000)
    expect((await ask(REAL)).status).toBe(200)
    const refusal = await ask(REAL)
    expect(expectRefused(refusal, "quota_exceeded", 4)).toBe(DAY_MS / 1000 + 1)
    expect(refusal.body["resets_at"]).toBe("2026-01-03T00:00:00.000Z")
    await time.tick(1000)
    expect((await ask(REAL)).body["code"]).toBe("quota_exceeded")
    await time.tick(DAY_MS)
    expect((await untilRefused(() => ask(REAL))).count).toBe(4)
  })
})

describe("a change of tier", () => {
  test("acts on the next request, whatever was used before, and the other way round too", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=2/-/5,1=50/-/8" })
    const { ask, time, changes, accountId } = harness
    const hurried = () => untilRefused(() => ask(REAL))
    expect((await hurried()).refusal.body["code"]).toBe("rate_limited")
    await setTier(changes, accountId, 1)
    // What was asked too fast is paid for at the new rate.
    await time.tick(200)
    const { count, refusal } = await hurried()
    expect(count).toBe(4)
    expectRefused(refusal, "quota_exceeded", 8)
    await setTier(changes, accountId, 0)
    await time.tick(10_000)
    expectRefused((await hurried()).refusal, "quota_exceeded", 5)
    await setTier(changes, accountId, TIERS.length - 1)
    expect(new Set(await codesOf(Array.from({ length: 100 }, () => ask(REAL))))).toEqual(new Set([200]))
  })
})
