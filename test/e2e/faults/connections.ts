import { readFileSync } from "node:fs"
import { descriptorsOf } from "../../../bench/servers/process-stats.ts"
import { type RawClient, rawClient } from "../../support/raw-client.ts"
import { TestServer } from "../../support/test-server.ts"
import { type Doing, type Found, type LeftOut, residentOf, tookMs, untilServed } from "./fault.ts"

const AT_ONCE = 250
const DESCRIPTORS = 100

/** Has a server of few descriptors met by many more connections than it can take. */
export async function noDescriptors({ times, program }: Doing): Promise<Found | LeftOut> {
  if (Bun.which("prlimit") === null) return { leftOut: "there is no prlimit" }
  await using victim = new TestServer({ program, by: () => ["prlimit", `--nofile=${DESCRIPTORS}`] })
  await victim.start()
  const breaches: string[] = []
  const before = residentOf(victim)
  let backMs = 0
  for (let time = 0; time < times; time++) {
    const kept = await rawClient(victim.port)
    // A connection on which nothing came yet may be taken in after all others (TCP_DEFER_ACCEPT).
    kept.socket.write(requestOf(victim, "GET /v1/health"))
    await kept.until(/^HTTP\/1\.1 200 /)
    const many = await opened(victim, DESCRIPTORS * 3)
    while (descriptorsOf(victim.pid).all < DESCRIPTORS - 1) await new Promise(resolve => setImmediate(resolve))
    // Who has a connection is served while others wait for theirs.
    kept.socket.write(requestOf(victim, "GET /v1/check?domain=gmail.com"))
    await kept.until(/"category":"personal"/).catch((fault: unknown) => breaches.push(String(fault)))
    for (const client of [kept, ...many]) client.close()
    backMs = Math.max(backMs, await untilServed(victim))
  }
  return {
    did: `${DESCRIPTORS * 3} connections were opened to a server that may have ${DESCRIPTORS} descriptors`,
    ...{ times, acknowledged: 0, breaches, backMs, memory: { before, after: residentOf(victim) } },
  }
}

/** Opens connections that say nothing, as many as may be. */
export async function idleConnections({ times, program, isLong }: Doing): Promise<Found> {
  const count = Math.min(isLong ? 10_000 : 500, descriptorsMax() - 500)
  await using victim = new TestServer({ program })
  await victim.start()
  const before = residentOf(victim)
  let backMs = 0
  let after = before
  for (let time = 0; time < times; time++) {
    const idle = await opened(victim, count)
    backMs = Math.max(backMs, await untilServed(victim))
    after = residentOf(victim)
    for (const client of idle) client.close()
    backMs = Math.max(backMs, await untilServed(victim))
  }
  return {
    did: `${count} connections were opened and said nothing; a check was answered among them`,
    ...{ times, acknowledged: 0, breaches: [], backMs, memory: { before, after } },
  }
}

/** How clients are slow. What each is sent in the end is no answer of 200, and where it is cut off, that is by the server's clock. */
const SLOW = {
  "a head that never ends": { head: "GET /v1/check?domain=gmail.com HTTP/1.1\r\nHost: x\r\n", drip: "X-Drip: a\r\n" },
  "a line that never ends": { head: "GET /v1/che", drip: "a" },
  "a body that never ends": {
    head: "POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n",
    drip: " ",
    isKeyed: true,
  },
  "chunks that never end": {
    head: "POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
    drip: "1\r\n \r\n",
    isKeyed: true,
  },
} as const satisfies Record<string, { readonly head: string; readonly drip: string; readonly isKeyed?: true }>
const DRIP_MS = 200

/** Has clients send heads and bodies that never end, drop by drop. */
export async function slowClients({ times, program, isLong }: Doing): Promise<Found> {
  await using victim = new TestServer({ program })
  await victim.start()
  const before = residentOf(victim)
  const breaches: string[] = []
  const slow: RawClient[] = []
  for (const { head, drip, ...more } of Object.values(SLOW))
    for (let time = 0; time < times; time++) {
      const client = await rawClient(victim.port)
      client.socket.write("isKeyed" in more ? `${head}Authorization: Bearer ${victim.firstKey}\r\n\r\n` : head)
      client.drip(drip, DRIP_MS)
      slow.push(client)
    }
  let backMs = await untilServed(victim)
  // Twenty seconds by its own clock.
  if (isLong)
    await Promise.all(slow.map(({ closed }) => closed)).catch((fault: unknown) => breaches.push(String(fault)))
  breaches.push(
    ...slow.filter(client => /^HTTP\/1\.1 2/.test(client.received())).map(() => "half a request was answered 200"),
  )
  backMs = Math.max(backMs, await untilServed(victim))
  for (const client of slow) client.close()
  if (victim.log.includes('"level":"error"')) breaches.push("slow clients were logged as a failure of ours")
  return {
    did: `${Object.keys(SLOW).join("; ")}: ${slow.length} clients at once${isLong ? ", until each was cut off" : ""}`,
    ...{ times: slow.length, acknowledged: 0, breaches, backMs, memory: { before, after: residentOf(victim) } },
  }
}

