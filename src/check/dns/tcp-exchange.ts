import type { Random } from "../../base/clock.ts"
import type { Later } from "../../base/timer.ts"
import type { Exchange, Reply, ServerAddress } from "./exchange.ts"
import { IMPOSSIBLE_NAME, isWireName, queryPacket, readReply } from "./packet.ts"
import type { Question } from "./question.ts"
import { framed, messageGatherer } from "./tcp-frame.ts"

/** An exchange that holds sockets. After `close` it holds none, and every question is `silent`. */
export type OpenExchange = { readonly exchange: Exchange; readonly close: () => void }

const SILENT: Reply = { kind: "silent" }
const FAILED: Reply = { kind: "failed" }

/**
 * Asks the server over TCP (RFC 7766), one connection a question. A connection that is refused, reset or ended before the
 * reply is whole is `silent`; a reply to something else is `failed`, since nobody but the server speaks on a connection.
 */
export function tcpExchange(
  server: ServerAddress,
  { random, later }: { readonly random: Random; readonly later: Later },
): OpenExchange {
  const underway = new Set<() => void>()
  let isClosed = false
  const exchange: Exchange = (question, timeoutMs) => {
    if (!isWireName(question.name)) return Promise.resolve(IMPOSSIBLE_NAME)
    if (isClosed) return Promise.resolve(SILENT)
    const [high = 0, low = 0] = random(2)
    return new Promise(resolve => {
      const giveUp = converse(server, question, (high << 8) | low, reply => {
        callOff()
        underway.delete(giveUp)
        resolve(reply)
      })
      const callOff = later(timeoutMs, giveUp)
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
function converse(server: ServerAddress, question: Question, id: number, hear: (reply: Reply) => void): () => void {
  const gather = messageGatherer()
  let unsent = framed(queryPacket(id, question))
  let socket: Bun.Socket | null = null
  let isOver = false
  const end = (reply: Reply): void => {
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
    const read = readReply(message, id, question)
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
