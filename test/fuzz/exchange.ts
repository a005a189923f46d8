import { connect, type Socket } from "node:net"
import { bounded } from "../support/bounded.ts"
import { type Answer, answerIn } from "./answers.ts"
import type { FuzzRequest } from "./requests.ts"

/** What came of a request: its last answer, or that the connection ended with none, or that neither was in time. */
export type Outcome = Answer | "closed" | "late" | "unreadable"

/** An answer takes far less, even on a machine that is busy otherwise. */
const ANSWER_MS_MAX = 30_000

/** Sends requests one after the other over a connection that it keeps as long as the server does. */
export class Lane {
  readonly #port: number
  #socket: Socket | null = null
  #heard: Buffer = Buffer.alloc(0)
  #look: () => void = () => undefined
  #isClosed = true

  constructor(port: number) {
    this.#port = port
  }

  /** Sends a request and gives what came of it. One that is no HTTP has a connection of its own, which it ends. */
  async ask(request: FuzzRequest): Promise<Outcome> {
    if (request.isRaw) this.close()
    const isFresh = this.#socket === null
    const outcome = await this.#asked(request)
    if (request.isRaw || typeof outcome === "string" || outcome.closes) this.close()
    // The server may have closed a kept connection at the moment at which it was used again.
    return outcome === "closed" && !isFresh ? await this.ask(request) : outcome
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  async #asked(request: FuzzRequest): Promise<Outcome> {
    const socket = this.#socket ?? (await this.#connected())
    this.#heard = Buffer.alloc(0)
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.#look = () => {
      const answer = answerIn(this.#heard, request.method, this.#isClosed)
      if (request.isRaw ? this.#isClosed : answer !== null || this.#isClosed) resolve(answer ?? "closed")
    }
    if (request.isRaw) socket.end(request.bytes)
    else socket.write(request.bytes)
    return await bounded(promise, () => "", ANSWER_MS_MAX).catch(() => "late" as const)
  }

  #connected(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.#port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
      this.#socket = socket
      this.#isClosed = false
      const mine = (work: () => void) => () => {
        if (this.#socket === socket) work()
      }
      const closed = mine(() => {
        this.#isClosed = true
        this.#look()
      })
      socket.once("connect", () => resolve(socket))
      socket.on("error", reject)
      socket.on("close", closed).on("end", closed)
      socket.on("data", chunk => {
        if (this.#socket !== socket) return
        this.#heard = this.#heard.length === 0 ? chunk : Buffer.concat([this.#heard, chunk])
        this.#look()
      })
    })
  }
}
