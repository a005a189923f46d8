import { type Connect, ConnectError, type ConnectTarget } from "../../src/base/connect.ts"

/** What a host sends when it was asked, part by part; it ends the connection after the last one. */
export type Parts = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/**
 * What becomes of a connection: it does not come to stand, it never comes to stand, it stands and stays silent, or it
 * brings what the request for it is given.
 */
export type HostAnswer = "refused" | "unreachable" | "untrusted" | "hangs" | "silent" | ((request: string) => Parts)

/** Hosts by `address:port`, as in `203.0.113.7:443` and `[2001:db8::1]:80`. */
export type Hosts = Readonly<Record<string, HostAnswer>>

/** An internet without sockets. */
export type HostWeb = {
  readonly connect: Connect
  /** Every connection that was asked for, whether it came to stand or not. */
  readonly attempts: readonly ConnectTarget[]
  /** What was sent, in order. */
  readonly requests: readonly string[]
  /** How many connections stand that nobody has ended. */
  readonly openCount: () => number
}

/** Builds an internet of these hosts; whoever else is connected to is unreachable. */
export function hostWeb(hosts: Hosts): HostWeb {
  const attempts: ConnectTarget[] = []
  const requests: string[] = []
  let openCount = 0
  const connect: Connect = async (endpoint, signal) => {
    attempts.push(endpoint)
    const aborted = new Promise<never>((_, reject) => {
      const end = (): void => reject(new ConnectError("unreachable"))
      if (signal.aborted) end()
      signal.addEventListener("abort", end, { once: true })
    })
    aborted.catch(() => undefined)
    const answer = hosts[placeOf(endpoint)] ?? "unreachable"
    if (answer === "hangs") return await aborted
    if (answer === "refused" || answer === "unreachable" || answer === "untrusted") throw new ConnectError(answer)
    openCount++
    signal.addEventListener("abort", () => openCount--, { once: true })
    let request = ""
    return {
      send: text => {
        request += text
        requests.push(text)
      },
      chunks: until(aborted, () => (answer === "silent" ? new Promise<never>(() => undefined) : answer(request))),
    }
  }
  return { connect, attempts, requests, openCount: () => openCount }
}

const placeOf = ({ address, port }: ConnectTarget): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`

/** The parts of what `begin` gives when it is first asked for one, until the connection is ended from this side. */
async function* until(aborted: Promise<never>, begin: () => Parts | Promise<never>): AsyncGenerator<Uint8Array> {
  const parts = await Promise.race([begin(), aborted])
  const iterator = Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]()
  for (;;) {
    const { done, value } = await Promise.race([iterator.next(), aborted])
    if (done === true) return
    yield typeof value === "string" ? new TextEncoder().encode(value) : value
  }
}

/** An answer in one part: a body with its length, under a status and headers. */
export function httpAnswer(
  body: string | Uint8Array,
  {
    status = 200,
    headers = {},
  }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): () => Parts {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  const all = { "content-type": "text/html; charset=utf-8", "content-length": String(bytes.length), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return () => [`HTTP/1.1 ${status} Told\r\n${lines.join("")}\r\n`, bytes]
}

/** A redirect. */
export const redirectTo = (location: string, status = 302): (() => Parts) =>
  httpAnswer("moved", { status, headers: { location } })
