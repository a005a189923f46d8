import { expect, test } from "bun:test"
import { TwoGenerationCache } from "../../src/base/two-generation-cache.ts"

test("at least the last keys are kept, and never more than twice as many", () => {
  const recent = new TwoGenerationCache<number, string>(10)
  for (let key = 0; key < 1000; key++) {
    recent.set(key, String(key))
    for (let last = Math.max(0, key - 9); last <= key; last++) expect(recent.get(last)).toBe(String(last))
  }
  const kept = Array.from({ length: 1000 }, (_, key) => recent.get(key)).filter(value => value !== undefined)
  expect(kept.length).toBeLessThanOrEqual(20)
})

test("a key that is asked for again and again stays, whatever comes between", () => {
  const recent = new TwoGenerationCache<number, string>(10)
  recent.set(-1, "kept")
  for (let key = 0; key < 1000; key++) {
    recent.set(key, "passing")
    expect(recent.get(-1)).toBe("kept")
  }
})
