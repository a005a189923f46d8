import { expect, test } from "bun:test"
import { type RefreshLockDeps, withRefreshLock } from "../../../src/check/refresh/refresh-lock.ts"
import { stoppedClock } from "../../support/clock.ts"
import { type MemoryFolder, memoryFolder } from "../../support/memory-folder.ts"
import { outcomeOf } from "../../support/outcome-of.ts"

const MINUTE_MS = 60_000
/** The number of step orders that are tried. */
const SEEDS = 300

/** Processes on one folder; the processes in `dead` have ended. */
function processes(folder: MemoryFolder = memoryFolder()) {
  const clock = stoppedClock()
  const dead = new Set<number>()
  const of = (pid: number): RefreshLockDeps => ({
    folder,
    clock,
    pid,
    isRunning: other => other > 0 && !dead.has(other),
  })
  return { folder, clock, dead, of }
}

/** Work that runs until the test ends it. */
function longWork() {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<string>()
  const work = (): Promise<string> => {
    begun.resolve()
    return end.promise
  }
  return { work, begun: begun.promise, end: end.resolve }
}

const done = async (): Promise<string> => "done"

test("one process at a time holds the lock, and the next one gets it afterwards", async () => {
  const { of, folder } = processes()
  const long = longWork()
  const first = withRefreshLock(of(1), long.work)
  await long.begun
  expect(await withRefreshLock(of(2), done)).toBeNull()
  long.end("first")
  expect(await first).toBe("first")
  expect(await withRefreshLock(of(2), done)).toBe("done")
  expect(folder.held.size).toBe(0)
})

test("work that throws releases the lock", async () => {
  const { of, folder } = processes()
  const fails = async (): Promise<never> => {
    throw new Error("no room")
  }
  expect(await outcomeOf(withRefreshLock(of(1), fails))).toThrow("no room")
  expect(folder.held.size).toBe(0)
  expect(await withRefreshLock(of(2), done)).toBe("done")
})

test("the lock of a process that is gone is stale", async () => {
  const { of, dead, folder } = processes()
  folder.put("turn.lock", "1 0\n")
  dead.add(1)
  expect(await withRefreshLock(of(2), done)).toBe("done")
  expect(folder.held.size).toBe(0)
})

test("a lock is stale after 15 minutes, and its late holder does not release the next lock", async () => {
  const { of, clock, folder } = processes()
  const [first, second] = [longWork(), longWork()]
  const slow = withRefreshLock(of(1), first.work)
  await first.begun
  clock.tick(15 * MINUTE_MS - 1)
  expect(await withRefreshLock(of(2), done)).toBeNull()
  clock.tick(1)
  const next = withRefreshLock(of(2), second.work)
  await second.begun
  first.end("late")
  expect(await slow).toBe("late")
  expect(await withRefreshLock(of(3), done)).toBeNull()
  second.end("next")
  expect(await next).toBe("next")
  expect(folder.held.size).toBe(0)
})

test("a lock from far in the future is stale, and one from a moment ahead is not", async () => {
  const { of, clock, folder } = processes()
  folder.put("turn.lock", `1 ${clock() + 15 * MINUTE_MS}\n`)
  expect(await withRefreshLock(of(2), done)).toBe("done")
  folder.put("turn.lock", `1 ${clock() + 1000}\n`)
  expect(await withRefreshLock(of(2), done)).toBeNull()
})

test.each(["", "nonsense", "1", "-5 x"])("a lock with the text %j is stale", async text => {
  const { of, folder } = processes()
  folder.put("turn.lock", text)
  expect(await withRefreshLock(of(2), done)).toBe("done")
})

test("of many processes that find a stale lock at most one works at a time, whatever the order of their steps", async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const folder = memoryFolder()
    const { of, dead } = processes({ ...folder, ...shuffledSteps(folder, seed) })
    folder.put("turn.lock", "9 0\n")
    dead.add(9)
    let atWork = 0
    let most = 0
    let doneCount = 0
    const work = async (): Promise<void> => {
      most = Math.max(most, ++atWork)
      for (let step = 0; step < 5; step++) await Promise.resolve()
      atWork--
      doneCount++
    }
    await Promise.all([1, 2, 3].map(pid => withRefreshLock(of(pid), work)))
    expect([seed, most]).toEqual([seed, 1])
    expect(doneCount).toBeGreaterThan(0)
    expect([...folder.held.keys()]).toEqual([])
  }
})

/** The folder with a random delay of each step. */
function shuffledSteps(folder: MemoryFolder, seed: number): Pick<MemoryFolder, "read" | "createExclusive" | "remove"> {
  let drawn = seed
  const pause = async (): Promise<void> => {
    drawn = (drawn * 1_103_515_245 + 12_345) % 2 ** 31
    for (let turn = drawn % 7 === 0 ? 60 : drawn % 5; turn > 0; turn--) await Promise.resolve()
  }
  return {
    read: name => pause().then(() => folder.read(name)),
    createExclusive: (name, text) => pause().then(() => folder.createExclusive(name, text)),
    remove: name => pause().then(() => folder.remove(name)),
  }
}

test("a process that breaks a stale lock too late leaves the new lock alone", async () => {
  const { of, folder, dead } = processes()
  folder.put("turn.lock", "9 0\n")
  dead.add(9)
  const hasSeen = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<void>()
  const createExclusive: MemoryFolder["createExclusive"] = async (name, text) => {
    if (name === "turn.end.lock") {
      hasSeen.resolve()
      await goesOn.promise
    }
    return await folder.createExclusive(name, text)
  }
  const late = withRefreshLock({ ...of(2), folder: { ...folder, createExclusive } }, done)
  await hasSeen.promise
  const long = longWork()
  const other = withRefreshLock(of(3), long.work)
  await long.begun
  goesOn.resolve()
  expect(await late).toBeNull()
  expect(await withRefreshLock(of(4), done)).toBeNull()
  long.end("other")
  expect(await other).toBe("other")
  expect(folder.held.size).toBe(0)
})

test("a crash while breaking a stale lock does not block later processes", async () => {
  const { of, folder, dead } = processes()
  folder.put("turn.lock", "8 0\n")
  folder.put("turn.end.lock", "9 0\n")
  for (const pid of [8, 9]) dead.add(pid)
  expect(await withRefreshLock(of(2), done)).toBeNull()
  expect(await withRefreshLock(of(2), done)).toBe("done")
  expect(folder.held.size).toBe(0)
})
