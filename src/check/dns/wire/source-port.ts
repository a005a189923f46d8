import { isIPv6 } from "node:net"
import type { Random } from "../../../base/outside-world.ts"
import type { DnsQuestion, DnsServerAddress } from "../dns-types.ts"
import { encodeQuery, type ParsedPacket, parseReply } from "./packet.ts"

/** The outcome of a question that was sent over UDP. */
export type UdpReply = Exclude<ParsedPacket, { readonly kind: "foreign" }> | { readonly kind: "silent" }

type PendingQuery = { readonly question: DnsQuestion; readonly onReply: (reply: UdpReply) => void }

const ID_COUNT = 0x1_0000

/** The number in the first two bytes. To take an array of bytes apart by a pattern would take longer than all else here. */
const uint16 = (bytes: Uint8Array): number => ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)

/**
 * One source port and its pending questions. The socket is connected, so the system drops packets from others than the server,
 * and reports if nothing listens there. After an error the port closes, and all its pending questions are `silent`.
 */
export class SourcePort {
  readonly #random: Random
  readonly #onClose: () => void
  readonly #onIdle: () => void
  readonly #pending = new Map<number, PendingQuery>()
  #socket: Bun.udp.ConnectedSocket<"uint8array"> | null = null
  #queryCount = 0
  #isClosed = false

  /**
   * Opens a port that the system picks. `onClose` is called once, when the port is closed for any reason; `onIdle` each time that
   * a reply or a cancellation leaves no question pending, before the reply is passed on.
   */
  constructor(server: DnsServerAddress, random: Random, onClose: () => void, onIdle: () => void = () => undefined) {
    this.#random = random
    this.#onClose = onClose
    this.#onIdle = onIdle
    this.#open(server).catch((_unreachable: unknown) => this.close())
  }

  /** How many questions were sent from this port. */
  get queryCount(): number {
    return this.#queryCount
  }

  /** How many questions wait for a reply. */
  get pendingCount(): number {
    return this.#pending.size
  }

  /** Sends the question. `onReply` is called once at most, and not after the returned function, which cancels the query. */
  query(question: DnsQuestion, onReply: (reply: UdpReply) => void): () => void {
    const id = this.#freeId()
    const query: PendingQuery = { question, onReply }
    this.#pending.set(id, query)
    this.#queryCount++
    if (this.#socket !== null) this.#send(this.#socket, id, query)
    return () => {
      if (this.#pending.get(id) === query) this.#remove(id)
    }
  }

  /** Closes the port. Pending questions are `silent`. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket?.close()
    this.#onClose()
    const unanswered = [...this.#pending.values()]
    this.#pending.clear()
    for (const { onReply } of unanswered) onReply({ kind: "silent" })
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
    for (const [id, query] of this.#pending) this.#send(socket, id, query)
  }

  #send(socket: Bun.udp.ConnectedSocket<"uint8array">, id: number, { question }: PendingQuery): void {
    const packet = encodeQuery(id, question)
    try {
      // False: the send buffer is full and the question was not sent. The caller can try another server at once.
      if (!socket.send(packet)) this.#settle(id, { kind: "silent" })
    } catch (unreachable) {
      // An error of an earlier packet, such as ECONNREFUSED, is thrown by the next send.
      if (!(unreachable instanceof Error)) throw unreachable
      this.close()
    }
  }

  #receive(bytes: Uint8Array): void {
    if (bytes.length < 2) return
    const id = uint16(bytes)
    const query = this.#pending.get(id)
    if (query === undefined) return
    const reply = parseReply(bytes, id, query.question)
    if (reply.kind !== "foreign") this.#settle(id, reply)
  }

  /** A random id that no pending question has (RFC 5452 §9.2). */
  #freeId(): number {
    let id = uint16(this.#random(2))
    // Counting up from an id in use ends soon, whatever the random source gives: few questions are pending.
    while (this.#pending.has(id)) id = (id + 1) % ID_COUNT
    return id
  }

  #settle(id: number, reply: UdpReply): void {
    const query = this.#pending.get(id)
    this.#remove(id)
    query?.onReply(reply)
  }

  #remove(id: number): void {
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#onIdle()
  }
}
