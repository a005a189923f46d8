import { expect, test } from "bun:test"
import { WorkerPool } from "../../src/process/worker-pool.ts"
import { settled } from "../support/time.ts"
import { fakeWorkers } from "./fake-workers.ts"

function crew(workerCount: number, { port = 0, answersStop = true } = {}) {
  const fakes = fakeWorkers({ answersStop })
  return {
    ...fakes,
    crew: new WorkerPool({ ...fakes.needs, workerCount, port, socketsPerWorker: 2, databaseWaitMs: () => null }),
  }
}

test("the first worker starts alone and picks the port, which the others get", async () => {
  const { crew: own, child, children } = crew(3)
  const start = own.start()
  expect(children).toHaveLength(1)
  child(0).begin(40_123)
  await settled()
  expect(children).toHaveLength(3)
  for (const at of [1, 2]) child(at).begin(40_123)
  expect(await start).toMatchObject({ kind: "listening", port: 40_123 })
  expect([0, 1, 2].map(at => child(at).facts)).toEqual([
    [{ kind: "start", workerIndex: 0, port: 0, socketCount: 2, databaseWaitMs: null }],
    [{ kind: "start", workerIndex: 1, port: 40_123, socketCount: 2, databaseWaitMs: null }],
    [{ kind: "start", workerIndex: 2, port: 40_123, socketCount: 2, databaseWaitMs: null }],
  ])
})

test("the worker that replaces the first one keeps the port that it picked", async () => {
  const { crew: own, child, time } = crew(1)
  void own.start()
  child(0).begin(40_123)
  await settled()
  child(0).end({ killedBy: "SIGKILL" })
  await time.tick(0)
  child(1).say({ kind: "ready" })
  expect(child(1).facts).toEqual([
    { kind: "start", workerIndex: 0, port: 40_123, socketCount: 2, databaseWaitMs: null },
  ])
})

test("when the first worker cannot start nobody else is tried", async () => {
  const { crew: own, child, children, time } = crew(4)
  const start = own.start()
  child(0).say({ kind: "failed", message: "Cannot listen." })
  child(0).end({ exitCode: 0 })
  expect(await start).toMatchObject({ kind: "ended", message: "Cannot listen." })
  await time.tick(60_000)
  expect(children).toHaveLength(1)
})

test("the start is over when each has been started once, also when one of the others has failed", async () => {
  const { crew: own, child, children, time } = crew(2)
  const start = own.start()
  child(0).begin()
  await settled()
  child(1).end({ exitCode: 1 })
  expect(await start).toMatchObject({ kind: "listening" })
  await time.tick(0)
  expect(children).toHaveLength(3)
})

test("what one worker changed, or that it found DNS dead or the mail server back, the others are told to look for", async () => {
  const { crew: own, child } = crew(3)
  void own.start()
  child(0).begin()
  await settled()
  for (const at of [1, 2]) child(at).begin()
  child(1).say({ kind: "changed" })
  child(1).say({ kind: "dns_dead", reason: "failures" })
  child(1).say({ kind: "mail_replies" })
  for (const told of ["poll_changes", "dns_dead", "mail_replies"])
    expect([0, 1, 2].map(at => child(at).facts.some(({ kind }) => kind === told))).toEqual([true, false, true])
  own.broadcast({ kind: "reload", settings: null })
  expect([0, 1, 2].map(at => child(at).facts.at(-1)?.kind)).toEqual(["reload", "reload", "reload"])
})

test("a stop asks all, also while they start, and starts nobody else", async () => {
  const { crew: own, child, children } = crew(3)
  const start = own.start()
  expect(await own.stop()).toBe(true)
  expect([child(0).requests, children.length]).toEqual([["stop"], 1])
  expect(await start).toMatchObject({ kind: "ended" })
})

test("a stop is good when each worker ended well", async () => {
  for (const [killedBy, isWell] of [
    ["SIGTERM", true],
    ["SIGKILL", false],
  ] as const) {
    const { crew: own, child } = crew(2, { answersStop: false })
    void own.start()
    child(0).begin()
    await settled()
    child(1).begin()
    const stopped = own.stop()
    child(0).end({ exitCode: 0 })
    child(1).end({ killedBy })
    expect(await stopped).toBe(isWell)
  }
})

test("a kill ends all at once", async () => {
  const { crew: own, child, children, time } = crew(2)
  void own.start()
  child(0).begin()
  await settled()
  own.kill()
  await time.tick(60_000)
  expect([child(0).requests, child(1).requests, children.length]).toEqual([["kill"], ["kill"], 2])
})

test("a crew tells on how many sockets it listens, and any of its workers steers connections", async () => {
  const { crew: own, child } = crew(3)
  void own.start()
  child(0).begin()
  await settled()
  for (const at of [1, 2]) child(at).begin()
  expect(await own.freeze()).toBe(6)
  child(0).end({ killedBy: "SIGKILL" })
  expect(own.socketCount).toBe(4)
  const steered = own.route(5, 1)
  await settled()
  child(1).say({ kind: "routed", isRouted: true })
  expect([await steered, child(2).facts.some(({ kind }) => kind === "route")]).toEqual([true, false])
})

test("a crew that leaves has all listen until it may close, and says so when none listens", async () => {
  const { crew: own, child } = crew(2)
  void own.start()
  child(0).begin()
  await settled()
  child(1).begin()
  const { promise: mayClose, resolve } = Promise.withResolvers<void>()
  const reply: string[] = []
  const left = own.drain({ mayClose, onClosed: () => void reply.push("closed") }).then(() => reply.push("left"))
  await settled()
  expect([0, 1].map(at => child(at).facts.at(-1)?.kind)).toEqual(["drain", "drain"])
  resolve()
  await settled()
  child(1).say({ kind: "closed" })
  await settled()
  expect(reply).toEqual([])
  child(0).say({ kind: "closed" })
  await settled()
  expect(reply).toEqual(["closed"])
  for (const at of [0, 1]) child(at).end({ exitCode: 0 })
  await left
  expect([reply, await own.stop()]).toEqual([["closed", "left"], true])
})
