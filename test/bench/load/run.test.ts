import { afterEach, describe, expect, test } from "bun:test"
import { type Load, runLoad } from "../../../bench/load/run.ts"

type Reply = (request: string) => { readonly text: string; readonly closes?: boolean } | null
const servers: { stop: (now: boolean) => void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true)
})

/** A server of raw text, which counts what it was asked. A null reply is silence. */
function listen(reply: Reply) {
  const asked: string[] = []
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket, chunk) => {
        asked.push(chunk.toString())
        const said = reply(chunk.toString())
        if (said === null) return
        socket.write(said.text)
        if (said.closes) socket.end()
      },
    },
  })
  servers.push(server)
  return { port: server.port, asked }
}

const ok = { text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" }
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const load = (port: number, some: Partial<Load> = {}): Load => ({
  hostname: "127.0.0.1",
  port,
  requests: ["a", "b", "c", "d"].map(bytes),
  connections: 2,
  warmupMs: 0,
  durationMs: 5000,
  requestsMax: 10,
  ...some,
})

describe("runLoad", () => {
  test("a counted run sends exactly so many requests and counts each answer once", async () => {
    const { port, asked } = listen(() => ok)
    const report = await runLoad(load(port))
    expect(asked).toHaveLength(10)
    expect(report).toMatchObject({
      connections: 2,
      answers: 10,
      warmupAnswers: 0,
      bodyBytes: 2,
      byStatus: { "200": 10 },
    })
    expect(report.failures).toEqual({ refused: 0, closed: 0, unreadable: 0, unanswered: 0 })
    const { p50, p90, p99, p99_9, max } = report.latencyMs
    expect([p50, p90, p99, p99_9, max].toSorted((a, b) => a - b)).toEqual([p50, p90, p99, p99_9, max])
    expect(report.answersPerSecond).toBeGreaterThan(0)
    expect(report.cpuShare).toBeGreaterThanOrEqual(0)
  })

  test("connections start at different requests and send them all in turn", async () => {
    const { port, asked } = listen(() => ok)
    await runLoad(load(port, { connections: 1, requestsMax: 6 }))
    expect(asked).toEqual(["a", "b", "c", "d", "a", "b"])
    const other = listen(() => ok)
    await runLoad(load(other.port, { connections: 2, requestsMax: 2 }))
    expect(other.asked.toSorted()).toEqual(["a", "c"])
  })

  test("requests of the warm-up are not counted", async () => {
    const { port, asked } = listen(() => ok)
    const report = await runLoad(load(port, { warmupMs: 20 }))
    expect(report.answers).toBe(10)
    expect(report.warmupAnswers).toBe(asked.length - 10)
  })

  test("a timed run ends by itself", async () => {
    const { port } = listen(() => ok)
    const report = await runLoad(load(port, { durationMs: 20, requestsMax: null }))
    expect(report.byStatus).toEqual({ "200": report.answers })
  })

  test("answers are told apart by their status", async () => {
    const refused = { text: "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n" }
    const { port } = listen(request => (request === "a" ? refused : ok))
    const report = await runLoad(load(port, { connections: 1, requestsMax: 8 }))
    expect(report.byStatus).toEqual({ "200": 6, "429": 2 })
  })

  test("a connection that closes in the middle of an answer is a failure, and is opened again", async () => {
    const { port } = listen(request => (request === "b" ? { text: "HTTP/1.1 200 O", closes: true } : ok))
    const report = await runLoad(load(port, { connections: 1, requestsMax: 8 }))
    expect(report.failures.closed).toBe(2)
    expect(report.answers).toBe(6)
  })

  test("an answer that cannot be read is a failure, and its connection is not used again", async () => {
    const { port } = listen(request => (request === "c" ? { text: "HTTP/1.1 200 OK\r\n\r\nall until the end" } : ok))
    const report = await runLoad(load(port, { connections: 1, requestsMax: 8 }))
    expect(report.failures.unreadable).toBe(2)
    expect(report.answers).toBe(6)
  })

  test("a server that never answers ends the run all the same, and is told", async () => {
    const { port } = listen(() => null)
    const report = await runLoad(load(port, { durationMs: 20, requestsMax: null }))
    expect(report.failures.unanswered).toBe(2)
    expect(report).toMatchObject({ answers: 0, bodyBytes: 0, byStatus: {} })
  })

  test("a run that finds no server is refused", async () => {
    const { port } = listen(() => ok)
    for (const server of servers.splice(0)) server.stop(true)
    expect(runLoad(load(port))).rejects.toThrow("refused a connection")
  })
})
