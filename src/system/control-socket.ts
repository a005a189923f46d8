import { chmodSync, mkdirSync, renameSync } from "node:fs"
import { dirname } from "node:path"

/** One end of a meeting of two processes of this user. */
export type ControlConnection = {
  /** Says one word, of letters. */
  readonly send: (word: string) => void
  /** Resolves with the next word that the other says; null: it is gone. */
  readonly receive: () => Promise<string | null>
  readonly close: () => void
}

/** Where processes of one user meet: at sockets in a directory of theirs. */
export type ControlSockets = {
  /**
   * Waits at the path for others, in place of whoever has waited there, until the returned function is called. Null: no socket
   * can be there, as where the path is too long for one.
   */
  readonly listen: (path: string, met: (meeting: ControlConnection) => void) => (() => void) | null
  /** Meets whoever waits at the path; null: nobody does. */
  readonly connect: (path: string) => Promise<ControlConnection | null>
}

/** What the address of a socket has room for (unix(7)), less its end and what a name that is not final yet has more. */
const SOCKET_PATH_BYTES_MAX = 107 - 12

type ConnectionState = {
  readonly connection: ControlConnection
  readonly onData: (text: string) => void
  readonly onClose: () => void
}

/** The real ones. */
export const unixControlSockets: ControlSockets = {
  listen: (path, met) => {
    if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) return null
    const listener = listenOnPath(path, met)
    return listener && (() => listener.stop(true))
  },
  connect: async path => {
    if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) return null
    try {
      const socket = await Bun.connect<ConnectionState | undefined>({
        unix: path,
        socket: {
          open: opened => {
            opened.data = createConnection(opened)
          },
          data: ({ data }, bytes) => data?.onData(bytes.toString("latin1")),
          close: ({ data }) => data?.onClose(),
        },
      })
      return socket.data?.connection ?? null
    } catch (nobody) {
      if (nobody instanceof Error && "code" in nobody) return null
      throw nobody
    }
  },
}

function listenOnPath(path: string, met: (meeting: ControlConnection) => void) {
  const fresh = `${path}.${process.pid}`
  try {
    // A node whose database is elsewhere may have had nothing to keep here yet.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const listener = Bun.listen<ConnectionState>({
      unix: fresh,
      socket: {
        open: socket => {
          socket.data = createConnection(socket)
          met(socket.data.connection)
        },
        data: (socket, bytes) => socket.data.onData(bytes.toString("latin1")),
        close: socket => socket.data.onClose(),
      },
    })
    chmodSync(fresh, 0o600)
    // A socket that a process has left is no one's place any more.
    renameSync(fresh, path)
    listener.unref()
    return listener
  } catch (refused) {
    if (refused instanceof Error && "code" in refused) return null
    throw refused
  }
}

function createConnection(socket: {
  readonly write: (text: string) => number
  readonly end: () => void
}): ConnectionState {
  const words: string[] = []
  let [rest, isGone] = ["", false]
  let wake: () => void = () => undefined
  const connection: ControlConnection = {
    send: word => void socket.write(`${word}\n`),
    receive: async () => {
      while (words.length === 0 && !isGone)
        await new Promise<void>(resolve => {
          wake = resolve
        })
      return words.shift() ?? null
    },
    close: () => socket.end(),
  }
  return {
    connection,
    onData: text => {
      const parts = `${rest}${text}`.split("\n")
      rest = parts.pop()?.slice(-MESSAGE_LENGTH_MAX) ?? ""
      words.push(...parts.slice(-MESSAGES_MAX))
      wake()
    },
    onClose: () => {
      isGone = true
      wake()
    },
  }
}

/** A word is a few letters, and nobody says many at once. */
const MESSAGE_LENGTH_MAX = 100
const MESSAGES_MAX = 10
