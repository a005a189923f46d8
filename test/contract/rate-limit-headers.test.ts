import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { TIERS } from "../../src/contract/tiers.ts"
import { revokeKey } from "../../src/customers/keys/keys.ts"
import { publishTerms } from "../../src/customers/terms/terms.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { deepProbeStub } from "../support/deep-probe-stub.ts"
import { settled } from "../support/time.ts"

const TEST = "GET /v1/check?email=business%40mailkind.test"
const REAL = "GET /v1/check?domain=stripe.com"
const PAGE = "https://app.example.com"
const DAY_SECONDS = 86_400

/** The members of one header by name, each with its parameters. */
type Members = Readonly<Record<string, Readonly<Record<string, number>>>>

/** A member of a list: a string with whole numbers as parameters (RFC 9651 §3), as the draft has it in both headers. */
const MEMBER = /^"([\x20-\x21\x23-\x5b\x5d-\x7e]+)"((?:;[a-z*][a-z0-9_.*-]*=\d{1,15})+)$/

/** Reads a header such as `"second";q=5;w=1, "day";q=1000;w=86400`. Null: there is none. Throws when it is anything else. */
function members(value: string | null): Members | null {
  if (value === null) return null
  const read = value.split(", ").map(member => {
    const [, name = "", parameters = ""] = MEMBER.exec(member) ?? []
    if (name === "") throw new Error(`no member of a list of limits: ${member}`)
    const pairs = [...parameters.matchAll(/;([^=]+)=(\d+)/g)].map(
      ([, key = "", number]) => [key, Number(number)] as const,
    )
    if (new Set(pairs.map(([key]) => key)).size < pairs.length) throw new Error(`a parameter comes twice: ${member}`)
    return [name, Object.fromEntries(pairs)] as const
  })
  if (new Set(read.map(([name]) => name)).size < read.length) throw new Error(`a policy comes twice: ${value}`)
  return Object.fromEntries(read)
}

const policyOf = ({ headers }: ApiResponse): Members | null => members(headers.get("ratelimit-policy"))
const leftOf = ({ headers }: ApiResponse): Members | null => members(headers.get("ratelimit"))
const rowOf = (tier: number) => {
  const { requestsPerSecond, unitsPerDay } = TIERS[tier] ?? {}
  return {
    ...(requestsPerSecond && { second: { q: requestsPerSecond, w: 1 } }),
    ...(unitsPerDay && { day: { q: unitsPerDay, w: DAY_SECONDS } }),
  }
}

/**
 * Holds that both headers are there and agree: something is left of each policy, at most all, for at most its window. Units that are
 * left of the day are told where they are known.
 */
function expectTold(query: ApiResponse, policy: Members = rowOf(0)): void {
  expect(policyOf(query)).toEqual(policy)
  const left = leftOf(query) ?? {}
  expect(Object.keys(left)).toEqual(Object.keys(policy).filter(name => name !== "day" || "day" in left))
  for (const [name, { q = 0, w = 1 }] of Object.entries(policy)) {
    if (name === "day" && !("day" in left)) continue
    const { r, t, ...rest } = left[name] ?? {}
    expect(rest).toEqual({})
    expect(r).toBeGreaterThanOrEqual(0)
    expect(r).toBeLessThanOrEqual(q)
    expect(t).toBeGreaterThan(0)
    expect(t).toBeLessThanOrEqual(w)
  }
}
const expectUntold = (question: ApiResponse): void =>
  expect([question.headers.get("ratelimit"), question.headers.get("ratelimit-policy")]).toEqual([null, null])

const unitsOf = (reply: ApiResponse): number | undefined => leftOf(reply)?.["day"]?.["r"]

/** Asks after seconds without requests, in which idle units go back. */
async function afterIdleSeconds(
  { ask, time, customers, key: ownKey }: Awaited<ReturnType<typeof testApp>>,
  seconds: number,
  line: string,
  key = ownKey,
): Promise<ApiResponse> {
  for (let at = 0; at < seconds; at++) {
    await time.tick(1000)
    await customers.units.maintain()
  }
  const reply = await ask(line, { key, body: line.startsWith("POST") ? {} : undefined })
  await settled()
  return reply
}

