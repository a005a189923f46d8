import type { StoredBody } from "./stored-body.ts"

const LF = 10
const CR = 13
const SEMICOLON = 59
const SPACE = 32
const TAB = 9
const LINE_BYTES_MAX = 4096
const SIZE_DIGITS_MAX = 8

/** What the line that is being read says. */
type Line = "size" | "end of chunk" | "trailer"

/** What a byte of a line leads to: on, to the end of the body, or nowhere. */
type Step = "on" | "end" | "fault"

/** Reads a chunked body (RFC 9112 §7.1) from pieces that are cut anywhere. Extensions and trailers are passed over. */
export class ChunkedBody {
  /** Octets of content read so far. */
  contentBytes = 0
  readonly #kept: StoredBody | null
  #line: Line = "size"
  #lineBytes = 0
  #size = 0
  #digits = 0
  #isInExtension = false
  /** Octets of the chunk still to come. */
  #missing = 0

  /** What it reads is handed to `kept` too, if there is one. */
  constructor(kept: StoredBody | null) {
    this.#kept = kept
  }

  /** Takes the piece from `from` on. Gives where the body ends in it, `PART` when it goes on, or `UNREADABLE`. */
  take(piece: Uint8Array, from: number): number {
    let at = from
    while (at < piece.length) {
      if (this.#missing > 0) {
        at = this.#takeContent(piece, at)
        continue
      }
      const step = this.#takeByte(piece[at++] ?? 0)
      if (step === "end") return at
      if (step === "fault") return UNREADABLE
    }
    return PART
  }

  #takeContent(piece: Uint8Array, from: number): number {
    const end = Math.min(from + this.#missing, piece.length)
    this.#missing -= end - from
    this.contentBytes += end - from
    this.#kept?.add(piece.subarray(from, end))
    return end
  }

  #takeByte(byte: number): Step {
    if (byte === LF) return this.#endLine()
    if (byte === CR) return "on"
    if (++this.#lineBytes > LINE_BYTES_MAX || this.#line === "end of chunk") return "fault"
    return this.#line === "trailer" || this.#takeSize(byte) ? "on" : "fault"
  }

  /** Takes a byte of the line that tells a size, and perhaps extensions after it. */
  #takeSize(byte: number): boolean {
    if (this.#isInExtension || byte === SEMICOLON || byte === SPACE || byte === TAB) {
      this.#isInExtension = true
      return this.#digits > 0
    }
    const digit = hexOf(byte)
    this.#size = this.#size * 16 + digit
    return digit >= 0 && ++this.#digits <= SIZE_DIGITS_MAX
  }

  #endLine(): Step {
    const isEmpty = this.#lineBytes === 0
    this.#lineBytes = 0
    if (this.#line === "trailer") return isEmpty ? "end" : "on"
    if (this.#line === "end of chunk") {
      this.#line = "size"
      return "on"
    }
    if (this.#digits === 0) return "fault"
    this.#line = this.#size === 0 ? "trailer" : "end of chunk"
    this.#missing = this.#size
    this.#size = 0
    this.#digits = 0
    this.#isInExtension = false
    return "on"
  }
}

/** What reading finds in place of an end: there is more to come, or no end that can be found. */
export const PART = -1
export const UNREADABLE = -2

function hexOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lower = byte | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
