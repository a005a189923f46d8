import { describe, expect, test } from "bun:test"
import { ServerOrder } from "../../../src/check/dns/server-order.ts"
import { stoppedTime } from "../../world/time.ts"

describe("the order of servers", () => {
  test("is as given while nothing is known against any", () => {
    expect(new ServerOrder(3, () => 0).healthiest(3)).toEqual([0, 1, 2])
    expect(new ServerOrder(0, () => 0).healthiest(3)).toEqual([])
  })

  test("has at most as many as are asked for, the healthiest of them", () => {
    const order = new ServerOrder(4, () => 0)
    order.heard(0, "silent", 0)
    order.heard(2, "failed", 0)
    expect(order.healthiest(2)).toEqual([1, 3])
    expect(order.healthiest(4)).toEqual([1, 3, 2, 0])
  })

  test("has a server behind the others until it answers", () => {
    for (const lapse of ["failed", "silent"] as const) {
      const order = new ServerOrder(2, () => 0)
      order.heard(0, lapse, 0)
      order.heard(1, "answered", 0)
      expect(order.healthiest(2)).toEqual([1, 0])
      order.heard(0, "answered", 0)
      expect(order.healthiest(2)).toEqual([0, 1])
    }
  })

  test("holds silence against no server that has answered since it was asked", async () => {
    const time = stoppedTime()
    const order = new ServerOrder(2, time.stopwatch)
    await time.tick(100)
    order.heard(0, "answered", 90)
    order.heard(0, "silent", 80)
    order.heard(0, "silent", 100)
    expect(order.healthiest(2)).toEqual([0, 1])
    order.heard(0, "silent", 101)
    expect(order.healthiest(2)).toEqual([1, 0])
  })

  test("has the preferred server first among equals, not before healthier ones", () => {
    const order = new ServerOrder(3, () => 0)
    order.prefer(2)
    expect(order.healthiest(3)).toEqual([2, 0, 1])
    order.heard(2, "failed", 0)
    expect(order.healthiest(3)).toEqual([0, 1, 2])
    order.heard(0, "failed", 0)
    order.heard(1, "failed", 0)
    expect(order.healthiest(3)).toEqual([2, 0, 1])
  })
})
