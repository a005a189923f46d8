import { expect, test } from "bun:test"
import { createHeapCollector, createStartCollector, heapGrowthWithin } from "../../src/base/heap-collector.ts"
import { createFakeTime } from "../support/time.ts"

const MB = 1_048_576

/** A heap that grows with the work, and shrinks to what is in use when it is collected. */
function system(bytesPerWork: number) {
  const time = createFakeTime()
  const heap = { bytes: 40 * MB, usedBytes: 40 * MB, mostBytes: 0, collections: 0 }
  const collectGarbage = (): void => {
    heap.collections++
    heap.bytes = heap.usedBytes
  }
  const { later: setTimer, stopwatch } = time
  const collector = createHeapCollector({ heapBytes: () => heap.bytes, collectGarbage, setTimer, stopwatch }, 10 * MB)
  const work = (count: number): void => {
    for (let at = 0; at < count; at++) {
      heap.bytes += bytesPerWork
      heap.mostBytes = Math.max(heap.mostBytes, heap.bytes)
      collector.countWork()
    }
  }
  return { time, heap, collector, work }
}

test("the heap is collected when it has grown to its bound, however much work there is", () => {
  const { heap, work } = system(20_000)
  work(100_000)
  expect(heap.mostBytes).toBeLessThan(40 * MB + 2 * 10 * MB)
  expect(heap.collections).toBeLessThan(300)
})

test("a heap that the runtime keeps small is left to it while there is work", () => {
  const { heap, work } = system(0)
  work(100_000)
  expect(heap.collections).toBe(0)
})

test("what is in use does not count as growth", () => {
  const { heap, work } = system(0)
  for (let at = 0; at < 20; at++) {
    heap.usedBytes += 9 * MB
    heap.bytes = heap.usedBytes + MB
    work(1000)
  }
  expect(heap.collections).toBeLessThanOrEqual(20)
})

test("five seconds after the last work everything is collected once", async () => {
  const { heap, work, time } = system(0)
  work(250)
  await time.tick(4_000)
  work(250)
  await time.tick(5_999)
  expect(heap.collections).toBe(0)
  await time.tick(3_001)
  expect(heap.collections).toBe(1)
  await time.tick(1_000_000)
  expect(heap.collections).toBe(1)
  expect(time.waiting()).toBe(0)
})

test("nothing is collected after the end", async () => {
  const { heap, work, time, collector } = system(0)
  work(250)
  collector.stop()
  await time.tick(100_000)
  expect(heap.collections).toBe(0)
})

test("a small control group lets the heap grow less", () => {
  expect(heapGrowthWithin(256 * MB)).toBe(4 * MB)
  expect(heapGrowthWithin(24_000 * MB)).toBe(40 * MB)
})

/** A heap that grows by a megabyte for each piece of work, and what its collections took of the time. */
function fastGrowth(growthBytes: number) {
  let nowMs = 0
  let collectingMs = 0
  let bytes = 0
  let mostBytes = 0
  const collectGarbage = (): void => {
    nowMs += 200
    collectingMs += 200
    bytes = 0
  }
  const deps = { heapBytes: () => bytes, collectGarbage, setTimer: () => () => undefined, stopwatch: () => nowMs }
  const { countWork } = createHeapCollector(deps, growthBytes)
  for (let at = 0; at < 60_000; at++) {
    nowMs++
    bytes += MB
    mostBytes = Math.max(mostBytes, bytes)
    countWork()
  }
  return { mostBytes, share: collectingMs / nowMs }
}

test("no more than a tenth of the time goes to collections while the heap has not grown by twice what it may", () => {
  const { share } = fastGrowth(900 * MB)
  expect(share).toBeGreaterThan(0)
  expect(share).toBeLessThanOrEqual(0.1)
})

test("the heap grows by little more than twice what it may, whatever time collections take", () => {
  const { mostBytes } = fastGrowth(250 * MB)
  expect(mostBytes).toBeLessThanOrEqual((500 + 250) * MB)
})

test("what a start has left is collected once, and not if the server stops before", async () => {
  const { later: setTimer, tick, waiting } = createFakeTime()
  let collections = 0
  const collector = createStartCollector({ setTimer, collectGarbage: () => void collections++ })
  collector.start()
  await tick(600_000)
  expect([collections, waiting()]).toEqual([1, 0])
  collector.start()
  await tick(1_000)
  collector.stop()
  await tick(600_000)
  expect([collections, waiting()]).toEqual([1, 0])
})
