import { createHash } from "node:crypto"
import { createSocket } from "node:dgram"
import { connect as connectTcp, isIPv6 } from "node:net"

/*
 * What the package uses of Bun, for Node.js. The build has every module of the package import the name `Bun` from here. On Bun it is
 * the original.
 */

type UdpOptions = {
  readonly connect: { readonly hostname: string; readonly port: number }
  readonly socket: {
    readonly data: (socket: unknown, bytes: Uint8Array) => void
    readonly error: (error: Error) => void
  }
}

/** A UDP socket that is connected, as that of Bun. The system's errors of earlier packets arrive as `error`. */
function udpSocket({ connect: { hostname, port }, socket: { data, error } }: UdpOptions) {
  const socket = createSocket(isIPv6(hostname) ? "udp6" : "udp4")
  const opened = {
    // A packet that waits for the system is read later, and the caller writes the next one into its bytes.
    sendMany: (packets: readonly Uint8Array[]): number => {
      for (const packet of packets) socket.send(packet.slice(), failure => failure !== null && error(failure))
      return packets.length
    },
    close: () => void socket.close(),
  }
  return new Promise<typeof opened>((resolve, reject) => {
    socket.on("message", bytes => data(opened, bytes))
    socket.on("error", failure => {
      error(failure)
      reject(failure)
    })
    // The types do not know that a failure is passed.
    socket.connect(port, hostname, ((failure?: Error) => {
      if (failure === undefined || failure === null) return resolve(opened)
      socket.close()
      reject(failure)
    }) satisfies () => void)
  })
}

type TcpOptions = {
  readonly hostname: string
  readonly port: number
  readonly socket: {
    readonly open: (socket: TcpSocket) => void
    readonly data: (socket: TcpSocket, bytes: Uint8Array) => void
    readonly end: () => void
    readonly close: () => void
    readonly error: (error: Error) => void
  }
}

type TcpSocket = { readonly write: (bytes: Uint8Array) => number; readonly terminate: () => void }

/** A TCP connection, as that of Bun. What is written waits in the socket, so there is nothing to drain. */
async function connect({ hostname, port, socket: { open, data, end, close, error } }: TcpOptions): Promise<TcpSocket> {
  const socket = connectTcp({ host: hostname, port })
  const opened: TcpSocket = {
    write: bytes => {
      socket.write(bytes)
      return bytes.length
    },
    terminate: () => void socket.destroy(),
  }
  socket.on("connect", () => open(opened))
  socket.on("data", bytes => data(opened, bytes))
  socket.on("end", end)
  socket.on("close", close)
  socket.on("error", error)
  return opened
}

const PRIME_1 = 0x9e37_79b1
const PRIME_2 = 0x85eb_ca77
const PRIME_3 = 0xc2b2_ae3d
const PRIME_4 = 0x27d4_eb2f
const PRIME_5 = 0x1656_67b1

const rotated = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits))
const round = (sum: number, input: number): number => Math.imul(rotated(sum + Math.imul(input, PRIME_2), 13), PRIME_1)

/** xxHash32 of a text as UTF-8, without a seed (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md). */
export function xxHash32(text: string): number {
  const bytes = Buffer.from(text)
  let at = 0
  let hash = PRIME_5
  if (bytes.length >= 16) {
    let [a, b, c, d] = [(PRIME_1 + PRIME_2) | 0, PRIME_2, 0, -PRIME_1]
    for (; at + 16 <= bytes.length; at += 16) {
      a = round(a, bytes.readInt32LE(at))
      b = round(b, bytes.readInt32LE(at + 4))
      c = round(c, bytes.readInt32LE(at + 8))
      d = round(d, bytes.readInt32LE(at + 12))
    }
    hash = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18)
  }
  hash = (hash + bytes.length) | 0
  for (; at + 4 <= bytes.length; at += 4)
    hash = Math.imul(rotated(hash + Math.imul(bytes.readInt32LE(at), PRIME_3), 17), PRIME_4)
  for (; at < bytes.length; at++) hash = Math.imul(rotated(hash + Math.imul(bytes[at] ?? 0, PRIME_5), 11), PRIME_1)
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2)
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The build fails if the package uses a member that is not here. */
export const NODE_BUN = {
  connect,
  // Node.js collects garbage when it has to.
  gc: () => undefined,
  hash: { xxHash32 },
  SHA256: { hash: (text: string, encoding: "hex") => createHash("sha256").update(text).digest(encoding) },
  udpSocket,
}

const { Bun: runtimeBun = NODE_BUN } = globalThis as { readonly Bun?: unknown }

export { runtimeBun as Bun }
