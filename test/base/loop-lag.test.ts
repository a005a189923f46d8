import { expect, test } from "bun:test"
import { LAG_LOOK_MS, loopLag } from "../../src/base/loop-lag.ts"

function lagging() {
  const now = { ms: 100 }
  let look = (): void => undefined
  const lag = loopLag(
    () => now.ms,
    (_, work) => {
      look = work
      return () => {
        look = () => undefined
      }
    },
  )
  const after = (ms: number): void => {
    now.ms += ms
    look()
  }
  return { lag, after }
}

test("a loop that is on time is not late, and one that is late is so by what it was late", () => {
  const { lag, after } = lagging()
  after(LAG_LOOK_MS)
  expect(lag.nowMs()).toBe(0)
  after(LAG_LOOK_MS + 30)
  expect(lag.nowMs()).toBe(30)
  after(LAG_LOOK_MS - 1)
  expect(lag.nowMs()).toBe(0)
})

test("the most that it was late is told once", () => {
  const { lag, after } = lagging()
  after(LAG_LOOK_MS + 30)
  after(LAG_LOOK_MS + 10)
  expect([lag.takeMaxMs(), lag.takeMaxMs()]).toEqual([30, 0])
  lag.end()
  after(1000)
  expect(lag.takeMaxMs()).toBe(0)
})
