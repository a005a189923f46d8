import { expect, test } from "bun:test"
import { tickOf } from "../../../../src/http/site/ui/charts.tsx"

test("three ticks reach the highest bar, and no smaller ones of whole numbers would", () => {
  const scales = [0, 1, 3, 4, 9, 13, 31, 8759, 13_000, 1_300_000].map(value => [value, tickOf(value)])
  expect(scales).toEqual([
    ...[
      [0, 1],
      [1, 1],
      [3, 1],
      [4, 2],
      [9, 3],
      [13, 5],
      [31, 15],
    ],
    ...[
      [8759, 3000],
      [13_000, 5000],
      [1_300_000, 500_000],
    ],
  ])
})
