import { connect, type Socket } from "node:net"
import { errorCode } from "../../../base/errors.ts"
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
      query.receiver.onReply(query, reply)
    }
    pending.set(query, queryOverConnection(server, query, onEnd))
  }
  const close = (): void => {
    for (const query of pending.keys()) {
      carrier.cancel(query)
      query.receiver.onReply(query, SILENT)
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
  const endSilent = (): void => onEnd(SILENT)
  const endUnreachable = (error: Error): void => onEnd({ kind: "silent", why: errorCode(error) })
  const connection = connectionTo(server)
  if (connection === null) {
    queueMicrotask(endSilent)
    return () => undefined
  }
  const assemble = createMessageAssembler()
  connection.on("data", chunk => {
    const message = assemble(chunk)
    if (message === null) return
    const reply = parseReply(message, id, question)
    onEnd(reply.kind === "answered" || reply.kind === "failed" ? reply : { kind: "failed" })
  })
  connection.on("error", endUnreachable)
  for (const event of ["end", "close"]) connection.on(event, endSilent)
  connection.write(frameMessage(encodeQuery(id, question)))
  return () => {
    // A reset waits until the connection is open. An orderly close would keep an open one as long as the server does not answer it.
    if (connection.connecting) connection.destroy()
    else connection.resetAndDestroy()
  }
}

/** Null: there is no way to the server's address or port. One of `Bun.connect` could not be closed before it is open, for two minutes. */
function connectionTo({ address, port }: DnsServerAddress): Socket | null {
  try {
    return connect({ host: address, port })
  } catch (_unreachable) {
    return null
  }
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
