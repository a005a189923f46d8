import { describe, expect, test } from "bun:test"
import { listen } from "../../src/process/http-listener.ts"
import { testApp } from "../support/app.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { rawClient } from "../support/raw-client.ts"

/** The whole face behind a real listener: what a host is, it finds out. */
async function listening() {
  const harness = await testApp()
  const server = listen({ hostname: "127.0.0.1", port: 0, isShared: false }, harness.built)
  onTestEnd(() => server.stop(true))
  const cookie = await harness.signIn()
  const ask = async (line: string, more: string): Promise<{ readonly status: number; readonly text: string }> => {
    const client = await rawClient(server.port ?? 0)
    client.socket.write(`${line}\r\nConnection: close\r\nCookie: ${cookie}\r\n${more}\r\n\r\n`)
    await client.closed
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(client.received())?.[1]), text: client.received() }
  }
  return { harness, ask }
}

/** How a request comes without a host that can be: balancers of load ask so whether a server is well (HTTP/1.0). */
const HOSTLESS: Readonly<Record<string, readonly [version: string, more: string]>> = {
  "HTTP/1.0 without a host": ["HTTP/1.0", "X-Nothing: 1"],
  "an empty host": ["HTTP/1.1", "Host:"],
  "a host with a path in it": ["HTTP/1.1", "Host: localhost/v1/health?"],
  "a host with a blank in it": ["HTTP/1.1", "Host: local host"],
  "a port that is none": ["HTTP/1.1", "Host: localhost:99999999"],
  "half a literal": ["HTTP/1.1", "Host: [::1"],
}

/** What each request is answered with, host or none. */
const ANSWERS = {
  "GET /v1/health": 200,
  "GET /docs/errors": 200,
  "GET /docs/lists?domain=gmail.com": 200,
  "GET /docs/licences?part=x": 200,
  "GET /v1/check?email=business@mailkind.test": 200,
  "GET /v1/check?email=business@mailkind.test&next=https://example.com/a": 200,
  "GET /dashboard/keys/key_none": 404,
  "GET /dashboard/lists?search=a://b": 200,
  "GET /dashboard/feedback?after=1": 200,
  "GET /sign-in?next=/dashboard": 303,
  "GET /nowhere": 404,
  "HEAD /v1/health": 200,
  "HEAD /docs/lists?domain=gmail.com": 200,
  "HEAD /nowhere": 404,
  "PUT /v1/health": 405,
  "PUT /dashboard/keys/key_none/settings": 405,
  "OPTIONS /v1/check": 204,
} as const satisfies Record<string, number>

describe("a request is answered as any other with", () => {
  for (const [name, [version, more]] of Object.entries(HOSTLESS))
    test(name, async () => {
      const { harness, ask } = await listening()
      const found: Record<string, number> = {}
      for (const line of Object.keys(ANSWERS)) found[line] = (await ask(`${line} ${version}`, more)).status
      expect(found).toEqual(ANSWERS)
      expect(harness.logged).toEqual([])
    })
})

test("the page that a domain is looked up on knows it without a host, too", async () => {
  const { ask } = await listening()
  const { text } = await ask("GET /docs/lists?domain=mailinator.com HTTP/1.0", "X-Nothing: 1")
  expect(text).toContain('value="mailinator.com"')
})

test("agents are answered whatever their host is", async () => {
  const { harness, ask } = await listening()
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
  const headers = `X-API-Key: ${harness.key}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  for (const [name, [version, more]] of Object.entries(HOSTLESS)) {
    const { status } = await ask(`POST /mcp ${version}`, `${headers}\r\n${more}\r\n\r\n${body}`)
    expect([name, status]).toEqual([name, 200])
  }
  expect(harness.logged).toEqual([])
})
