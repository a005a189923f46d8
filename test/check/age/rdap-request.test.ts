import { expect, test } from "bun:test"
import { gzipSync } from "node:zlib"
import { type RdapRequestDeps, type RdapResponse, requestRdap } from "../../../src/check/age/rdap-request.ts"
import { bounded } from "../../support/bounded.ts"
import { createFakeTime } from "../../support/time.ts"
import { bareServer, loopbackFetch, webServer } from "../fetch/loopback-web.ts"

const BODY_BYTES_MAX = 256 * 1024
const AGENT = "mailkind/1.0 (+https://mailkind.example/bot)"
const { clock } = createFakeTime(Date.UTC(2026, 0, 1))

const asking = (changes: Partial<RdapRequestDeps> = {}): RdapRequestDeps => ({
  fetchUrl: loopbackFetch().fetchUrl,
  clock,
  userAgent: AGENT,
  isOperatorUrl: true,
  ...changes,
})

const never = (): AbortSignal => new AbortController().signal

const ask = (url: string, changes: Partial<RdapRequestDeps> = {}, deadline = never()): Promise<RdapResponse> =>
  bounded(requestRdap(asking(changes), new URL(url), deadline), () => `asked ${url}`)

/** The outcome of a request to a server on loopback with this response. */
const replyTo = (answer: (request: Request) => Response): Promise<RdapResponse> =>
  ask(`${webServer(answer).url}domain/acme.com`)

const TOLD = { kind: "answered", json: { ldhName: "acme.com" } } as const
const BODY = JSON.stringify(TOLD.json)

test("a request has only the headers that it needs", async () => {
  const queries: unknown[] = []
  const reply = await replyTo(({ method, url, headers }) => {
    queries.push(method, new URL(url).pathname, headers.get("accept"), headers.get("user-agent"), headers.get("cookie"))
    return new Response(BODY, { headers: { "content-type": "application/rdap+json", "set-cookie": "a=b" } })
  })
  expect(reply).toEqual(TOLD)
  expect(queries).toEqual(["GET", "/domain/acme.com", "application/rdap+json", AGENT, null])
})

test("valid JSON is read whatever its content type, and with a byte order mark", async () => {
  for (const type of ["application/json", "text/html; charset=utf-8", "text/plain", "application/octet-stream"])
    expect(await replyTo(() => new Response(BODY, { headers: { "content-type": type } }))).toEqual(TOLD)
  expect(await replyTo(() => new Response(`\ufeff \n${BODY}\n`))).toEqual(TOLD)
})

test("a body that is no JSON or breaks off is a failure", async () => {
  for (const body of ["", "<!doctype html><title>RDAP</title>", BODY.slice(0, -1), `${BODY}${BODY}`, "\u0000\u0001"])
    expect(await replyTo(() => new Response(body, { headers: { "content-type": "application/rdap+json" } }))).toEqual({
      kind: "failed",
    })
  const server = bareServer()
  const reply = ask(server.url)
  await server.send(`HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n${BODY}`)
  await server.hangUp()
  expect(await reply).toEqual({ kind: "failed" })
})

test("a body of 256 KiB is read, and one byte more is not, whatever its Content-Length", async () => {
  const whole = BODY.padEnd(BODY_BYTES_MAX)
  expect(await replyTo(() => new Response(whole))).toEqual(TOLD)
  expect(await replyTo(() => new Response(`${whole} `))).toEqual({ kind: "failed" })
})

test("an endless body is aborted at 256 KiB, and its connection is closed", async () => {
  const server = bareServer()
  const reply = ask(server.url)
  await server.send("HTTP/1.1 200 OK\r\n\r\n")
  await server.send(" ".repeat(BODY_BYTES_MAX + 1))
  expect(await reply).toEqual({ kind: "failed" })
  await server.closed()
})

test("the bound of a body counts after decompression", async () => {
  const bomb = gzipSync(" ".repeat(4 * 1024 * 1024))
  expect(bomb.byteLength).toBeLessThan(BODY_BYTES_MAX)
  expect(await replyTo(() => new Response(bomb, { headers: { "content-encoding": "gzip" } }))).toEqual({
    kind: "failed",
  })
})

test("404 means that the domain is not known, with any body or none", async () => {
  for (const body of [null, JSON.stringify({ errorCode: 404 }), "<html>", " ".repeat(BODY_BYTES_MAX * 2)])
    expect(await replyTo(() => new Response(body, { status: 404 }))).toEqual({ kind: "not_found" })
})

test("the body of a 404 is not awaited", async () => {
  const server = bareServer()
  const reply = ask(server.url)
  await server.send("HTTP/1.1 404 Not Found\r\ncontent-length: 1000\r\n\r\n{")
  expect(await reply).toEqual({ kind: "not_found" })
  await server.closed()
})

