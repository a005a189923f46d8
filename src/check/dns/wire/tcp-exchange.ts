import type { Random } from "../../../base/outside-world.ts"
import { type DnsExchange, type DnsServerAddress, type ServerQuery, type ServerReply, SILENT } from "../dns-types.ts"
import { encodeQuery, parseReply } from "./packet.ts"

/**
 * Queries the server over TCP (RFC 7766), with one connection for each question. A connection that is refused, reset or closed
 * before the reply is complete is `silent`. A message that is no reply to the question is `failed`. The name must be encodable.
 */
export function createTcpExchange(server: DnsServerAddress, random: Random): DnsExchange {
  const pending = new Map<ServerQuery, () => void>()
  const carrier = {
    cancel: (query: ServerQuery): void => {
      const closeConnection = pending.get(query)
      query.carrier = null
      pending.delete(query)
      closeConnection?.()
    },
  }
  const send = (query: ServerQuery): void => {
    const [high = 0, low = 0] = random(2)
    query.id = (high << 8) | low
    query.carrier = carrier
    const onEnd = (reply: ServerReply): void => {
      if (!pending.has(query)) return
      carrier.cancel(query)
      query.onReply(reply)
    }
    pending.set(query, queryOverConnection(server, query, onEnd))
  }
  const close = (): void => {
    for (const query of pending.keys()) {
      carrier.cancel(query)
      query.onReply(SILENT)
    }
  }
  return { send, close }
}

/** Sends the question on a new connection. `onEnd` is not called before this returns. The returned function closes the connection. */
function queryOverConnection(
  server: DnsServerAddress,
  { id, question }: ServerQuery,
  onEnd: (reply: ServerReply) => void,
): () => void {
  const assemble = createMessageAssembler()
  let unsent = frameMessage(encodeQuery(id, question))
  let socket: Bun.Socket | null = null
  let isClosed = false
  const close = (): void => {
    isClosed = true
    // An orderly close would keep the socket as long as the server does not answer it.
    socket?.terminate()
  }
  const endSilent = (): void => onEnd(SILENT)
  const send = (to: Bun.Socket): void => {
    unsent = unsent.subarray(Math.max(to.write(unsent), 0))
  }
  const onOpen = (to: Bun.Socket): void => {
    socket = to
    if (isClosed) to.terminate()
    else send(to)
  }
  const onData = (chunk: Uint8Array): void => {
    const message = assemble(chunk)
    if (message === null) return
    const reply = parseReply(message, id, question)
    onEnd(reply.kind === "answered" || reply.kind === "failed" ? reply : { kind: "failed" })
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
        end: endSilent,
        close: endSilent,
        error: endSilent,
        connectError: endSilent,
      },
    })
  connect().catch((_unreachable: unknown) => endSilent())
  return close
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
