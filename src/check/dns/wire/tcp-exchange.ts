import type { Random, SetTimer } from "../../../base/outside-world.ts"
import type { DnsExchange, DnsQuestion, DnsServerAddress, ServerReply } from "../dns-types.ts"
import { encodeQuery, isEncodableName, parseReply, UNENCODABLE_NAME_REPLY } from "./packet.ts"

/** An exchange that holds sockets. `close` closes them; from then on every question is `silent`. */
export type ClosableExchange = { readonly exchange: DnsExchange; readonly close: () => void }

const SILENT: ServerReply = { kind: "silent" }
const FAILED: ServerReply = { kind: "failed" }

/**
 * Queries the server over TCP (RFC 7766), with one connection for each question. A connection that is refused, reset or closed
 * before the reply is complete is `silent`. A message that is no reply to the question is `failed`.
 */
export function createTcpExchange(
  server: DnsServerAddress,
  { random, setTimer }: { readonly random: Random; readonly setTimer: SetTimer },
): ClosableExchange {
  const inFlight = new Set<() => void>()
  let isClosed = false
  const exchange: DnsExchange = (question, timeoutMs) => {
    if (!isEncodableName(question.name)) return Promise.resolve(UNENCODABLE_NAME_REPLY)
    if (isClosed) return Promise.resolve(SILENT)
    const [high = 0, low = 0] = random(2)
    return new Promise(resolve => {
      const abort = exchangeOverConnection(server, question, (high << 8) | low, reply => {
        cancelTimer()
        inFlight.delete(abort)
        resolve(reply)
      })
      const cancelTimer = setTimer(timeoutMs, abort)
      inFlight.add(abort)
    })
  }
  const close = (): void => {
    isClosed = true
    for (const abort of inFlight) abort()
  }
  return { exchange, close }
}

/** Sends the question on a new connection. `onReply` is called once, not before this returns. The returned function aborts it: `silent`. */
function exchangeOverConnection(
  server: DnsServerAddress,
  question: DnsQuestion,
  id: number,
  onReply: (reply: ServerReply) => void,
): () => void {
  const assemble = createMessageAssembler()
  let unsent = frameMessage(encodeQuery(id, question))
  let socket: Bun.Socket | null = null
  let isFinished = false
  const finish = (reply: ServerReply): void => {
    if (isFinished) return
    isFinished = true
    // An orderly close would keep the socket as long as the server does not answer it.
    socket?.terminate()
    onReply(reply)
  }
  const finishSilent = (): void => finish(SILENT)
  const send = (to: Bun.Socket): void => {
    unsent = unsent.subarray(Math.max(to.write(unsent), 0))
  }
  const onOpen = (to: Bun.Socket): void => {
    socket = to
    if (isFinished) to.terminate()
    else send(to)
  }
  const onData = (chunk: Uint8Array): void => {
    const message = assemble(chunk)
    if (message === null) return
    const reply = parseReply(message, id, question)
    finish(reply.kind === "answered" || reply.kind === "failed" ? reply : FAILED)
  }
  // The function is async because Bun throws at once for some addresses and ports, and rejects for others.
  const connect = async (): Promise<unknown> =>
    Bun.connect({
      hostname: server.address,
      port: server.port,
      socket: {
        open: onOpen,
        data: (_socket, chunk) => onData(chunk),
        drain: send,
        end: finishSilent,
        close: finishSilent,
        error: finishSilent,
        connectError: finishSilent,
      },
    })
  connect().catch((_unreachable: unknown) => finishSilent())
  return finishSilent
}

/** The length of a message precedes it on the connection (RFC 7766 §8). */
const LENGTH_PREFIX_BYTES = 2

/** The message after its length. Both are one array, because some servers want both in one segment (RFC 7766 §8). */
export function frameMessage(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(LENGTH_PREFIX_BYTES + message.length)
  frame.set([message.length >> 8, message.length & 0xff])
  frame.set(message, LENGTH_PREFIX_BYTES)
  return frame
}

/**
 * Assembles one message from chunks. The function returns the message once it is complete, and null until then. It allocates
 * the length that precedes the message, at most 65 535 bytes, and ignores what follows the message.
 */
export function createMessageAssembler(): (chunk: Uint8Array) => Uint8Array | null {
  const prefix: number[] = []
  let message: Uint8Array | null = null
  let filled = 0
  return chunk => {
    let offset = 0
    for (; offset < chunk.length && prefix.length < LENGTH_PREFIX_BYTES; offset++) prefix.push(chunk[offset] ?? 0)
    const [high, low] = prefix
    if (high === undefined || low === undefined) return null
    message ??= new Uint8Array((high << 8) | low)
    const part = chunk.subarray(offset, offset + message.length - filled)
    message.set(part, filled)
    filled += part.length
    return filled === message.length ? message : null
  }
}
