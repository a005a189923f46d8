import { expect, test } from "bun:test"
import type { SetTimer } from "../../src/base/outside-world.ts"
import { RESPONSIVE_WAITS, setResponsiveTimer } from "../../src/base/responsive-timer.ts"

/** Timers of a loop that is late by whatever `ring` says, and how long each was set for. */
function lateTimers() {
  const set: { ms: number; work: () => void }[] = []
  const setTimer: SetTimer = (ms, work) => {
    const timer = { ms, work }
    set.push(timer)
    return () => void set.splice(set.indexOf(timer), 1)
  }
  return { setTimer, set, ring: () => set.shift()?.work() }
}

test("a responsive timer ends after its time, and a loop that stands still however long takes a tenth of it", () => {
  const { setTimer, set, ring } = lateTimers()
  let ended = 0
  const timer = setResponsiveTimer(setTimer, 2500, () => ended++)
  expect(set.map(({ ms }) => ms)).toEqual([250])
  // The first wait took an hour: whatever has arrived meanwhile is read before the second one ends.
  ring()
  expect([ended, timer.ranMs(), set.length]).toEqual([0, 250, 1])
  for (let wait = 1; wait < RESPONSIVE_WAITS; wait++) ring()
  expect([ended, timer.ranMs(), set.length]).toEqual([1, 2500, 0])
})

test("a responsive timer that is cancelled never ends", () => {
  const { setTimer, set, ring } = lateTimers()
  const timer = setResponsiveTimer(setTimer, 100, () => expect.unreachable())
  ring()
  timer.cancel()
  expect(set).toEqual([])
})
