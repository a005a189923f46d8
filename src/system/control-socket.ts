import { chmodSync, mkdirSync, renameSync } from "node:fs"
import { dirname } from "node:path"
import { isSystemError } from "../base/errors.ts"

/** One end of a connection between two processes of this user. Messages are single words. */
export type ControlConnection = {
  readonly send: (message: string) => void
  /** Resolves with the next message; `null` means that the other process has closed the connection. */
  readonly receive: () => Promise<string | null>
  readonly close: () => void
}

/** Unix sockets at which processes of one user find each other. */
export type ControlSockets = {
  /**
   * Listens at the path, replacing any earlier listener, until the returned function is called. `null` if no socket can be
   * created there, for example because the path is too long.
   */
  readonly listen: (path: string, onConnection: (connection: ControlConnection) => void) => (() => void) | null
  /** Connects to the listener at the path; `null` if there is none. */
  readonly connect: (path: string) => Promise<ControlConnection | null>
}

/** The longest path of a Unix socket (unix(7)), less its terminator and the suffix of the temporary name. */
const SOCKET_PATH_BYTES_MAX = 107 - 12
/**
 * What a peer may have sent that nobody has received yet: so many messages, each of so many bytes. Processes of this program wait
 * for each other's answers, so a peer that sends more is a faulty one, and its connection ends.
 */
export const MESSAGES_MAX = 10
export const MESSAGE_BYTES_MAX = 100

type ConnectionState = {
  readonly connection: ControlConnection
  readonly onData: (text: string) => void
  readonly onClose: () => void
}

/** Control sockets over Unix domain sockets. */
export const unixControlSockets: ControlSockets = {
  listen: (path, onConnection) => {
    if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) return null
    const listener = listenOnPath(path, onConnection)
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
    } catch (error) {
      if (isSystemError(error)) return null
      throw error
    }
  },
}

function listenOnPath(path: string, onConnection: (connection: ControlConnection) => void) {
  const temporary = `${path}.${process.pid}`
  try {
    // The data directory of a node with a remote database may not exist yet.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const listener = Bun.listen<ConnectionState>({
      unix: temporary,
      socket: {
        open: socket => {
          socket.data = createConnection(socket)
          onConnection(socket.data.connection)
        },
        data: (socket, bytes) => socket.data.onData(bytes.toString("latin1")),
        close: socket => socket.data.onClose(),
      },
    })
    chmodSync(temporary, 0o600)
    // The rename also replaces the socket that a dead process left.
    renameSync(temporary, path)
    listener.unref()
    return listener
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

function createConnection(socket: {
  readonly write: (text: string) => number
  readonly end: () => void
}): ConnectionState {
  const messages: string[] = []
  let incomplete = ""
  let isClosed = false
  const close = (): void => {
    isClosed = true
    wake()
  }
  let wake: () => void = () => undefined
  const connection: ControlConnection = {
    send: message => void socket.write(`${message}\n`),
    receive: async () => {
      while (messages.length === 0 && !isClosed)
        await new Promise<void>(resolve => {
          wake = resolve
        })
      return messages.shift() ?? null
    },
    close: () => socket.end(),
  }
  return {
    connection,
    onData: text => {
      if (isClosed) return
      const lines = `${incomplete}${text}`.split("\n")
      const isTooLong = lines.some(line => line.length > MESSAGE_BYTES_MAX)
      incomplete = lines.pop() ?? ""
      if (isTooLong || messages.length + lines.length > MESSAGES_MAX) {
        messages.length = 0
        incomplete = ""
        close()
        socket.end()
        return
      }
      messages.push(...lines)
      wake()
    },
    onClose: close,
  }
}
