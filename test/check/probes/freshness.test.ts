import { expect, test } from "bun:test"
import { known, unknown } from "../../../src/base/finding.ts"
import type { Ask } from "../../../src/check/dns/question.ts"
import { freshness } from "../../../src/check/probes/freshness.ts"
import { stoppedClock } from "../../world/clock.ts"

const QUESTION = { name: "acme.com", type: "MX" } as const
const held =
  (isCached: boolean, freshUntilMs: number): Ask =>
  async () =>
    known({ outcome: "no_data", records: [], ttlS: 1, isCached, freshUntilMs })

test("several answers are fresh as long as the first of them, and held when all are", async () => {
  const fresh = freshness(stoppedClock(1000))
  await fresh.noting(held(true, 9000), 1000)(QUESTION)
  expect(fresh.read()).toEqual({ isCached: true, freshUntilMs: 9000 })
  await fresh.noting(held(true, 5000), 1000)(QUESTION)
  expect(fresh.read()).toEqual({ isCached: true, freshUntilMs: 5000 })
  await fresh.noting(held(false, 7000), 1000)(QUESTION)
  expect(fresh.read()).toEqual({ isCached: false, freshUntilMs: 5000 })
})

test("an answer that failed is not held, and may be asked for again after its time", async () => {
  const clock = stoppedClock(1000)
  const fresh = freshness(clock)
  const failed = fresh.noting(async () => unknown("timed_out"), 1000)
  expect(await failed(QUESTION)).toEqual(unknown("timed_out"))
  expect(fresh.read()).toEqual({ isCached: false, freshUntilMs: 2000 })
  await fresh.noting(held(true, 1500), 1000)(QUESTION)
  expect(fresh.read()).toEqual({ isCached: false, freshUntilMs: 1500 })
})

test("where nothing was asked nothing is held", () => {
  expect(freshness(stoppedClock(1000)).read()).toEqual({ isCached: false, freshUntilMs: 1000 })
})
