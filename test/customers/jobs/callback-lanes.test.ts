import { expect, test } from "bun:test"
import { CALLBACK_LANES, CallbackLanes } from "../../../src/customers/jobs/callback-lanes.ts"

const { quickMax, slowMax, perHostMax, quickMs } = CALLBACK_LANES
const SLOW_MS = 15_000

/** Callbacks that are due again and again, by the account, and how long each attempt takes. Slow ones are looked at first. */
function simulate(receivers: readonly { accountId: string; host: string; tookMs: number }[], seconds: number) {
  const lanes = new CallbackLanes()
  const ends = new Map<string, number>()
  const [began, most]: [Map<string, number[]>, { running: number }] = [new Map(), { running: 0 }]
  for (let now = 0; now < seconds * 1000; now += 1000) {
    for (const [accountId, endsAt] of ends)
      if (endsAt <= now) {
        lanes.end(accountId, endsAt)
        ends.delete(accountId)
      }
    for (const each of receivers) {
      if (!lanes.hasRoom(each, now)) continue
      lanes.begin(each, now)
      ends.set(each.accountId, now + each.tookMs)
      began.set(each.accountId, [...(began.get(each.accountId) ?? []), now])
    }
    most.running = Math.max(most.running, ends.size)
  }
  return { began, most: most.running }
}

const slow = (count: number, host = (at: number) => `slow${at}.example`) =>
  Array.from({ length: count }, (_, at) => ({ accountId: `slow${at}`, host: host(at), tookMs: SLOW_MS }))
const quick = Array.from({ length: 5 }, (_, at) => ({ accountId: `quick${at}`, host: "quick.example", tookMs: 100 }))

test("however many receivers are slow, those that answer wait for them once, and not again", () => {
  for (const count of [32, 64, 300]) {
    const { began, most } = simulate([...slow(count), ...quick], 300)
    expect(most).toBeLessThanOrEqual(quickMax + slowMax)
    for (const { accountId } of quick) {
      const times = began.get(accountId) ?? []
      const known = (Math.ceil(count / quickMax) + 1) * SLOW_MS
      expect(times[0]).toBeLessThanOrEqual(known)
      // Once the slow ones are known, each look begins one.
      expect(times.filter(at => at >= known).length).toBe(300 - known / 1000)
    }
    // The slow ones have their turns too.
    expect(slow(count).filter(({ accountId }) => !began.has(accountId))).toEqual([])
  }
})

test("what has run for a while is slow, and gives its place to others", () => {
  const lanes = new CallbackLanes()
  for (const each of slow(quickMax)) lanes.begin(each, 0)
  const other = { accountId: "other", host: "other.example" }
  expect(lanes.hasRoom(other, quickMs - 1)).toBe(false)
  expect(lanes.hasRoom(other, quickMs)).toBe(true)
  expect(lanes.isFull(quickMs)).toBe(false)
})

test("an account sends one callback at a time, and is quick again when it was", () => {
  const lanes = new CallbackLanes()
  const each = { accountId: "a", host: "h.example" }
  lanes.begin(each, 0)
  expect(lanes.hasRoom(each, 1)).toBe(false)
  lanes.end("a", quickMs)
  for (const other of slow(slowMax)) lanes.begin(other, 0)
  // Known as slow, while their lane is full.
  expect(lanes.hasRoom(each, quickMs)).toBe(false)
  lanes.end("slow0", quickMs)
  lanes.begin(each, quickMs)
  lanes.end("a", quickMs + 1)
  lanes.begin({ accountId: "slow0", host: "slow0.example" }, quickMs)
  expect(lanes.hasRoom(each, 2 * quickMs)).toBe(true)
})

test("one host is called by few accounts at once, and slow ones leave room for those that it answers", () => {
  const lanes = new CallbackLanes()
  const callers = slow(perHostMax + 1, () => "hooks.example")
  for (const each of callers.slice(0, perHostMax)) lanes.begin(each, 0)
  const last = { accountId: "last", host: "hooks.example" }
  expect(lanes.hasRoom(last, quickMs - 1)).toBe(false)
  expect(lanes.hasRoom({ ...last, host: "other.example" }, quickMs - 1)).toBe(true)
  expect(lanes.hasRoom(last, quickMs)).toBe(true)
})