test("429, and 503 with Retry-After, throttle us", async () => {
  const sentOff = (status: number, retryAfter?: string) =>
    replyTo(
      () => new Response("{}", { status, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } }),
    )
  expect(await sentOff(429)).toEqual({ kind: "throttled", retryAfterMs: null })
  expect(await sentOff(429, "120")).toEqual({ kind: "throttled", retryAfterMs: 120_000 })
  expect(await sentOff(429, "Thu, 01 Jan 2026 00:05:00 GMT")).toEqual({ kind: "throttled", retryAfterMs: 300_000 })
  expect(await sentOff(429, "soon")).toEqual({ kind: "throttled", retryAfterMs: null })
  expect(await sentOff(503, "7")).toEqual({ kind: "throttled", retryAfterMs: 7000 })
  expect(await sentOff(503)).toEqual({ kind: "failed" })
})

test("other statuses are refusals of this request, or failures of the server", async () => {
  for (const status of [400, 405, 406, 410, 418, 422, 451])
    expect([status, await replyTo(() => new Response("{}", { status }))]).toEqual([status, { kind: "refused" }])
  for (const status of [201, 204, 300, 304, 401, 403, 500, 501, 502, 504, 599])
    expect([status, await replyTo(() => new Response(null, { status }))]).toEqual([status, { kind: "failed" }])
})

test("a redirect returns its target, relative to the URL", async () => {
  const target = async (location: string, status = 302) => {
    const reply = await replyTo(() => new Response(null, { status, headers: { location } }))
    return reply.kind === "redirected" ? reply.to.href.replace(/:\d+/, "") : reply.kind
  }
  for (const status of [301, 302, 303, 307, 308])
    expect(await target("https://rdap.registrar.com/domain/acme.com", status)).toBe(
      "https://rdap.registrar.com/domain/acme.com",
    )
  expect(await target("/v2/domain/acme.com")).toBe("http://127.0.0.1/v2/domain/acme.com")
  for (const location of [
    "http://rdap.registrar.com/domain/acme.com",
    "https://169.254.169.254/latest/meta-data",
    "https://[fd00::1]/",
    "https://2130706433.1/",
    "https://0xa9fea9fe/",
    "http://169.254.169.254/",
    "https://user:secret@rdap.registrar.com/",
    "https://intranet/",
    "https://rdap.registrar.com:8443/",
    "ftp://rdap.registrar.com/",
    "file:///etc/passwd",
    "//:0",
    "",
  ])
    expect([location, await target(location)]).toEqual([
      location,
      location === "" ? "http://127.0.0.1/domain/acme.com" : "failed",
    ])
  expect(await replyTo(() => new Response(null, { status: 302 }))).toEqual({ kind: "failed" })
})

test("no remote server can redirect us to this machine, and no server at all unless the operator set the URL", async () => {
  const leads = async (from: string, location: string, isOperatorUrl: boolean) => {
    const fetchUrl = async () => new Response(null, { status: 302, headers: { location } })
    return (await ask(from, { fetchUrl, isOperatorUrl })).kind
  }
  const elsewhere = "https://rdap.test.net/domain/acme.com"
  for (const isOwn of [true, false])
    for (const location of [
      "https://127.0.0.1/",
      "http://127.1/",
      "https://localhost/",
      "https://a.localhost./",
      "https://[::1]/",
    ])
      expect([location, await leads(elsewhere, location, isOwn)]).toEqual([location, "failed"])
  expect(await leads("http://127.0.0.1:1/", "http://localhost:2/", true)).toBe("redirected")
  expect(await leads("http://127.0.0.1:1/", "http://localhost:2/", false)).toBe("failed")
  expect(await leads("https://rdap.corp/", "https://10.0.0.1/", true)).toBe("failed")
  expect(await leads("https://10.0.0.1/a", "/b", true)).toBe("redirected")
})

test("no response is a failure", async () => {
  const fetchUrl = () => Promise.reject(new TypeError("nobody listens"))
  expect(await ask("https://rdap.test.net/", { fetchUrl })).toEqual({ kind: "failed" })
})

test("an incomplete response at the deadline is a timeout, and its connection is closed", async () => {
  for (const sent of [null, "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"]) {
    const server = bareServer()
    const deadline = new AbortController()
    const reply = ask(server.url, {}, deadline.signal)
    await server.send(sent ?? "")
    deadline.abort()
    expect(await reply).toEqual({ kind: "timed_out" })
    await server.closed()
  }
})

test("after the deadline no request is sent", async () => {
  const fetchUrl = () => Promise.reject(new Error("aborted"))
  expect(await ask("https://rdap.test.net/", { fetchUrl }, AbortSignal.abort())).toEqual({ kind: "timed_out" })
})
