import { expect } from "bun:test"
import type { OpenStore } from "../../../../src/customers/store/core/store.ts"
import {
  DatabasePoll,
  type Observation,
  POLL_BOUNDS,
  POLLED_AT,
} from "../../../../src/customers/store/poll/database-poll.ts"
import { NodeClaims } from "../../../../src/customers/store/poll/node-claims.ts"
import { createFakeTime, repeatingOn, settled } from "../../../support/time.ts"
import { test } from "../../engines.ts"
import { tempStore } from "../../temp-store.ts"

/** Processes of one node over a store whose statements are counted, and which fails while it is away. */
async function node() {
  const time = createFakeTime()
  const store = await tempStore()
  const state = { statements: 0, isAway: false }
  const all: OpenStore["all"] = (sql, params) => {
    state.statements++
    return state.isAway ? Promise.reject(new Error("away")) : store.all(sql, params)
  }
  const claims = new NodeClaims(time.clock)
  const processes: { readonly poll: DatabasePoll; readonly seen: unknown[]; readonly misses: () => number }[] = []
  const start = () => {
    const seen: unknown[] = []
    let misses = 0
    const share = (observation: Observation | null): void => {
      for (const other of processes) if (other.poll !== poll) other.poll.observe(observation)
    }
    const poll: DatabasePoll = new DatabasePoll({
      ...{ store: { ...store, all, onChange: () => undefined }, claims, share },
      ...{ clock: time.clock, stopwatch: time.stopwatch, runInterval: repeatingOn(time.later) },
      onError: () => void misses++,
    })
    poll.add({
      columns: { isDue: `${POLLED_AT} >= 0`, isNever: "EXISTS (SELECT 1 FROM jobs)" },
      knows: () => ({ count: seen.length }),
      observe: ({ rows: [row], known }) => void seen.push([row["isDue"], row["isNever"], known["count"]]),
    })
    const one = { poll, seen, misses: () => misses }
    processes.push(one)
    return one
  }
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += POLL_BOUNDS.lookMs) {
      await time.tick(POLL_BOUNDS.lookMs)
      await settled()
    }
  }
  return { state, start, pass }
}

test("one process of a node asks one statement a poll, and each of them gets the answer", async () => {
  const { state, start, pass } = await node()
  const all = [start(), start(), start()]
  for (const { poll } of all) await poll.poll()
  for (const { seen } of all) expect(seen.splice(0)).toHaveLength(3)
  for (const { poll } of all) poll.start()
  await settled()
  for (const { seen } of all) seen.splice(0)
  state.statements = 0
  await pass(60_000)
  expect(state.statements).toBeLessThanOrEqual(1 + 60_000 / POLL_BOUNDS.everyMs)
  for (const { seen } of all) expect(seen).toHaveLength(state.statements)
  expect(all[0]?.seen[0]).toEqual([1, 0, expect.any(Number)])
})

test("without the process that asked, another one asks at the next poll, and all together within a second", async () => {
  const { state, start, pass } = await node()
  const [one, two] = [start(), start()]
  one.poll.start()
  two.poll.start()
  await pass(5000)
  await one.poll.stop()
  two.seen.splice(0)
  state.statements = 0
  await pass(1000)
  expect([state.statements > 0, two.seen.length]).toEqual([true, state.statements])
})

test("a process that cannot ask has the others ask, who ask each other no more than once a poll", async () => {
  const { state, start, pass } = await node()
  const all = [start(), start(), start()]
  for (const { poll } of all) poll.start()
  await pass(2000)
  state.isAway = true
  state.statements = 0
  const before = all.map(({ misses }) => misses())
  await pass(10 * POLL_BOUNDS.everyMs)
  for (const [at, { misses }] of all.entries()) expect(misses()).toBeGreaterThan(before[at] ?? 0)
  expect(state.statements).toBeLessThanOrEqual(10 * all.length * all.length)
})
