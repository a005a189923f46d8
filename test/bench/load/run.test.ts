import { afterEach, describe, expect, test } from "bun:test"
import { type Load, runLoad } from "../../../bench/load/run.ts"
import { outcomeOf } from "../../support/outcome-of.ts"

type Reply = (request: string) => { readonly text: string; readonly closes?: boolean } | null
const servers: { stop: (now: boolean) => void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true)
})

/** A server of raw text, which counts what it was asked. A null reply is silence. */
function listen(reply: Reply) {
  const queries: string[] = []
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket, chunk) => {
        queries.push(chunk.toString())
        const response = reply(chunk.toString())
        if (response === null) return
        socket.write(response.text)
        if (response.closes) socket.end()
      },
    },
  })
  servers.push(server)
  return { port: server.port, queries }
}

const ok = { text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" }
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const load = (port: number, some: Partial<Load> = {}): Load => ({
  endpoint: { hostname: "127.0.0.1", port, tls: null },
  pace: null,
  requests: ["a", "b", "c", "d"].map(bytes),
  connections: 2,
  warmupMs: 0,
  durationMs: 5000,
  requestsMax: 10,
  ...some,
})

describe("runLoad", () => {
  test("a counted run sends exactly so many requests and counts each answer once", async () => {
    const { port, queries } = listen(() => ok)
    const report = await runLoad(load(port))
    expect(queries).toHaveLength(10)
    expect(report).toMatchObject({
      connections: 2,
      answers: 10,
      warmupAnswers: 0,
      bodyBytes: 2,
      byStatus: { "200": 10 },
    })
    expect(Object.values(report.failures).every(count => count === 0)).toBe(true)
    const { p50, p90, p99, p99_9, max } = report.latencyMs
    expect([p50, p90, p99, p99_9, max].toSorted((a, b) => a - b)).toEqual([p50, p90, p99, p99_9, max])
    expect(report.answersPerSecond).toBeGreaterThan(0)
    expect(report.cpuShare).toBeGreaterThanOrEqual(0)
  })

  test("connections start at different requests and send them all in turn", async () => {
    const { port, queries } = listen(() => ok)
    await runLoad(load(port, { connections: 1, requestsMax: 6 }))
    expect(queries).toEqual(["a", "b", "c", "d", "a", "b"])
    const other = listen(() => ok)
    await runLoad(load(other.port, { connections: 2, requestsMax: 2 }))
    expect(other.queries.toSorted()).toEqual(["a", "c"])
  })

  test("requests of the warm-up are not counted", async () => {
    const { port, queries } = listen(() => ok)
    const report = await runLoad(load(port, { warmupMs: 20 }))
    expect(report.answers).toBe(10)
    expect(report.warmupAnswers).toBe(queries.length - 10)
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
    expect(await outcomeOf(runLoad(load(port)))).toThrow("refused a connection")
  })

  test("refusals are told apart by the code of their problem, and other errors are not", async () => {
    const problem = (status: number, code: string) => {
      const body = JSON.stringify({ code })
      const type = "Content-Type: application/problem+json"
      return { text: `HTTP/1.1 ${status} No\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}` }
    }
    const replies: Readonly<Record<string, { text: string }>> = {
      a: problem(429, "rate_limited"),
      b: problem(429, "quota_exceeded"),
      c: problem(503, "not a name!"),
    }
    const { port } = listen(request => replies[request] ?? ok)
    const report = await runLoad(load(port, { connections: 1, requestsMax: 9 }))
    expect(report.byProblem).toEqual({ "429 rate_limited": 3, "429 quota_exceeded": 2 })
    expect(report.byStatus).toEqual({ "200": 2, "429": 5, "503": 2 })
  })

  test("a connection that the server ends after an answer is opened again, and nothing is lost", async () => {
    const last = { text: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", closes: true }
    const { port, queries } = listen(() => last)
    const report = await runLoad(load(port))
    expect(report.answers).toBe(10)
    expect(queries).toHaveLength(10)
    expect(report.failures.closed).toBe(0)
  })
})

describe("runLoad at a rate", () => {
  const paced = (port: number, some: Partial<Load> = {}): Load =>
    load(port, { pace: { perSecond: 1000, waitingMax: 100 }, ...some })

  test("sends each request once and counts each answer once", async () => {
    const { port, queries } = listen(() => ok)
    const report = await runLoad(paced(port))
    expect(report).toMatchObject({ rate: 1000, answers: 10, byStatus: { "200": 10 } })
    expect(queries).toHaveLength(10)
    expect(report.lateMs?.max).toBeGreaterThanOrEqual(0)
  })

  test("uses every connection that rests", async () => {
    const { port, queries } = listen(() => null)
    await runLoad(paced(port, { durationMs: 500, requestsMax: null }))
    expect(queries.toSorted()).toEqual(["a", "c"])
  })

  test("counts a latency from when its request was due: what a slow answer does to those behind it is told", async () => {
    const holdMs = 60
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async request => {
        if (request.url.endsWith("/first")) await Bun.sleep(holdMs)
        return new Response("{}")
      },
    })
    servers.push(server)
    const requestTo = (path: string) => bytes(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const requests = [requestTo("/first"), ...Array.from({ length: 19 }, () => requestTo("/"))]
    const report = await runLoad(paced(server.port ?? 0, { requests, connections: 1, requestsMax: 20 }))
    // The last of twenty was due after 19 ms, and none was answered before the first.
    expect(report.answers).toBe(20)
    expect(report.latencyMs.p50).toBeGreaterThanOrEqual(holdMs - 19 - 1)
  })

  test("requests of the warm-up are not counted", async () => {
    const { port, queries } = listen(() => ok)
    const report = await runLoad(paced(port, { warmupMs: 20 }))
    expect(report.answers).toBe(10)
    expect(report.warmupAnswers).toBe(queries.length - 10)
  })

  test("every request that was due is answered, failed, given up or still waiting, and is told", async () => {
    const { port, queries } = listen(() => null)
    const pace = { perSecond: 10_000, waitingMax: 5 }
    const report = await runLoad(paced(port, { pace, connections: 1, durationMs: 50, requestsMax: null }))
    expect(queries).toEqual(["a"])
    expect(report).toMatchObject({ answers: 0, failures: { unanswered: 1, unsent: 5 } })
    expect(report.failures.skipped).toBeGreaterThan(0)
  })

  test("connections that close while they rest are opened again, and no request is lost or sent twice", async () => {
    const { port, queries } = listen(() => ({ ...ok, closes: true }))
    const pace = { perSecond: 5000, waitingMax: 1000 }
    const report = await runLoad(paced(port, { pace, connections: 4, requestsMax: 200 }))
    expect(report.answers + report.failures.closed).toBe(200)
    expect(queries.length).toBeLessThanOrEqual(200)
    expect(report.failures).toMatchObject({ unreadable: 0, unanswered: 0, refused: 0 })
  })
})
