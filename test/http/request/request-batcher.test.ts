import { describe, expect, test } from "bun:test"
import { BATCH_MAX, type PipelineStage, RequestBatcher } from "../../../src/http/request/request-batcher.ts"
import { settled } from "../../support/time.ts"

/** A cohort whose moments end when the test says so, with what was done, in order. Its way has the steps that are given. */
function cohortOf(...steps: readonly PipelineStage<number>[]) {
  const ends: (() => void)[] = []
  const now = { ms: 0 }
  const done: string[] = []
  const ended: [task: number, status: number, tookMs: number][] = []
  const answers: [task: number, status: number][] = []
  const cohort = new RequestBatcher<number>(
    work => void ends.push(work),
    () => now.ms,
    {
      stages: steps.map((step, at) => task => {
        done.push(`${task} ${"abc"[at]}`)
        return step(task)
      }),
      onError: (_, error) => new Response(null, { status: error instanceof Error ? 500 : 400 }),
      onResponse: (task, { status }, tookMs) => void ended.push([task, status, tookMs]),
    },
  )
  const come = (...tasks: readonly number[]): void => {
    for (const task of tasks) void cohort.handle(task).then(({ status }) => answers.push([task, status]))
  }
  const end = async () => {
    for (const work of ends.splice(0)) work()
    await settled()
  }
  return { come, end, ends, now, done, ended, answers }
}

const numbers = (to: number) => Array.from({ length: to }, (_, at) => at)
const on = () => undefined
const ok = () => new Response(null, { status: 204 })

describe("requests of one moment", () => {
  test("take each step together at its end, in the order in which they came, and are answered", async () => {
    const { come, end, ends, done, answers } = cohortOf(on, ok)
    come(0, 1, 2)
    await settled()
    expect([done, ends.length]).toEqual([[], 1])
    await end()
    expect(done).toEqual(["0 a", "1 a", "2 a", "0 b", "1 b", "2 b"])
    expect(answers).toEqual(numbers(3).map(task => [task, 204]))
  })

  test("share the moment at which the first of them came, and those of a later one have their own", async () => {
    const { come, end, now, ended } = cohortOf(ok)
    now.ms = 5
    come(0)
    now.ms = 6
    come(1)
    now.ms = 8
    await end()
    now.ms = 9
    come(2)
    now.ms = 10
    await end()
    expect(ended.map(([, , tookMs]) => tookMs)).toEqual([3, 3, 1])
  })

  test("wait for none of a later one", async () => {
    const { come, end, answers } = cohortOf(ok)
    come(0)
    await end()
    come(1)
    await settled()
    expect(answers).toEqual([[0, 204]])
    await end()
    expect(answers.map(([task]) => task)).toEqual([0, 1])
  })

  test("are so many at most, and then go on at once; the next wait for the end of their own moment", async () => {
    const { come, end, ends, answers } = cohortOf(ok)
    come(...numbers(BATCH_MAX + 1))
    await settled()
    expect([answers.length, ends.length]).toEqual([BATCH_MAX, 2])
    // The moment of those who have gone ends, too, and takes nobody along.
    ends.shift()?.()
    await settled()
    expect(answers.length).toBe(BATCH_MAX)
    await end()
    expect(answers.map(([task]) => task)).toEqual(numbers(BATCH_MAX + 1))
  })
})

test("answers are given though what hears of them fails", async () => {
  const ends: (() => void)[] = []
  const way = {
    stages: [ok],
    onError: ok,
    onResponse: () => {
      throw new Error("broken")
    },
  }
  const cohort = new RequestBatcher<number>(
    work => void ends.push(work),
    () => 0,
    way,
  )
  const answer = cohort.handle(0)
  expect(ends[0]).toThrow("broken")
  expect((await answer).status).toBe(204)
})

describe("one of them", () => {
  test("that is answered at a step takes none after it", async () => {
    const { come, end, done, answers } = cohortOf(
      task => (task === 0 ? new Response(null, { status: 201 }) : undefined),
      ok,
    )
    come(0, 1)
    await end()
    expect(done).toEqual(["0 a", "1 a", "1 b"])
    expect(answers).toEqual([
      [0, 201],
      [1, 204],
    ])
  })

  test("whose step throws is refused, and the others are answered", async () => {
    const refuse = (task: number): undefined => {
      if (task === 0) throw "no"
      if (task === 1) throw new Error("broken")
    }
    const { come, end, answers, ended } = cohortOf(refuse, ok)
    come(0, 1, 2)
    await end()
    const expected = [
      [0, 400],
      [1, 500],
      [2, 204],
    ]
    expect(answers).toEqual(expected as typeof answers)
    expect(ended.map(([task, status]) => [task, status])).toEqual(expected)
  })

  test("that has to wait keeps nobody waiting, and goes the rest of its way alone", async () => {
    const late = Promise.withResolvers<undefined>()
    const { come, end, done, answers } = cohortOf(task => (task === 0 ? late.promise : undefined), on, ok)
    come(0, 1)
    await end()
    expect(answers).toEqual([[1, 204]])
    late.resolve(undefined)
    await settled()
    expect(answers).toEqual([
      [1, 204],
      [0, 204],
    ])
    expect(done).toEqual(["0 a", "1 a", "1 b", "1 c", "0 b", "0 c"])
  })

  test("that waits in vain, or is refused when it goes on, is answered all the same", async () => {
    const late = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
    const refuse = (task: number): undefined => {
      if (task === 1) throw "no"
    }
    const { come, end, answers } = cohortOf(task => late[task]?.promise, refuse, ok)
    come(0, 1)
    await end()
    late[0]?.reject("gone")
    late[1]?.resolve(undefined)
    await settled()
    expect(answers.toSorted()).toEqual([
      [0, 400],
      [1, 400],
    ])
  })

  test("is told of once when it is answered, with the time that it took", async () => {
    const late = Promise.withResolvers<Response>()
    const { come, end, now, ended } = cohortOf(task => (task === 0 ? late.promise : ok()))
    now.ms = 5
    come(0, 1)
    now.ms = 8
    await end()
    expect(ended).toEqual([[1, 204, 3]])
    now.ms = 105
    late.resolve(ok())
    await settled()
    expect(ended).toEqual([
      [1, 204, 3],
      [0, 204, 100],
    ])
  })
})
