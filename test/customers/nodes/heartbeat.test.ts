import { expect } from "bun:test"
import type { Clock } from "../../../src/base/outside-world.ts"
import { Heartbeat, type RowClaim } from "../../../src/customers/nodes/heartbeat.ts"
import {
  type ClusterPosition,
  deleteExpiredNode,
  NODE_BOUNDS,
  type NodeHeartbeat,
  readHeartbeats,
  writeHeartbeat,
} from "../../../src/customers/nodes/live-nodes.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { POLL_BOUNDS } from "../../../src/customers/store/poll/database-poll.ts"
import { NodeClaims } from "../../../src/customers/store/poll/node-claims.ts"
import { createFakeTime, settled } from "../../support/time.ts"
import { test } from "../engines.ts"
import { tempStore } from "../temp-store.ts"

const { intervalMs: beatMs, deadAfterMs: silentMs, removedAfterMs: goneMs } = NODE_BOUNDS

/** What the processes of a start share: whether one has taken the row, which none has yet, and who writes it next. */
function newShared(clock: Clock): { readonly rowClaim: RowClaim; readonly claims: NodeClaims } {
  let isTaken = false
  const take = (): void => {
    isTaken = true
  }
  return { rowClaim: { isTaken: () => isTaken, take }, claims: new NodeClaims(clock) }
}

/** Hearts over one store and one stopwatch, which the test moves. */
async function beating() {
  const store = await tempStore()
  const time = createFakeTime()
  const state = { isUnavailable: false, statements: 0, setBack: 0, clockMs: 1 }
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
  const start = () => newShared(time.clock)
  /** One process of a start of a node. Those of one start share what `start` gives. */
  const heart = (id: string, startId = id, { rowClaim, claims } = start()) => {
    const renamedTo: string[] = []
    const facts: ClusterPosition[] = []
    const faults: unknown[] = []
    const one = new Heartbeat(
      {
        store: frail,
        stopwatch: time.stopwatch,
        clock: () => state.clockMs,
        identity: { id, startId },
        rowClaim,
        claimBeat: everyMs => claims.take("heartbeat", everyMs),
        url: null,
        settings: () => "",
        onObserved: () => undefined,
        onSetBack: () => void state.setBack++,
        onRenamed: renamed => void renamedTo.push(renamed),
        onChange: standing => void facts.push(standing),
        onError: error => void faults.push(error),
      },
      NODE_BOUNDS,
    )
    const polled = (): void => {
      const { known } = one
      void readHeartbeats(frail).then(
        rows => one.observe(rows, known),
        error => {
          faults.push(error)
          one.miss()
        },
      )
    }
    const observe = (rows: readonly NodeHeartbeat[], known: Readonly<Record<string, number>>): void =>
      one.observe(rows, known)
    return { facts, faults, renamedTo, look: () => one.load(), polled, observe, end: () => one.stop() }
  }
  /** Lets so much time pass, at each heartbeat of which these take their turn. */
  const pass = async (ms: number, ...hearts: readonly { readonly polled: () => void }[]): Promise<void> => {
    for (let passed = 0; passed < ms; passed += beatMs) {
      await time.tick(beatMs)
      for (const each of hearts) {
        each.polled()
        await settled()
      }
    }
  }
  return { store, state, time, start, heart, pass, rows: () => readHeartbeats(store) }
}

test("a node that only reads knows the others and is not counted by them", async () => {
  const { heart, rows } = await beating()
  const [one, two] = [heart("a"), heart("b")]
  one.polled()
  await settled()
  await two.look()
  expect(two.facts).toEqual([{ count: 2, position: 1 }])
  expect([await rows(), one.facts]).toEqual([[{ id: "a", beat: 1, url: null, startId: "a" }], []])
})

test("a node writes one heartbeat an interval, and is notified only of changes", async () => {
  const { heart, pass, rows } = await beating()
  const [one, two] = [heart("a"), heart("b")]
  one.polled()
  two.polled()
  await settled()
  await pass(4 * beatMs, one, two)
  expect(await rows()).toEqual([
    { id: "a", beat: 5, url: null, startId: "a" },
    { id: "b", beat: 5, url: null, startId: "b" },
  ])
  expect([one.facts, two.facts]).toEqual([[{ count: 2, position: 0 }], [{ count: 2, position: 1 }]])
})

test("a poll between two heartbeats counts the nodes and writes none", async () => {
  const { heart, rows } = await beating()
  const [one, two] = [heart("a"), heart("b")]
  one.polled()
  await settled()
  two.polled()
  await settled()
  one.polled()
  await settled()
  expect(one.facts).toEqual([{ count: 2, position: 0 }])
  expect((await rows())[0]).toEqual({ id: "a", beat: 1, url: null, startId: "a" })
})

