import { connect, createServer, type Socket } from "node:net"

/** A way to a server on loopback that can fall silent. */
export type MutedProxy = {
  readonly port: number
  /** From now on nothing passes on the connections that are there, and none of them is closed. Later ones are as ever. */
  readonly mute: () => void
  readonly stop: () => void
}

/** Starts one in front of a port. */
export async function mutedProxy(port: number): Promise<MutedProxy> {
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = connect(port, "127.0.0.1")
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => other.destroy())
      one.pipe(other)
    }
  })
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return {
    port: address !== null && typeof address === "object" ? address.port : 0,
    mute: () => {
      for (const socket of sockets) socket.unpipe().on("data", () => undefined)
    },
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
