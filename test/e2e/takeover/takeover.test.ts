import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findPreviousServer } from "../../../src/process/takeover.ts"
import { unixControlSockets } from "../../../src/system/control-socket.ts"
import { createSystem } from "../../../src/system/system.ts"
import { type CallRate, startCallers } from "../../support/callers.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { samePortServers } from "../../support/same-port-servers.ts"
import { createFakeTime } from "../../support/time.ts"

setDefaultTimeout(180_000)

const HEALTH = "/v1/health"

/** Some hundred requests a second of each kind. */
const RATE: CallRate = { count: 12, pauseMs: 20 }

// The system's help is Linux's alone.
describe.skipIf(process.platform !== "linux")("a server that is replaced", () => {
  test("loses no answer of callers with new or kept connections, and ends well", async () => {
    const { port, serve } = await samePortServers()
    const server = await serve()
    const callers = [startCallers(port, HEALTH, RATE, false), startCallers(port, HEALTH, RATE, true)]
    for (const each of callers) await each.got(100)
    const next = await serve("--replace")
    expect(await server.ended()).toMatchObject({ code: 0, err: expect.stringContaining("its successor") })
    const tallies = await Promise.all(callers.map(each => each.stop()))
    expect(tallies.flatMap(({ lost }) => lost)).toEqual([])
    for (const { answered } of tallies) expect(answered).toBeGreaterThan(300)
    expect(await next.stop()).toMatchObject({ code: 0 })
  })
})

test("a server that says nothing is waited for no longer than it may take to leave", async () => {
  const directory = mkdtempSync(join(tmpdir(), "h"))
  const end = unixControlSockets.listen(join(directory, "server-18080.sock"), () => undefined)
  onTestEnd(() => end?.())
  const time = createFakeTime()
  const { promise: isWaiting, resolve: waits } = Promise.withResolvers<void>()
  const setTimer: typeof time.later = (ms, work) => {
    waits()
    return time.later(ms, work)
  }
  const query = outcomeOf(
    findPreviousServer({ ...createSystem(), setTimer }, { dataDirectory: directory, port: 18_080 }),
  )
  await isWaiting
  await time.tick(30_000)
  expect(await query).toThrow("does not answer")
})

test("a path that has no room for a socket, or is none, meets nobody", async () => {
  const directory = mkdtempSync(join(tmpdir(), "h"))
  const long = join(directory, "x".repeat(200))
  mkdirSync(long)
  expect(unixControlSockets.listen(join(long, "s"), () => undefined)).toBeNull()
  expect(await unixControlSockets.connect(join(long, "s"))).toBeNull()
  writeFileSync(join(directory, "file"), "")
  expect(unixControlSockets.listen(join(directory, "file", "s"), () => undefined)).toBeNull()
  expect(await unixControlSockets.connect(join(directory, "file"))).toBeNull()
})
