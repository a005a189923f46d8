import { describe, expect, test } from "bun:test"
import { createPause, createTimedPause, Deadline, KeyedSemaphore, Semaphore } from "../../src/base/concurrency.ts"
import { createFakeTime, settled } from "../support/time.ts"

test("slots are given at once while there are any, then in the order of asking", async () => {
  const slots = new Semaphore(1, 2)
  const given: string[] = []
  const leave = await slots.acquire()
  const second = slots.acquire()?.then(mine => {
    given.push("second")
    return mine
  })
  const third = slots.acquire()?.then(mine => {
    given.push("third")
    return mine
  })
  await Promise.resolve()
  expect(given).toEqual([])
  leave?.()
  const leaveSecond = await second
  expect(given).toEqual(["second"])
  leaveSecond?.()
  await third
  expect(given).toEqual(["second", "third"])
})

test("who would have to wait behind too many gets nothing", async () => {
  const slots = new Semaphore(1, 1)
  const leave = await slots.acquire()
  const waiting = slots.acquire()
  expect(waiting).not.toBeNull()
  expect(slots.acquire()).toBeNull()
  leave?.()
  await waiting
  expect(slots.acquire()).not.toBeNull()
})

test("a slot that is given back while nobody waits is there for the next", async () => {
  const slots = new Semaphore(1, 0)
  for (let turn = 0; turn < 3; turn++) {
    const leave = await slots.acquire()
    expect(slots.acquire()).toBeNull()
    leave?.()
  }
})

test("the slots and the queue of a key are its own, however often they are used", async () => {
  const slots = new KeyedSemaphore<string>(1, 1)
  for (let round = 0; round < 3; round++) {
    const release = slots.acquire("busy")
    const waiting = slots.acquire("busy")
    expect(release).toBeFunction()
    expect(waiting).toBeInstanceOf(Promise)
    expect(slots.acquire("busy")).toBeNull()
    const other = slots.acquire("other")
    expect(other).toBeFunction()
    for (const held of [release, other]) (await held)?.()
    const next = await waiting
    next?.()
  }
})

const BUDGET_MS = 100

/** A budget, its time, and what its waits came to, in the order in which they ended. */
function system() {
  const time = createFakeTime()
  const budget = new Deadline(time.later, BUDGET_MS)
  const came: string[] = []
  const wait = (promised: Promise<string>): void =>
    void budget.wait(promised, "late").then(
      value => came.push(value),
      error => came.push(String(error)),
    )
  return { time, budget, came, wait }
}

const never = Promise.withResolvers<string>().promise

describe("a budget", () => {
  test("takes no timer before the first wait, and one for all of them", async () => {
    const { time, wait } = system()
    expect(time.waiting()).toBe(0)
    for (let count = 0; count < 3; count++) wait(never)
    expect(time.waiting()).toBe(1)
  })

  test("runs out for all at once, counted from the first wait", async () => {
    const { time, budget, came, wait } = system()
    wait(never)
    await time.tick(BUDGET_MS - 1)
    wait(never)
    await settled()
    expect([came, budget.isExpired]).toEqual([[], false])
    await time.tick(1)
    expect([came, budget.isExpired]).toEqual([["late", "late"], true])
  })

  test("gives what is there in time, and what fails in time fails", async () => {
    const { time, came, wait } = system()
    wait(Promise.resolve("there"))
    wait(Promise.reject(new Error("broken")))
    await time.tick(BUDGET_MS)
    expect(came).toEqual(["there", "Error: broken"])
  })

  test("hears nothing of what comes too late, a failure included", async () => {
    const { time, came, wait } = system()
    const [there, broken] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    wait(there.promise)
    wait(broken.promise)
    await time.tick(BUDGET_MS)
    there.resolve("there")
    broken.reject(new Error("broken"))
    await settled()
    expect(came).toEqual(["late", "late"])
  })

  test("that has run out lets nobody wait, also for what is there already, and begins no more", async () => {
    const { time, came, wait } = system()
    wait(never)
    await time.tick(BUDGET_MS)
    wait(never)
    wait(Promise.resolve("there"))
    await settled()
    expect(came).toEqual(["late", "late", "late"])
    expect(time.waiting()).toBe(0)
  })

  test("that is ended leaves no timer, and need not have begun", async () => {
    const { time, budget, wait } = system()
    budget.cancel()
    wait(never)
    budget.cancel()
    expect(time.waiting()).toBe(0)
    await time.tick(BUDGET_MS)
    expect(budget.isExpired).toBe(false)
  })
})

test("a pause gives way once every so many steps, and continues when everything else was handled", async () => {
  const turns: (() => void)[] = []
  const pause = createPause(work => turns.push(work), 3)
  expect([pause(), pause()]).toEqual([undefined, undefined])
  const third = pause()
  expect(third).toBeInstanceOf(Promise)
  turns[0]?.()
  await third
  expect([pause(), pause(), turns.length]).toEqual([undefined, undefined, 1])
})

test("a timed pause gives way when the steps since the last one took a few milliseconds, however many they are", async () => {
  const turns: (() => void)[] = []
  let nowMs = 0
  const pause = createTimedPause(
    work => turns.push(work),
    () => nowMs,
  )
  for (let step = 0; step < 1000; step++) expect(pause()).toBeUndefined()
  nowMs = 3
  const given = pause()
  expect(given).toBeInstanceOf(Promise)
  // What others take is not counted.
  nowMs = 1000
  turns[0]?.()
  await given
  expect([pause(), turns.length]).toEqual([undefined, 1])
})