test("a killed node stops counting after `deadAfterMs`, and its row is deleted later", async () => {
  const { heart, pass, rows } = await beating()
  const [one, two, three] = [heart("a"), heart("b"), heart("c")]
  for (const each of [one, two, three]) each.polled()
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
  one.polled()
  two.polled()
  await settled()
  one.polled()
  await settled()
  two.polled()
  await two.end()
  two.polled()
  two.polled()
  await settled()
  expect((await rows()).map(({ id }) => id)).toEqual(["a"])
  one.polled()
  await settled()
  expect(one.facts.at(-1)).toEqual({ count: 1, position: 0 })
})

test("a node whose row was deleted writes it again at the next poll", async () => {
  const { store, time, heart, rows } = await beating()
  const one = heart("a")
  for (let times = 0; times < 2; times++) {
    await store.run("DELETE FROM nodes")
    await time.tick(POLL_BOUNDS.everyMs)
    one.polled()
    await settled()
    expect(await rows()).toEqual([{ id: "a", beat: 1, url: null, startId: "a" }])
  }
})

test("one process of a node writes the heartbeat, and another takes over when it stops", async () => {
  const { start, heart, pass, rows } = await beating()
  const shared = start()
  const [one, two, other] = [heart("a", "a", shared), heart("a", "a", shared), heart("b")]
  for (const each of [one, two, other]) {
    each.polled()
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
  other.polled()
  await settled()
  for (let start = 0; start < 9; start++) {
    const again = heart("a", `start ${start}`)
    await again.look()
    again.polled()
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
  const { start, heart, pass, rows } = await beating()
  const [other, shared] = [heart("b"), start()]
  const former = [heart("a", "a1", shared), heart("a", "a1", shared)] as const
  const [one, two] = former
  for (const each of [other, one, two]) {
    each.polled()
    await settled()
  }
  const next = heart("a", "a2")
  await next.look()
  next.polled()
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

test("the first start of a node, which has its id, takes the next one for a successor and not for an earlier state of the database", async () => {
  const { heart, pass, state } = await beating()
  const [first, next] = [heart("a", "a"), heart("a", "b")]
  await pass(2 * beatMs, first)
  await pass(3 * beatMs, next, first)
  expect([state.setBack, first.renamedTo]).toEqual([0, []])
})

test("of two servers with one identity that both go on, the former one takes another id with all of its processes", async () => {
  const { start, heart, pass, rows } = await beating()
  const shared = start()
  const [one, two] = [heart("a", "a1", shared), heart("a", "a1", shared)]
  for (const each of [one, two]) {
    each.polled()
    await settled()
  }
  const copy = heart("a", "a2")
  copy.polled()
  await settled()
  await pass(2 * beatMs, one, two, copy)
  // A worker that is replaced meanwhile finds out by itself.
  const later = heart("a", "a1", shared)
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
  one.polled()
  two.polled()
  await settled()
  one.polled()
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

test("a database that knows an earlier heartbeat of a node, or none, is another one, and polls that overtake each other are not", async () => {
  const { heart, pass, rows, store, state } = await beating()
  const one = heart("a")
  one.polled()
  await settled()
  const early = await rows()
  await pass(beatMs, one)
  const late = await rows()
  for (const [seen, known] of [
    [late, 1],
    [early, 1],
    [late, 2],
  ] as const) {
    one.observe(seen, { a: known })
    await settled()
  }
  expect(state.setBack).toBe(0)
  await store.run("UPDATE nodes SET beat = 1")
  one.polled()
  await settled()
  expect(state.setBack).toBe(1)
  one.polled()
  await settled()
  expect(state.setBack).toBe(1)
  await store.run("DELETE FROM nodes")
  one.polled()
  await settled()
  expect(state.setBack).toBe(2)
})

test("a database that has the row of an earlier start of the node, which had ended, is an earlier one, and no other server", async () => {
  const { heart, pass, rows, store, state } = await beating()
  const former = heart("a", "a1")
  former.polled()
  await settled()
  await pass(3 * beatMs, former)
  const [{ beat } = { beat: 0 }] = await rows()
  await former.end()
  state.clockMs = 1000
  const one = heart("a", "a2")
  await one.look()
  one.polled()
  await settled()
  await pass(beatMs, one)
  expect(state.setBack).toBe(0)
  await store.run("UPDATE nodes SET beat = $1, start_id = 'a1'", [beat])
  await pass(2 * NODE_BOUNDS.replacedWithinMs, one)
  expect([state.setBack, one.renamedTo, one.facts]).toEqual([1, [], []])
  expect((await rows()).map(({ id, startId }) => [id, startId])).toEqual([["a", "a2"]])
})

test("rows that were read before the start took its row do not tell that another server has it", async () => {
  const { start, heart, rows } = await beating()
  const before = heart("a", "a1")
  before.polled()
  await settled()
  const shared = start()
  const [one, two] = [heart("a", "a2", shared), heart("a", "a2", shared)]
  await two.look()
  const early = await rows()
  one.polled()
  await settled()
  two.observe(early, {})
  await settled()
  expect(two.facts).toEqual([])
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
