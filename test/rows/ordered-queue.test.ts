import { expect, test } from "bun:test"
import fc from "fast-check"
import { IN_FLIGHT_MAX, OrderedQueue, QUEUE_LENGTH_MAX, QUEUE_MAX } from "../../src/rows/ordered-queue.ts"

type Answer = { readonly of: number }

/** A number of questions whose answers come when they are told to. */
function asking() {
  const given: number[] = []
  const lengths = new Map<number, number>()
  const order = new OrderedQueue<number, Answer>(
    (question, answer) => {
      expect(answer.of).toBe(question)
      given.push(question)
    },
    question => lengths.get(question) ?? Number.NaN,
  )
  const late = new Map<number, PromiseWithResolvers<Answer>>()
  const ask = (question: number, isLate: boolean, length = 1): void => {
    const promised = Promise.withResolvers<Answer>()
    if (isLate) late.set(question, promised)
    lengths.set(question, length)
    order.add(question, isLate ? promised.promise : { of: question })
  }
  const answer = async (question: number): Promise<void> => {
    late.get(question)?.resolve({ of: question })
    await late.get(question)?.promise
  }
  return { given, order, ask, answer, late }
}

test("answers are given in the order of their questions, in whichever order they come", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 30 }),
      fc.infiniteStream(fc.nat()),
      async (lateness, chance) => {
        const { given, order, ask, answer, late } = asking()
        for (const [question, isLate] of lateness.entries()) ask(question, isLate)
        const left = [...late.keys()]
        while (left.length > 0) {
          const [next] = left.splice(chance.next().value % left.length, 1)
          if (next !== undefined) await answer(next)
          expect(given).toEqual(given.map((_, at) => at))
        }
        await order.drain()
        expect(given).toEqual(lateness.map((_, at) => at))
      },
    ),
  )
})

test("an answer that is there is given at once when none before it is missing", () => {
  const { given, ask } = asking()
  ask(0, false)
  expect(given).toEqual([0])
  ask(1, true)
  ask(2, false)
  expect(given).toEqual([0])
})

test("it is full with as many answers under way as there may be, and has room when one has come, whichever", async () => {
  const { order, ask, answer } = asking()
  for (let question = 0; question < IN_FLIGHT_MAX; question++) {
    expect(order.isFull).toBe(false)
    ask(question, true)
  }
  expect(order.isFull).toBe(true)
  await answer(IN_FLIGHT_MAX - 1)
  await order.waitForRoom()
  expect(order.isFull).toBe(false)
})

test("it is full with as many questions held as there may be, until the first has its answer", async () => {
  const { given, order, ask, answer } = asking()
  ask(0, true)
  for (let question = 1; question < QUEUE_MAX; question++) {
    expect(order.isFull).toBe(false)
    ask(question, false)
  }
  expect(order.isFull).toBe(true)
  await answer(0)
  await order.waitForRoom()
  expect(given).toHaveLength(QUEUE_MAX)
})

test("it is full with as much text held as there may be", () => {
  const { order, ask } = asking()
  ask(0, true, QUEUE_LENGTH_MAX - 1)
  expect(order.isFull).toBe(false)
  ask(1, false, 1)
  expect(order.isFull).toBe(true)
})

test("an answer that fails is told to whoever waits for room or for the end", async () => {
  const { order, ask, late } = asking()
  for (let question = 0; question < IN_FLIGHT_MAX; question++) ask(question, true)
  const waiting = order.waitForRoom()
  late.get(3)?.reject(new Error("broken"))
  expect(await waiting.catch(String)).toBe("Error: broken")
  expect(await order.drain().catch(String)).toBe("Error: broken")
})
