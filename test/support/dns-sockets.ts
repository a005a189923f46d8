import { createServer, type Server, type Socket } from "node:net"
import type { Fault } from "./dns-faults.ts"

/** How a question comes, and its answer goes. */
export type Way = "udp" | "tcp"

/** Takes a query from a port; `send` gives a message back, in the way that the fault says. */
export type Listener = (
  query: Buffer,
  way: Way,
  askerPort: number,
  send: (message: Buffer, fault: Fault | undefined) => void,
) => void

/** A UDP socket and a TCP listener on one port. */
export type Sockets = {
  readonly port: number
  /** Closes both and every connection; resolves when the port is free. */
  readonly close: () => Promise<void>
}

const BINDS_MAX = 20

const ignored = (): void => undefined

/** Binds both to a port; 0 picks one that is free for both. Rejects when a port that was named is taken. */
export async function boundSockets(address: string, port: number, listener: Listener): Promise<Sockets> {
  for (let bind = 1; ; bind++) {
    const udp = await udpSockets(address, port, listener)
    try {
      const tcp = await tcpListener(address, udp.port, listener)
      return {
        port: udp.port,
        close: async () => {
          udp.close()
          await tcp.close()
        },
      }
    } catch (fault) {
      udp.close()
      if (port !== 0 || bind === BINDS_MAX) throw fault
    }
  }
}

async function udpSockets(address: string, port: number, listener: Listener) {
  const other = await Bun.udpSocket({ hostname: address, socket: { error: ignored } })
  const main = await Bun.udpSocket({
    hostname: address,
    port,
    binaryType: "buffer",
    socket: {
      data: (socket, query, askerPort, asker) =>
        listener(query, "udp", askerPort, (message, fault) => {
          // A test that stopped the server may still let go of what it held.
          if (!socket.closed) (fault === "other_port" ? other : socket).send(message, askerPort, asker)
        }),
      // An asker that went away before its answer came; nobody misses it.
      error: ignored,
    },
  }).catch(fault => {
    other.close()
    throw fault
  })
  const close = (): void => {
    main.close()
    other.close()
  }
  return { port: main.port, close }
}

async function tcpListener(address: string, port: number, listener: Listener) {
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket)
    socket.on("close", () => open.delete(socket))
    // An asker may go away in the middle; its connection closes then.
    socket.on("error", () => socket.destroy())
    readQueries(socket, listener)
  })
  await listening(server, address, port)
  const close = async (): Promise<void> => {
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    for (const socket of open) socket.destroy()
    await closed
  }
  return { close }
}

function listening(server: Server, address: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once("error", reject)
  server.listen(port, address, resolve)
  return promise
}

/** Takes the queries of a connection apart: each stands behind its length (RFC 1035 §4.2.2). */
function readQueries(socket: Socket, listener: Listener): void {
  let unread = Buffer.alloc(0)
  const send = (message: Buffer, fault: Fault | undefined): void => {
    const framed = Buffer.concat([Buffer.of(message.length >> 8, message.length & 0xff), message])
    if (fault === "closed") socket.end()
    else if (fault === "cut") socket.end(framed.subarray(0, framed.length >> 1))
    else if (socket.writable) socket.write(framed)
  }
  socket.on("data", chunk => {
    unread = Buffer.concat([unread, chunk])
    while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE(0)) {
      const end = 2 + unread.readUInt16BE(0)
      const query = unread.subarray(2, end)
      unread = unread.subarray(end)
      listener(query, "tcp", socket.remotePort ?? 0, send)
    }
  })
}
