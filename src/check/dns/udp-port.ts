import { isIPv6 } from "node:net"
import type { Random } from "../../base/clock.ts"
import type { ServerAddress } from "./exchange.ts"
import { queryPacket, type Read, readReply } from "./packet.ts"
import type { Question } from "./question.ts"

/** What comes of a question that was put over UDP. */
export type Heard = Exclude<Read, { readonly kind: "foreign" }> | { readonly kind: "silent" }

type Asked = { readonly question: Question; readonly hear: (heard: Heard) => void }

const IDS = 0x1_0000

/**
 * One source port and the questions that wait at it. The socket is connected, so the system drops what comes from anyone
 * but the server and reports where nothing listens. A port that met a fault hears `silent` for all that wait, and is closed.
 */
export class UdpPort {
  readonly #random: Random
  readonly #onClose: () => void
  readonly #waiting = new Map<number, Asked>()
  #socket: Bun.udp.ConnectedSocket<"uint8array"> | null = null
  #askedCount = 0
  #isClosed = false

  /** Opens a port that the system picks; `onClose` is called once, when the port is closed for whatever reason. */
  constructor(server: ServerAddress, random: Random, onClose: () => void) {
    this.#random = random
    this.#onClose = onClose
    this.#open(server).catch((_unreachable: unknown) => this.close())
  }

  /** How many questions were put here. */
  get askedCount(): number {
    return this.#askedCount
  }

  /** How many questions wait here for a reply. */
  get waitingCount(): number {
    return this.#waiting.size
  }

  /** Puts the question; `hear` is called at most once, and not any more after the returned function was. */
  ask(question: Question, hear: (heard: Heard) => void): () => void {
    const id = this.#freeId()
    const asked: Asked = { question, hear }
    this.#waiting.set(id, asked)
    this.#askedCount++
    if (this.#socket !== null) this.#send(this.#socket, id, asked)
    return () => {
      if (this.#waiting.get(id) === asked) this.#waiting.delete(id)
    }
  }

  /** Gives the port back; whoever waits hears `silent`. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket?.close()
    this.#onClose()
    const left = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { hear } of left) hear({ kind: "silent" })
  }

  async #open(server: ServerAddress): Promise<void> {
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
    for (const [id, asked] of this.#waiting) this.#send(socket, id, asked)
  }

  #send(socket: Bun.udp.ConnectedSocket<"uint8array">, id: number, { question }: Asked): void {
    const packet = queryPacket(id, question)
    try {
      // False is a full send buffer: the question was not sent, and whoever asks may go to another server at once.
      if (!socket.send(packet)) this.#end(id, { kind: "silent" })
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
    const asked = this.#waiting.get(id)
    if (asked === undefined) return
    const read = readReply(bytes, id, asked.question)
    if (read.kind !== "foreign") this.#end(id, read)
  }

  /** A random id that no waiting question has (RFC 5452 §9.2). */
  #freeId(): number {
    const [high = 0, low = 0] = this.#random(2)
    let id = (high << 8) | low
    // The few that wait here are stepped over: that is bounded whatever the source gives.
    while (this.#waiting.has(id)) id = (id + 1) % IDS
    return id
  }

  #end(id: number, heard: Heard): void {
    const asked = this.#waiting.get(id)
    this.#waiting.delete(id)
    asked?.hear(heard)
  }
}
