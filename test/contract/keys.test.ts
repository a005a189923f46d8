import { describe, expect, test } from "bun:test"
import { connect } from "node:net"
import { revokeKey } from "../../src/customers/keys/keys.ts"
import { type ApiResponse, testApp } from "../support/app.ts"

const PAGE = "https://app.example.com"
const harness = await testApp({ tier: 0 })
const page = await harness.newKey([PAGE])

type More = { readonly key?: string | null; readonly headers?: Record<string, string> }

/** Asks as the page does; a second passes first, so that no limit is met. */
async function check({ key = page.text, headers = {} }: More = {}): Promise<ApiResponse> {
  await harness.time.tick(1000)
  return await harness.ask("POST /v1/check", {
    body: { domain: "stripe.com" },
    key,
    headers: { Origin: PAGE, ...headers },
  })
}

describe("keys that let nobody in", () => {
  const swapped = (text: string): string =>
    text.replace(/[a-zA-Z]/g, letter => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
  const last = page.text.slice(-1)
  const other = last === "0" ? "1" : "0"

  test.each([
    ["with another last character", page.text.slice(0, -1) + other],
    [
      "with another character of the secret",
      page.text.slice(0, 20) + (page.text[20] === "0" ? "1" : "0") + page.text.slice(21),
    ],
    ["in the other case", `svc_pub_${swapped(page.text.slice(8))}`],
    ["with its prefix in capitals", page.text.replace("svc_pub_", "SVC_PUB_")],
    ["under the prefix of the other kind", page.text.replace("svc_pub_", "svc_live_")],
    ["a character short", page.text.slice(0, -1)],
    ["a character long", `${page.text}0`],
    ["the prefix alone", "svc_pub_"],
    ["with a letter outside of ASCII", `${page.text.slice(0, -1)}é`],
    ["with a space within", `${page.text.slice(0, 20)} ${page.text.slice(21)}`],
    ["with a hyphen within", `${page.text.slice(0, 20)}-${page.text.slice(21)}`],
    ["twice", `${page.text},${page.text}`],
    ["of a megabyte", page.text.padEnd(1_000_000, "0")],
  ])("a key %s is invalid in either header, and is not repeated", async (_, text) => {
    for (const headers of [{ Authorization: `Bearer ${text}` }, { "X-API-Key": text }]) {
      const { status, body } = await check({ key: null, headers })
      expect({ status, code: body["code"] }).toEqual({ status: 401, code: "invalid_key" })
      expect(JSON.stringify(body)).not.toContain(text)
    }
  })

  test("two different keys are refused, also when both are good, and the same one twice is one", async () => {
    const secret = harness.key
    for (const [bearer, plain] of [
      [page.text, secret],
      [secret, page.text],
    ] as const) {
      const { status, body } = await check({
        key: null,
        headers: { Authorization: `Bearer ${bearer}`, "X-API-Key": plain },
      })
      expect({ status, code: body["code"] }).toEqual({ status: 401, code: "invalid_key" })
    }
    expect((await check({ headers: { "X-API-Key": page.text } })).status).toBe(200)
  })

  test("a revoked key is refused at once, from an allowed origin and from another", async () => {
    const key = await harness.newKey([PAGE])
    expect((await check({ key: key.text })).status).toBe(200)
    await revokeKey(harness.changes, key.id, "admin")
    for (const Origin of [PAGE, "https://evil.example", "null"]) {
      const { status, body } = await check({ key: key.text, headers: { Origin } })
      expect({ status, code: body["code"] }).toEqual({ status: 401, code: "key_revoked" })
    }
    expect((await harness.ask("GET /v1/usage", { key: key.text })).body["code"]).toBe("key_revoked")
    expect((await check()).status).toBe(200)
  })
})

/** What a server on loopback sends to one request until it closes the connection, as Latin-1. */
function sentTo(port: number, request: string, encoding: "latin1" | "utf8" = "latin1"): Promise<string> {
  return new Promise(resolve => {
    let received = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(request, encoding))
    socket.on("data", chunk => {
      received += chunk.toString("latin1")
    })
    // Whoever refuses a request that is still being sent may reset the connection: what came before counts.
    socket.on("error", () => socket.destroy())
    socket.on("close", () => resolve(received))
  })
}

describe("over a socket", () => {
  const request = (headers: string): string =>
    `GET /v1/check?domain=stripe.com HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n\r\n`
  const statusOf = (answer: string): string => answer.slice(9, 12)

  /** The app behind Bun's own server, and whether it still answers the page. */
  const serving = async (work: (port: number) => Promise<void>): Promise<void> => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: sent => harness.app(sent) })
    const port = server.port ?? 0
    try {
      await work(port)
      await harness.time.tick(1000)
      const answer = await sentTo(port, request(`Origin: ${PAGE}\r\nX-API-Key: ${page.text}`))
      expect(statusOf(answer)).toBe("200")
    } finally {
      await server.stop(true)
    }
  }

  test.each([
    ["a key", `X-API-Key: svc_pub_${"a".repeat(1_000_000)}`],
    ["a bearer", `Authorization: Bearer ${"a".repeat(1_000_000)}`],
    ["an origin", `X-API-Key: ${page.text}\r\nOrigin: https://${"a".repeat(1_000_000)}.com`],
    ["10 000 headers", Array.from({ length: 10_000 }, (_, at) => `X-${at}: ${"a".repeat(90)}`).join("\r\n")],
  ])("%s of a megabyte is refused by the server itself, which goes on", async (_, headers) => {
    await serving(async port => expect(statusOf(await sentTo(port, request(headers)))).toBe("431"))
  })

  test.each([
    ["UTF-8", `X-API-Key: ${page.text.slice(0, -1)}é`, "401"],
    ["a key beside UTF-8", `X-API-Key: ${page.text}\r\nOrigin: https://bücher.example`, "403"],
    ["an emoji", "Authorization: Bearer 🔑", "401"],
    ["a key that is sent twice", `X-API-Key: ${page.text}\r\nX-API-Key: ${page.text}`, "401"],
    ["two origins", `X-API-Key: ${page.text}\r\nOrigin: ${PAGE}\r\nOrigin: https://evil.example`, "403"],
  ])("%s has its refusal", async (_, headers, status) => {
    await serving(async port => expect(statusOf(await sentTo(port, request(headers), "utf8"))).toBe(status))
  })
})
