import { describe, expect, test } from "bun:test"
import { ServerHealth } from "../../../../src/check/dns/resolver/server-health.ts"

describe("the order of servers", () => {
  test("is the given order while no server has a fault", () => {
    expect(new ServerHealth(3).healthiest(3)).toEqual([0, 1, 2])
    expect(new ServerHealth(0).healthiest(3)).toEqual([])
  })

  test("has at most the requested number, the healthiest", () => {
    const order = new ServerHealth(4)
    order.record(0, "silent", 0)
    order.record(2, "failed", 0)
    expect(order.healthiest(2)).toEqual([1, 3])
    expect(order.healthiest(4)).toEqual([1, 3, 2, 0])
  })

  test("puts a faulty server last until it answers", () => {
    for (const lapse of ["failed", "silent"] as const) {
      const order = new ServerHealth(2)
      order.record(0, lapse, 0)
      order.record(1, "answered", 0)
      expect(order.healthiest(2)).toEqual([1, 0])
      order.record(0, "answered", 0)
      expect(order.healthiest(2)).toEqual([0, 1])
    }
  })

  test("ignores silence if the server has answered another question since", () => {
    const order = new ServerHealth(2)
    const before = order.answerCount(0)
    order.record(0, "answered", before)
    order.record(0, "silent", before)
    expect(order.healthiest(2)).toEqual([0, 1])
    order.record(0, "silent", order.answerCount(0))
    expect(order.healthiest(2)).toEqual([1, 0])
  })

  test("has the preferred server first among equals, but not before healthier ones", () => {
    const order = new ServerHealth(3)
    order.prefer(2)
    expect(order.healthiest(3)).toEqual([2, 0, 1])
    order.record(2, "failed", 0)
    expect(order.healthiest(3)).toEqual([0, 1, 2])
    order.record(0, "failed", 0)
    order.record(1, "failed", 0)
    expect(order.healthiest(3)).toEqual([2, 0, 1])
  })
})
