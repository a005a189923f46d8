import { expect, test } from "bun:test"
import { Slots } from "../../src/base/slots.ts"

test("slots are given at once while there are any, then in the order of asking", async () => {
  const slots = new Slots(1, 2)
  const given: string[] = []
  const leave = await slots.take()
  const second = slots.take()?.then(mine => {
    given.push("second")
    return mine
  })
  const third = slots.take()?.then(mine => {
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
  const slots = new Slots(1, 1)
  const leave = await slots.take()
  const waiting = slots.take()
  expect(waiting).not.toBeNull()
  expect(slots.take()).toBeNull()
  leave?.()
  await waiting
  expect(slots.take()).not.toBeNull()
})

test("a slot that is given back while nobody waits is there for the next", async () => {
  const slots = new Slots(1, 0)
  for (let turn = 0; turn < 3; turn++) {
    const leave = await slots.take()
    expect(slots.take()).toBeNull()
    leave?.()
  }
})
