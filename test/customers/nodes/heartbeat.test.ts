import { expect } from "bun:test"
import { Heartbeat, type RowClaim } from "../../../src/customers/nodes/heartbeat.ts"
import {
  type ClusterPosition,
  deleteExpiredNode,
  NODE_BOUNDS,
  readHeartbeats,
  writeHeartbeat,
} from "../../../src/customers/nodes/live-nodes.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { createFakeTime, settled } from "../../support/time.ts"
import { test } from "../engines.ts"
import { tempStore } from "../temp-store.ts"

const { intervalMs: beatMs, deadAfterMs: silentMs, removedAfterMs: goneMs } = NODE_BOUNDS

/** Whether a process of a start has taken the row, which nobody has yet. */
function newRowClaim(): RowClaim {
  let isTaken = false
  const take = (): void => {
    isTaken = true
  }
  return { isTaken: () => isTaken, take }
}

/** Hearts over one store and one stopwatch, which the test moves. */
async function beating() {
  const store = await tempStore()
  const time = createFakeTime()
  const state = { isUnavailable: false, statements: 0 }
  const requested = <T>(ask: () => Promise<T>): Promise<T> => {
    state.statements++
    return state.isUnavailable ? Promise.reject(new Error("away")) : ask()
  }
  const frail: Store = {
    ...store,
    all: <Row>(...args: Parameters<Store["all"]>) => requested(() => store.all<Row>(...args)),
    one: <Row>(...args: Parameters<Store["one"]>) => requested(() => store.one<Row>(...args)),
    run: (...args) => requested(() => store.run(...args)),
  }
  /** One process of a start of a node. Those of one start share `rowClaim`. */
  const heart = (id: string, startId = id, rowClaim = newRowClaim()) => {
    const renamedTo: string[] = []
    const facts: ClusterPosition[] = []
    const faults: unknown[] = []
    const one = new Heartbeat(
      {
        store: frail,
        stopwatch: time.stopwatch,
        identity: { id, startId },
        rowClaim,
        url: null,
        onRenamed: renamed => void renamedTo.push(renamed),
        onChange: standing => void facts.push(standing),
        onError: error => void faults.push(error),
      },
      NODE_BOUNDS,
    )
    return {
      facts,
      faults,
      renamedTo,
      look: () => one.load(),
      turn: () => one.tick(),
      received: () => one.refresh(),
      end: () => one.stop(),
    }
  }
  /** Lets so much time pass, at each heartbeat of which these take their turn. */
  const pass = async (ms: number, ...hearts: readonly { readonly turn: () => void }[]): Promise<void> => {
    for (let passed = 0; passed < ms; passed += beatMs) {
      await time.tick(beatMs)
      for (const each of hearts) {
        each.turn()
        await settled()
      }
    }
  }
  return { store, state, time, heart, pass, rows: () => readHeartbeats(store) }
}

test("a node that only reads knows the others and is not counted by them", async () => {
  const { heart, rows } = await beating()
  const [one, two] = [heart("a"), heart("b")]
  one.turn()
  await settled()
  await two.look()
  expect(two.facts).toEqual([{ count: 2, position: 1 }])
  expect([await rows(), one.facts]).toEqual([[{ id: "a", beat: 1, url: null, startId: "a" }], []])
})

test("a node writes one heartbeat a tick, and is notified only of changes", async () => {
  const { heart, pass, rows } = await beating()
  const [one, two] = [heart("a"), heart("b")]
  one.turn()
  two.turn()
  await settled()
  await pass(4 * beatMs, one, two)
  expect(await rows()).toEqual([
    { id: "a", beat: 5, url: null, startId: "a" },
    { id: "b", beat: 5, url: null, startId: "b" },
  ])
  expect([one.facts, two.facts]).toEqual([[{ count: 2, position: 0 }], [{ count: 2, position: 1 }]])
})

test("a notification makes a node read at once, without writing its heartbeat", async () => {
  const { heart, rows } = await beating()
  const [one, two] = [heart("a"), heart("b")]
  one.turn()
  await settled()
  two.turn()
  await settled()
  one.received()
  await settled()
  expect(one.facts).toEqual([{ count: 2, position: 0 }])
  expect((await rows())[0]).toEqual({ id: "a", beat: 1, url: null, startId: "a" })
})

test("a killed node stops counting after `deadAfterMs`, and its row is deleted later", async () => {
  const { heart, pass, rows } = await beating()
  const [one, two, three] = [heart("a"), heart("b"), heart("c")]
  for (const each of [one, two, three]) each.turn()
  await settled()
  await pass(beatMs, one, two, three)
  await pass(silentMs - beatMs, two, three)
  expect(two.facts.at(-1)).toEqual({ count: 3, position: 1 })
  await pass(2 * beatMs, two, three)
  expect([two.facts.at(-1), three.facts.at(-1)]).toEqual([
    { count: 2, position: 0 },
    { count: 2, position: 1 },
  ])
  expect(await rows()).toHaveLength(3)
  await pass(goneMs, two, three)
  expect((await rows()).map(({ id }) => id)).toEqual(["b", "c"])
})

test("a clean stop deletes the row, and nothing brings it back", async () => {
  const { heart, rows } = await beating()
  const [one, two] = [heart("a"), heart("b")]
  one.turn()
  two.turn()
  await settled()
  one.received()
  await settled()
  two.turn()
  await two.end()
  two.turn()
  two.received()
  await settled()
  expect((await rows()).map(({ id }) => id)).toEqual(["a"])
  one.received()
  await settled()
  expect(one.facts.at(-1)).toEqual({ count: 1, position: 0 })
})

