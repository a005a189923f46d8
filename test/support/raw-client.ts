import { connect, type Socket } from "node:net"
import { bounded } from "./bounded.ts"

/** A connection on which a test sends what no client of good will would. */
export type RawClient = {
  readonly socket: Socket
  /** All that has come so far. */
  readonly received: () => string
  /** Resolves as soon as what has come matches. Rejects when the connection ends before, and after a minute. */
  readonly until: (wanted: RegExp) => Promise<void>
  /** Resolves when the server has closed the connection, and after that. */
  readonly closed: Promise<void>
  /** Sends a piece again and again until the connection is closed. */
  readonly drip: (piece: string, everyMs: number) => void
  readonly close: () => void
}

/** Connects to a port of this machine. */
export async function rawClient(port: number): Promise<RawClient> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  let text = ""
  let isClosed = false
  const looks = new Set<() => void>()
  const look = (): void => {
    for (const each of looks) each()
  }
  const over = new Promise<void>(resolve => {
    const end = (): void => {
      isClosed = true
      look()
      resolve()
    }
    socket.on("end", end).on("close", end)
  })
  // A connection that is cut off is told as an error here, and as a close.
  socket.on("error", () => undefined)
  socket.on("data", chunk => {
    text += chunk.toString("latin1")
    look()
  })
  await bounded(
    new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject)),
    () => "no connection",
  )
  return {
    socket,
    received: () => text,
    until: wanted =>
      bounded(
        new Promise((resolve, reject) => {
          const see = (): void => {
            if (wanted.test(text)) resolve()
            else if (isClosed) reject(new Error(`closed before ${wanted}: ${text.slice(0, 200)}`))
          }
          looks.add(see)
          see()
        }),
        () => `no ${wanted} in ${text.slice(0, 200)}`,
      ),
    closed: bounded(over, () => `the connection is open: ${text.slice(0, 200)}`),
    drip: (piece, everyMs) => {
      const timer = setInterval(() => socket.write(piece), everyMs)
      void over.then(() => clearInterval(timer))
    },
    close: () => void socket.destroy(),
  }
}
