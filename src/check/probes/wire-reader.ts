import { FetchFault } from "./fetch-fault.ts"

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/**
 * Reads lines and octets off a connection, as they are asked for, and no more of it than `bytesMax` in all: what is beyond is
 * `too_long`. A connection that breaks off is `broken_off`.
 */
export class WireReader {
  readonly #parts: AsyncIterator<Uint8Array>
  #held: Uint8Array = new Uint8Array()
  #left: number

  constructor(parts: AsyncIterable<Uint8Array>, bytesMax: number) {
    this.#parts = parts[Symbol.asyncIterator]()
    this.#left = bytesMax
  }

  /** The next line without its end, which is a line feed (RFC 9112 §2.2), as UTF-8. Longer than `bytesMax` it is `too_long`. */
  async line(bytesMax: number): Promise<string> {
    const pieces: Uint8Array[] = []
    let count = 0
    for (;;) {
      const end = this.#held.indexOf(LINE_FEED)
      const piece = this.#cut(end < 0 ? this.#held.length : end)
      pieces.push(piece)
      count += piece.length
      if (count > bytesMax) throw new FetchFault("too_long")
      if (end >= 0) break
      if (!(await this.#more())) throw new FetchFault("broken_off")
    }
    this.#cut(1)
    const line = Buffer.concat(pieces)
    return UTF8.decode(line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line)
  }

  /** The next octets, one at least and at most `bytesMax`; null: there are none. */
  async some(bytesMax: number): Promise<Uint8Array | null> {
    while (this.#held.length === 0) if (!(await this.#more())) return null
    return this.#cut(Math.min(bytesMax, this.#held.length))
  }

  #cut(count: number): Uint8Array {
    const piece = this.#held.subarray(0, count)
    this.#held = this.#held.subarray(count)
    return piece
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#parts.next().catch((_broken: unknown) => {
      throw new FetchFault("broken_off")
    })
    if (done === true) return false
    this.#held = value
    this.#left -= value.length
    if (this.#left < 0) throw new FetchFault("too_long")
    return true
  }
}

const UTF8 = new TextDecoder()
