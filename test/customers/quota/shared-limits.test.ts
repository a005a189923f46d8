import { afterEach, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rateSubject } from "../../../src/customers/quota/rate/rate-subject.ts"
import {
  clearWorkerSlot,
  createRowClaim,
  createSharedLimits,
  createSharedLimitsMemory,
  readNode,
} from "../../../src/customers/quota/shared-limits.ts"

setDefaultTimeout(300_000)

const NOW_MS = Date.UTC(2026, 0, 1)
const SEATS = 2
const NODE = "node_1"

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** A file of memory as workers map it, with 64 bytes for the test, and what two children at once do with it. */
async function mapped() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-limits-"))
  directories.push(directory)
  const path = join(directory, "memory")
  const limits = createSharedLimitsMemory(SEATS, NOW_MS, 42, NODE)
  await Bun.write(path, new Blob([limits, new Uint8Array(64)]))
  const memory = Bun.mmap(path)
  const run = (...tasks: readonly (readonly [task: string, times: number])[]) =>
    Promise.all(
      tasks.map(async ([task, times], slot) => {
        const words = [
          process.execPath,
          join(import.meta.dir, "limits-child.ts"),
          path,
          String(slot),
          task,
          String(times),
        ]
        const child = Bun.spawn(words, { stderr: "inherit" })
        const out = await new Response(child.stdout).text()
        await child.exited
        return out.trim().split(" ").map(Number)
      }),
    )
  const board = new Int32Array(memory.buffer, memory.byteLength - 64, 16)
  return { memory: memory.subarray(0, -64), board, run }
}

test("two processes that send requests as fast as they can are admitted exactly the burst", async () => {
  const { run } = await mapped()
  const [one = [], two = []] = await run(["rates", 384_000], ["rates", 384_000])
  for (const caller of [0, 1]) {
    const [here = 0, there = 0] = [one[caller], two[caller]]
    expect(here + there).toBe(100_000)
    // Both had a part, or they have not met.
    expect(Math.min(here, there)).toBeGreaterThan(0)
  }
})

test("callers that are new to two processes at the same moment have one rate", async () => {
  const { run } = await mapped()
  const [[one = 0] = [], [two = 0] = []] = await run(["first_requests", 64_000], ["first_requests", 64_000])
  // A slot too few in a bucket costs a caller its memory: a few of so many.
  expect(one + two).toBeGreaterThanOrEqual(64_000)
  expect(one + two).toBeLessThan(64_010)
})

test("two processes together never admit more than the limit", async () => {
  const { run, board } = await mapped()
  const [[one = 0] = [], [two = 0] = []] = await run(["in_flight", 500_000], ["in_flight", 500_000])
  expect(Math.min(one, two)).toBeGreaterThan(0)
  expect([board[0], board[1]]).toEqual([0, 0])
})

test("clearing the slot of a dead process ends its requests in flight and no others", async () => {
  const { run, memory } = await mapped()
  const limits = createSharedLimits(memory, 1, () => NOW_MS)
  expect(limits.inFlight.tryAcquire("a", 10)).toBe(true)
  await run(["die", 4], ["nothing", 0])
  expect([limits.inFlight.tryAcquire("a", 5), limits.inFlight.tryAcquire("a", 6)]).toEqual([false, true])
  clearWorkerSlot(memory, 0)
  expect(["a", "a", "a"].map(caller => limits.inFlight.tryAcquire(caller, 4))).toEqual([true, true, false])
})

test("callers with a key and callers without have limits of their own", () => {
  const limits = createSharedLimits(createSharedLimitsMemory(SEATS, NOW_MS, 42, NODE), 0, () => NOW_MS)
  const once = { perSecond: 1, burst: 1 }
  expect(
    [limits.rates, limits.keyless, limits.rates].map(rates => rates.admit(rateSubject("caller", "a"), once).waitS),
  ).toEqual([0, 0, 1])
})

test("the secret seed decides the buckets of callers", () => {
  const [one, two] = [1, 2].map(seed => {
    const memory = createSharedLimitsMemory(SEATS, NOW_MS, seed, NODE)
    const rates = createSharedLimits(memory, 0, () => NOW_MS)
    rates.rates.admit(rateSubject("caller", "a"), { perSecond: 1, burst: 1 })
    return memory.subarray(64).findIndex(byte => byte !== 0)
  })
  expect(one).not.toBe(two)
})

test("all processes that share the memory are one node, whatever they have admitted, and know when one of them has taken its row", () => {
  const node = `node_${"z".repeat(20)} node_${"y".repeat(20)}`
  const memory = createSharedLimitsMemory(SEATS, NOW_MS, 42, node)
  createSharedLimits(memory, 1, () => NOW_MS).rates.admit(rateSubject("caller", "a"), { perSecond: 1, burst: 1 })
  const [one, other] = [createRowClaim(memory), createRowClaim(memory)]
  expect([readNode(memory), one.isTaken()]).toEqual([node, false])
  one.take()
  expect([readNode(memory), one.isTaken(), other.isTaken()]).toEqual([node, true, true])
})
