import { describe, expect, test } from "bun:test"
import type { ServerReply } from "../../../../src/check/dns/dns-types.ts"
import { ServerHealth } from "../../../../src/check/dns/resolver/server-health.ts"

const REPLIES: { readonly [K in ServerReply["kind"]]: ServerReply } = {
  answered: { kind: "answered", answer: { outcome: "no_data", records: [], ttlS: 0 }, pendingCname: null },
  failed: { kind: "failed", why: "REFUSED" },
  silent: { kind: "silent" },
}

describe("the order of servers", () => {
  test("is the given order while no server has a fault", () => {
    expect(new ServerHealth(3).healthiest(3)).toEqual([0, 1, 2])
    expect(new ServerHealth(0).healthiest(3)).toEqual([])
  })

  test("has at most the requested number, the healthiest", () => {
    const order = new ServerHealth(4)
    order.record(0, REPLIES.silent, 0)
    order.record(2, REPLIES.failed, 0)
    expect(order.healthiest(2)).toEqual([1, 3])
    expect(order.healthiest(4)).toEqual([1, 3, 2, 0])
  })

  test("puts a faulty server last until it answers", () => {
    for (const lapse of ["failed", "silent"] as const) {
      const order = new ServerHealth(2)
      order.record(0, REPLIES[lapse], 0)
      order.record(1, REPLIES.answered, 0)
      expect(order.healthiest(2)).toEqual([1, 0])
      order.record(0, REPLIES.answered, 0)
      expect(order.healthiest(2)).toEqual([0, 1])
    }
  })

  test("ignores silence if the server has answered another question since", () => {
    const order = new ServerHealth(2)
    const before = order.answerCount(0)
    order.record(0, REPLIES.answered, before)
    order.record(0, REPLIES.silent, before)
    expect(order.healthiest(2)).toEqual([0, 1])
    order.record(0, REPLIES.silent, order.answerCount(0))
    expect(order.healthiest(2)).toEqual([1, 0])
  })

  test("has the preferred server first among equals, but not before healthier ones", () => {
    const order = new ServerHealth(3)
    order.prefer(2)
    expect(order.healthiest(3)).toEqual([2, 0, 1])
    order.record(2, REPLIES.failed, 0)
    expect(order.healthiest(3)).toEqual([0, 1, 2])
    order.record(0, REPLIES.failed, 0)
    order.record(1, REPLIES.failed, 0)
    expect(order.healthiest(3)).toEqual([2, 0, 1])
  })
})

test("what is wrong with each server is known with its code, until it answers", () => {
  const health = new ServerHealth(2)
  health.record(0, REPLIES.failed, 0)
  health.record(1, { kind: "silent", why: "ECONNREFUSED" }, 0)
  expect(health.faults()).toEqual([
    { fault: "failed", why: "REFUSED" },
    { fault: "silent", why: "ECONNREFUSED" },
  ])
  health.record(0, REPLIES.answered, 0)
  health.record(1, REPLIES.silent, 0)
  expect(health.faults()).toEqual([
    { fault: "none", why: null },
    { fault: "silent", why: null },
  ])
})
