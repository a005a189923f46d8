import { connect } from "node:net"
import { type DecodedPacket, decode, encode, type Packet, type Question } from "dns-packet"

/** A message as it came: its octets, and the port that it came from. */
export type Received = { readonly message: Buffer; readonly port: number }

/** Puts questions to a server from one port, with nothing in between: for tests of servers. */
export type Asker = Disposable & {
  readonly port: number
  readonly send: (query: Packet) => void
  /** Waits for the next message; null: the connection ended, perhaps within a message. Over UDP it may never come. */
  readonly next: () => Promise<Received | null>
}

type Server = { readonly address: string; readonly port: number }

/** A query of one question. With `edns` it has an OPT record: the size in octets that an answer may have, and flags. */
export function query(
  id: number,
  question: Question,
  edns?: { readonly size: number; readonly flags?: number },
): Packet {
  const opt = { udpPayloadSize: edns?.size ?? 0, extendedRcode: 0, ednsVersion: 0, flags: edns?.flags ?? 0 }
  return {
    type: "query",
    id,
    flags: 0x0100,
    questions: [question],
    additionals:
      edns === undefined ? [] : [{ type: "OPT", name: ".", ...opt, flag_do: (opt.flags & 0x8000) !== 0, options: [] }],
  }
}

/** Asks over UDP. */
export async function udpAsker(server: Server): Promise<Asker> {
  const inbox = waitingRoom<Received>()
  const socket = await Bun.udpSocket({
    hostname: server.address,
    binaryType: "buffer",
    socket: {
      data: (_, message, port) => inbox.put({ message, port }),
      // Nobody was there to hear a question: no answer is all that comes of it.
      error: ignored,
    },
  })
  return {
    port: socket.port,
    send: packet => void socket.send(encode(packet), server.port, server.address),
    next: inbox.take,
    [Symbol.dispose]: () => socket.close(),
  }
}

/** Asks over one TCP connection. */
export async function tcpAsker(server: Server): Promise<Asker> {
  const inbox = waitingRoom<Received | null>()
  const { promise: connected, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect(server.port, server.address, resolve).on("error", reject)
  let unread = Buffer.alloc(0)
  socket.on("close", () => inbox.put(null))
  socket.on("data", chunk => {
    unread = Buffer.concat([unread, chunk])
    while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE(0)) {
      const end = 2 + unread.readUInt16BE(0)
      inbox.put({ message: unread.subarray(2, end), port: server.port })
      unread = unread.subarray(end)
    }
  })
  await connected
  return {
    port: socket.localPort ?? 0,
    send: packet => {
      const message = encode(packet)
      socket.write(Buffer.concat([Buffer.of(message.length >> 8, message.length & 0xff), message]))
    },
    next: inbox.take,
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** Asks one question over UDP, or TCP, and reads the answer. */
export async function answerOf(server: Server, packet: Packet, way: "udp" | "tcp" = "udp"): Promise<DecodedPacket> {
  using asker = await (way === "udp" ? udpAsker : tcpAsker)(server)
  asker.send(packet)
  const received = await asker.next()
  if (received === null) throw new Error("the server ended the connection")
  return decode(received.message)
}

const ignored = (): void => undefined

/** Things in the order in which they were put there, for whoever waits for them. */
function waitingRoom<T>() {
  const here: T[] = []
  const waits: ((one: T) => void)[] = []
  return {
    put: (one: T): void => {
      const wait = waits.shift()
      if (wait === undefined) here.push(one)
      else wait(one)
    },
    take: (): Promise<T> => {
      const { promise, resolve } = Promise.withResolvers<T>()
      const [first] = here
      if (here.length > 0 && first !== undefined) {
        here.shift()
        resolve(first)
      } else waits.push(resolve)
      return promise
    },
  }
}
