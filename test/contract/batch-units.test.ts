import { describe, expect, test } from "bun:test"
import { CATEGORY_NAMES, type Category } from "../../src/contract/categories.ts"
import type { Usage } from "../../src/contract/usage-schema.ts"
import { addEntries } from "../../src/customers/own-lists/own-lists.ts"
import { testApp } from "../support/app.ts"
import { anotherAccount } from "./another-account.ts"
import { entry } from "./own-list-entry.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

/** Nothing but the units of a day limits tier 0. */
const daily = (units: number) => testApp({ tier: 0, tiers: `0=-/-/${units}` })

const batch = ({ ask }: Harness, items: readonly unknown[], more = {}) =>
  ask("POST /v1/check/batch", { body: { items, ...more } })

const names = (count: number) => Array.from({ length: count }, (_, at) => `jane${at}@gmail.com`)

async function todayOf({ ask }: Harness): Promise<Usage["today"]> {
  const { body } = await ask("GET /v1/usage")
  return (body as Usage).today // its schema is checked by the tests of usage
}

const categories = (counts: { readonly [C in Category]?: number }) => ({
  ...Object.fromEntries(CATEGORY_NAMES.map(category => [category, 0])),
  ...counts,
})

describe("units", () => {
  test("are one an item, and the last of the day may be a batch's", async () => {
    const harness = await daily(103)
    const { status, headers } = await batch(harness, names(100))
    expect([status, headers.get("ratelimit")]).toEqual([200, '"day";r=3;t=86400'])
    expect((await batch(harness, names(3))).status).toBe(200)
    expect((await batch(harness, names(1))).body["code"]).toBe("quota_exceeded")
  })

  test("of a batch that would pass the quota are refused whole, and none is taken", async () => {
    const harness = await daily(5)
    for (let round = 0; round < 3; round++) {
      const { status, body, headers } = await batch(harness, names(6))
      expect({ status, ...body }).toMatchObject({ status: 429, code: "quota_exceeded", limit: 5, retry_after: 86_400 })
      expect(headers.get("ratelimit")).toBe('"day";r=5;t=86400')
    }
    expect(await todayOf(harness)).toMatchObject({ used: 0, remaining: 5, batch_items: 0 })
    expect((await batch(harness, names(5))).status).toBe(200)
  })

  test("are never more than the quota, however many batches come at the same moment", async () => {
    const harness = await daily(95)
    const requests = await Promise.all(Array.from({ length: 30 }, () => batch(harness, names(10))))
    expect(requests.filter(({ status }) => status === 200)).toHaveLength(9)
    expect((await batch(harness, names(5))).status).toBe(200)
  })

  test("are not taken for test addresses, which are answered when none is left", async () => {
    const harness = await daily(2)
    const tests = ["business@mailkind.test", "error-quota@mailkind.test", "mailkind.test", "https://mailkind.test/"]
    for (let round = 0; round < 2; round++) {
      expect((await batch(harness, [...tests, ...names(2)])).status).toBe(round === 0 ? 200 : 429)
      expect((await batch(harness, tests)).status).toBe(200)
    }
    expect(await todayOf(harness)).toMatchObject({ used: 2, batch_items: 2, by_category: categories({ personal: 2 }) })
  })

  test("are taken for items that do not parse, and for each of several that are the same", async () => {
    const harness = await daily(5)
    expect((await batch(harness, ["", "x@@", "gmail.com", "gmail.com", "gmail.com"])).status).toBe(200)
    expect(await todayOf(harness)).toMatchObject({
      remaining: 0,
      by_category: categories({ invalid: 2, personal: 3 }),
    })
  })

  test("are not taken for a batch that is refused", async () => {
    const harness = await daily(3)
    for (const items of [[], [7], Array(101).fill("gmail.com"), ["a".repeat(2049)]]) {
      expect((await batch(harness, items)).status).toBeGreaterThanOrEqual(400)
    }
    expect((await batch(harness, names(1), { policy: "odd" })).status).toBe(400)
    expect((await batch(harness, names(3))).status).toBe(200)
  })

  test("are given back when a batch fails by our own fault, and nothing is counted", async () => {
    const harness = await daily(100)
    await harness.store.run("ALTER TABLE own_list_entries RENAME TO elsewhere", [])
    for (let at = 0; at < 3; at++) expect((await batch(harness, names(100))).body["code"]).toBe("internal_error")
    await harness.store.run("ALTER TABLE elsewhere RENAME TO own_list_entries", [])
    expect(harness.customers.units.remaining(harness.accountId, 100)).toBe(100)
    expect(await todayOf(harness)).toMatchObject({ used: 0, batch_items: 0 })
    expect((await batch(harness, names(100))).status).toBe(200)
  })
})

