import { describe, expect, test } from "bun:test"
import { COHORT_MAX, Cohort, type Give } from "../../src/http/cohort.ts"

/** A cohort whose moments end when the test says so, and what was answered, in order. */
function cohortAt(answer?: (request: Request, give: Give) => void) {
  const ends: (() => void)[] = []
  const now = { ms: 0 }
  const since: number[] = []
  const begun: string[] = []
  const cohort = new Cohort(
    (request, give, sinceMs) => {
      begun.push(request.url)
      since.push(sinceMs)
      if (answer === undefined) give(new Response(request.url))
      else answer(request, give)
    },
    work => void ends.push(work),
    () => now.ms,
  )
  const ask = (at: number) => cohort.answer(new Request(`http://localhost/${at}`))
  const end = () => {
    for (const work of ends.splice(0)) work()
  }
  return { ask, end, ends, begun, now, since }
}

const urls = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `http://localhost/${from + at}`)

describe("requests of one moment", () => {
  test("are answered together at its end, in the order in which they came", async () => {
    const { ask, end, ends, begun } = cohortAt()
    const answers = [ask(0), ask(1), ask(2)]
    expect([begun, ends.length]).toEqual([[], 1])
    end()
    expect(begun).toEqual(urls(0, 3))
    expect(await Promise.all(answers.map(async each => await (await each).text()))).toEqual(urls(0, 3))
  })

  test("share the moment at which the first of them came, and those of a later one have their own", () => {
    const { ask, end, now, since } = cohortAt()
    now.ms = 5
    void ask(0)
    now.ms = 6
    void ask(1)
    end()
    now.ms = 9
    void ask(2)
    end()
    expect(since).toEqual([5, 5, 9])
  })

  test("wait for none of a later one", () => {
    const { ask, end, begun } = cohortAt()
    void ask(0)
    end()
    void ask(1)
    expect(begun).toEqual(urls(0, 1))
    end()
    expect(begun).toEqual(urls(0, 2))
  })

  test("are so many at most, and then are answered at once", () => {
    const { ask, end, begun } = cohortAt()
    for (let at = 0; at < COHORT_MAX + 1; at++) void ask(at)
    expect(begun).toEqual(urls(0, COHORT_MAX))
    end()
    expect(begun).toEqual(urls(0, COHORT_MAX + 1))
  })

  test("are not kept waiting by one whose answer takes longer", async () => {
    const slow: Give[] = []
    const { ask, end } = cohortAt((request, give) => {
      if (request.url.endsWith("/0")) slow.push(give)
      else give(new Response(request.url))
    })
    const [first, second] = [ask(0), ask(1)]
    end()
    expect(await (await second).text()).toBe("http://localhost/1")
    slow[0]?.(new Response("late"))
    expect(await (await first).text()).toBe("late")
  })
})
