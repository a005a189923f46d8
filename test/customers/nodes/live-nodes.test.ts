import { expect, test } from "bun:test"
import fc from "fast-check"
import { LiveNodes, NODE_BOUNDS, type NodeHeartbeat, nodeMoves } from "../../../src/customers/nodes/live-nodes.ts"

const { intervalMs: beatMs, deadAfterMs: silentMs, removedAfterMs: goneMs } = NODE_BOUNDS

const nodes = () => new LiveNodes("b", NODE_BOUNDS)
const row = (id: string, beat: number) => ({ id, beat })
/** A row that stands still, looked at so often, `everyMs` after each other. */
function lookOn(live: LiveNodes, times: number, fromMs: number, everyMs = beatMs, id = "a"): number {
  for (let time = 1; time <= times; time++) live.observe([row(id, 1)], fromMs + time * everyMs)
  return fromMs + times * everyMs
}

test("a node without an observation is alone", () => {
  expect(nodes().position).toEqual({ count: 1, position: 0 })
})

test("a new row counts at once, and the own one never twice", () => {
  const live = nodes()
  live.observe([row("a", 7), row("b", 3), row("c", 9)], 1000)
  expect(live.position).toEqual({ count: 3, position: 1 })
})

test("a row whose counter rises counts, however long and at whatever value", () => {
  const live = nodes()
  for (const [at, beat] of [5, 6, 7, 2, 1, 40].entries()) {
    live.observe([row("a", beat)], at * beatMs)
    expect(live.position.count).toBe(2)
  }
})

test("an unchanged row counts until `deadAfterMs` have been observed, and again when it rises", () => {
  const live = nodes()
  live.observe([row("a", 1)], 0)
  live.observe([row("a", 1)], beatMs)
  live.observe([row("a", 1)], 2 * beatMs)
  live.observe([row("a", 1)], silentMs - 1)
  expect(live.position.count).toBe(2)
  live.observe([row("a", 1)], silentMs)
  expect(live.position).toEqual({ count: 1, position: 0 })
  live.observe([row("a", 2)], silentMs + beatMs)
  expect(live.position).toEqual({ count: 2, position: 1 })
})

test("a deleted row stops counting at once, and is new when it comes back", () => {
  const live = nodes()
  live.observe([row("a", 1)], 0)
  live.observe([], 1)
  expect(live.position.count).toBe(1)
  live.observe([row("a", 1)], 2)
  expect(live.position.count).toBe(2)
  lookOn(live, silentMs / beatMs - 1, 2)
  expect(live.position.count).toBe(2)
})

test("a row expires after `removedAfterMs`, not a moment before", () => {
  const live = nodes()
  live.observe([row("a", 1)], 0)
  const lastMs = lookOn(live, goneMs / beatMs - 1, 0)
  live.observe([row("a", 1)], lastMs + beatMs - 1)
  expect(live.expired).toEqual([])
  live.observe([row("a", 1)], goneMs)
  expect(live.expired).toMatchObject([row("a", 1)])
})

test("no node dies while the database is unreachable, and that time does not count", () => {
  const live = nodes()
  live.observe([row("a", 1)], 0)
  lookOn(live, silentMs / beatMs - 1, 0)
  live.recordMiss()
  expect(live.position.count).toBe(2)
  live.observe([row("a", 1)], 3_600_000)
  expect(live.position.count).toBe(2)
  live.observe([row("a", 1)], 3_600_000 + beatMs)
  expect(live.position.count).toBe(1)
})

test("a process that was suspended does not count the others as dead", () => {
  const live = nodes()
  live.observe([row("a", 1)], 0)
  live.observe([row("a", 1)], 3_600_000)
  expect(live.position.count).toBe(2)
})

test("observations in quick succession count by the time that passed, not by their number", () => {
  const live = nodes()
  live.observe([row("a", 1)], 0)
  lookOn(live, 1000, 0, 1)
  expect(live.position.count).toBe(2)
})

test("a node that came, one that ended and one that fell silent are told apart, by their addresses if they tell one", () => {
  const live = nodes()
  const url = "http://10.0.0.11:8080"
  const told = (rows: readonly NodeHeartbeat[], atMs: number) => {
    const before = live.live
    live.observe(rows, atMs)
    return nodeMoves(before, live)
  }
  const none = { came: [], ended: [], fell_silent: [] }
  expect(told([{ ...row("a", 1), url }, row("c", 1)], 0)).toEqual({ ...none, came: [url, "c"] })
  expect(told([{ ...row("a", 1), url }], beatMs)).toEqual({ ...none, ended: ["c"] })
  for (let atMs = 2 * beatMs; atMs < silentMs; atMs += beatMs)
    expect(told([{ ...row("a", 1), url }], atMs)).toEqual(none)
  expect(told([{ ...row("a", 1), url }], silentMs)).toEqual({ ...none, fell_silent: [url] })
  expect(told([], silentMs + beatMs)).toEqual(none)
})

test("nodes that observe the same rows agree on their count, and each has its own position", () => {
  const rows = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(rows, ids => {
      const all = ids.map(id => {
        const live = new LiveNodes(id, NODE_BOUNDS)
        live.observe(
          ids.map(other => row(other, 1)),
          0,
        )
        return live.position
      })
      expect(new Set(all.map(({ count }) => count))).toEqual(new Set([ids.length]))
      expect(all.map(({ position }) => position).toSorted((a, b) => a - b)).toEqual([...ids.keys()])
    }),
  )
})
