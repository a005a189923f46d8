import { expect, test } from "bun:test"
import { known, unknown } from "../../src/base/finding.ts"
import { createCacheStatusTracker } from "../../src/check/cache-status.ts"
import type { CachingResolver } from "../../src/check/dns/dns-types.ts"
import { stoppedClock } from "../support/clock.ts"

const QUESTION = { name: "acme.com", type: "MX" } as const
const held =
  (isCached: boolean, freshUntilMs: number): CachingResolver =>
  async () =>
    known({ outcome: "no_data", records: [], ttlS: 1, isCached, freshUntilMs })

test("several answers are fresh as long as the first of them, and cached if all are", async () => {
  const fresh = createCacheStatusTracker(stoppedClock(1000))
  await fresh.track(held(true, 9000), 1000)(QUESTION)
  expect(fresh.status()).toEqual({ isCached: true, freshUntilMs: 9000 })
  await fresh.track(held(true, 5000), 1000)(QUESTION)
  expect(fresh.status()).toEqual({ isCached: true, freshUntilMs: 5000 })
  await fresh.track(held(false, 7000), 1000)(QUESTION)
  expect(fresh.status()).toEqual({ isCached: false, freshUntilMs: 5000 })
})

test("a failure is not cached, and is fresh for its TTL", async () => {
  const clock = stoppedClock(1000)
  const fresh = createCacheStatusTracker(clock)
  const failed = fresh.track(async () => unknown("timed_out"), 1000)
  expect(await failed(QUESTION)).toEqual(unknown("timed_out"))
  expect(fresh.status()).toEqual({ isCached: false, freshUntilMs: 2000 })
  await fresh.track(held(true, 1500), 1000)(QUESTION)
  expect(fresh.status()).toEqual({ isCached: false, freshUntilMs: 1500 })
})

test("the failure of an optional answer is fresh for its TTL, and leaves the others cached", async () => {
  const fresh = createCacheStatusTracker(stoppedClock(1000))
  await fresh.track(held(true, 9000), 1000)(QUESTION)
  await fresh.trackOptional(async () => unknown("timed_out"), 1000)(QUESTION)
  expect(fresh.status()).toEqual({ isCached: true, freshUntilMs: 2000 })
  await fresh.trackOptional(held(false, 9000), 1000)(QUESTION)
  expect(fresh.status()).toEqual({ isCached: false, freshUntilMs: 2000 })
})

test("without a query nothing is cached", () => {
  expect(createCacheStatusTracker(stoppedClock(1000)).status()).toEqual({ isCached: false, freshUntilMs: 1000 })
})
