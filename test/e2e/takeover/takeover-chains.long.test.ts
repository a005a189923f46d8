import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { samePortServers } from "../../support/same-port-servers.ts"
import { takeoverChain } from "./takeover-chain.ts"

setDefaultTimeout(300_000)

// Only Linux lets a server choose the socket that a new connection goes to.
describe.skipIf(process.platform !== "linux")("a server of several workers, under callers that never pause,", () => {
  test.each([[[1, 1, 1, 1]], [[1, 3, 1]], [[3, 3, 2]], [[2, 4, 3]]])(
    "takes over from another, and is taken over from: %p processes lose no answer",
    async counts => {
      const { lost, codes, answered } = await takeoverChain(counts, { count: 12, pauseMs: 0 })
      expect(lost).toEqual([])
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
