import { expect, test } from "bun:test"
import { BEAT_MS } from "../../src/process/hang-watch.ts"
import { RestartBackoff, WorkerSlot } from "../../src/process/worker-slot.ts"
import type { SupervisorMessage, WorkerExit } from "../../src/system/child-processes.ts"
import type { ProcessWaits } from "../../src/system/host-state.ts"
import { fakeWorkers } from "./fake-workers.ts"

function seat(options: Parameters<typeof fakeWorkers>[0] = {}, lasting: readonly SupervisorMessage[] = []) {
  const fakes = fakeWorkers(options)
  const changedBy: number[] = []
  const own = new WorkerSlot(3, {
    ...fakes.needs,
    port: () => 8080,
    socketsPerWorker: 1,
    databaseWaitMs: () => null,
    tellOthers: by => void changedBy.push(by),
    lastingMessages: () => lasting,
  })
  return { ...fakes, seat: own, changedBy }
}

test("a worker is told its seat and port when it asks, and its start is over when it listens", async () => {
  const { seat: own, child, logged } = seat()
  const start = own.start(false)
  child(0).say({ kind: "ready" })
  expect(child(0).facts).toEqual([{ kind: "start", workerIndex: 3, port: 8080, socketCount: 1, databaseWaitMs: null }])
  const place = {
    kind: "listening",
    port: 8080,
    address: "http://127.0.0.1:8080",
    baseUrl: "https://a.example",
  } as const
  child(0).say(place)
  expect(await start).toEqual(place)
  expect(logged).toEqual([{ level: "info", message: "a worker listens", fields: { worker: 3, pid: 1001 } }])
})

test("a worker that starts later is told what was said to all before", () => {
  const lasting: SupervisorMessage[] = []
  const { seat: own, child } = seat({}, lasting)
  void own.start(false)
  lasting.push({ kind: "verbose", isOn: true }, { kind: "announce_stop" })
  child(0).say({ kind: "ready" })
  expect(child(0).facts.slice(1)).toEqual([{ kind: "verbose", isOn: true }, { kind: "announce_stop" }])
})

test("a worker that dies is logged, its seat is told to be empty, and another one takes it at once", async () => {
  const { seat: own, child, children, time, logged, onExit: left } = seat()
  void own.start(false)
  child(0).begin()
  child(0).end({ killedBy: "SIGKILL" })
  expect(left).toEqual([[3, true]])
  expect(logged.at(-1)).toEqual({
    level: "error",
    message: "a worker ended and is replaced",
    fields: {
      worker: 3,
      pid: 1001,
      exit_code: null,
      killed_by: "SIGKILL",
      why: expect.stringContaining("no kill for lack of memory"),
      after_ms: 0,
      remedy: "Look who sends signals to it: the service manager, the container's runtime or a person.",
    },
  })
  await time.tick(0)
  expect(children).toHaveLength(2)
  child(1).say({ kind: "ready" })
  expect(child(1).facts).toEqual([{ kind: "start", workerIndex: 3, port: 8080, socketCount: 1, databaseWaitMs: null }])
})

test("workers that die in their start again and again are started after growing whiles, and it is told why", async () => {
  const { seat: own, child, children, time, logged } = seat()
  void own.start(false)
  for (const [at, waitMs] of [0, 250, 500].entries()) {
    child(at).say({ kind: "failed", message: "The disk is full." })
    child(at).end({ exitCode: 0 })
    expect(logged.at(-1)?.fields).toMatchObject({ exit_code: 0, why: "The disk is full.", after_ms: waitMs })
    await time.tick(Math.max(0, waitMs - 1))
    expect(children).toHaveLength(waitMs === 0 ? at + 2 : at + 1)
    await time.tick(1)
    expect(children).toHaveLength(at + 2)
  }
  child(3).begin()
  await time.tick(10_000)
  child(3).end({ exitCode: 1 })
  // What one worker said is not told of the next.
  expect(logged.at(-1)?.fields).toMatchObject({
    exit_code: 1,
    why: "It ended by itself with the exit code 1.",
    after_ms: 0,
  })
})

