import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { PATH_SEGMENTS_MAX } from "../../src/http/request/path-guard.ts"
import { closeAfterResponses, listen } from "../../src/process/http-listener.ts"
import { createSystem } from "../../src/system/system.ts"
import { type AppOptions, testApp } from "../support/app.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { rawClient } from "../support/raw-client.ts"

/** The whole server behind a real listener, and how to send it what a well-behaved client would not. */
async function listening(options: AppOptions = {}) {
  const harness = await testApp(options)
  const server = listen({ hostname: "127.0.0.1", port: 0, isShared: false }, harness.built)
  onTestEnd(() => server.stop(true))
  /** All that is sent back until the connection is closed. */
  const exchange = async (text: string): Promise<string> => {
    const client = await rawClient(server.port ?? 0)
    client.socket.write(text)
    await client.closed
    return client.received()
  }
  const statusOf = async (line: string, head = "Host: localhost"): Promise<number> =>
    Number(/^HTTP\/1\.1 (\d+)/.exec(await exchange(`${line} HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`))?.[1])
  return { harness, server, exchange, statusOf }
}

describe("a request with several hosts is refused", () => {
  const SEVERAL = [
    "Host: a.com\r\nHost: b.com",
    "Host: a.com\r\nHost: a.com",
    "Host:\r\nHost: b.com",
    "host: a\r\nHOST:",
  ]

  test("on every path", async () => {
    const { statusOf } = await listening()
    for (const head of SEVERAL)
      for (const line of [
        "GET /v1/check?email=business@mailkind.test",
        "POST /v1/check",
        "GET /v1/health",
        "GET /docs",
      ])
        expect([head, line, await statusOf(line, head)]).toEqual([head, line, 400])
    for (const head of ["Host: a.com", "Host: a.com:8080", "Host: a,b.com"])
      expect([head, await statusOf("GET /v1/check?email=business@mailkind.test", head)]).toEqual([head, 200])
  })

  test("as invalid input, with the reason", async () => {
    const { exchange } = await listening()
    const text = await exchange(`GET /v1/usage HTTP/1.1\r\n${SEVERAL[0]}\r\nConnection: close\r\n\r\n`)
    expect(text).toContain('"code":"invalid_input"')
    expect(text).toContain("more than one `Host` header")
  })
})

test("what the HTTP parser refuses has the documented bounds, with a status and no body", async () => {
  const { exchange } = await listening()
  const line = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
  const ofBytes = (bytes: number) => `${line}X-Filler: ${"a".repeat(bytes - line.length - 14)}\r\n\r\n`
  const ofHeaders = (count: number) => `${line}${"X-A: b\r\n".repeat(count - 2)}\r\n`
  const { requestHeadBytesMax, requestHeadersMax } = LIMITS
  expect(ofBytes(1000)).toHaveLength(1000)
  for (const within of [ofBytes(requestHeadBytesMax), ofHeaders(requestHeadersMax)])
    expect(await exchange(within)).toStartWith("HTTP/1.1 200")
  for (const beyond of [ofBytes(requestHeadBytesMax + 1), ofHeaders(requestHeadersMax + 1)])
    expect(await exchange(beyond)).toMatch(/^HTTP\/1\.1 431 [^\r]*\r\nConnection: close\r\n\r\n$/)
  expect(await exchange("GET /v1/health HTTP/1.1\r\n\r\n")).toStartWith("HTTP/1.1 400")
  expect(await exchange("GET /v1/health HTTP/2.0\r\nHost: a\r\n\r\n")).toStartWith("HTTP/1.1 505")
  for (const method of ["FOO", "get"])
    expect(await exchange(`${method} /v1/health HTTP/1.1\r\nHost: a\r\n\r\n`)).toBe("")
  expect(await exchange("PROPFIND /v1/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).toStartWith(
    "HTTP/1.1 405",
  )
})

/** Ways to write a path so that the runtime makes another one of it. */
const REWRITTEN: readonly ((path: string) => string)[] = [
  path => `/v1/%2e%2e${path}`,
  path => `/v1/%2E%2E${path}`,
  path => `/v1/..${path}`,
  path => `/v1/.%2e${path}`,
  path => `/%2e${path}`,
  path => `/.${path}`,
  path => `/..${path}`,
  path => `/v1/x/%2e%2e/../${path.slice(1)}`,
  path => `/v1/x//../../..${path}`,
  path => `/v1${"/x".repeat(PATH_SEGMENTS_MAX)}${"/..".repeat(PATH_SEGMENTS_MAX + 1)}${path}`,
  path => `\\v1\\..${path}`.replace("\\", "/"),
  path => `/v1/..\\${path.slice(1)}`,
  path => `http://localhost/v1/%2e%2e${path}`,
]

describe("a path with dot segments or backslashes", () => {
  const PATHS = ["/v1/health", "/v1/check?email=business@mailkind.test", "/docs", "/docs/errors", "/"]

  test("reaches no route of another path", async () => {
    const { statusOf } = await listening()
    for (const path of PATHS) {
      expect([path, await statusOf(`GET ${path}`)]).toEqual([path, 200])
      for (const rewrite of REWRITTEN) {
        const line = `GET ${rewrite(path)}`
        expect([line, await statusOf(line)]).toEqual([line, 404])
      }
    }
  })

  test("reaches none while the server stops, either", async () => {
    const { harness, server, statusOf } = await listening()
    closeAfterResponses(createSystem(), [server], harness.built.fetch)
    for (const path of PATHS) {
      expect([path, await statusOf(`GET ${path}`)]).toEqual([path, 200])
      for (const rewrite of REWRITTEN) {
        const line = `GET ${rewrite(path)}`
        expect([line, await statusOf(line)]).toEqual([line, 404])
      }
    }
  })

  test("counts as a path without a route", async () => {
    const { harness, statusOf } = await listening()
    await statusOf("GET /v1/%2e%2e/v1/health")
    const text = await harness.metrics()
    expect(text).toContain('mailkind_http_requests_total{route="elsewhere",code="404"} 1')
    expect(text).not.toContain('route="GET /v1/health"')
  })

  test("of a query changes nothing", async () => {
    const { statusOf } = await listening()
    expect(await statusOf("GET /v1/health?next=/a/../b")).toBe(200)
    expect(await statusOf("GET /v1/check?email=business@mailkind.test&x=%2e%2e\\")).toBe(200)
  })

  test("no path of ours has more segments than are looked at", () => {
    for (const { path } of Object.values(ROUTES)) expect(path.split("/").length - 1).toBeLessThan(PATH_SEGMENTS_MAX)
  })
})

/*
 * The runtime ends a connection on which a request arrives before the last one was answered, if that takes it more than one turn. A
 * handler cannot prevent it. This test holds what the guide says of it, so that a change of the runtime is seen.
 */
test("a connection on which a second request is sent before the first was answered is closed without an answer", async () => {
  // As the server runs them: at the end of the turn.
  const { exchange } = await listening({ nextTick: work => void setImmediate(work) })
  const body = JSON.stringify({ email: "business@mailkind.test" })
  const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  const first = `POST /v1/check HTTP/1.1\r\n${head}\r\n\r\n${body}`
  expect(await exchange(`${first}GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n`)).toBe("")
  expect(await exchange(first.replace("\r\n", "\r\nConnection: close\r\n"))).toStartWith("HTTP/1.1 200")
})
