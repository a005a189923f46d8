import { heapStats } from "bun:jsc"
import { expect, setDefaultTimeout, test } from "bun:test"
import { CounterBuffer } from "../../../src/customers/usage/counter-buffer.ts"
import { measureIndex } from "../../../src/customers/usage/measures.ts"

setDefaultTimeout(300_000)

test("each account, day, key and measure has its own counter", () => {
  const tallies = new CounterBuffer()
  tallies.increment("a", 1, "k", [[measureIndex("used"), 1]])
  tallies.increment("a", 1, "l", [[measureIndex("used"), 2]])
  tallies.increment("a", 2, "k", [[measureIndex("used"), 3]])
  tallies.increment("b", 1, "k", [
    [measureIndex("used"), 4],
    [measureIndex("checks"), 5],
    [measureIndex("used"), 6],
  ])
  tallies.increment("b", 1, "k", [[measureIndex("checks"), 7]])
  expect(tallies.size).toBe(5)
  expect([...tallies.ofAccount("a")]).toEqual([
    { accountId: "a", day: 1, keyId: "k", measure: "used", count: 1 },
    { accountId: "a", day: 1, keyId: "l", measure: "used", count: 2 },
    { accountId: "a", day: 2, keyId: "k", measure: "used", count: 3 },
  ])
  expect([...tallies.ofAccount("b")]).toEqual([
    { accountId: "b", day: 1, keyId: "k", measure: "used", count: 10 },
    { accountId: "b", day: 1, keyId: "k", measure: "checks", count: 12 },
  ])
  expect([...tallies.ofAccount("c")]).toEqual([])
  expect([...tallies.all()]).toEqual([...tallies.ofAccount("a"), ...tallies.ofAccount("b")])
})

test("a removed counter is gone, once, and starts again at zero", () => {
  const tallies = new CounterBuffer()
  tallies.increment("a", 1, "k", [
    [measureIndex("used"), 1],
    [measureIndex("checks"), 1],
  ])
  const [used] = [...tallies.all()]
  if (used === undefined) throw new Error("there is a counter")
  tallies.remove(used)
  tallies.remove(used)
  tallies.remove({ ...used, accountId: "nobody" })
  expect([...tallies.all()].map(({ measure }) => measure)).toEqual(["checks"])
  expect(tallies.size).toBe(1)
  tallies.increment("a", 1, "k", [[measureIndex("used"), 5]])
  expect([...tallies.ofAccount("a")].map(({ count }) => count)).toEqual([5, 1])
})

test("an event without increments leaves nothing", () => {
  const tallies = new CounterBuffer()
  tallies.increment("a", 1, "k", [])
  expect([tallies.size, [...tallies.all()]]).toEqual([0, []])
})

type Place = readonly [accountId: string, day: number, keyId: string]
const PLACES: readonly (readonly [what: string, at: (n: number) => Place])[] = [
  ["keys", n => ["a", 1, `k${n}`]],
  ["days", n => ["a", n, "k"]],
  ["accounts", n => [`a${n}`, 1, "k"]],
]

test.each(PLACES)("%s that were dropped take no memory", (_, at) => {
  const rowCount = () => {
    Bun.gc(true)
    return heapStats().objectTypeCounts["Float64Array"] ?? 0
  }
  const tallies = new CounterBuffer()
  tallies.increment("a", 1, "k", [[measureIndex("checks"), 1]])
  const before = rowCount()
  for (let n = 0; n < 5000; n++) tallies.increment(...at(n), [[measureIndex("used"), 1]])
  expect(rowCount() - before).toBeGreaterThan(4000)
  for (const counter of [...tallies.all()]) if (counter.measure === "used") tallies.remove(counter)
  expect(rowCount() - before).toBeLessThan(100)
  expect(tallies.size).toBe(1)
})