test("a worker that hangs is killed and replaced, and one that was only paused is not", async () => {
  const { seat: own, child, children, time, logged } = seat({ hangs: true })
  void own.start(false)
  child(0).begin()
  for (let pause = 0; pause < 20; pause++) {
    // One look comes after each pause of the host, however long it was.
    await time.tick(BEAT_MS)
    child(0).say({ kind: "beat" })
  }
  for (let look = 0; look < 5; look++) await time.tick(BEAT_MS)
  expect(child(0).requests).toEqual([])
  await time.tick(BEAT_MS)
  expect(child(0).requests).toEqual(["kill"])
  expect(logged.slice(-2).map(({ message }) => message)).toEqual([
    "a worker hangs and is killed",
    "a worker ended and is replaced",
  ])
  expect(logged.at(-1)?.fields).toMatchObject({ why: "It hung, and was killed for it.", remedy: null })
  await time.tick(0)
  expect(children).toHaveLength(2)
  // One that has not asked for its start yet is not watched.
  await time.tick(60_000)
  expect(child(1).requests).toEqual([])
})

/** Waits for a processor that grow by as much at each look. */
function waitingMore({ processorMs, isForDisk }: ProcessWaits) {
  let looks = 0
  return (): ProcessWaits => ({ processorMs: ++looks * processorMs, isForDisk })
}

test("a worker that waits for a processor or a disk is not killed for a minute, and it is told once what it waits for", async () => {
  for (const [eachLook, waitsFor] of [
    [{ processorMs: 950, isForDisk: false }, /waited for a free processor/],
    [{ processorMs: 0, isForDisk: true }, /waited for a disk/],
  ] as const) {
    const waits = waitingMore(eachLook)
    const { seat: own, child, time, logged } = seat({ hangs: true, waits })
    void own.start(false)
    child(0).begin()
    for (let look = 0; look < 59; look++) await time.tick(BEAT_MS)
    expect(child(0).requests).toEqual([])
    expect(logged.slice(1).map(({ message }) => message)).toEqual(["a worker is held up"])
    // It comes back, and has all of its time again.
    child(0).say({ kind: "beat" })
    for (let look = 0; look < 59; look++) await time.tick(BEAT_MS)
    expect(child(0).requests).toEqual([])
    await time.tick(BEAT_MS)
    expect(child(0).requests).toEqual(["kill"])
    expect(logged.at(-2)).toMatchObject({ message: "a worker hangs and is killed", fields: { pid: 1001 } })
    expect(logged.at(-2)?.fields["why"]).toMatch(waitsFor)
  }
})

test("an endless loop on a busy host is killed once it had six seconds of a processor", async () => {
  const waits = waitingMore({ processorMs: 500, isForDisk: false })
  const { seat: own, child, time, logged } = seat({ hangs: true, waits })
  void own.start(false)
  child(0).begin()
  for (let look = 0; look < 9; look++) await time.tick(BEAT_MS)
  expect(child(0).requests).toEqual([])
  await time.tick(BEAT_MS)
  expect(child(0).requests).toEqual(["kill"])
  expect(logged.at(-2)?.fields["why"]).toBe("It has said nothing for 10 s, of which it could have run for 6 s.")
})

test("a program that cannot be started counts as a worker that died", async () => {
  const { seat: own, logged, time } = seat({ cannotStart: "ENOENT" })
  expect(await own.start(false)).toMatchObject({ kind: "ended", message: "A worker cannot be started: ENOENT." })
  expect(logged.at(-1)?.fields).toMatchObject({ pid: null, after_ms: 0 })
  await time.tick(0)
  expect(logged.at(-1)?.fields).toMatchObject({ why: "A worker cannot be started: ENOENT.", after_ms: 250 })
})

test("a trial that fails is over, with its sentence, and nothing is logged", async () => {
  const { seat: own, child, children, time, logged } = seat()
  const start = own.start(true)
  child(0).say({ kind: "ready" })
  child(0).say({ kind: "failed", message: "Cannot listen." })
  child(0).end({ exitCode: 0 })
  expect(await start).toEqual({ kind: "ended", message: "Cannot listen.", exitCode: 0, killedBy: null })
  await time.tick(60_000)
  expect([children.length, logged.length, await own.stop()]).toEqual([1, 0, true])
})

