import { expect, test } from "bun:test"
import fc from "fast-check"
import { Ring } from "../../../bench/load/ring.ts"

test("a ring is a queue that takes no more than its bound", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.option(fc.integer({ min: 1, max: 9 }))),
      (sizeMax, steps) => {
        const ring = new Ring<number>(sizeMax)
        const queue: number[] = []
        for (const value of steps) {
          if (value === null) expect(ring.take()).toBe(queue.shift())
          else expect(ring.put(value)).toBe(queue.length < sizeMax && queue.push(value) > 0)
          expect(ring.size).toBe(queue.length)
        }
      },
    ),
  )
})
