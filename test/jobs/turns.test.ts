import { expect, test } from "bun:test"
import { createLiveWatch, createTurns } from "../../src/jobs/turns.ts"
import { createFakeTime } from "../support/time.ts"

/** Turns of a job in a time that stands still, and what it waits for. */
function takingTurns() {
  const time = createFakeTime()
  const live = { accepted: 0, isBusy: false, isUnderPressure: false }
  const turns = createTurns({
    nextTick: queueMicrotask,
    setTimer: time.later,
    stopwatch: time.stopwatch,
    isLive: createLiveWatch(() => live.accepted, time.stopwatch),
    jobsCount: () => 2,
    isBusy: () => live.isBusy,
    isUnderPressure: () => live.isUnderPressure,
  })
  /** How long a turn is waited for after so much work. */
  const waited = async (workedMs = 0): Promise<number> => {
    await time.tick(workedMs)
    const state = { isOver: false }
    const from = time.stopwatch()
    void turns.wait().then(() => {
      state.isOver = true
    })
    for (let ms = 0; ms < 1000; ms++) {
      await time.tick(0)
      if (state.isOver) break
      await time.tick(1)
    }
    return time.stopwatch() - from
  }
  return { live, turns, waited, time }
}

test("a job that is alone waits for nothing but what has arrived", async () => {
  const { waited } = takingTurns()
  for (const workedMs of [0, 1, 50]) expect(await waited(workedMs)).toBe(0)
})

test("while requests come, jobs rest longer than they work, and no more when none came for a while", async () => {
  const { live, waited } = takingTurns()
  live.accepted++
  expect(await waited(0)).toBe(1)
  expect(await waited(0.5)).toBeGreaterThanOrEqual(40)
  expect(await waited(100)).toBe(50)
  expect(await waited(250)).toBe(0)
})

test("while requests come, a turn is over after a tenth of a millisecond, and else it never is", async () => {
  const { live, turns, waited, time } = takingTurns()
  await waited()
  await time.tick(1)
  expect(turns.isOver()).toBe(false)
  live.accepted++
  expect(turns.isOver()).toBe(true)
  await waited()
  expect(turns.isOver()).toBe(false)
  await time.tick(1)
  expect(turns.isOver()).toBe(true)
})

test("a job waits for requests in flight, but not for ever: they may wait for their bodies", async () => {
  const { live, waited } = takingTurns()
  live.isBusy = true
  expect(await waited()).toBe(20)
  expect(await waited(1)).toBe(20)
})

test("under pressure it waits longer, and still goes on", async () => {
  const { live, waited } = takingTurns()
  live.isUnderPressure = true
  expect(await waited()).toBe(500)
})

test("a turn that was too short to hurt anybody waits for neither", async () => {
  const { live, waited } = takingTurns()
  live.isUnderPressure = true
  await waited()
  live.isBusy = true
  expect(await waited(0)).toBe(0)
})