describe("usage", () => {
  test("counts a batch by the categories of its items, beside checks", async () => {
    const harness = await testApp({ tier: 1 })
    await harness.ask("GET /v1/check?domain=stripe.com")
    await batch(harness, ["jane@gmail.com", "mailinator.com", "https://mit.edu/", "x@@", "business@mailkind.test"])
    await batch(harness, ["jane@gmail.com"])
    const done = {
      used: 6,
      checks: 1,
      deep_checks: 0,
      batch_items: 5,
      by_category: categories({ business: 1, personal: 2, disposable: 1, education: 1, invalid: 1 }),
    }
    expect(await todayOf(harness)).toMatchObject({ ...done, remaining: 10_000 - 6, by_key: [{ used: 6 }] })
    await harness.customers.usage.flush()
    expect(await todayOf(harness)).toMatchObject(done)
  })
})

describe("a batch is one request", () => {
  test("of those a second", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=5/-/-" })
    for (let at = 0; at < 10; at++) expect((await batch(harness, names(100))).status).toBe(200)
    expect((await batch(harness, names(1))).body).toMatchObject({ code: "rate_limited", limit: 5 })
    await harness.time.tick(1000)
    expect((await todayOf(harness)).rate_limited).toBe(1)
  })

  test("of those in flight, and in flight no more however it ends", async () => {
    const harness = await testApp({ tier: 0, tiers: "0=-/1/10" })
    for (const [items, status] of [
      [names(10), 200],
      [names(1), 429],
      [[7], 400],
      [Array(101).fill("gmail.com"), 413],
    ] as const)
      expect((await batch(harness, items)).status).toBe(status)
    expect((await harness.ask("GET /v1/usage")).status).toBe(200)
    const [one, another] = await Promise.all([batch(harness, ["x@mailkind.test"]), batch(harness, ["x@mailkind.test"])])
    expect(one?.status).toBe(200)
    expect(another?.body).toMatchObject({ code: "rate_limited", limit: 1 })
  })
})

describe("own lists", () => {
  test("of the account and the operator hold for each item that they name, and for no other account's", async () => {
    const harness = await testApp()
    await addEntries(harness.changes, { accountId: harness.accountId }, "block", [
      entry("jane@gmail.com"),
      entry("stripe.com"),
    ])
    const items = ["Jane+x@gmail.com", "john@gmail.com", "pay.stripe.com", "https://stripe.com/", "jane@@", "mit.edu"]
    const blocked = async (key?: string) => {
      const { body } = await harness.ask("POST /v1/check/batch", {
        body: { items, policy: "lenient" },
        ...(key === undefined ? {} : { key }),
      })
      const { results } = body as { results: readonly { is_blocked: boolean; recommendation: string }[] } // its schema is checked elsewhere
      return results.map(result => `${result.is_blocked} ${result.recommendation}`)
    }
    const mine = ["true block", "false allow", "true block", "true block", "false block", "false allow"]
    expect(await blocked()).toEqual(mine)
    expect(await blocked()).toEqual(mine)
    const other = await anotherAccount(harness.changes)
    expect((await blocked(other.key)).filter(each => each.startsWith("true"))).toEqual([])
  })
})
