import { describe, expect, test } from "bun:test"
import { createKey, revokeKey } from "../../../src/customers/keys/keys.ts"
import { AllowedOrigins } from "../../../src/customers/keys/origins.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { settled } from "../../support/time.ts"
import { newAccount, random, tempLog, tempStore } from "../temp-store.ts"

const PAGE = "https://shop.example.com"

async function setUp() {
  const store = await tempStore()
  const outside = { elapsedMs: 0, requests: 0, isBroken: false }
  const watched: Store = {
    ...store,
    one: async (sql, params) => {
      outside.requests++
      if (outside.isBroken) throw new Error("the store is broken")
      return await store.one(sql, params)
    },
  }
  const log = tempLog(store)
  const accountId = await newAccount(log)
  const wanted = { accountId, kind: "publishable", name: null, origins: [PAGE] } as const
  const make = () => createKey(log, random, wanted)
  return { outside, log, make, origins: new AllowedOrigins(watched, () => outside.elapsedMs) }
}

describe("an origin", () => {
  test("that a key allows is allowed, and one that no key allows is read again within seconds", async () => {
    const { origins, outside, make } = await setUp()
    expect(await origins.has(null)).toBe(false)
    expect(await origins.has(PAGE)).toBe(false)
    await make()
    outside.elapsedMs = 5000
    expect(await origins.has(PAGE)).toBe(false)
    outside.elapsedMs = 5001
    expect(await origins.has(PAGE)).toBe(true)
    expect(outside.requests).toBe(2)
  })

  test("that is allowed stays so while the store is unreachable, as long as keys are cached, and no longer", async () => {
    const { origins, outside, make } = await setUp()
    await make()
    expect(await origins.has(PAGE)).toBe(true)
    outside.isBroken = true
    for (outside.elapsedMs of [5001, 30_000, 50_000]) expect(await origins.has(PAGE)).toBe(true)
    outside.elapsedMs = 50_001
    expect(await outcomeOf(origins.has(PAGE))).toThrow("the store is broken")
    outside.isBroken = false
    expect(await origins.has(PAGE)).toBe(true)
  })

  test("whose last key was revoked is not allowed at the next read", async () => {
    const { origins, outside, log, make } = await setUp()
    const made = await make()
    if (made.kind !== "created") throw new Error(made.kind)
    expect(await origins.has(PAGE)).toBe(true)
    await revokeKey(log, made.key.id, "owner")
    outside.elapsedMs = 5001
    expect(await origins.has(PAGE)).toBe(true)
    await settled()
    expect(await origins.has(PAGE)).toBe(false)
  })
})
