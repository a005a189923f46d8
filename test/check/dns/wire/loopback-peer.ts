/** A query as the peer received it. */
export type Heard = {
  readonly bytes: Uint8Array
  readonly id: number
  /** Its source port. */
  readonly port: number
  /** Sends a packet back to the source; over TCP the bytes without a length. */
  readonly send: (bytes: Uint8Array) => void
  /** Sends a packet to the source, but from another port. Does nothing over TCP. */
  readonly sendFromElsewhere: (bytes: Uint8Array) => void
  /** Closes the connection. Does nothing over UDP. */
  readonly hangUp: () => void
}

/** A server on loopback, UDP and TCP on one port, whose replies the test sends. */
export type Peer = {
  readonly server: { readonly address: string; readonly port: number }
  /** The next query over UDP. */
  readonly overUdp: () => Promise<Heard>
  /** The next query over TCP. */
  readonly overTcp: () => Promise<Heard>
  /** Settles when the next connection is open. */
  readonly connected: () => Promise<unknown>
  /** How many connections are open. */
  readonly connectionCount: () => number
  /** Settles when no connection is open. */
  readonly disconnected: () => Promise<void>
  readonly close: () => void
}

/** Opens a peer on a free port. */
export async function loopbackPeer(address = "127.0.0.1"): Promise<Peer> {
  const udp = queue<Heard>()
  const tcp = queue<Heard>()
  const accepted = queue<Bun.Socket>()
  const connections = new Set<Bun.Socket>()
  let onDisconnected = (): void => undefined
  // A packet to a closed port is reported as an error, which would fail the test.
  const error = (): void => undefined
  const elsewhere = await Bun.udpSocket({ hostname: address, socket: { error } })
  const listener = Bun.listen({
    hostname: address,
    port: 0,
    socket: {
      open: socket => {
        connections.add(socket)
        accepted.put(socket)
      },
      data: (socket, frame) => {
        const bytes = frame.subarray(2)
        tcp.put({ bytes, id: bytes.readUInt16BE(0), port: socket.remotePort, ...overConnection(socket) })
      },
      close: socket => {
        connections.delete(socket)
        if (connections.size === 0) onDisconnected()
      },
      error,
    },
  })
  const main = await Bun.udpSocket({
    hostname: address,
    port: listener.port,
    socket: {
      error,
      data: (socket, bytes, port, from) => {
        const send = (reply: Uint8Array): void => void socket.send(reply, port, from)
        const sendFromElsewhere = (reply: Uint8Array): void => void elsewhere.send(reply, port, from)
        udp.put({ bytes, id: bytes.readUInt16BE(0), port, send, sendFromElsewhere, hangUp: () => undefined })
      },
    },
  })
  return {
    server: { address, port: listener.port },
    overUdp: udp.take,
    overTcp: tcp.take,
    connected: accepted.take,
    connectionCount: () => connections.size,
    disconnected: () =>
      new Promise(resolve => {
        onDisconnected = resolve
        if (connections.size === 0) resolve()
      }),
    close: () => {
      listener.stop(true)
      main.close()
      elsewhere.close()
    },
  }
}

function overConnection(socket: Bun.Socket): Pick<Heard, "send" | "sendFromElsewhere" | "hangUp"> {
  return {
    send: bytes => {
      const sent = Math.max(socket.write(bytes), 0)
      socket.flush()
      if (sent < bytes.length) setImmediate(() => overConnection(socket).send(bytes.subarray(sent)))
    },
    sendFromElsewhere: () => undefined,
    hangUp: () => void socket.end(),
  }
}

function queue<T>(): { readonly put: (one: T) => void; readonly take: () => Promise<T> } {
  const held: T[] = []
  const takers: ((one: T) => void)[] = []
  return {
    put: one => {
      const taker = takers.shift()
      if (taker === undefined) held.push(one)
      else taker(one)
    },
    take: () =>
      new Promise(resolve => {
        const one = held.shift()
        if (one === undefined) takers.push(resolve)
        else resolve(one)
      }),
  }
}
