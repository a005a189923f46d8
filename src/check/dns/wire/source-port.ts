import { isIPv6 } from "node:net"
import type { Random } from "../../../base/outside-world.ts"
import type { DnsQuestion, DnsServerAddress } from "../dns-types.ts"
import { encodeQuery, type ParsedPacket, parseReply } from "./packet.ts"

/** What comes of a question that was put over UDP. */
export type UdpReply = Exclude<ParsedPacket, { readonly kind: "foreign" }> | { readonly kind: "silent" }

type PendingQuery = { readonly question: DnsQuestion; readonly onReply: (heard: UdpReply) => void }

const ID_COUNT = 0x1_0000

/**
 * One source port and the questions that wait at it. The socket is connected, so the system drops what comes from anyone
 * but the server and reports where nothing listens. A port that met a fault hears `silent` for all that wait, and is closed.
 */
export class SourcePort {
  readonly #random: Random
  readonly #onClose: () => void
  readonly #pending = new Map<number, PendingQuery>()
  #socket: Bun.udp.ConnectedSocket<"uint8array"> | null = null
  #queryCount = 0
  #isClosed = false

  /** Opens a port that the system picks; `onClose` is called once, when the port is closed for whatever reason. */
  constructor(server: DnsServerAddress, random: Random, onClose: () => void) {
    this.#random = random
    this.#onClose = onClose
    this.#open(server).catch((_unreachable: unknown) => this.close())
  }

  /** How many questions were put here. */
  get queryCount(): number {
    return this.#queryCount
  }

  /** How many questions wait here for a reply. */
  get pendingCount(): number {
    return this.#pending.size
  }

  /** Puts the question; `hear` is called at most once, and not any more after the returned function was. */
  query(question: DnsQuestion, onReply: (heard: UdpReply) => void): () => void {
    const id = this.#freeId()
    const asked: PendingQuery = { question, onReply }
    this.#pending.set(id, asked)
    this.#queryCount++
    if (this.#socket !== null) this.#send(this.#socket, id, asked)
    return () => {
      if (this.#pending.get(id) === asked) this.#pending.delete(id)
    }
  }

  /** Gives the port back; whoever waits hears `silent`. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket?.close()
    this.#onClose()
    const left = [...this.#pending.values()]
    this.#pending.clear()
    for (const { onReply } of left) onReply({ kind: "silent" })
  }

  async #open(server: DnsServerAddress): Promise<void> {
    const socket = await Bun.udpSocket({
      // Bun's default is an IPv4 socket, which reaches no IPv6 server.
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
    for (const [id, asked] of this.#pending) this.#send(socket, id, asked)
  }

  #send(socket: Bun.udp.ConnectedSocket<"uint8array">, id: number, { question }: PendingQuery): void {
    const packet = encodeQuery(id, question)
    try {
      // False is a full send buffer: the question was not sent, and whoever asks may go to another server at once.
      if (!socket.send(packet)) this.#settle(id, { kind: "silent" })
    } catch (unreachable) {
      // What the system learned since the last packet, ECONNREFUSED for one, is thrown by the next.
      if (!(unreachable instanceof Error)) throw unreachable
      this.close()
    }
  }

  #receive(bytes: Uint8Array): void {
    const [high, low] = bytes
    if (high === undefined || low === undefined) return
    const id = (high << 8) | low
    const asked = this.#pending.get(id)
    if (asked === undefined) return
    const read = parseReply(bytes, id, asked.question)
    if (read.kind !== "foreign") this.#settle(id, read)
  }

  /** A random id that no waiting question has (RFC 5452 §9.2). */
  #freeId(): number {
    const [high = 0, low = 0] = this.#random(2)
    let id = (high << 8) | low
    // The few that wait here are stepped over: that is bounded whatever the source gives.
    while (this.#pending.has(id)) id = (id + 1) % ID_COUNT
    return id
  }

  #settle(id: number, heard: UdpReply): void {
    const asked = this.#pending.get(id)
    this.#pending.delete(id)
    asked?.onReply(heard)
  }
}
