import { ChunkedBody, PART, UNREADABLE } from "./chunked-body.ts"
import { announcesProblem } from "./problem-code.ts"
import { StoredBody } from "./stored-body.ts"

/** How far an answer has been read: to its end, not yet, or in a way that this reader does not know. */
export type Progress = "whole" | "part" | "unreadable"

const HEAD_BYTES_MAX = 16_384
const PROBLEM_BYTES_MAX = 16_384
const STATUS_AT = "HTTP/1.1 ".length
const LF = 10
const CR = 13
const COLON = 58
const LOWER = 32
const C = 99
const T = 116
const CONTENT_LENGTH = new TextEncoder().encode("content-length")
const CONNECTION_CLOSE = new TextEncoder().encode("connection: close")
const TRANSFER_ENCODING = new TextEncoder().encode("transfer-encoding")
const CODING_CHUNKED = new TextEncoder().encode("transfer-encoding: chunked")

/**
 * Reads HTTP/1.1 answers to one request at a time from chunks that are cut anywhere (RFC 9112 §4, §6). It knows a status
 * with a Content-Length or a chunked body, and 204 and 304, which have no body; bodies that last until the connection
 * closes, other codings, interim answers (1xx) and bytes after the end are unreadable. After `whole` it reads the next
 * answer.
 */
export class AnswerReader {
  /** Status of the last answer whose head was read. */
  status = 0
  /** Length of that answer's content, in bytes. */
  bodyBytes = 0
  /** The body of that answer, once it is whole, when it is a problem (RFC 9457) of 16 KiB at most; null otherwise. */
  body: string | null = null
  /** That answer said that the server closes the connection after it. */
  closes = false
  /** The start of a head that has not ended yet. */
  #head: Uint8Array | null = null
  /** Bytes of a body of known length still to come; negative: the head is still to come, or the body is chunked. */
  #missing = -1
  #chunked: ChunkedBody | null = null
  #kept: StoredBody | null = null

  /** Takes the next chunk. Once it said `unreadable`, the connection is of no more use. */
  take(chunk: Uint8Array): Progress {
    if (this.#missing >= 0) return this.#takeBody(chunk, 0)
    if (this.#chunked !== null) return this.#takeChunked(this.#chunked, chunk, 0)
    const bytes = this.#head === null ? chunk : joined(this.#head, chunk)
    const headBytes = this.#readHead(bytes)
    if (headBytes === PART && bytes.length <= HEAD_BYTES_MAX) {
      this.#head = bytes === chunk ? chunk.slice() : bytes
      return "part"
    }
    if (headBytes < 0) return "unreadable"
    this.#head = null
    this.body = null
    if (this.status >= 400 && announcesProblem(bytes.subarray(0, headBytes)))
      this.#kept = new StoredBody(PROBLEM_BYTES_MAX)
    if (this.bodyBytes !== CHUNKED) {
      this.#missing = this.bodyBytes
      return this.#takeBody(bytes, headBytes)
    }
    this.#chunked = new ChunkedBody(this.#kept)
    return this.#takeChunked(this.#chunked, bytes, headBytes)
  }

  #takeBody(bytes: Uint8Array, from: number): Progress {
    if (this.#kept !== null) this.#kept.add(bytes.subarray(from))
    this.#missing -= bytes.length - from
    if (this.#missing > 0) return "part"
    if (this.#missing < 0) return "unreadable"
    this.#missing = -1
    return this.#whole()
  }

  #takeChunked(body: ChunkedBody, bytes: Uint8Array, from: number): Progress {
    const end = body.take(bytes, from)
    if (end === PART) return "part"
    if (end !== bytes.length) return "unreadable"
    this.bodyBytes = body.contentBytes
    this.#chunked = null
    return this.#whole()
  }

  #whole(): Progress {
    if (this.#kept !== null) {
      this.body = this.#kept.text()
      this.#kept = null
    }
    return "whole"
  }

  /** Length of the head, from the status line to the empty line, or PART or UNREADABLE. One pass over the bytes. */
  #readHead(bytes: Uint8Array): number {
    let length = NO_LENGTH
    let line = 0
    this.closes = false
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] !== LF) continue
      // A field counts when its line has ended: a chunk may end within its number.
      if (bytes[line] === CR && at === line + 1) return this.#isKnown(bytes, length) ? at + 1 : UNREADABLE
      length = this.#lengthAfter(bytes, line, length)
      if (length === UNREADABLE) return UNREADABLE
      line = at + 1
    }
    return PART
  }

  /** The body's length once the field at `line` was read; UNREADABLE when it contradicts `before`, or the coding is unknown. */
  #lengthAfter(bytes: Uint8Array, line: number, before: number): number {
    const first = (bytes[line] ?? 0) | LOWER
    if (first === T && isField(bytes, line, TRANSFER_ENCODING))
      return before === NO_LENGTH && startsWith(bytes, line, CODING_CHUNKED) ? CHUNKED : UNREADABLE
    if (first !== C) return before
    if (startsWith(bytes, line, CONNECTION_CLOSE)) this.closes = true
    if (!isField(bytes, line, CONTENT_LENGTH)) return before
    const found = numberIn(bytes, line + CONTENT_LENGTH.length + 1)
    return found < 0 || (before !== NO_LENGTH && found !== before) ? UNREADABLE : found
  }

  #isKnown(bytes: Uint8Array, length: number): boolean {
    this.status = numberIn(bytes, STATUS_AT)
    const hasNoBody = this.status === 204 || this.status === 304
    this.bodyBytes = hasNoBody ? 0 : length
    return this.status >= 200 && this.status <= 599 && (this.bodyBytes >= 0 || this.bodyBytes === CHUNKED)
  }
}

const NO_LENGTH = -1
/** In place of a length: the body tells its end itself. */
const CHUNKED = -3

const isField = (bytes: Uint8Array, line: number, name: Uint8Array): boolean =>
  bytes[line + name.length] === COLON && startsWith(bytes, line, name)

/** Letters count alike in either case; the field ends where the text does or goes on as it may. */
function startsWith(bytes: Uint8Array, line: number, text: Uint8Array): boolean {
  for (let at = 0; at < text.length; at++) if (((bytes[line + at] ?? 0) | LOWER) !== text[at]) return false
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