describe("RateLimit and RateLimit-Policy", () => {
  test.each(TIERS.map((_, tier) => tier))(
    "tell the limits of tier %d, and nothing where there are none",
    async tier => {
      const response = await (await testApp({ tier })).ask(REAL)
      if (tier === TIERS.length - 1) expectUntold(response)
      else expectTold(response, rowOf(tier))
    },
  )

  test("are with every answer from the rate step on", async () => {
    const harness = await testApp({ tier: 0 })
    for (const [line, body, status] of [
      [REAL, undefined, 200],
      [`${REAL}&deep=true`, undefined, 200],
      [TEST, undefined, 200],
      ["HEAD /v1/check?domain=stripe.com", undefined, 200],
      ["GET /v1/usage", undefined, 200],
      ["POST /v1/check", { domain: "stripe.com" }, 200],
      ["POST /v1/feedback", { domain: "stripe.com", expected_category: "personal" }, 202],
      ["POST /v1/check/batch", { items: ["stripe.com", "business@mailkind.test"] }, 200],
      ["POST /v1/check/batch", { items: [] }, 400],
      ["POST /v1/feedback", {}, 400],
      ["POST /v1/check", {}, 400],
      ["GET /v1/check?deep=perhaps", undefined, 400],
      ["HEAD /v1/check", undefined, 400],
      ["POST /v1/check", "x".repeat(LIMITS.bodyBytesMax + 1), 413],
      ["GET /v1/check?email=error-429%40mailkind.test", undefined, 429],
      ["GET /v1/check?email=error-500%40mailkind.test", undefined, 500],
    ] as const) {
      await harness.time.tick(1000)
      const reply = await harness.ask(line, { body })
      expect({ line, status: reply.status }).toEqual({ line, status })
      expectTold(reply)
    }
  })

  test("are with what the limits themselves refuse, and then nothing is left of the one that does", async () => {
    const fast = await testApp({ tier: 0 })
    for (let at = 0; at < 10; at++) await fast.ask(TEST)
    const tooFast = await fast.ask(TEST)
    expect(tooFast.status).toBe(429)
    expectTold(tooFast)
    expect(leftOf(tooFast)?.["second"]).toEqual({ r: 0, t: 1 })

    const many = await testApp({ tier: 0 })
    const hold = () => many.ask("POST /v1/check", { body: new ReadableStream() })
    for (let at = 0; at < 5; at++) void hold()
    await settled()
    const atOnce = await many.ask(TEST)
    expect(atOnce.status).toBe(429)
    expectTold(atOnce, { concurrent: { q: 5 }, ...rowOf(0) })
    expect(leftOf(atOnce)?.["concurrent"]).toEqual({ r: 0, t: 1 })

    const used = await testApp({ tier: 0 })
    await used.customers.units.take(used.accountId, 1000, 1000)
    const usedUp = await used.ask(REAL)
    expect(usedUp.body["code"]).toBe("quota_exceeded")
    expectTold(usedUp)
    expect(leftOf(usedUp)?.["day"]).toEqual({ r: 0, t: DAY_SECONDS })
  })

  test("are with no answer from before the rate step", async () => {
    const harness = await testApp({ tier: 0 })
    const page = await harness.newKey([PAGE])
    const gone = await harness.newKey()
    await revokeKey(harness.changes, gone.id, "owner")
    for (const [line, key, status] of [
      ["GET /v1/nothing", harness.key, 404],
      ["DELETE /v1/check", harness.key, 405],
      ["OPTIONS /v1/check", harness.key, 204],
      ["GET /v1/health", harness.key, 200],
      [TEST, null, 200],
      [REAL, null, 401],
      [REAL, "svc_live_nonsense", 401],
      [REAL, gone.text, 401],
      ["GET /v1/usage", page.text, 401],
      [REAL, page.text, 403],
    ] as const) {
      const answer = await harness.ask(line, { key })
      expect({ line, status: answer.status }).toEqual({ line, status })
      expectUntold(answer)
    }
    await publishTerms(harness.changes, { version: "2", url: "https://example.com/terms", isMaterial: true })
    await harness.time.tick((LIMITS.termsNoticeDays + 1) * DAY_SECONDS * 1000)
    const refused = await harness.ask(REAL)
    expect(refused.body["code"]).toBe("terms_not_accepted")
    expectUntold(refused)
  })

  test.each([7, 1000])(
    "tell what is left of a whole day of %d units also after a while without requests, or nothing about the day",
    async perDay => {
      const harness = await testApp({ tier: 0, tiers: `0=5/5/${perDay}` })
      const { text: otherKey } = await harness.newKey()
      const { ask } = harness
      for (let at = 0; at < 7; at++) expect((await afterIdleSeconds(harness, 1, REAL)).status).toBe(200)
      const seen: (number | undefined)[] = []
      for (const line of [TEST, "GET /v1/check", "GET /v1/usage", "POST /v1/check/batch", `${TEST}&x=1`]) {
        for (const key of [harness.key, otherKey]) {
          const reply = await afterIdleSeconds(harness, key === harness.key ? 5 : 0, line, key)
          seen.push(unitsOf(reply))
        }
      }
      expect(new Set(seen)).toEqual(new Set([undefined, perDay - 7]))
      expect(unitsOf(await afterIdleSeconds(harness, 5, "GET /v1/usage"))).toBe(perDay - 7)
      const last = await ask(REAL, { key: otherKey })
      expect([last.status, unitsOf(last)]).toEqual(perDay === 7 ? [429, 0] : [200, perDay - 8])
    },
  )

  test("leave RateLimit away where nothing can be told", async () => {
    const { ask } = await testApp({ tier: 0, tiers: "0=-/-/7" })
    const { headers } = await ask(TEST)
    expect([headers.get("ratelimit-policy"), headers.get("ratelimit")]).toEqual([`"day";q=7;w=${DAY_SECONDS}`, null])
    expect(leftOf(await ask(REAL))).toMatchObject({ day: { r: 6 } })
  })

  test("tell one day: what was charged before midnight is not told as what is left after it", async () => {
    const { ask, time, customers, accountId } = await testApp({ tier: 0, deep: () => deepProbeStub })
    await time.tick((DAY_SECONDS - 1) * 1000)
    expect(leftOf(await ask(REAL))?.["day"]).toEqual({ r: 999, t: 1 })
    await time.tick(1000)
    const { body, headers } = await ask("GET /v1/usage")
    expect(body["today"]).toMatchObject({ date: "2026-01-02", used: 0, remaining: 1000 })
    expect(members(headers.get("ratelimit"))?.["day"]).toEqual({ r: 1000, t: DAY_SECONDS })
    // A clock that is set back over midnight keeps the later day, in the usage too.
    await ask(REAL)
    await time.tick(-1000)
    const back = await ask("GET /v1/usage")
    expect(back.body["today"]).toMatchObject({ date: "2026-01-02", used: 1, remaining: 999 })
    expect(leftOf(back)?.["day"]).toEqual({ r: 999, t: DAY_SECONDS + 1 })
    expect(await customers.units.readRemaining(accountId, 1000)).toBe(999)
  })

  test("count down: requests of the second, units of the day, seconds to midnight", async () => {
    const { ask, time } = await testApp({ tier: 0, deep: () => deepProbeStub })
    const left = async (line: string) => leftOf(await ask(line))
    await time.tick(3600 * 1000)
    const seconds = { t: DAY_SECONDS - 3600 }
    expect((await left(REAL))?.["day"]).toEqual({ r: 999, ...seconds })
    expect((await left(`${REAL}&deep=true`))?.["day"]).toEqual({ r: 994, ...seconds })
    expect((await left(TEST))?.["day"]).toEqual({ r: 994, ...seconds })
    expect((await left("GET /v1/check"))?.["day"]).toEqual({ r: 994, ...seconds })
    await time.tick(10_000)
    const seen: (number | undefined)[] = []
    for (let at = 0; at < 11; at++) seen.push((await left(TEST))?.["second"]?.["r"])
    // Beyond the rate there is a burst, which is no part of the policy.
    expect(seen).toEqual([5, 5, 5, 5, 5, 4, 3, 2, 1, 0, 0])
    await time.tick((DAY_SECONDS - 3611) * 1000)
    expect((await left(REAL))?.["day"]).toEqual({ r: 993, t: 1 })
    await time.tick(1000)
    expect((await left(REAL))?.["day"]).toEqual({ r: 999, t: DAY_SECONDS })
  })
})

