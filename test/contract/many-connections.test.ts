import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { freePort } from "../support/free-port.ts"
import { askLoopback } from "../support/loopback.ts"
import { samplesOf } from "../support/prometheus.ts"
import { type RawClient, rawClient } from "../support/raw-client.ts"
import { serverProcess } from "./server-process.ts"

setDefaultTimeout(180_000)

const CONNECTIONS = 10_000
/** What a process has open beside its connections. */
const OTHERS = 500
const AT_ONCE = 250

/** A connection takes so much memory at most. */
const CONNECTION_BYTES_MAX = 10_000
const NOISE_BYTES = 30_000_000

/** How many files and sockets a process may open; none where the system does not tell. */
function descriptorsMax(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1] ?? 0)
  } catch {
    return 0
  }
}

const METRICS_PORT = freePort()

const facts = async () => samplesOf((await askLoopback(`http://127.0.0.1:${METRICS_PORT}/metrics`)).body)

const residentOf = (samples: ReadonlyMap<string, number>): number =>
  samples.get('mailkind_process_resident_memory_bytes{worker="0"}') ?? Number.NaN

const server = () => serverProcess({ MAILKIND_METRICS: `127.0.0.1:${METRICS_PORT}` })

test.skipIf(descriptorsMax() < CONNECTIONS + OTHERS)(
  `${CONNECTIONS} idle connections take little memory and keep nobody waiting (left out where fewer may be open)`,
  async () => {
    const own = await server()
    const port = Number(new URL(own.url).port)
    const before = residentOf(await facts())
    const idle: RawClient[] = []
    while (idle.length < CONNECTIONS)
      idle.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => rawClient(port)))))
    const { status } = await own.ask("POST /v1/check", { key: own.firstKey, body: { domain: "stripe.com" } })
    expect(status).toBe(200)
    let samples = await facts()
    // The system has them connected before the server takes them in.
    while ((samples.get('mailkind_process_open_descriptors{worker="0"}') ?? 0) <= CONNECTIONS) samples = await facts()
    expect(residentOf(samples) - before).toBeLessThan(CONNECTIONS * CONNECTION_BYTES_MAX + NOISE_BYTES)
    for (const client of idle) client.close()
    expect((await own.stop()).code).toBe(0)
  },
)

test("clients that never read what they ask for, again and again, hold one answer each", async () => {
  const own = await server()
  const port = Number(new URL(own.url).port)
  const before = residentOf(await facts())
  const clients = await Promise.all(Array.from({ length: 50 }, () => rawClient(port)))
  for (const { socket } of clients) {
    socket.pause()
    socket.write("GET /docs/json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(5000))
  }
  const { status } = await own.ask("POST /v1/check", { key: own.firstKey, body: { domain: "stripe.com" } })
  expect(status).toBe(200)
  const samples = await facts()
  // All of it would be a quarter of a million answers of many kilobytes each.
  expect(samples.get('mailkind_http_requests_total{route="GET /docs/json",code="200"}') ?? 0).toBeLessThan(50 * 500)
  expect(residentOf(samples) - before).toBeLessThan(200_000_000)
  for (const client of clients) client.close()
  expect((await own.stop()).code).toBe(0)
})
