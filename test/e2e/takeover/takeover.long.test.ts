import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import { unixControlSockets } from "../../../src/system/control-socket.ts"
import { startCallers } from "../../support/callers.ts"
import { askLoopback } from "../../support/loopback.ts"
import { samePortServers } from "../../support/same-port-servers.ts"

setDefaultTimeout(180_000)

const HEALTH = "/v1/health"

// The system's help is Linux's alone.
describe.skipIf(process.platform !== "linux")("a server that is replaced", () => {
  test("tells nobody that it is unwell while it leaves, and a kept connection to go", async () => {
    const { url, serve } = await samePortServers()
    const old = await serve()
    const callers = startCallers(Number(new URL(url).port), HEALTH, { count: 1, pauseMs: 0 }, true)
    await callers.got(10)
    await serve("--replace")
    const seen = new Set<number>()
    let isGone = false
    const ended = old.ended().finally(() => {
      isGone = true
    })
    while (!isGone) {
      seen.add((await askLoopback(`${url}${HEALTH}`)).status)
      await Bun.sleep(5)
    }
    expect([...seen]).toEqual([200])
    expect((await callers.stop()).lost).toEqual([])
    await ended
  })

  test("goes on when the one that was to replace it dies before it serves", async () => {
    const { directory, port, url, serve } = await samePortServers()
    await serve()
    const meeting = await unixControlSockets.connect(join(directory, `server-${port}.sock`))
    meeting?.send("share")
    expect(await meeting?.receive()).toBe("shared 1")
    meeting?.close()
    expect(await askLoopback(`${url}${HEALTH}`)).toMatchObject({ status: 200 })
    const next = await serve("--replace")
    await next.complained(/the previous server has ended/)
    expect(await askLoopback(`${url}${HEALTH}`)).toMatchObject({ status: 200 })
  })

  test("is asked at a socket that is its user's alone, and what makes no sense there changes nothing", async () => {
    const { directory, port, url, serve } = await samePortServers()
    await serve()
    const path = join(directory, `server-${port}.sock`)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const meeting = await unixControlSockets.connect(path)
    meeting?.send(`${"x".repeat(100_000)}\n\nleave it`)
    expect(await meeting?.receive()).toBeNull()
    expect(await askLoopback(`${url}${HEALTH}`)).toMatchObject({ status: 200 })
  })
})

test("with nobody to replace, or only what a killed server left, it starts as ever", async () => {
  const { url, serve } = await samePortServers()
  const first = await serve("--replace")
  await first.kill()
  await serve("--replace")
  expect(await askLoopback(`${url}${HEALTH}`)).toMatchObject({ status: 200 })
})

test("without being asked to, nobody is let in on the port of a server that runs", async () => {
  const { serve, start } = await samePortServers()
  await serve()
  expect(await start().ended()).toMatchObject({ code: 1, err: expect.stringContaining("Cannot listen") })
})
