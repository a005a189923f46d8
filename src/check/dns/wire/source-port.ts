import { isIPv6 } from "node:net"
import { yieldThread } from "../../../base/concurrency.ts"
import { errorCode } from "../../../base/errors.ts"
import { type DnsServerAddress, type ServerQuery, type ServerReply, SILENT } from "../dns-types.ts"
import { ENCODED_MAX, encodeQuery, parseReply } from "./packet.ts"

/** The packets that are sent together. */
const PACKETS: Uint8Array[] = []

type SourcePortDeps = {
  /** Gives random numbers of 16 bits. */
  readonly randomId: () => number
  /** Called once, when the port is closed for any reason. */
  readonly onClose: (port: SourcePort) => void
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
  /** The questions that wait until four can be sent by one call of the system, the code that asks them has ended, or the port is open. */
  readonly #unsent: ServerQuery[] = []
  #socket: Bun.udp.ConnectedSocket<"uint8array"> | null = null
  #isRetired = false
  #isClosed = false
  /** How many questions were sent from this port. */
  queryCount = 0
  /** Cancels the timer that ends its life. It belongs to the pool. */
  cancelTimer: (() => void) | null = null

  /** Whether questions wait to be sent together. */
  get hasUnsent(): boolean {
    return this.#unsent.length > 0
  }

  /** Opens a port that the system picks. */
  constructor(server: DnsServerAddress, deps: SourcePortDeps) {
    this.#deps = deps
    this.#open(server).catch(async (unreachable: unknown) => {
      // Without a free descriptor all ports fail at once, and thousands of questions would be sent again before a deadline is noticed.
      await yieldThread()
      this.#closeUnreachable(unreachable)
    })
  }

  /** Sends the question, as soon as the port is open. */
  send(query: ServerQuery): void {
    query.id = this.#freeId()
    query.carrier = this
    this.#pending.set(query.id, query)
    this.queryCount++
    const unsentCount = this.#unsent.push(query)
    if (unsentCount === ENCODED_MAX) this.#flush()
    else if (unsentCount === 1) queueMicrotask(this.#flush)
  }

  /** Drops the question. */
  cancel(query: ServerQuery): void {
    query.carrier = null
    this.#pending.delete(query.id)
    if (this.#isRetired) this.retire()
  }

  /** Closes the port as soon as no question is pending. */
  retire(): void {
    this.#isRetired = true
    if (this.#pending.size === 0) this.close()
  }

  readonly #closeUnreachable = (error: unknown): void => this.close({ kind: "silent", why: errorCode(error) })

  /** Closes the port. Pending questions are `silent`. */
  close(reply: Extract<ServerReply, { readonly kind: "silent" }> = SILENT): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket?.close()
    this.#socket = null
    this.#deps.onClose(this)
    const unanswered = [...this.#pending.values()]
    this.#pending.clear()
    for (const query of unanswered) {
      query.carrier = null
      query.receiver.onReply(query, reply)
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
        error: this.#closeUnreachable,
      },
    })
    if (this.#isClosed) return socket.close()
    this.#socket = socket
    this.#flush()
  }

  readonly #flush = (): void => {
    if (this.#socket === null || this.#unsent.length === 0) return
    const queries = this.#unsent.splice(0, ENCODED_MAX)
    PACKETS.length = queries.length
    let place = 0
    for (const { id, question } of queries) PACKETS[place] = encodeQuery(id, question, place++)
    let sentCount = 0
    try {
      sentCount = this.#socket.sendMany(PACKETS)
    } catch (unreachable) {
      // An error of an earlier packet, such as ECONNREFUSED, is thrown by the next send.
      if (!(unreachable instanceof Error)) throw unreachable
      this.#closeUnreachable(unreachable)
      return
    }
    // The send buffer is full and the rest was not sent. The caller can try another server at once.
    for (const query of queries.slice(sentCount)) if (query.carrier === this) this.#settle(query, SILENT)
    this.#flush()
  }

  #receive(bytes: Uint8Array): void {
    if (bytes.length < 2) return
    const query = this.#pending.get(((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0))
    if (query === undefined) return
    const reply = parseReply(bytes, query.id, query.question)
    if (reply.kind !== "foreign") this.#settle(query, reply)
  }

  /** A random id that no pending question has (RFC 5452 §9.2). */
  #freeId(): number {
    let id = this.#deps.randomId()
    // Counting up from an id in use ends soon, whatever the random source gives: few questions are pending.
    while (this.#pending.has(id)) id = (id + 1) % 0x1_0000
    return id
  }

  #settle(
    query: ServerQuery,
    reply: Exclude<ReturnType<typeof parseReply>, { kind: "foreign" }> | typeof SILENT,
  ): void {
    this.cancel(query)
    if (reply.kind === "truncated") this.#deps.onTruncated(query)
    else query.receiver.onReply(query, reply)
  }
}
