import { expect, test } from "bun:test"
import { shareTimers } from "../../src/base/shared-timers.ts"
import { createFakeTime } from "../support/time.ts"

/** Shared timers on a time that stands still, and what ended when. */
function sharedTimers() {
  const time = createFakeTime()
  const ended: string[] = []
  const setTimer = shareTimers(time.later, time.stopwatch)
  const start = (name: string, ms: number) => setTimer(ms, () => ended.push(`${name} at ${time.stopwatch()}`))
  return { time, ended, start, setTimer }
}

test("every timer ends after its time, to the millisecond, and those of one instant in their order", async () => {
  const { time, ended, start } = sharedTimers()
  start("a", 100)
  start("b", 30)
  await time.tick(30)
  start("c", 100)
  start("d", 70)
  start("e", 100)
  await time.tick(69)
  expect(ended).toEqual(["b at 30"])
  await time.tick(1)
  expect(ended.toSorted()).toEqual(["a at 100", "b at 30", "d at 100"])
  await time.tick(30)
  expect(ended.slice(3)).toEqual(["c at 130", "e at 130"])
})

test("a cancelled timer does not end, whether it is the first, the last or between others", async () => {
  const { time, ended, start } = sharedTimers()
  const cancels: (() => void)[] = []
  for (const name of ["a", "b", "c", "d", "e"]) {
    cancels.push(start(name, 100))
    await time.tick(1)
  }
  for (const at of [0, 2, 4, 2]) cancels[at]?.()
  await time.tick(200)
  expect(ended).toEqual(["b at 101", "d at 103"])
  for (const cancel of cancels) cancel()
  expect(time.waiting()).toBe(0)
})

test("timers of one length need one timer of the system, and none when the last has ended or is cancelled", async () => {
  const { time, start } = sharedTimers()
  const cancels = Array.from({ length: 1000 }, () => start("a", 100))
  expect(time.waiting()).toBe(1)
  for (const cancel of cancels) cancel()
  expect(time.waiting()).toBe(0)
  start("b", 100)
  start("c", 50)
  expect(time.waiting()).toBe(2)
  await time.tick(100)
  expect(time.waiting()).toBe(0)
})

test("work may set and cancel timers of its own length", async () => {
  const { time, ended, start, setTimer } = sharedTimers()
  setTimer(100, () => {
    cancelNext()
    start("after", 100)
  })
  const cancelNext = start("next", 100)
  start("third", 100)
  await time.tick(200)
  expect(ended).toEqual(["third at 100", "after at 200"])
  expect(time.waiting()).toBe(0)
})

test("work that throws leaves the timers after it", async () => {
  const { time, ended, start, setTimer } = sharedTimers()
  setTimer(100, () => {
    throw new Error("a fault")
  })
  start("next", 100)
  const thrown = await time.tick(100).catch((fault: unknown) => fault)
  expect(thrown).toHaveProperty("message", "a fault")
  await time.tick(1)
  expect(ended).toEqual(["next at 100"])
})
