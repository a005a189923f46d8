import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { unixControlSockets } from "../../../src/system/control-socket.ts"
import { type CallRate, startCallers } from "../../support/callers.ts"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { samePortServers } from "../../support/same-port-servers.ts"
import { sendSignal } from "../../support/send-signal.ts"

setDefaultTimeout(300_000)

const HEALTH = "/v1/health"

/** The words that start a server of so many workers. */
const workers = (count: number): readonly string[] => (count === 1 ? [] : ["--workers", String(count)])

/**
 * Has one server after the other take over, each of so many workers, while callers with new and with kept connections ask
 * without end. Gives what these lost, the workers that hung, how many answers each kind
 * got, and how the servers ended.
 */
async function takeoverChain(counts: readonly number[], rate: CallRate) {
  const { port, serve } = await samePortServers()
  const [first = 1, ...others] = counts
  let server = await serve(...workers(first))
  const callers = [startCallers(port, HEALTH, rate, false), startCallers(port, HEALTH, rate, true)]
  for (const each of callers) await each.got(100)
  const codes: number[] = []
  const hangs: string[] = []
  const note = ({ code, err }: { readonly code: number; readonly err: string }): void => {
    codes.push(code)
    hangs.push(...(err.match(/^.*a worker hangs.*$/gm) ?? []))
  }
  for (const count of others) {
    const next = await serve(...workers(count), "--replace")
    note(await server.ended())
    await next.complained(/the previous server has ended/)
    server = next
  }
  const tallies = await Promise.all(callers.map(each => each.stop()))
  note(await server.stop())
  return { lost: tallies.flatMap(({ lost }) => lost), hangs, codes, answered: tallies.map(({ answered }) => answered) }
}

/** The connections that a server has accepted at its control socket: connected sockets that have its path. */
const openConnections = (name: string): number =>
  readFileSync("/proc/net/unix", "utf8").match(new RegExp(` 03 +\\d+ \\S*/${name}`, "g"))?.length ?? 0

// Only Linux lets a server choose the socket that a new connection goes to.
describe.skipIf(process.platform !== "linux")("a server of several workers, under callers that never pause,", () => {
  test.each([[[1, 1, 1]], [[1, 3, 2, 1]], [[2, 4, 3]]])(
    "takes over from another, and is taken over from: %p processes lose no answer",
    async counts => {
      const { lost, hangs, codes, answered } = await takeoverChain(counts, { count: 12, pauseMs: 0 })
      // A machine that is busy otherwise may starve a worker until it is killed, which the failure then tells.
      expect({ lost, hangs }).toEqual({ lost: [], hangs: [] })
      expect(codes).toEqual(counts.map(() => 0))
      for (const count of answered) expect(count).toBeGreaterThan(1000)
    },
  )
})

describe.skipIf(process.platform !== "linux")("a server that is replaced by one with another number of workers", () => {
  test("tells its metrics where the one before it did, as soon as that is gone", async () => {
    const place = `127.0.0.1:${freePort()}`
    const { serve } = await samePortServers({ MAILKIND_METRICS: place })
    const read = async () => (await askLoopback(`http://${place}/metrics`)).body
    let server = await serve()
    for (const words of [["--workers", "2"], []]) {
      const next = await serve(...words, "--replace")
      await next.complained(/metrics are served as soon as their port is free/)
      expect(await server.ended()).toMatchObject({ code: 0 })
      await next.complained(/metrics are served now/)
      expect(await read()).toContain("mailkind_")
      server = next
    }
  })

  test("counts each check of a caller once, whoever answered it", async () => {
    const { url, serve } = await samePortServers()
    let server = await serve("--workers", "2")
    const key = /svc_live_[0-9A-Za-z]{38}/.exec(await server.printed(/svc_live_[0-9A-Za-z]{38}/))?.[0] ?? ""
    const headers = { Authorization: `Bearer ${key}`, Connection: "close", "Content-Type": "application/json" }
    let [answered, isOver] = [0, false]
    const check = async (): Promise<void> => {
      while (!isOver) {
        const body = JSON.stringify({ domain: "gmail.com" })
        const { status } = await askLoopback(`${url}/v1/check`, { method: "POST", headers, body })
        expect(status).toBe(200)
        answered++
      }
    }
    const lanes = Promise.all(Array.from({ length: 4 }, check))
    for (const count of [3, 2]) {
      const next = await serve("--workers", String(count), "--replace")
      expect(await server.ended()).toMatchObject({ code: 0 })
      server = next
    }
    isOver = true
    await lanes
    expect(answered).toBeGreaterThan(100)
    await server.stop()
    const last = await serve()
    const { body } = await askLoopback(`${url}/v1/usage`, { headers })
    expect(JSON.parse(body)).toMatchObject({ today: { used: answered, checks: answered } })
    await last.stop()
  })
})

describe.skipIf(process.platform !== "linux")("a server of several workers", () => {
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
