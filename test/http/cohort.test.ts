import { describe, expect, test } from "bun:test"
import { COHORT_MAX, Cohort } from "../../src/http/cohort.ts"
import { settled } from "../world/time.ts"

/** A cohort whose moments end when the test says so, and who was let go, in order, with the time that each was told. */
function cohortAt() {
  const ends: (() => void)[] = []
  const now = { ms: 0 }
  const gone: number[] = []
  const since: number[] = []
  const cohort = new Cohort(
    work => void ends.push(work),
    () => now.ms,
  )
  const come = (at: number): void => {
    void cohort.gathered().then(sinceMs => {
      gone.push(at)
      since.push(sinceMs)
    })
  }
  const end = async () => {
    for (const work of ends.splice(0)) work()
    await settled()
  }
  return { come, end, ends, gone, now, since }
}

const numbers = (to: number) => Array.from({ length: to }, (_, at) => at)

describe("requests of one moment", () => {
  test("go on together at its end, in the order in which they came", async () => {
    const { come, end, ends, gone } = cohortAt()
    for (const at of numbers(3)) come(at)
    await settled()
    expect([gone, ends.length]).toEqual([[], 1])
    await end()
    expect(gone).toEqual(numbers(3))
  })

  test("share the moment at which the first of them came, and those of a later one have their own", async () => {
    const { come, end, now, since } = cohortAt()
    now.ms = 5
    come(0)
    now.ms = 6
    come(1)
    await end()
    now.ms = 9
    come(2)
    await end()
    expect(since).toEqual([5, 5, 9])
  })

  test("wait for none of a later one", async () => {
    const { come, end, gone } = cohortAt()
    come(0)
    await end()
    come(1)
    await settled()
    expect(gone).toEqual(numbers(1))
    await end()
    expect(gone).toEqual(numbers(2))
  })

  test("are so many at most, and then go on at once; the next wait for the end of their own moment", async () => {
    const { come, end, ends, gone } = cohortAt()
    for (const at of numbers(COHORT_MAX + 1)) come(at)
    await settled()
    expect([gone, ends.length]).toEqual([numbers(COHORT_MAX), 2])
    // The moment of those who have gone ends, too, and takes nobody along.
    ends.shift()?.()
    await settled()
    expect(gone).toEqual(numbers(COHORT_MAX))
    await end()
    expect(gone).toEqual(numbers(COHORT_MAX + 1))
  })
})
