import { expect, test } from "bun:test"
import { StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { DatabaseBreaker } from "../../../../src/customers/store/postgres/database-breaker.ts"
import { createFakeTime } from "../../../support/time.ts"

const AWAY = new StoreError("away", "postgres://db/mailkind", "it does not answer")
const LATER = new StoreError("refused", "postgres://db/mailkind", "28P01")

/** A breaker whose probes the test answers, and what it told of the database. */
function desk() {
  const time = createFakeTime()
  const probes: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  const told: (StoreError | null)[] = []
  const probe = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    probes.push({ resolve, reject })
    return promise
  }
  const breaker = new DatabaseBreaker(time.later, { firstMs: 50, maxMs: 500 }, probe, error => void told.push(error))
  return { time, probes, told, breaker }
}

test("the first failure opens it, and it refuses with that one until a probe is answered", async () => {
  const { time, probes, told, breaker } = desk()
  expect(breaker.error).toBeNull()
  breaker.recordFailure(AWAY)
  breaker.recordFailure(LATER)
  expect([breaker.error, told]).toEqual([AWAY, [AWAY]])
  await time.tick(50)
  probes[0]?.reject(new Error("still away"))
  await time.tick(100)
  expect([probes.length, breaker.error]).toEqual([2, AWAY])
  probes[1]?.resolve()
  await time.tick(0)
  expect([breaker.error, told]).toEqual([null, [AWAY, null]])
  expect(time.waiting()).toBe(0)
})

test("probes that are not answered hold up no later one, and are bounded", async () => {
  const { time, probes, breaker } = desk()
  breaker.recordFailure(AWAY)
  for (let at = 0; at < 100; at++) await time.tick(500)
  expect(probes).toHaveLength(6)
  probes[0]?.reject(new Error("too late"))
  await time.tick(500)
  expect(probes).toHaveLength(7)
  probes[6]?.resolve()
  await time.tick(0)
  expect(breaker.error).toBeNull()
})

test("an answer to an operation of before closes it too, and a later outage is probed as soon as the first", async () => {
  const { time, probes, told, breaker } = desk()
  breaker.recordFailure(AWAY)
  await time.tick(500)
  breaker.recordSuccess()
  breaker.recordSuccess()
  const before = probes.length
  breaker.recordFailure(LATER)
  await time.tick(50)
  expect([probes.length, breaker.error, told]).toEqual([before + 1, LATER, [AWAY, null, LATER]])
})

test("it sends nothing after it was stopped, and a late answer tells nobody", async () => {
  const { time, probes, told, breaker } = desk()
  breaker.recordFailure(AWAY)
  await time.tick(50)
  breaker.stop()
  probes[0]?.resolve()
  await time.tick(10_000)
  expect([probes.length, told, time.waiting()]).toEqual([1, [AWAY], 0])
})
