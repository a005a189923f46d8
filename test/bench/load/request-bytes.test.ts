import { expect, test } from "bun:test"
import { endpointOf, requestBytes } from "../../../bench/load/request-bytes.ts"

const url = new URL("http://127.0.0.1:8080/v1/check?email=a%40b.c")
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

test("a request has its line, its host, its headers, and the length of its body in octets", () => {
  const bytes = requestBytes({ method: "POST", url, headers: { "X-Key": "k" }, body: '{"a":"ä"}' })
  expect(text(bytes)).toBe(
    'POST /v1/check?email=a%40b.c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-Key: k\r\nContent-Length: 10\r\n\r\n{"a":"ä"}',
  )
})

test("a request without a body has no length", () => {
  expect(text(requestBytes({ method: "GET", url, headers: {}, body: "" }))).not.toContain("Content-Length")
})

test("a header cannot break out of its line", () => {
  const forged = { "X-Key": "k\r\nX-Other: 1" }
  expect(() => requestBytes({ method: "GET", url, headers: forged, body: "" })).toThrow("control character")
})

test("an endpoint has the port of its scheme when none is written, and an IPv6 address without brackets", () => {
  expect(endpointOf(new URL("http://[::1]/"))).toEqual({ hostname: "::1", port: 80, tls: null })
  expect(endpointOf(url)).toEqual({ hostname: "127.0.0.1", port: 8080, tls: null })
  expect(endpointOf(new URL("https://example.com/"))).toEqual({ hostname: "example.com", port: 443, tls: true })
})

test("whom TLS connects to is left open only when that was asked for", () => {
  expect(endpointOf(new URL("https://example.com/"), true).tls).toEqual({ rejectUnauthorized: false })
  expect(endpointOf(url, true).tls).toBeNull()
})
