import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { REFUSAL_ORDER } from "../../src/contract/problems.ts"
import { testApp } from "../support/app.ts"
import {
  canHave,
  FLAW_NAMES,
  FLAWS,
  type Flaw,
  flawed,
  KEYED_ROUTES,
  type KeyedRoute,
  placeOf,
} from "./flawed-request.ts"

const ROUTE_NAMES = Object.keys(KEYED_ROUTES) as KeyedRoute[]

/** The flaws of the next step that one request can have beside the first one. */
const nextFlaws = (route: KeyedRoute, first: Flaw): readonly Flaw[] => {
  const later = FLAW_NAMES.filter(second => placeOf(first) < placeOf(second) && canHave(route, [first, second]))
  const next = Math.min(...later.map(placeOf))
  return later.filter(flaw => placeOf(flaw) === next)
}

/** Every flaw with each of the next step. Steps are passed one after another, so that adjacent ones show the order of all. */
const PAIRS = ROUTE_NAMES.map(
  route =>
    [
      route,
      FLAW_NAMES.flatMap(first => nextFlaws(route, first).map((second): readonly [Flaw, Flaw] => [first, second])),
    ] as const,
)

test("a request without a flaw is answered on every route", async () => {
  const told: unknown[] = []
  for (const route of ROUTE_NAMES) told.push([route, (await flawed(route, [])).body["code"]])
  expect(told).toEqual(ROUTE_NAMES.map(route => [route, undefined]))
})

test("the documented order has a case for every step, and every code of every step", () => {
  for (const { step, codes } of REFUSAL_ORDER) {
    const ofStep = FLAW_NAMES.filter(flaw => FLAWS[flaw].step === step)
    const caused = new Set<string>(ofStep.map(flaw => FLAWS[flaw].code))
    expect([step, codes.filter(code => !caused.has(code))]).toEqual([step, []])
    expect([step, [...caused].filter(code => !codes.some(own => own === code))]).toEqual([step, []])
  }
})

test("each flaw is told before one of a later step, or after one of an earlier step, on some route", () => {
  const paired = new Set(PAIRS.flatMap(([, pairs]) => pairs.flat()))
  expect(FLAW_NAMES.filter(flaw => !paired.has(flaw))).toEqual([])
})

describe("of two flaws, the one of the earlier step is told", () => {
  test.each(PAIRS)("%s", async (route, pairs) => {
    const told: unknown[] = []
    for (const pair of pairs) told.push([...pair, (await flawed(route, pair)).body["code"]])
    expect(told).toEqual(pairs.map(([first, second]) => [first, second, FLAWS[first].code]))
  })
})

describe("who mends one flaw after another is told each in the documented order", () => {
  test.each([
    [
      "postCheck",
      [
        "no_such_path",
        "no_such_method",
        "revoked_key",
        "old_terms",
        "wrong_origin",
        "too_fast",
        "overloaded",
        "too_large",
        "bad_input",
        "no_units",
        "broken_store",
      ],
    ],
    [
      "getCheck",
      [
        "no_such_path",
        "no_such_method",
        "revoked_key",
        "old_terms",
        "too_many_at_once",
        "overloaded",
        "bad_input",
        "no_units",
        "broken_store",
      ],
    ],
    [
      "postBatch",
      [
        "no_such_path",
        "no_such_method",
        "revoked_key",
        "old_terms",
        "wrong_kind",
        "wrong_origin",
        "too_fast",
        "overloaded",
        "too_large",
        "too_many_items",
        "no_units",
        "broken_store",
      ],
    ],
    [
      "postFeedback",
      [
        "no_such_path",
        "no_such_method",
        "revoked_key",
        "old_terms",
        "wrong_kind",
        "no_origin",
        "too_fast",
        "overloaded",
        "too_large",
        "media_type",
        "broken_store",
      ],
    ],
    [
      "getUsage",
      [
        "no_such_path",
        "no_such_method",
        "revoked_key",
        "old_terms",
        "wrong_kind",
        "wrong_origin",
        "too_fast",
        "overloaded",
        "broken_store",
      ],
    ],
  ] as const)("%s", async (route, flaws) => {
    const facts: unknown[] = []
    for (let mended = 0; mended < flaws.length; mended++) {
      const left = flaws.slice(mended)
      // The wrong origin goes with the wrong kind of key: a secret key may come from anywhere.
      if (canHave(route, left)) facts.push((await flawed(route, left)).body["code"])
    }
    const expected = flaws.filter((_, at) => canHave(route, flaws.slice(at))).map(flaw => FLAWS[flaw].code)
    expect<unknown[]>(facts).toEqual(expected)
  })
})

describe("without a key", () => {
  test("a caller who is too fast is told that it needs a key, unless it asks for a test address", async () => {
    const { ask } = await testApp()
    const keyless = (query: string) => ask(`GET /v1/check?${query}`, { key: null })
    for (let count = 0; count < LIMITS.keylessPerSecond; count++) await keyless("email=business@mailkind.test")
    expect((await keyless("email=business@mailkind.test")).body["code"]).toBe("rate_limited")
    expect((await keyless("domain=stripe.com")).body["code"]).toBe("unauthorized")
    expect((await keyless("email=business@mailkind.test&policy=odd")).body["code"]).toBe("rate_limited")
    expect((await keyless("email=error-quota@mailkind.test")).body["code"]).toBe("rate_limited")
  })

  test("a bad policy beside a test address is told before what the address asks for", async () => {
    const { ask } = await testApp()
    const response = await ask("GET /v1/check?email=error-500@mailkind.test&policy=odd", { key: null })
    expect(response.body["code"]).toBe("invalid_input")
  })
})

test("units that are used up are told before our own failure, also when the store is asked for both at once", async () => {
  const { ask, customers, accountId, store, time } = await testApp({ tier: 0, tiers: "0=100/5/2" })
  await ask("GET /v1/usage")
  await customers.units.take(accountId, 2, 2)
  // What was read of the store refuses nobody for longer than a second.
  await time.tick(2000)
  await store.run("DROP TABLE own_list_entries")
  customers.ownLists.invalidateAll()
  expect((await ask("GET /v1/check?domain=stripe.com")).body["code"]).toBe("quota_exceeded")
})
