/** How far an answer has been read: to its end, not yet, or in a way that this reader does not know. */
export type Progress = "whole" | "part" | "unreadable"

const HEAD_BYTES_MAX = 16_384
const STATUS_AT = "HTTP/1.1 ".length
const LF = 10
const CR = 13
const COLON = 58
const LOWER = 32
const CONTENT_LENGTH = new TextEncoder().encode("content-length")
const TRANSFER_ENCODING = new TextEncoder().encode("transfer-encoding")

/**
 * Reads HTTP/1.1 answers to one request at a time from chunks that are cut anywhere (RFC 9112 §4, §6). It knows a status
 * and a Content-Length, or 204 and 304, which have no body; chunked bodies, bodies that last until the connection
 * closes, interim answers (1xx) and bytes after the end are unreadable. After `whole` it reads the next answer.
 */
export class AnswerReader {
  /** Status of the last answer whose head was read. */
  status = 0
  /** Length of that answer's body, in bytes. */
  bodyBytes = 0
  /** The start of a head that has not ended yet. */
  #head: Uint8Array | null = null
  /** Bytes of the body still to come; negative: the head is still to come. */
  #missing = -1

  /** Takes the next chunk. Once it said `unreadable`, the connection is of no more use. */
  take(chunk: Uint8Array): Progress {
    if (this.#missing >= 0) return this.#ended(chunk.length)
    const bytes = this.#head === null ? chunk : joined(this.#head, chunk)
    const headBytes = this.#readHead(bytes)
    if (headBytes === PART && bytes.length <= HEAD_BYTES_MAX) {
      this.#head = bytes === chunk ? chunk.slice() : bytes
      return "part"
    }
    if (headBytes < 0) return "unreadable"
    this.#head = null
    this.#missing = this.bodyBytes
    return this.#ended(bytes.length - headBytes)
  }

  #ended(arrived: number): Progress {
    this.#missing -= arrived
    if (this.#missing > 0) return "part"
    if (this.#missing < 0) return "unreadable"
    this.#missing = -1
    return "whole"
  }

  /** Length of the head, from the status line to the empty line, or PART or UNREADABLE. One pass over the bytes. */
  #readHead(bytes: Uint8Array): number {
    let length = NO_LENGTH
    let line = 0
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] !== LF) continue
      // A field counts when its line has ended: a chunk may end within its number.
      if (bytes[line] === CR && at === line + 1) return this.#isKnown(bytes, length) ? at + 1 : UNREADABLE
      length = lengthAfter(bytes, line, length)
      if (length === UNREADABLE) return UNREADABLE
      line = at + 1
    }
    return PART
  }

  #isKnown(bytes: Uint8Array, length: number): boolean {
    this.status = numberIn(bytes, STATUS_AT)
    const hasNoBody = this.status === 204 || this.status === 304
    this.bodyBytes = hasNoBody ? 0 : length
    return this.status >= 200 && this.status <= 599 && this.bodyBytes >= 0
  }
}

const NO_LENGTH = -1
const PART = -1
const UNREADABLE = -2

/** The Content-Length when the field at `line` has been read; UNREADABLE when it contradicts `before` or the body is coded. */
function lengthAfter(bytes: Uint8Array, line: number, before: number): number {
  if (isField(bytes, line, TRANSFER_ENCODING)) return UNREADABLE
  if (!isField(bytes, line, CONTENT_LENGTH)) return before
  const found = numberIn(bytes, line + CONTENT_LENGTH.length + 1)
  return found < 0 || (before >= 0 && found !== before) ? UNREADABLE : found
}

function isField(bytes: Uint8Array, line: number, name: Uint8Array): boolean {
  if (((bytes[line] ?? 0) | LOWER) !== name[0] || bytes[line + name.length] !== COLON) return false
  for (let at = 1; at < name.length; at++) if (((bytes[line + at] ?? 0) | LOWER) !== name[at]) return false
  return true
}

/** The decimal number after optional blanks; -1 when there is none, or none that is exact. */
function numberIn(bytes: Uint8Array, from: number): number {
  let at = from
  while (bytes[at] === 32 || bytes[at] === 9) at++
  let number = -1
  for (let digit = (bytes[at] ?? 0) - 48; digit >= 0 && digit <= 9; digit = (bytes[++at] ?? 0) - 48) {
    number = Math.max(number, 0) * 10 + digit
  }
  return Number.isSafeInteger(number) ? number : -1
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
