import { expect, test } from "bun:test"
import { repeating } from "../../src/base/repeating.ts"

test("works are done by their times from the beginning on, and none is when it has ended", () => {
  const begun: string[] = []
  const every = (everyMs: number, work: () => void) => {
    work()
    begun.push(`every ${everyMs}`)
    return () => void begun.push(`end ${everyMs}`)
  }
  const { begin, end } = repeating(every, [
    [10, () => void begun.push("first")],
    [20, () => void begun.push("second")],
  ])
  expect(begun).toEqual([])
  begin()
  expect(begun.splice(0)).toEqual(["first", "every 10", "second", "every 20"])
  end()
  end()
  expect(begun).toEqual(["end 10", "end 20"])
})
