import { expect, test } from "bun:test"
import { NODE_CLAIMS_BYTES, NodeClaims } from "../../../../src/customers/store/poll/node-claims.ts"
import { createFakeTime, repeatingOn } from "../../../support/time.ts"

/** Two processes of a node. */
function pair() {
  const time = createFakeTime()
  const memory = new Float64Array(NODE_CLAIMS_BYTES / Float64Array.BYTES_PER_ELEMENT)
  return { time, claims: [new NodeClaims(time.clock, memory), new NodeClaims(time.clock, memory)] as const }
}

test("of the processes of a node one claims a piece of work until its interval is over", async () => {
  const { time, claims } = pair()
  const take = () => claims.map(each => each.take("heartbeat", 5000))
  expect([take(), claims[1].take("poll", 5000)]).toEqual([[true, false], true])
  await time.tick(4999)
  expect(take()).toEqual([false, false])
  await time.tick(1)
  expect(take().toSorted()).toEqual([false, true])
})

test("a clock that was set back puts no claim off", () => {
  let now = 1_000_000
  const claims = new NodeClaims(() => now)
  expect(claims.take("poll", 1000)).toBe(true)
  now -= 500_000
  expect(claims.take("poll", 1000)).toBe(true)
})

test("each interval is run once for all processes, whatever the others of its kind do", async () => {
  const { time, claims } = pair()
  const ran: string[] = []
  for (const [at, each] of claims.entries()) {
    const runInterval = each.intervals("pruning", repeatingOn(time.later))
    runInterval(1000, () => void ran.push("first"))
    runInterval(1000, () => void ran.push("second"))
    await time.tick(at === 0 ? 100 : 0)
  }
  await time.tick(10_000)
  const count = (name: string): number => ran.filter(each => each === name).length
  expect([count("first") >= 9, count("first") <= 11, count("second") >= 9, count("second") <= 11]).toEqual([
    true,
    true,
    true,
    true,
  ])
})
