import { connect, createServer, type Socket } from "node:net"

/** A way to a server on loopback that can lead elsewhere, swallow what is sent, and cut connections off at a chosen moment. */
export type TcpProxy = {
  readonly port: number
  /** Leads to this port from now on; connections that are there are cut. */
  readonly connectTo: (port: number) => void
  /**
   * Swallows whatever is sent, on connections that are there and on later ones, none of which is closed or answered, until the
   * returned function is called, which cuts them all.
   */
  readonly dropData: () => () => void
  /** The same from when somebody sends this text. */
  readonly dropDataFrom: (text: string) => () => void
  /** From now on nothing passes on the connections that are there, and none of them is closed. Later ones are as ever. */
  readonly mute: () => void
  /** Takes no connections any more, and cuts those that are there, until the returned function is called. */
  readonly refuse: () => () => Promise<void>
  /** Cuts the next `count` connections that are answered with this text, in place of the answer. Gives how many were. */
  readonly cutAt: (answer: string, count: number) => () => number
  readonly stop: () => void
}

/** Starts one that leads to a port. */
export async function startTcpProxy(to: number): Promise<TcpProxy> {
  const state = { to, isSilent: false, cutAt: "", cutsLeft: 0, cutCount: 0, silentFrom: "" }
  const sockets = new Set<Socket>()
  const muted = new WeakSet<Socket>()
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer(near => {
    const far = connect(state.to, "127.0.0.1")
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    near.on("data", sent => {
      if (state.silentFrom !== "" && sent.includes(state.silentFrom)) state.isSilent = true
      if (!state.isSilent && !muted.has(near)) far.write(sent)
    })
    far.on("data", answer => {
      if (state.isSilent || muted.has(far)) return
      if (state.cutsLeft > 0 && answer.includes(state.cutAt)) {
        state.cutsLeft--
        state.cutCount++
        near.destroy()
      } else near.write(answer)
    })
  })
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, "127.0.0.1", resolve))
  await listen(0)
  const address = server.address()
  const port = address !== null && typeof address === "object" ? address.port : 0
  return {
    port,
    connectTo: port => {
      state.to = port
      cutAll()
    },
    dropData: () => {
      state.isSilent = true
      return () => {
        state.isSilent = false
        cutAll()
      }
    },
    dropDataFrom: text => {
      state.silentFrom = text
      return () => {
        Object.assign(state, { isSilent: false, silentFrom: "" })
        cutAll()
      }
    },
    mute: () => {
      for (const socket of sockets) muted.add(socket)
    },
    refuse: () => {
      server.close()
      cutAll()
      return () => listen(port)
    },
    cutAt: (answer, count) => {
      Object.assign(state, { cutAt: answer, cutsLeft: count, cutCount: 0 })
      return () => state.cutCount
    },
    stop: () => {
      cutAll()
      server.close()
    },
  }
}
