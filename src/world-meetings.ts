import { chmodSync, mkdirSync, renameSync } from "node:fs"
import { dirname } from "node:path"

/** One end of a meeting of two processes of this user. */
export type Meeting = {
  /** Says one word, of letters. */
  readonly say: (word: string) => void
  /** Resolves with the next word that the other says; null: it is gone. */
  readonly hear: () => Promise<string | null>
  readonly end: () => void
}

/** Where processes of one user meet: at sockets in a directory of theirs. */
export type Meetings = {
  /**
   * Waits at the path for others, in place of whoever has waited there, until the returned function is called. Null: no socket
   * can be there, as where the path is too long for one.
   */
  readonly host: (path: string, met: (meeting: Meeting) => void) => (() => void) | null
  /** Meets whoever waits at the path; null: nobody does. */
  readonly visit: (path: string) => Promise<Meeting | null>
}

/** What the address of a socket has room for (unix(7)), less its end and what a name that is not final yet has more. */
const PATH_BYTES_MAX = 107 - 12

type End = { readonly meeting: Meeting; readonly heard: (text: string) => void; readonly gone: () => void }

/** The real ones. */
export const realMeetings: Meetings = {
  host: (path, met) => {
    if (Buffer.byteLength(path) > PATH_BYTES_MAX) return null
    const listener = listenAt(path, met)
    return listener && (() => listener.stop(true))
  },
  visit: async path => {
    if (Buffer.byteLength(path) > PATH_BYTES_MAX) return null
    try {
      const socket = await Bun.connect<End | undefined>({
        unix: path,
        socket: {
          open: opened => {
            opened.data = endOf(opened)
          },
          data: ({ data }, bytes) => data?.heard(bytes.toString("latin1")),
          close: ({ data }) => data?.gone(),
        },
      })
      return socket.data?.meeting ?? null
    } catch (nobody) {
      if (nobody instanceof Error && "code" in nobody) return null
      throw nobody
    }
  },
}

function listenAt(path: string, met: (meeting: Meeting) => void) {
  const fresh = `${path}.${process.pid}`
  try {
    // A node whose database is elsewhere may have had nothing to keep here yet.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const listener = Bun.listen<End>({
      unix: fresh,
      socket: {
        open: socket => {
          socket.data = endOf(socket)
          met(socket.data.meeting)
        },
        data: (socket, bytes) => socket.data.heard(bytes.toString("latin1")),
        close: socket => socket.data.gone(),
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

function endOf(socket: { readonly write: (text: string) => number; readonly end: () => void }): End {
  const words: string[] = []
  let [rest, isGone] = ["", false]
  let wake: () => void = () => undefined
  const meeting: Meeting = {
    say: word => void socket.write(`${word}\n`),
    hear: async () => {
      while (words.length === 0 && !isGone)
        await new Promise<void>(resolve => {
          wake = resolve
        })
      return words.shift() ?? null
    },
    end: () => socket.end(),
  }
  return {
    meeting,
    heard: text => {
      const parts = `${rest}${text}`.split("\n")
      rest = parts.pop()?.slice(-WORD_LENGTH_MAX) ?? ""
      words.push(...parts.slice(-WORDS_MAX))
      wake()
    },
    gone: () => {
      isGone = true
      wake()
    },
  }
}

/** A word is a few letters, and nobody says many at once. */
const WORD_LENGTH_MAX = 100
const WORDS_MAX = 10
