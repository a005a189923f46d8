import { describe, expect, test } from "bun:test"
import { compared, comparedText, type Measured, ROUNDS_TELLING } from "../../bench/compare/figures.ts"

const measured = (
  ours: readonly number[],
  theirs: readonly number[],
  better: Measured["better"] = "more",
): Measured => ({
  name: "throughput",
  unit: "answers/s",
  better,
  ours,
  theirs,
})
const rounds = (count: number, value: (round: number) => number) =>
  Array.from({ length: count }, (_, round) => value(round))
const hundred = rounds(9, () => 100)

describe("compared", () => {
  test("rounds are compared one by one, so that a machine which slows down for both changes nothing", () => {
    const slowing = rounds(9, round => 100 - 10 * round)
    const { ratio, interval, range, verdict } = compared(
      measured(
        slowing.map(value => value * 1.1),
        slowing,
      ),
    )
    for (const one of [ratio, ...interval, ...range]) expect(one).toBeCloseTo(1.1, 9)
    expect(verdict).toBe("better")
  })

  test("more is better or worse, as the figure is", () => {
    const more = rounds(9, round => 105 + (round % 3))
    expect(compared(measured(more, hundred, "more")).verdict).toBe("better")
    expect(compared(measured(more, hundred, "less")).verdict).toBe("worse")
    expect(compared(measured(hundred, more, "more")).verdict).toBe("worse")
    expect(compared(measured(hundred, more, "less")).verdict).toBe("better")
  })

  test("a difference that rounds do not agree on is noise, and so is none", () => {
    expect(
      compared(
        measured(
          rounds(9, round => (round % 2 === 0 ? 90 : 115)),
          hundred,
        ),
      ).verdict,
    ).toBe("noise")
    expect(compared(measured(hundred, hundred)).verdict).toBe("noise")
  })

  test("one odd round decides nothing, and is shown", () => {
    const { verdict, interval, range } = compared(measured([...rounds(8, () => 110), 10], hundred))
    expect(verdict).toBe("better")
    expect(interval).toEqual([1.1, 1.1])
    expect(range).toEqual([0.1, 1.1])
  })

  test("few rounds tell nothing, however they agree", () => {
    const verdictOf = (count: number) =>
      compared(
        measured(
          rounds(count, () => 110),
          rounds(count, () => 100),
        ),
      ).verdict
    expect([verdictOf(ROUNDS_TELLING - 1), verdictOf(ROUNDS_TELLING)]).toEqual(["few", "better"])
  })

  test("a cost is told by the lower half of its rounds, which other programs did not make dearer", () => {
    const ours = rounds(9, round => (round === 4 ? 90 : 10))
    const cost = compared({
      ...measured(
        ours,
        rounds(9, () => 20),
        "less",
      ),
      isCost: true,
    })
    expect([cost.oursValue, cost.theirsValue, cost.ratio, cost.verdict]).toEqual([10, 20, 0.5, "better"])
  })

  test("the same rounds always say the same", () => {
    const noisy = measured(
      rounds(9, round => 100 + ((round * 7) % 5)),
      hundred,
    )
    expect(compared(noisy)).toEqual(compared(noisy))
  })
})

test("the table names both trees, and tells medians, ratio, interval, rounds and verdict", () => {
  const text = comparedText(
    ["this tree", "main (abc)"],
    [
      compared(
        measured(
          rounds(9, () => 12_345),
          hundred,
        ),
      ),
    ],
  )
  const [head, row] = text.split("\n").map(line => line.trim().split(/ {2,}/))
  expect(head).toEqual(["this tree", "main (abc)", "ratio", "95 % interval", "rounds"])
  expect(row).toEqual([
    ...["throughput, answers/s", "12345", "100", "123.450"],
    ...["123.450 to 123.450", "123.450 to 123.450", "better, beyond noise"],
  ])
})
