import type { Socket } from "bun"
import { AnswerReader } from "./answer-reader.ts"
import type { Failure } from "./tally.ts"

/** What a lane asks of the run that it belongs to. */
export type Course = {
  /** The next request of lane `number`, or null: the run is over. */
  readonly next: (number: number) => Uint8Array | null
  readonly answered: (status: number, bodyBytes: number, sentAt: number, at: number) => void
  readonly failed: (failure: Failure, sentAt: number) => void
  /** The lane has no connection, and no request in flight. */
  readonly gone: (lane: Lane) => void
  /** The lane has its last answer. */
  readonly finished: (lane: Lane) => void
}

/** One connection that is kept open, with one request in flight: the next is sent when the answer is whole. */
export class Lane {
  readonly number: number
  readonly #course: Course
  #reader = new AnswerReader()
  #socket: Socket<Lane> | null = null
  #unsent: Uint8Array | null = null
  #sentAt = 0
  #isWaiting = false

  constructor(number: number, course: Course) {
    this.number = number
    this.#course = course
  }

  /** Connects, and rejects when that fails. Nothing is sent before `go`. */
  async open(hostname: string, port: number): Promise<void> {
    this.#reader = new AnswerReader()
    this.#socket = await Bun.connect<Lane>({ hostname, port, data: this, socket: EVENTS })
    this.#socket.setNoDelay(true)
  }

  /** Sends the next request of the run, if there is one. */
  go(now: number): void {
    if (this.#socket === null) {
      this.#course.gone(this)
      return
    }
    const bytes = this.#course.next(this.number)
    if (bytes === null) {
      this.#course.finished(this)
      return
    }
    this.#sentAt = now
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
    const progress = this.#isWaiting ? this.#reader.take(chunk) : "unreadable"
    if (progress === "part") return
    if (progress === "unreadable") {
      this.#fail("unreadable")
      this.#socket?.terminate()
      return
    }
    // One reading of the clock serves both: the answer is here, and the next request leaves.
    const now = performance.now()
    this.#isWaiting = false
    this.#course.answered(this.#reader.status, this.#reader.bodyBytes, this.#sentAt, now)
    this.go(now)
  }

  writable(): void {
    if (this.#unsent !== null) this.#write(this.#unsent)
  }

  closed(): void {
    // A lane that was stopped has let go of its socket: it told what it had to tell.
    if (this.#socket === null) return
    this.#socket = null
    this.#unsent = null
    if (this.#isWaiting) this.#fail("closed")
    this.#course.gone(this)
  }

  #write(bytes: Uint8Array): void {
    const written = this.#socket?.write(bytes) ?? 0
    this.#unsent = written < bytes.length ? bytes.subarray(Math.max(written, 0)) : null
  }

  #fail(failure: Failure): void {
    this.#isWaiting = false
    this.#course.failed(failure, this.#sentAt)
  }
}

/** One set of functions for every connection; each socket carries its lane. */
const EVENTS = {
  binaryType: "uint8array",
  data: (socket: Socket<Lane>, chunk: Uint8Array) => socket.data.read(chunk),
  drain: (socket: Socket<Lane>) => socket.data.writable(),
  close: (socket: Socket<Lane>) => socket.data.closed(),
  error: (socket: Socket<Lane>) => void socket.terminate(),
} as const
