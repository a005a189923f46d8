import { expect, test } from "bun:test"
import { LAG_SAMPLE_MS, LAG_SAMPLES, measureEventLoopLag } from "../../src/base/event-loop-lag.ts"

function lagging(onStall?: (stalledMs: number) => void) {
  const now = { ms: 100 }
  let look = (): void => undefined
  const lag = measureEventLoopLag(
    () => now.ms,
    (_, work) => {
      look = work
      return () => {
        look = () => undefined
      }
    },
    onStall,
  )
  const after = (ms: number): void => {
    now.ms += ms
    look()
  }
  return { lag, after }
}

test("a loop is late by the least of the last looks, so that one pause is none, and is on time again at once", () => {
  const { lag, after } = lagging()
  after(LAG_SAMPLE_MS)
  for (let count = 1; count < LAG_SAMPLES; count++) {
    after(LAG_SAMPLE_MS + 30 + count)
    expect(lag.sustainedMs()).toBe(0)
  }
  after(LAG_SAMPLE_MS + 90)
  expect(lag.sustainedMs()).toBe(31)
  after(LAG_SAMPLE_MS - 1)
  expect(lag.sustainedMs()).toBe(0)
})

test("a loop that stood still for five seconds tells how long, once it goes on, and one that is late does not", () => {
  const stalls: number[] = []
  const { after } = lagging(ms => void stalls.push(ms))
  for (const ms of [4999, 5000, 30_000, 0]) after(LAG_SAMPLE_MS + ms)
  expect(stalls).toEqual([5000, 30_000])
})

test("the most that it was late is told once", () => {
  const { lag, after } = lagging()
  after(LAG_SAMPLE_MS + 30)
  after(LAG_SAMPLE_MS + 10)
  expect([lag.takeMaxMs(), lag.takeMaxMs()]).toEqual([30, 0])
  lag.stop()
  after(1000)
  expect(lag.takeMaxMs()).toBe(0)
})
