import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { unixControlSockets } from "../../../src/system/control-socket.ts"
import { askLoopback } from "../../support/loopback.ts"
import { samePortServers } from "../../support/same-port-servers.ts"
import { sendSignal } from "../../support/send-signal.ts"
import { takeoverChain } from "./takeover-chain.ts"

setDefaultTimeout(180_000)

const HEALTH = "/v1/health"

/** The connections that a server has accepted at its control socket: connected sockets that have its path. */
const openConnections = (name: string): number =>
  readFileSync("/proc/net/unix", "utf8").match(new RegExp(` 03 +\\d+ \\S*/${name}`, "g"))?.length ?? 0

// The system's help is Linux's alone.
describe.skipIf(process.platform !== "linux")("a server of several workers", () => {
  test("takes over from another, and is taken over from: 1, 3, 2 and 1 processes lose no answer", async () => {
    const counts = [1, 3, 2, 1]
    const { lost, codes, answered } = await takeoverChain(counts, { count: 12, pauseMs: 20 })
    expect(lost).toEqual([])
    expect(codes).toEqual(counts.map(() => 0))
    for (const count of answered) expect(count).toBeGreaterThan(1000)
  })

  test("goes on, and replaces its workers again, when the one that was to replace it dies before it serves", async () => {
    const { directory, port, url, serve } = await samePortServers()
    const server = await serve("--workers", "2")
    const meeting = await unixControlSockets.connect(join(directory, `server-${port}.sock`))
    meeting?.send("share")
    expect(await meeting?.receive()).toBe("shared 2")
    const pid = /"worker":1,"pid":(\d+)/.exec(await server.complained(/"worker":1,"pid":\d+/))?.[1]
    sendSignal(Number(pid), "SIGKILL")
    await server.complained(/while another server takes over/)
    expect(await askLoopback(`${url}${HEALTH}`)).toMatchObject({ status: 200 })
    meeting?.close()
    await server.complained(/("worker":1,"pid":[\s\S]*){3}/)
    const next = await serve("--workers", "3", "--replace")
    expect(await server.ended()).toMatchObject({ code: 0 })
    await next.complained(/the previous server has ended/)
    expect(await askLoopback(`${url}${HEALTH}`)).toMatchObject({ status: 200 })
  })

  test("lets one in at a time: who comes second is told that another one has come first", async () => {
    const { directory, port, serve, start } = await samePortServers()
    await serve("--workers", "2")
    const meeting = await unixControlSockets.connect(join(directory, `server-${port}.sock`))
    meeting?.send("share")
    expect(await meeting?.receive()).toBe("shared 2")
    const second = start("--replace")
    // A server that connects when the first takeover is over would replace nobody.
    while (openConnections(`server-${port}.sock`) < 2) await Bun.sleep(5)
    meeting?.send("leave")
    meeting?.send("close")
    expect(await meeting?.receive()).toBe("closed")
    expect(await second.ended()).toMatchObject({ code: 1, err: expect.stringContaining("Start this one again") })
    meeting?.close()
  })
})
