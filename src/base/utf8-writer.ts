/** Up to this length a text is copied byte by byte: with 16 units that takes a third of the encoder's time, with 64 as long. */
const SHORT_TEXT_MAX = 64

const QUOTE = 34

/** Below this length the view of each length is created once: creating one takes a hundredth of the time of a response. */
const CACHED_VIEWS_MAX = 4096

/** Which ASCII characters need no escape in text, and which in a JSON string (RFC 8259 §7). */
const PLAIN_IN_TEXT = new Uint8Array(128).fill(1)
const PLAIN_IN_JSON = PLAIN_IN_TEXT.map((_, code) =>
  Number(code >= 0x20 && code !== 0x7f && !'"\\'.includes(String.fromCharCode(code))),
)

/**
 * Concatenates text as UTF-8 in one buffer that is reused: a response of many parts allocates nothing until it is copied to
 * where it is sent from. The written bytes are valid until the next `reset`.
 */
export class Utf8Writer {
  readonly #buffer: Uint8Array<ArrayBuffer>
  readonly #encoder = new TextEncoder()
  readonly #views: Uint8Array<ArrayBuffer>[] = []
  #offset = 0
  #isFull = false

  constructor(bytesMax: number) {
    this.#buffer = new Uint8Array(bytesMax)
  }

  /** Empties the buffer. */
  reset(): void {
    this.#offset = 0
    this.#isFull = false
  }

  /** A view of what was written since the last `reset`; `null` if it did not fit. Copy it before the next `reset`. */
  written(): Uint8Array<ArrayBuffer> | null {
    if (this.#isFull) return null
    const length = this.#offset
    const cached = this.#views[length]
    if (cached !== undefined) return cached
    const view = this.#buffer.subarray(0, length)
    if (length < CACHED_VIEWS_MAX) this.#views[length] = view
    return view
  }

  /** Writes raw bytes. */
  bytes(bytes: Uint8Array): void {
    if (this.#reserve(bytes.length)) {
      this.#buffer.set(bytes, this.#offset)
      this.#offset += bytes.length
    }
  }

  /** Writes a text. */
  text(text: string): void {
    if (!this.#writeAscii(text, PLAIN_IN_TEXT)) this.#writeEncoded(text)
  }

  /** Writes a text as a JSON string. */
  jsonString(text: string): void {
    if (!this.#reserve(text.length + 2)) return
    const start = this.#offset
    this.#buffer[this.#offset++] = QUOTE
    if (this.#writeAscii(text, PLAIN_IN_JSON)) this.#buffer[this.#offset++] = QUOTE
    else {
      this.#offset = start
      this.#writeEncoded(JSON.stringify(text))
    }
  }

  /** Writes a short text without characters to escape; otherwise writes nothing and returns false. */
  #writeAscii(text: string, isPlain: Uint8Array): boolean {
    const { length } = text
    if (length > SHORT_TEXT_MAX || !this.#reserve(length)) return false
    const buffer = this.#buffer
    const start = this.#offset
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index)
      if (isPlain[unit] !== 1) return false
      buffer[start + index] = unit
    }
    this.#offset += length
    return true
  }

  #writeEncoded(text: string): void {
    const { read, written } = this.#encoder.encodeInto(text, this.#buffer.subarray(this.#offset))
    this.#offset += written
    if (read < text.length) this.#isFull = true
  }

  #reserve(bytesCount: number): boolean {
    if (this.#offset + bytesCount > this.#buffer.length) this.#isFull = true
    return !this.#isFull
  }
}