test("a trial that listened is replaced like any other", async () => {
  const { seat: own, child, children, time } = seat()
  void own.start(true)
  child(0).begin()
  child(0).end({ exitCode: 1 })
  await time.tick(0)
  expect(children).toHaveLength(2)
})

test("a worker that is asked to stop is not replaced, and ends well by itself or by the asking", async () => {
  for (const [ended, isWell] of [
    [{ exitCode: 0 }, true],
    [{ killedBy: "SIGTERM" }, true],
    [{ exitCode: 1 }, false],
    [{ killedBy: "SIGSEGV" }, false],
  ] as const) {
    const { seat: own, child, children, time } = seat({ answersStop: false })
    void own.start(false)
    child(0).begin()
    const stopped = own.stop()
    child(0).end(ended)
    expect([await stopped, child(0).requests]).toEqual([isWell, ["stop"]])
    await time.tick(60_000)
    expect(children).toHaveLength(1)
    // Nobody is left to be killed late.
    expect(time.waiting()).toBe(0)
  }
})

test("the worker that replaced another is waited for too", async () => {
  const { seat: own, child, time } = seat({ answersStop: false })
  void own.start(false)
  child(0).begin()
  child(0).end({ killedBy: "SIGKILL" })
  await time.tick(0)
  child(1).begin()
  let isOver = false
  const stopped = own.stop().then(isWell => {
    isOver = true
    return isWell
  })
  await time.tick(1000)
  expect(isOver).toBe(false)
  child(1).end({ exitCode: 0 })
  expect(await stopped).toBe(true)
})

test("a worker that does not stop in time is killed, and that is no good end", async () => {
  const { seat: own, child, time, logged } = seat({ answersStop: false })
  void own.start(false)
  child(0).begin()
  const stopped = own.stop()
  await time.tick(14_999)
  expect(child(0).requests).toEqual(["stop"])
  await time.tick(1)
  expect([await stopped, child(0).requests]).toEqual([false, ["stop", "kill"]])
  expect(logged.slice(-2).map(({ message }) => message)).toEqual([
    "a worker did not stop in time and is killed",
    "a worker did not stop cleanly",
  ])
})

test("a seat that is empty for a while when it is asked to stop stays empty", async () => {
  const { seat: own, child, children, time } = seat()
  void own.start(false)
  child(0).end({ exitCode: 1 })
  expect(await own.stop()).toBe(true)
  await time.tick(60_000)
  expect(children).toHaveLength(1)
  expect(await own.start(false)).toMatchObject({ kind: "ended" })
  expect(children).toHaveLength(1)
})

test("a worker is told nothing before it has asked, and tells of its changes", () => {
  const { seat: own, child, changedBy } = seat()
  void own.start(false)
  own.send({ kind: "reload", settings: null })
  child(0).begin()
  own.send({ kind: "reload", settings: null })
  expect(child(0).facts.map(({ kind }) => kind)).toEqual(["start", "reload"])
  child(0).say({ kind: "changed" })
  expect(changedBy).toEqual([3])
})

test("a worker that ends while its seat is held is replaced when that is over", async () => {
  const { seat: own, child, children, time, logged } = seat()
  void own.start(false)
  const held = own.freeze()
  child(0).begin()
  expect([await held, own.isListening]).toEqual([true, true])
  child(0).end({ killedBy: "SIGKILL" })
  await time.tick(60_000)
  expect([children.length, own.isListening, logged.at(-1)?.level]).toEqual([1, false, "error"])
  own.unfreeze()
  expect(children).toHaveLength(2)
  own.unfreeze()
  expect(children).toHaveLength(2)
})

test("a seat that is held before its next worker starts stays empty as long", async () => {
  const { seat: own, child, children, time } = seat()
  void own.start(false)
  child(0).end({ exitCode: 1 })
  expect(await own.freeze()).toBe(false)
  await time.tick(60_000)
  expect(children).toHaveLength(1)
  own.unfreeze()
  expect(children).toHaveLength(2)
})

test("a worker that ends in its start is waited for no longer by who holds the seat", async () => {
  const { seat: own, child } = seat()
  void own.start(false)
  const held = own.freeze()
  child(0).say({ kind: "ready" })
  child(0).end({ exitCode: 1 })
  expect(await held).toBe(false)
})

