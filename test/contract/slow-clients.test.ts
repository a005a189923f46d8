import { expect, setDefaultTimeout, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { listen } from "../../src/process/http-listener.ts"
import { testApp } from "../support/app.ts"
import { askLoopback } from "../support/loopback.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { rawClient } from "../support/raw-client.ts"

setDefaultTimeout(120_000)

/** As short as Bun's clock for connections has it: it looks every four seconds. */
const IDLE_S = 4
const MANY = 99
const DRIP_MS = 200

/** The whole face behind a real listener that has little patience. */
async function listening(options: Parameters<typeof testApp>[0] = {}) {
  const harness = await testApp(options)
  const server = listen({ hostname: "127.0.0.1", port: 0, isShared: false }, harness.built, IDLE_S)
  onTestEnd(() => server.stop(true))
  const port = server.port ?? 0
  const check = async () => {
    const headers = { Authorization: `Bearer ${harness.key}` }
    return (await askLoopback(`http://127.0.0.1:${port}/v1/check?domain=stripe.com`, { headers })).status
  }
  return { harness, port, check }
}

const clients = (port: number) => Promise.all(Array.from({ length: MANY }, () => rawClient(port)))

const HEAD = (key: string, length: string) =>
  `POST /v1/check HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`

/** How long a body says that it is: of no told length, long, and short. */
const LENGTHS = ["Transfer-Encoding: chunked", "Content-Length: 60000", "Content-Length: 600"]

test("clients whose head never ends are cut off, however they drip, and others are served meanwhile", async () => {
  const { port, check } = await listening()
  const slow = await clients(port)
  for (const [at, client] of slow.entries()) {
    client.socket.write("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n")
    client.drip(at % 2 === 0 ? "X-Drip: a\r\n" : "a", DRIP_MS)
  }
  expect(await check()).toBe(200)
  await Promise.all(slow.map(client => client.closed))
  expect(slow.map(client => client.received()).filter(received => received.startsWith("HTTP/1.1 200"))).toEqual([])
  expect(await check()).toBe(200)
})

test("clients whose body never ends are cut off, hold nothing any more, and are no fault of ours", async () => {
  const { harness, port, check } = await listening()
  const slow = await clients(port)
  for (const [at, client] of slow.entries()) {
    const length = LENGTHS[at % LENGTHS.length] ?? ""
    client.socket.write(HEAD(harness.key, length))
    client.drip(length.includes("chunked") ? "1\r\n \r\n" : " ", DRIP_MS)
  }
  while (harness.load.inFlight < MANY) await new Promise(resolve => setImmediate(resolve))
  expect(harness.load.bodyBytes).toBe((MANY / LENGTHS.length) * 60_000)
  expect(await check()).toBe(200)
  await Promise.all(slow.map(client => client.closed))
  while (harness.load.inFlight > 0) await new Promise(resolve => setImmediate(resolve))
  expect([harness.load.bodyBytes, harness.logged]).toEqual([0, []])
  expect(await check()).toBe(200)
})

test("clients that ask and close their half get their answer or none, and hold nothing", async () => {
  const { harness, port, check } = await listening()
  const halves = await clients(port)
  const body = JSON.stringify({ domain: "stripe.com" })
  for (const [at, client] of halves.entries())
    client.socket.end(`${HEAD(harness.key, `Content-Length: ${body.length}`)}${at % 2 === 0 ? body : body.slice(1)}`)
  await Promise.all(halves.map(client => client.closed))
  while (harness.load.inFlight > 0) await new Promise(resolve => setImmediate(resolve))
  expect(harness.logged).toEqual([])
  expect(await check()).toBe(200)
})

test("a head that is too long is refused at once", async () => {
  const { port, check } = await listening()
  const client = await rawClient(port)
  client.socket.write(`GET /v1/health HTTP/1.1\r\nHost: localhost\r\n${"X-Flood: flood\r\n".repeat(20_000)}\r\n`)
  await client.closed
  expect(client.received()).toStartWith("HTTP/1.1 431 ")
  expect(await check()).toBe(200)
})

test("a body that never ends is refused as soon as it is too long, and not read any further", async () => {
  const { harness, port, check } = await listening()
  const client = await rawClient(port)
  client.socket.write(HEAD(harness.key, "Transfer-Encoding: chunked"))
  const chunk = `2000\r\n${" ".repeat(0x2000)}\r\n`
  client.drip(chunk.repeat(4), 10)
  await client.until(/^HTTP\/1\.1 413 /)
  client.close()
  expect([harness.load.inFlight, harness.load.bodyBytes]).toEqual([0, 0])
  expect(await check()).toBe(200)
})

/** The paths that read a body of a caller without a key, and what they say of it. */
const KEYLESS_BODIES = [
  ["/v1/check", "application/json"],
  ["/sign-in", "application/x-www-form-urlencoded"],
  ["/sign-out", "multipart/form-data; boundary=x"],
] as const

const ENOUGH = LIMITS.keylessBodiesPerClientMax
const OTHERS = 120

test.each(KEYLESS_BODIES)(
  "a client without a key that does not end its bodies to %s is refused the next, and takes no place of others",
  async (path, type) => {
    const { harness, port, check } = await listening({ inFlightMax: 256 })
    // As many others as leave too little room for a batch, if a body that is awaited took a place.
    for (let count = 0; count < OTHERS; count++) harness.load.acquire()
    const begin = async (peer: string, at: number) => {
      const client = await rawClient(port)
      const length = LENGTHS[at % LENGTHS.length] ?? ""
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nX-Test-Peer: ${peer}\r\nCookie: mailkind_session=none\r\nContent-Type: ${type}`
      client.socket.write(`${head}\r\n${length}\r\n\r\n${length.includes("chunked") ? "1\r\n{\r\n" : "{"}`)
      return client
    }
    const slow = await Promise.all(Array.from({ length: ENOUGH }, (_, at) => begin("192.0.2.7", at)))
    while (harness.time.waiting() < ENOUGH) await new Promise(resolve => setImmediate(resolve))
    expect(harness.load.inFlight).toBe(OTHERS)
    for (const at of LENGTHS.keys()) {
      const next = await begin("192.0.2.7", at)
      await next.until(/^HTTP\/1\.1 429 /)
      expect(next.received()).toMatch(/\r\nretry-after: 1\r\n/i)
      next.close()
    }
    const keyless = { method: "POST", body: '{"email":"business@mailkind.test"}' }
    const headers = { "Content-Type": "application/json" }
    const sent = await askLoopback(`http://127.0.0.1:${port}/v1/check`, { ...keyless, headers })
    expect(sent.status).toBe(200)
    expect((await harness.ask("POST /v1/check/batch", { body: { items: ["stripe.com"] } })).status).toBe(200)
    expect(await check()).toBe(200)
    await harness.time.tick(LIMITS.keylessBodySeconds * 1000)
    await Promise.all(slow.map(client => client.closed))
    expect(slow.map(client => client.received().slice(0, 13))).toEqual(slow.map(() => "HTTP/1.1 400 "))
    while (harness.load.bodyBytes > 0) await new Promise(resolve => setImmediate(resolve))
    expect([harness.load.inFlight, harness.time.waiting(), harness.logged]).toEqual([OTHERS, 0, []])
  },
)
