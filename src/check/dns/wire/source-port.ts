import { isIPv6 } from "node:net"
import type { Random } from "../../../base/outside-world.ts"
import { type DnsServerAddress, type ServerQuery, SILENT } from "../dns-types.ts"
import { encodeQuery, parseReply } from "./packet.ts"

const ID_COUNT = 0x1_0000

/** The number in the first two bytes. To take an array of bytes apart by a pattern would take longer than all else here. */
const uint16 = (bytes: Uint8Array): number => ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)

type SourcePortDeps = {
  readonly random: Random
  /** Called once, when the port is closed for any reason. */
  readonly onClose: (port: SourcePort) => void
  /** Called each time that a reply or a cancellation leaves no question pending, before the reply is passed on. */
  readonly onIdle: (port: SourcePort) => void
  /** Receives a question whose reply did not fit into a packet. */
  readonly onTruncated: (query: ServerQuery) => void
}

/**
 * One source port and its pending questions. The socket is connected, so the system drops packets from others than the server,
 * and reports if nothing listens there. After an error the port closes, and all its pending questions are `silent`.
 */
export class SourcePort {
  readonly #deps: SourcePortDeps
  readonly #pending = new Map<number, ServerQuery>()
  #socket: Bun.udp.ConnectedSocket<"uint8array"> | null = null
  /** How many questions were sent from this port. */
  queryCount = 0
  #isClosed = false
  /** When it became idle, and what cancels the timer that closes it. They belong to the pool. */
  idleSinceMs = 0
  cancelIdleTimer: (() => void) | null = null

  /** Opens a port that the system picks. */
  constructor(server: DnsServerAddress, deps: SourcePortDeps) {
    this.#deps = deps
    this.#open(server).catch((_unreachable: unknown) => this.close())
  }

  /** How many questions wait for a reply. */
  get pendingCount(): number {
    return this.#pending.size
  }

  /** Sends the question, as soon as the port is open. */
  send(query: ServerQuery): void {
    query.id = this.#freeId()
    query.carrier = this
    this.#pending.set(query.id, query)
    this.queryCount++
    if (this.#socket !== null) this.#send(this.#socket, query)
  }

  /** Drops the question. */
  cancel(query: ServerQuery): void {
    query.carrier = null
    this.#pending.delete(query.id)
    if (this.#pending.size === 0) this.#deps.onIdle(this)
  }

  /** Closes the port. Pending questions are `silent`. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket?.close()
    this.#deps.onClose(this)
    const unanswered = [...this.#pending.values()]
    this.#pending.clear()
    for (const query of unanswered) {
      query.carrier = null
      query.onReply(SILENT)
    }
  }

  async #open(server: DnsServerAddress): Promise<void> {
    const socket = await Bun.udpSocket({
      // Bun's default is an IPv4 socket, which cannot reach an IPv6 server.
      hostname: isIPv6(server.address) ? "::" : "0.0.0.0",
      connect: { hostname: server.address, port: server.port },
      binaryType: "uint8array",
      socket: {
        data: (_socket, bytes) => this.#receive(bytes),
        error: _unreachable => this.close(),
      },
    })
    if (this.#isClosed) return socket.close()
    this.#socket = socket
    for (const query of this.#pending.values()) this.#send(socket, query)
  }

  #send(socket: Bun.udp.ConnectedSocket<"uint8array">, query: ServerQuery): void {
    const packet = encodeQuery(query.id, query.question)
    try {
      // False: the send buffer is full and the question was not sent. The caller can try another server at once.
      if (!socket.send(packet)) this.#settle(query, SILENT)
    } catch (unreachable) {
      // An error of an earlier packet, such as ECONNREFUSED, is thrown by the next send.
      if (!(unreachable instanceof Error)) throw unreachable
      this.close()
    }
  }

  #receive(bytes: Uint8Array): void {
    if (bytes.length < 2) return
    const query = this.#pending.get(uint16(bytes))
    if (query === undefined) return
    const reply = parseReply(bytes, query.id, query.question)
    if (reply.kind !== "foreign") this.#settle(query, reply)
  }

  /** A random id that no pending question has (RFC 5452 §9.2). */
  #freeId(): number {
    let id = uint16(this.#deps.random(2))
    // Counting up from an id in use ends soon, whatever the random source gives: few questions are pending.
    while (this.#pending.has(id)) id = (id + 1) % ID_COUNT
    return id
  }

  #settle(
    query: ServerQuery,
    reply: Exclude<ReturnType<typeof parseReply>, { kind: "foreign" }> | typeof SILENT,
  ): void {
    this.cancel(query)
    if (reply.kind === "truncated") this.#deps.onTruncated(query)
    else query.onReply(reply)
  }
}
