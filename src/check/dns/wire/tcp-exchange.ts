import type { Random, SetTimer } from "../../../base/outside-world.ts"
import type { DnsExchange, DnsQuestion, DnsServerAddress, ServerReply } from "../dns-types.ts"
import { encodeQuery, isEncodableName, parseReply, UNENCODABLE_NAME_REPLY } from "./packet.ts"

/** An exchange that holds sockets. After `close` it holds none, and every question is `silent`. */
export type ClosableExchange = { readonly exchange: DnsExchange; readonly close: () => void }

const SILENT: ServerReply = { kind: "silent" }
const FAILED: ServerReply = { kind: "failed" }

/**
 * Asks the server over TCP (RFC 7766), one connection a question. A connection that is refused, reset or ended before the
 * reply is whole is `silent`; a reply to something else is `failed`, since nobody but the server speaks on a connection.
 */
export function createTcpExchange(
  server: DnsServerAddress,
  { random, setTimer }: { readonly random: Random; readonly setTimer: SetTimer },
): ClosableExchange {
  const underway = new Set<() => void>()
  let isClosed = false
  const exchange: DnsExchange = (question, timeoutMs) => {
    if (!isEncodableName(question.name)) return Promise.resolve(UNENCODABLE_NAME_REPLY)
    if (isClosed) return Promise.resolve(SILENT)
    const [high = 0, low = 0] = random(2)
    return new Promise(resolve => {
      const giveUp = exchangeOverConnection(server, question, (high << 8) | low, reply => {
        callOff()
        underway.delete(giveUp)
        resolve(reply)
      })
      const callOff = setTimer(timeoutMs, giveUp)
      underway.add(giveUp)
    })
  }
  const close = (): void => {
    isClosed = true
    for (const giveUp of underway) giveUp()
  }
  return { exchange, close }
}

/** Puts the question on a connection of its own; `hear` is called once, later. The returned function ends it: `silent`. */
function exchangeOverConnection(
  server: DnsServerAddress,
  question: DnsQuestion,
  id: number,
  hear: (reply: ServerReply) => void,
): () => void {
  const gather = createMessageAssembler()
  let unsent = frameMessage(encodeQuery(id, question))
  let socket: Bun.Socket | null = null
  let isOver = false
  const end = (reply: ServerReply): void => {
    if (isOver) return
    isOver = true
    // Not a polite end: a server that does not answer it would hold the socket.
    socket?.terminate()
    hear(reply)
  }
  const silence = (): void => end(SILENT)
  const send = (to: Bun.Socket): void => {
    unsent = unsent.subarray(Math.max(to.write(unsent), 0))
  }
  const opened = (to: Bun.Socket): void => {
    socket = to
    if (isOver) to.terminate()
    else send(to)
  }
  const receive = (chunk: Uint8Array): void => {
    const message = gather(chunk)
    if (message === null) return
    const read = parseReply(message, id, question)
    end(read.kind === "answered" ? read : FAILED)
  }
  // Bun throws at once for some addresses and ports, and rejects for others.
  const connect = async (): Promise<unknown> =>
    Bun.connect({
      hostname: server.address,
      port: server.port,
      socket: {
        open: opened,
        data: (_socket, chunk) => receive(chunk),
        drain: send,
        end: silence,
        close: silence,
        error: silence,
        connectError: silence,
      },
    })
  connect().catch((_unreachable: unknown) => silence())
  return silence
}

/** How many octets the length takes that stands before a message on a connection (RFC 7766 §8). */
const LENGTH_PREFIX_BYTES = 2

/** The message behind its length (RFC 7766 §8), in one piece: some servers want both in one segment. */
export function frameMessage(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(LENGTH_PREFIX_BYTES + message.length)
  frame.set([message.length >> 8, message.length & 0xff])
  frame.set(message, LENGTH_PREFIX_BYTES)
  return frame
}

/**
 * Takes a message in any number of pieces and gives it when it is whole; null until then. It holds no more than the length
 * before it says, at most 65 535 octets; what follows the message is left.
 */
export function createMessageAssembler(): (chunk: Uint8Array) => Uint8Array | null {
  const prefix: number[] = []
  let message: Uint8Array | null = null
  let filled = 0
  return chunk => {
    let at = 0
    for (; at < chunk.length && prefix.length < LENGTH_PREFIX_BYTES; at++) prefix.push(chunk[at] ?? 0)
    const [high, low] = prefix
    if (high === undefined || low === undefined) return null
    message ??= new Uint8Array((high << 8) | low)
    const part = chunk.subarray(at, at + message.length - filled)
    message.set(part, filled)
    filled += part.length
    return filled === message.length ? message : null
  }
}