describe("MAILKIND_TIERS", () => {
  test.each([
    ["0=3/2/7", { second: { q: 3, w: 1 }, day: { q: 7, w: DAY_SECONDS } }],
    ["0=-/2/7", { day: { q: 7, w: DAY_SECONDS } }],
    ["0=3/-/-", { second: { q: 3, w: 1 } }],
    ["0=9/9/9, 0=4/-/-", { second: { q: 4, w: 1 } }],
    ["1=3/3/3", rowOf(0)],
  ])("%s sets what is told", async (tiers, policy) => {
    expectTold(await (await testApp({ tier: 0, tiers })).ask(REAL), policy)
  })

  test.each(["0=-/-/-", "0=-/2/-"])("%s leaves nothing to tell", async tiers => {
    expectUntold(await (await testApp({ tier: 0, tiers })).ask(REAL))
  })

  test("sets what is refused, also for the tier that has no limits of its own", async () => {
    for (const tier of [0, TIERS.length - 1]) {
      const { ask, time } = await testApp({ tier, tiers: `${tier}=2/1/5` })
      const codes: unknown[] = []
      for (let at = 0; at < 5; at++) codes.push((await ask(REAL)).body["code"])
      await time.tick(1000)
      for (let at = 0; at < 2; at++) codes.push((await ask(REAL)).body["code"])
      expect(codes).toEqual([...Array(4), "rate_limited", undefined, "quota_exceeded"])
    }
  })
})