test("a node whose row was deleted writes it again at the next notification or tick", async () => {
  const { store, heart, rows } = await beating()
  const one = heart("a")
  for (const back of [one.turn, one.received]) {
    await store.run("DELETE FROM nodes")
    back()
    await settled()
    expect(await rows()).toEqual([{ id: "a", beat: 1, url: null, startId: "a" }])
  }
})

test("one process of a node writes the heartbeat, and another takes over when it stops", async () => {
  const { heart, pass, rows } = await beating()
  const rowClaim = newRowClaim()
  const [one, two, other] = [heart("a", "a", rowClaim), heart("a", "a", rowClaim), heart("b")]
  for (const each of [one, two, other]) {
    each.turn()
    await settled()
  }
  await pass(10 * beatMs, one, two, other)
  expect((await rows())[0]).toEqual({ id: "a", beat: 11, url: null, startId: "a" })
  expect(two.facts).toEqual([{ count: 2, position: 0 }])
  await pass(10 * beatMs, two, other)
  expect((await rows())[0]?.beat).toBeGreaterThanOrEqual(20)
  expect(other.facts).toEqual([{ count: 2, position: 1 }])
})

test("a node that is killed and starts again, however often, takes its row at once and is one node", async () => {
  const { heart, pass, rows } = await beating()
  const other = heart("b")
  other.turn()
  await settled()
  for (let start = 0; start < 9; start++) {
    const again = heart("a", `start ${start}`)
    await again.look()
    again.turn()
    await settled()
    await pass(beatMs, again, other)
    expect([again.facts, again.renamedTo, other.facts]).toEqual([
      [{ count: 2, position: 0 }],
      [],
      [{ count: 2, position: 1 }],
    ])
    expect((await rows()).map(({ id, startId }) => [id, startId])).toEqual([
      ["a", `start ${start}`],
      ["b", "b"],
    ])
  }
})

test("a server that is being replaced leaves the row to the next one, and is no node of its own to others", async () => {
  const { heart, pass, rows } = await beating()
  const [other, rowClaim] = [heart("b"), newRowClaim()]
  const former = [heart("a", "a1", rowClaim), heart("a", "a1", rowClaim)] as const
  const [one, two] = former
  for (const each of [other, one, two]) {
    each.turn()
    await settled()
  }
  const next = heart("a", "a2")
  await next.look()
  next.turn()
  await settled()
  await pass(silentMs, ...former, next, other)
  expect([next.facts, other.facts]).toEqual([[{ count: 2, position: 0 }], [{ count: 2, position: 1 }]])
  // It counts itself beside the others, so that it admits no more than its share.
  expect(one.facts.at(-1)).toMatchObject({ count: 3 })
  for (const each of former) await each.end()
  await pass(goneMs, next, other)
  expect((await rows()).map(({ id, startId }) => [id, startId])).toEqual([
    ["a", "a2"],
    ["b", "b"],
  ])
  expect([one.renamedTo, two.renamedTo, next.facts.length, other.facts.length]).toEqual([[], [], 1, 1])
})

test("of two servers with one identity that both go on, the former one takes another id with all of its processes", async () => {
  const { heart, pass, rows } = await beating()
  const rowClaim = newRowClaim()
  const [one, two] = [heart("a", "a1", rowClaim), heart("a", "a1", rowClaim)]
  for (const each of [one, two]) {
    each.turn()
    await settled()
  }
  const copy = heart("a", "a2")
  copy.turn()
  await settled()
  await pass(2 * beatMs, one, two, copy)
  // A worker that is replaced meanwhile finds out by itself.
  const later = heart("a", "a1", rowClaim)
  await pass(2 * NODE_BOUNDS.replacedWithinMs, one, later, copy)
  expect([one.renamedTo, later.renamedTo, copy.renamedTo]).toEqual([["a1"], ["a1"], []])
  expect((await rows()).map(({ id, startId }) => [id, startId])).toEqual([
    ["a", "a2"],
    ["a1", "a1"],
  ])
  expect([one, later, copy].map(({ facts }) => facts.at(-1))).toEqual([
    { count: 2, position: 1 },
    { count: 2, position: 1 },
    { count: 2, position: 0 },
  ])
})

test("while the database is unreachable the last count stays, and afterwards no node counts as dead", async () => {
  const { state, heart, pass } = await beating()
  const [one, two] = [heart("a"), heart("b")]
  one.turn()
  two.turn()
  await settled()
  one.turn()
  await settled()
  state.isUnavailable = true
  await pass(2 * goneMs, one, two)
  expect([one.faults.length, two.faults.length]).toEqual([24, 24])
  state.isUnavailable = false
  // One finds the database again well before the other.
  await pass(2 * beatMs, one)
  await pass(4 * beatMs, one, two)
  expect([one.facts.at(-1), two.facts.at(-1)]).toEqual([
    { count: 2, position: 0 },
    { count: 2, position: 1 },
  ])
  expect(one.facts).toHaveLength(1)
})

test("any number of notifications during a read cause one more read", async () => {
  const { heart, state } = await beating()
  const one = heart("a")
  one.turn()
  await settled()
  const before = state.statements
  for (let time = 0; time < 100; time++) one.received()
  await settled()
  expect(state.statements - before).toBe(2)
})

test("a row that rose since it was read is not deleted", async () => {
  const { store, rows } = await beating()
  await writeHeartbeat(store, { id: "a", startId: "a" })
  const [seen = { id: "", beat: 0 }] = await rows()
  expect(await writeHeartbeat(store, { id: "a", startId: "a" })).toBe(2)
  await deleteExpiredNode(store, seen)
  expect(await rows()).toEqual([{ id: "a", beat: 2, url: null, startId: "a" }])
  await deleteExpiredNode(store, { id: "a", beat: 2 })
  expect(await rows()).toEqual([])
})
