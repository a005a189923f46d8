import { expect, test } from "bun:test"
import fc from "fast-check"
import { backoffDelayMs } from "../../../src/customers/notices/mail-sender.ts"

const growth = { firstMs: 1000, msMax: 60_000 }

test("delays double from the first to the longest, less a quarter at most", () => {
  const longest = (count: number): number => backoffDelayMs(growth, count, () => Uint8Array.of(0))
  expect([1, 2, 3, 4, 6, 7, 8, 5000].map(longest)).toEqual([1000, 2000, 4000, 8000, 32_000, 60_000, 60_000, 60_000])
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 255 }), (count, byte) => {
      const delay = backoffDelayMs(growth, count, () => Uint8Array.of(byte))
      expect(delay).toBeLessThanOrEqual(longest(count))
      expect(delay).toBeGreaterThanOrEqual(longest(count) * 0.75)
    }),
  )
})