/** Has clients close their half at once, ask without ever reading, and vanish in the middle. */
export async function brokenOff({ times, program }: Doing): Promise<Found> {
  await using victim = new TestServer({ program })
  await victim.start()
  const breaches: string[] = []
  const before = residentOf(victim)
  const sockets = descriptorsOf(victim.pid).sockets
  const whole = requestOf(victim, "POST /v1/check", '{"domain":"stripe.com"}')
  const all = await opened(victim, times)
  let backMs = 0
  for (const [at, { socket }] of all.entries()) {
    if (at % 4 === 0) socket.end(whole)
    else if (at % 4 === 1) socket.end(whole.slice(0, -5))
    else if (at % 4 === 2) socket.pause().write(requestOf(victim, "GET /docs/json").repeat(20))
    else socket.write(whole.slice(0, (at * 7) % whole.length), () => socket.resetAndDestroy())
  }
  backMs = await tookMs(() => untilServed(victim))
  const halves = all.filter((_, at) => at % 4 < 2)
  await Promise.all(halves.map(({ closed }) => closed)).catch((fault: unknown) => breaches.push(String(fault)))
  const refused = halves.filter((_, at) => at % 2 === 0).filter(client => !/^HTTP\/1\.1 200 /.test(client.received()))
  const answered = halves.filter((_, at) => at % 2 === 1).filter(client => /^HTTP\/1\.1 200 /.test(client.received()))
  if (answered.length > 0) breaches.push(`${answered.length} half requests were answered 200`)
  for (const client of all) client.close()
  backMs = Math.max(backMs, await untilServed(victim))
  const until = performance.now() + 5000
  while (descriptorsOf(victim.pid).sockets > sockets && performance.now() < until)
    await new Promise(resolve => setImmediate(resolve))
  const left = descriptorsOf(victim.pid).sockets - sockets
  if (left > 0) breaches.push(`${left} connections are left`)
  if (victim.log.includes('"level":"error"')) breaches.push("who went away was logged as a failure of ours")
  return {
    did: `clients closed their half, whole request or not (${refused.length} whole ones had no answer), asked 20 times without reading, or vanished`,
    ...{ times, acknowledged: 0, breaches, backMs, memory: { before, after: residentOf(victim) } },
  }
}

/** Sends heads of many lines and long ones. */
export async function headerFloods({ times, program }: Doing): Promise<Found> {
  await using victim = new TestServer({ program })
  await victim.start()
  const before = residentOf(victim)
  const breaches: string[] = []
  const floods = [
    "X-Flood: flood\r\n".repeat(20_000),
    `X-Flood: ${"a".repeat(2_000_000)}\r\n`,
    "Cookie: a=b; c=d\r\n".repeat(5000),
    `X-${"n".repeat(100_000)}: 1\r\n`,
    ":\r\n".repeat(50_000),
  ]
  for (let time = 0; time < times; time++) {
    const clients = await Promise.all(floods.map(() => rawClient(victim.port)))
    for (const [at, client] of clients.entries())
      client.socket.write(
        `GET /v1/check?domain=gmail.com HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${victim.firstKey}\r\n${floods[at]}\r\n`,
      )
    await Promise.all(clients.map(({ closed }) => closed))
    for (const client of clients)
      if (!/^HTTP\/1\.1 4(?:00|31) |^$/.test(client.received()))
        breaches.push(`a flood was answered ${client.received().slice(0, 40)}`)
  }
  const backMs = await untilServed(victim)
  return {
    did: `${floods.length} kinds of heads that are too long or of too many lines`,
    ...{
      times: times * floods.length,
      acknowledged: 0,
      breaches,
      backMs,
      memory: { before, after: residentOf(victim) },
    },
  }
}

function requestOf({ firstKey }: TestServer, line: string, body = ""): string {
  const length = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  return `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${firstKey}\r\n${length}\r\n${body}`
}

async function opened({ port }: TestServer, count: number): Promise<RawClient[]> {
  const clients: RawClient[] = []
  while (clients.length < count)
    clients.push(
      ...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - clients.length) }, () => rawClient(port)))),
    )
  return clients
}

/** How many files and sockets this process may open. */
function descriptorsMax(): number {
  const limits = process.platform === "linux" ? readFileSync("/proc/self/limits", "latin1") : ""
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 1000)
}
