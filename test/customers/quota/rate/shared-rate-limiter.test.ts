import { expect, test } from "bun:test"
import type { Clock } from "../../../../src/base/outside-world.ts"
import { createCallerHash } from "../../../../src/customers/quota/caller-hash.ts"
import { rateSubject } from "../../../../src/customers/quota/rate/rate-subject.ts"
import {
  SHARED_RATE_LIMITER_BYTES,
  SharedRateLimiter,
} from "../../../../src/customers/quota/rate/shared-rate-limiter.ts"
import { stoppedClock } from "../../../support/clock.ts"
import { admitted, five, one, rateLimiterSuite } from "./rate-limiter.suite.ts"

const SEED = 1

/** Limiters as several processes have them: each has its own view of one memory. */
function slots(clock: Clock, count: number): SharedRateLimiter[] {
  const memory = new Uint8Array(SHARED_RATE_LIMITER_BYTES)
  const originMs = clock()
  return Array.from({ length: count }, () => new SharedRateLimiter(memory, createCallerHash(SEED), clock, originMs))
}

const [single, pair] = [
  (clock: Clock): SharedRateLimiter => slots(clock, 1)[0] as SharedRateLimiter, // one was asked for
  (clock: Clock) => slots(clock, 2) as [SharedRateLimiter, SharedRateLimiter], // two were
]

rateLimiterSuite(single)

test("a caller has one rate over all processes", () => {
  const clock = stoppedClock()
  const [here, there] = pair(clock)
  const answers = Array.from({ length: 12 }, (_, at) =>
    (at % 2 === 0 ? here : there).admit(rateSubject("caller", "a"), five),
  )
  expect(answers.map(({ remaining }) => remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0])
  expect(answers.filter(({ waitS }) => waitS > 0)).toHaveLength(2)
  clock.tick(200)
  expect([
    there.admit(rateSubject("caller", "a"), five).waitS,
    here.admit(rateSubject("caller", "a"), five).waitS,
  ]).toEqual([0, 1])
})

test("a process that starts later sees the debts of callers", () => {
  const clock = stoppedClock()
  const memory = new Uint8Array(SHARED_RATE_LIMITER_BYTES)
  const originMs = clock()
  expect(admitted(new SharedRateLimiter(memory, createCallerHash(SEED), clock, originMs), "a", five, 20)).toBe(10)
  clock.tick(400)
  expect(admitted(new SharedRateLimiter(memory, createCallerHash(SEED), clock, originMs), "a", five, 20)).toBe(2)
})

test("a clock that is set back costs a caller its burst, and nothing more", () => {
  const clock = stoppedClock()
  const limiter = single(clock)
  limiter.admit(rateSubject("caller", "a"), five)
  clock.tick(-86_400_000)
  expect(limiter.admit(rateSubject("caller", "a"), five)).toEqual({ waitS: 1, remaining: 0 })
  clock.tick(200)
  expect(limiter.admit(rateSubject("caller", "a"), five)).toEqual({ waitS: 0, remaining: 0 })
  for (const waitS of [1, 1]) expect(limiter.admit(rateSubject("caller", "new"), five).waitS).toBe(waitS)
  clock.tick(2000)
  expect(limiter.admit(rateSubject("caller", "a"), five)).toEqual({ waitS: 0, remaining: 9 })
})

/** Callers of one bucket. */
function neighbours(count: number): string[] {
  const hash = createCallerHash(SEED)
  const found: string[] = []
  const { bucket } = { ...hash("caller 0") }
  for (let at = 0; found.length < count; at++)
    if (hash(`caller ${at}`).bucket % 16_384 === bucket % 16_384) found.push(`caller ${at}`)
  return found
}

test("callers of one bucket are separate while there is a slot for each, and a caller without debt frees its slot", () => {
  const clock = stoppedClock()
  const limiter = single(clock)
  const first = neighbours(32).slice(0, 16)
  for (const caller of first) expect(limiter.admit(rateSubject("caller", caller), one).waitS).toBe(0)
  for (const caller of first) expect(limiter.admit(rateSubject("caller", caller), one).waitS).toBe(1)
  clock.tick(1000)
  const second = neighbours(32).slice(16)
  for (const caller of second) expect(limiter.admit(rateSubject("caller", caller), one).waitS).toBe(0)
  for (const caller of second) expect(limiter.admit(rateSubject("caller", caller), one).waitS).toBe(1)
})

test("in a bucket full of debts a new caller takes the slot of another, without its debt", () => {
  const clock = stoppedClock()
  const limiter = single(clock)
  const callers = neighbours(17)
  const newcomer = callers[16] ?? ""
  for (const caller of callers.slice(0, 16)) admitted(limiter, caller, five, 10)
  expect(limiter.admit(rateSubject("caller", newcomer), five)).toEqual({ waitS: 0, remaining: 9 })
  expect(limiter.admit(rateSubject("caller", newcomer), five)).toEqual({ waitS: 0, remaining: 8 })
  // Whoever lost it takes a slot again, and so another one loses its own: one at a time.
  const burst = callers.slice(0, 16).filter(caller => limiter.admit(rateSubject("caller", caller), five).waitS === 0)
  expect(burst.length).toBeGreaterThan(0)
})

test("a hundred thousand callers with debts are distinguished", () => {
  const limiter = single(stoppedClock())
  const callers = Array.from(
    { length: 100_000 },
    (_, at) => `key_0123456789 10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
  )
  const again = (): number =>
    callers.filter(caller => limiter.admit(rateSubject("caller", caller), one).waitS === 0).length
  expect(again()).toBe(100_000)
  // A few had to give their slot to another.
  expect(again()).toBeLessThan(100)
})
