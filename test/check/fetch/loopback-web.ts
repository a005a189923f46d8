import type { Fetch } from "../../../src/base/fetch.ts"
import type { SetTimer } from "../../../src/base/outside-world.ts"
import { bounded } from "../../support/bounded.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { createFakeTime, type FakeTime } from "../../support/time.ts"

/** A fetch that is limited to loopback, and every URL that was requested. */
export function loopbackFetch(): { readonly fetchUrl: Fetch; readonly requestedUrls: string[] } {
  const requestedUrls: string[] = []
  const fetchUrl: Fetch = (url, options) => {
    requestedUrls.push(url)
    if (!/^http:\/\/(?:127\.0\.0\.1|localhost):\d+\//.test(url)) throw new Error(`a test asked the network for ${url}`)
    // The test preload forbids the global `fetch`.
    return Bun.fetch(url, { ...options, redirect: "manual" })
  }
  return { fetchUrl, requestedUrls }
}

/** A loopback web server that stops at the end of the test; its URL ends with a slash. */
export function webServer(answer: (request: Request) => Response | Promise<Response>): { readonly url: string } {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer })
  onTestEnd(() => server.stop(true))
  return { url: server.url.href }
}

/** A TCP server that sends the bytes that the test gives it, after a request has arrived. */
export type BareServer = {
  readonly url: string
  /** Sends bytes on the connection of the first request. */
  readonly send: (bytes: string | Uint8Array) => Promise<void>
  /** Closes that connection in order. */
  readonly hangUp: () => Promise<void>
  /** Resolves when either side has closed that connection. */
  readonly closed: () => Promise<void>
}

/** Opens a bare server that stops at the end of the test. */
export function bareServer(): BareServer {
  const query = Promise.withResolvers<Bun.Socket>()
  const closed = Promise.withResolvers<void>()
  let head = ""
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket, bytes) => {
        head += bytes.toString("latin1")
        if (head.endsWith("\r\n\r\n")) query.resolve(socket)
      },
      close: () => closed.resolve(),
      error: () => undefined,
    },
  })
  onTestEnd(() => server.stop(true))
  const connection = (): Promise<Bun.Socket> => bounded(query.promise, () => `the server heard ${JSON.stringify(head)}`)
  return {
    url: `http://127.0.0.1:${server.port}/`,
    send: async bytes => {
      const socket = await connection()
      socket.write(bytes)
      socket.flush()
    },
    hangUp: async () => {
      const socket = await connection()
      socket.end()
    },
    closed: () => bounded(closed.promise, () => "the connection stays open"),
  }
}

/** A stopped clock that counts timers, so that a test knows when the bytes that it sent have been read. */
export function countedTime(): FakeTime & {
  /** Resolves when so many timers were set. */
  readonly begun: (count: number) => Promise<void>
  readonly begunSoFar: () => number
} {
  const time = createFakeTime()
  let count = 0
  let hear = (): void => undefined
  const setTimer: SetTimer = (ms, work) => {
    count++
    hear()
    return time.later(ms, work)
  }
  const begun = async (wanted: number): Promise<void> => {
    const reached = new Promise<void>(resolve => {
      hear = () => {
        if (count >= wanted) resolve()
      }
      hear()
    })
    await bounded(reached, () => `${count} waits of ${wanted} were begun`)
  }
  return { ...time, later: setTimer, begun, begunSoFar: () => count }
}
