import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Histogram } from "../../../bench/load/histogram.ts"

const of = (values: readonly number[]): Histogram => {
  const histogram = new Histogram()
  for (const value of values) histogram.record(value)
  return histogram
}

describe("Histogram", () => {
  test("a histogram of nothing has only zeros", () => {
    expect([of([]).count, of([]).max, of([]).percentile(0.5), of([]).percentile(1)]).toEqual([0, 0, 0, 0])
  })

  test("below 256 microseconds every percentile is exact", () => {
    const histogram = of(Array.from({ length: 100 }, (_, at) => at + 1))
    expect([0, 0.01, 0.5, 0.9, 0.99, 1].map(share => histogram.percentile(share))).toEqual([1, 1, 50, 90, 99, 100])
  })

  test("a percentile is never under the true one, over it by 1/128 at most, and never over the longest", () => {
    const durations = fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(durations, fc.double({ min: 0.001, max: 1, noNaN: true }), (values, share) => {
        const histogram = of(values)
        const truth = values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? 0
        const facts = histogram.percentile(share)
        expect(facts).toBeGreaterThanOrEqual(truth)
        expect(facts).toBeLessThanOrEqual(Math.min(truth + truth / 128, histogram.max))
      }),
    )
  })

  test("a duration on either side of an octave is told apart by its step", () => {
    for (const border of [256, 512, 2 ** 20, 2 ** 31]) {
      const histogram = of([border - 1, border])
      expect(histogram.percentile(0.5)).toBe(border - 1)
      expect(histogram.percentile(1)).toBe(border)
    }
  })

  test("what is too long is counted as the longest, and what is no duration as zero", () => {
    expect(of([2 ** 40]).max).toBe(2 ** 32 - 1)
    expect(of([-1, Number.NaN]).count).toBe(2)
    expect(of([-1, Number.NaN]).max).toBe(0)
    expect(of([1.9]).max).toBe(1)
  })
})
