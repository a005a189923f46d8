import { expect, test } from "bun:test"
import { backoffMs } from "../../src/base/backoff.ts"

test("a wait doubles with each failure in a row up to its bound, and there is none before the first", () => {
  const waits = [0, 1, 2, 3, 4, 5, 60, 2000].map(count => backoffMs(count, { firstMs: 250, maxMs: 1500 }))
  expect(waits).toEqual([0, 250, 500, 1000, 1500, 1500, 1500, 1500])
})
