/** Up to this length a text is written octet by octet: of 16 units that takes a third of the time of having it encoded, of 64 as long. */
const SHORT_TEXT_MAX = 64

const QUOTE = 34

/** Below so many octets the view of each length is made once: making one takes a hundredth of an answer. */
const CACHED_VIEWS_MAX = 4096

/** Which ASCII stands in text as it is, and which in a JSON string (RFC 8259 §7). */
const PLAIN_IN_TEXT = new Uint8Array(128).fill(1)
const PLAIN_IN_JSON = PLAIN_IN_TEXT.map((_, code) =>
  Number(code >= 0x20 && code !== 0x7f && !'"\\'.includes(String.fromCharCode(code))),
)

/**
 * Puts text together as UTF-8, in one place that is used again: an answer of many parts costs no memory of its own until
 * it is copied to where it is sent from. What was written stands until the next `begin`.
 */
export class Utf8Writer {
  readonly #buffer: Uint8Array<ArrayBuffer>
  readonly #encoder = new TextEncoder()
  readonly #views: Uint8Array<ArrayBuffer>[] = []
  #offset = 0
  #isFull = false

  constructor(octetsMax: number) {
    this.#buffer = new Uint8Array(octetsMax)
  }

  /** Begins anew. */
  reset(): void {
    this.#offset = 0
    this.#isFull = false
  }

  /** What was written since; null: there was no room for it. To be copied before the next `begin`. */
  written(): Uint8Array<ArrayBuffer> | null {
    if (this.#isFull) return null
    const length = this.#offset
    const held = this.#views[length]
    if (held !== undefined) return held
    const view = this.#buffer.subarray(0, length)
    if (length < CACHED_VIEWS_MAX) this.#views[length] = view
    return view
  }

  /** Octets as they are. */
  bytes(octets: Uint8Array): void {
    if (this.#reserve(octets.length)) {
      this.#buffer.set(octets, this.#offset)
      this.#offset += octets.length
    }
  }

  /** A text. */
  text(text: string): void {
    if (!this.#writeAscii(text, PLAIN_IN_TEXT)) this.#writeEncoded(text)
  }

  /** A text as a JSON string. */
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

  /** Writes a short text in which every unit stands as it is; false: it is none, and nothing counts as written. */
  #writeAscii(text: string, asIs: Uint8Array): boolean {
    const { length } = text
    if (length > SHORT_TEXT_MAX || !this.#reserve(length)) return false
    const room = this.#buffer
    const start = this.#offset
    for (let at = 0; at < length; at++) {
      const unit = text.charCodeAt(at)
      if (asIs[unit] !== 1) return false
      room[start + at] = unit
    }
    this.#offset += length
    return true
  }

  #writeEncoded(text: string): void {
    const { read, written } = this.#encoder.encodeInto(text, this.#buffer.subarray(this.#offset))
    this.#offset += written
    if (read < text.length) this.#isFull = true
  }

  #reserve(octets: number): boolean {
    if (this.#offset + octets > this.#buffer.length) this.#isFull = true
    return !this.#isFull
  }
}
