import type { Socket } from "bun"
import { AnswerReader } from "./answer-reader.ts"
import type { Endpoint } from "./request-bytes.ts"
import type { Failure } from "./tally.ts"

/** What a lane asks of the run that it belongs to. */
export type ConnectionEvents = {
  /** The lane has a connection and no request in flight: it may be sent one now, or later. */
  readonly free: (lane: Connection, now: number) => void
  /** The answer in `reader` is whole. */
  readonly answered: (reader: AnswerReader, since: number, at: number) => void
  readonly failed: (failure: Failure, since: number) => void
  /** The lane has no connection, and no request in flight; `wasTold`: the last answer had said that it would end. */
  readonly gone: (lane: Connection, wasTold: boolean) => void
}

/** One connection that is kept open, with one request in flight at most. */
export class Connection {
  readonly number: number
  readonly #course: ConnectionEvents
  #reader = new AnswerReader()
  #socket: Socket<Connection> | null = null
  #unsent: Uint8Array | null = null
  #since = 0
  #isWaiting = false
  /** Settles `open`, once the connection can carry a request. */
  #opening: PromiseWithResolvers<void> | null = null

  constructor(number: number, course: ConnectionEvents) {
    this.number = number
    this.#course = course
  }

  /** Connects, and rejects when that fails. Nothing is sent before `send`. */
  async open({ hostname, port, tls }: Endpoint): Promise<void> {
    const opening = Promise.withResolvers<void>()
    this.#opening = opening
    this.#reader = new AnswerReader()
    const socket = await Bun.connect<Connection>({ hostname, port, tls: tls ?? false, data: this, socket: EVENTS })
    if (tls === null) opening.resolve()
    await opening.promise
    this.#opening = null
    this.#socket = socket
    socket.setNoDelay(true)
  }

  /** Whether a request can be sent. */
  get isFree(): boolean {
    return this.#socket !== null && !this.#isWaiting
  }

  /** Sends a request on a free lane. Its time is counted from `since`, in milliseconds of `performance.now`. */
  send(bytes: Uint8Array, since: number): void {
    this.#since = since
    this.#isWaiting = true
    this.#write(bytes)
  }

  /** Ends the connection now. A request in flight counts as `unanswered`. */
  stop(): void {
    if (this.#isWaiting) this.#fail("unanswered")
    const socket = this.#socket
    this.#socket = null
    socket?.terminate()
  }

  read(chunk: Uint8Array): void {
    const reader = this.#reader
    const progress = this.#isWaiting ? reader.take(chunk) : "unreadable"
    if (progress === "part") return
    if (progress === "unreadable") {
      if (this.#isWaiting) this.#fail("unreadable")
      this.#socket?.terminate()
      return
    }
    // One reading of the clock serves both: the answer is here, and the next request leaves.
    const now = performance.now()
    this.#isWaiting = false
    this.#course.answered(reader, this.#since, now)
    if (reader.closes) this.#leave()
    else this.#course.free(this, now)
  }

  writable(): void {
    if (this.#unsent !== null) this.#write(this.#unsent)
  }

  /** TLS: whether the server is who it should be. */
  greeted(isTrusted: boolean, fault: Error | null): void {
    if (isTrusted) this.#opening?.resolve()
    else this.#opening?.reject(fault ?? new Error("no TLS connection could be made"))
  }

  closed(): void {
    this.#opening?.reject(new Error("the connection closed before it could be used"))
    // A lane that was stopped has let go of its socket: it told what it had to tell.
    if (this.#socket === null) return
    this.#socket = null
    this.#unsent = null
    if (this.#isWaiting) this.#fail("closed")
    this.#course.gone(this, false)
  }

  /** Ends a connection that the server would end: a request sent after that would be lost. */
  #leave(): void {
    const socket = this.#socket
    this.#socket = null
    this.#unsent = null
    socket?.terminate()
    this.#course.gone(this, true)
  }

  #write(bytes: Uint8Array): void {
    const written = this.#socket?.write(bytes) ?? 0
    this.#unsent = written < bytes.length ? bytes.subarray(Math.max(written, 0)) : null
  }

  #fail(failure: Failure): void {
    this.#isWaiting = false
    this.#course.failed(failure, this.#since)
  }
}

/** One set of functions for every connection; each socket carries its lane. */
const EVENTS = {
  binaryType: "uint8array",
  data: (socket: Socket<Connection>, chunk: Uint8Array) => socket.data.read(chunk),
  drain: (socket: Socket<Connection>) => socket.data.writable(),
  handshake: (socket: Socket<Connection>, isTrusted: boolean, fault: Error | null) =>
    socket.data.greeted(isTrusted, fault),
  close: (socket: Socket<Connection>) => socket.data.closed(),
  error: (socket: Socket<Connection>) => void socket.terminate(),
} as const