test("a worker that leaves is told when to listen no longer, is waited for, and is not replaced", async () => {
  const { seat: own, child, children, time } = seat()
  void own.start(false)
  child(0).begin()
  await own.freeze()
  own.drain()
  expect(child(0).facts.at(-1)).toEqual({ kind: "drain" })
  const closed = own.closeListener()
  expect(child(0).facts.at(-1)).toEqual({ kind: "close" })
  child(0).say({ kind: "closed" })
  await closed
  const gone = own.exited()
  child(0).end({ exitCode: 0 })
  await gone
  own.unfreeze()
  await time.tick(60_000)
  expect([children.length, child(0).requests, await own.stop()]).toEqual([1, [], true])
})

test("a worker that dies while it leaves keeps nobody waiting, and that is no good end", async () => {
  const { seat: own, child } = seat()
  void own.start(false)
  child(0).begin()
  own.drain()
  const left = Promise.all([own.closeListener(), own.exited()])
  child(0).end({ killedBy: "SIGSEGV" })
  await left
  expect(await own.stop()).toBe(false)
})

test("a worker tells whether it could steer connections, and one that is not there could not", async () => {
  const { seat: own, child } = seat()
  void own.start(false)
  expect(await own.route(2, 1)).toBe(false)
  child(0).begin()
  const steered = own.route(2, 1)
  expect(child(0).facts.at(-1)).toEqual({ kind: "route", firstIndex: 2, count: 1 })
  child(0).say({ kind: "routed", isRouted: true })
  expect(await steered).toBe(true)
  const again = own.route(3, 1)
  child(0).end({ killedBy: "SIGKILL" })
  expect(await again).toBe(false)
})

test("the end of a worker is unasked unless it is stopped, drained, or the first one that does not start", async () => {
  const ended = (begins: (slot: WorkerSlot) => unknown, isFirst = false): unknown => {
    const { seat: own, child, onExit } = seat()
    void own.start(isFirst)
    void begins(own)
    child(0).end({ exitCode: 1 })
    return onExit.at(-1)
  }
  const nothing = (): undefined => undefined
  expect([ended(nothing), ended(slot => slot.freeze()), ended(slot => slot.drain()), ended(nothing, true)]).toEqual([
    [3, true],
    [3, true],
    [3, false],
    [3, false],
  ])
})

test("a worker that dies is replaced at once, one that dies again and again after a growing while, half a minute at most", () => {
  const backOff = new RestartBackoff()
  const waits = Array.from({ length: 12 }, () => backOff.nextDelayMs(100))
  expect(waits).toEqual([0, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000])
})

test("one that lived for ten seconds did not die of its start, and the count begins anew", () => {
  const backOff = new RestartBackoff()
  expect([9_999, 9_999, 10_000, 9_999].map(livedMs => backOff.nextDelayMs(livedMs))).toEqual([0, 250, 0, 250])
})

test("a worker that dies is told with its signal or its exit code, and with a kill of the kernel for lack of memory", () => {
  const told = (ended: Partial<WorkerExit>, killsMeanwhile: number | null = 0) => {
    let kills: number | null = 5
    const { seat: own, child, logged } = seat({ kills: () => kills })
    void own.start(false)
    child(0).begin()
    kills = killsMeanwhile === null ? null : kills + killsMeanwhile
    child(0).end(ended)
    return logged.at(-1)?.fields
  }
  expect(told({ killedBy: "SIGKILL" }, 1)).toMatchObject({
    why: "The kernel has killed a process for lack of memory (OOM).",
    remedy: expect.stringContaining("MemoryMax"),
  })
  expect(told({ killedBy: "SIGKILL" })?.["why"]).toMatch(/no kill for lack of memory/)
  expect(told({ killedBy: "SIGKILL" }, null)).toMatchObject({
    why: "Something outside of mailkind has killed it.",
    remedy: expect.stringContaining("out-of-memory killer"),
  })
  expect(told({ killedBy: "SIGSEGV" })).toMatchObject({
    why: "The signal SIGSEGV has ended it.",
    remedy: expect.stringContaining("defect"),
  })
  expect(told({ exitCode: 3 })?.["why"]).toBe("It ended by itself with the exit code 3.")
})
