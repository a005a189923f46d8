import { rawClient } from "../../support/raw-client.ts"
import { TestServer } from "../../support/test-server.ts"
import { type Doing, type Found, residentOf, untilServed } from "./fault.ts"
import { type Shape, shapesOf } from "./smuggling-shapes.ts"

const HIDDEN = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: hidden\r\n\r\n"

/** Requests behind which others hide: one whose answer waits for its body, one that is answered at once, and one that nobody takes. */
const FRONTS = [
  { line: "POST /v1/check HTTP/1.1", body: '{"domain":"gmail.com"}' },
  { line: "GET /v1/health HTTP/1.1", body: "" },
  { line: "GET /v1/health HTTP/1.1", body: "whatever" },
  { line: "POST /nowhere HTTP/1.1", body: "whatever" },
] as const

/** Sends requests that two programs may read differently: each is refused, or answered once, and what hides in it is never answered. */
export async function hiddenRequests({ times, program }: Doing): Promise<Found> {
  await using victim = new TestServer({ program })
  await victim.start()
  const before = residentOf(victim)
  const breaches: string[] = []
  let count = 0
  for (let time = 0; time < times; time++)
    for (const front of FRONTS) {
      const shapes = Object.entries(shapesOf(front, HIDDEN))
      count += shapes.length
      const found = await Promise.all(
        shapes.map(async ([name, shape]) => {
          const description = wrongWith(shape, await heardFrom(victim, front.line, shape))
          return description === null ? [] : [`${front.line}, ${name}: ${description}`]
        }),
      )
      breaches.push(...found.flat())
    }
  const backMs = await untilServed(victim)
  return {
    did: `requests that two programs may read differently, behind ${FRONTS.length} others: each was refused and its connection closed, or answered once`,
    ...{ times: count, acknowledged: 0, breaches, backMs, memory: { before, after: residentOf(victim) } },
  }
}

/** All that is said to the shape until the connection is over. */
async function heardFrom({ port, firstKey }: TestServer, line: string, shape: Shape): Promise<string> {
  const lines = [
    "Host: localhost",
    `Authorization: Bearer ${firstKey}`,
    "Content-Type: application/json",
    "X-Request-Id: front",
  ]
  const client = await rawClient(port)
  client.socket.end(Buffer.from([shape.line ?? line, ...lines, ...shape.lines, "", shape.rest].join("\r\n"), "latin1"))
  await client.closed
  client.close()
  return client.received()
}

/** The refusal that the server itself ends a connection with. */
const CUT_OFF = /HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/

function wrongWith({ isRefused }: Shape, received: string): string | null {
  if (/X-Request-Id: hidden/i.test(received)) return "what hides in it was answered"
  const statuses = [...received.matchAll(/HTTP\/1\.1 ([2-5]\d\d)/g)].map(([, status]) => Number(status))
  // What needs no body is answered before its body is found to be none, by the refusal that ends the connection.
  const answers = CUT_OFF.test(received) ? statuses.slice(0, -1) : statuses
  if (answers.length > 1) return `it has the answers ${statuses.join()}`
  return isRefused && statuses.length > 0 && (statuses.at(-1) ?? 0) < 400 ? `it was answered ${statuses.join()}` : null
}
