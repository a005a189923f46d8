/** Up to this length a text is written octet by octet: of 16 units that takes a third of the time of having it encoded, of 64 as long. */
const SHORT_MAX = 64

const QUOTE = 34

/** Below so many octets the view of each length is made once: making one takes a hundredth of an answer. */
const VIEWS = 4096

/** Which ASCII stands in text as it is, and which in a JSON string (RFC 8259 §7). */
const IN_TEXT = new Uint8Array(128).fill(1)
const IN_JSON = IN_TEXT.map((_, code) =>
  Number(code >= 0x20 && code !== 0x7f && !'"\\'.includes(String.fromCharCode(code))),
)

/**
 * Puts text together as UTF-8, in one place that is used again: an answer of many parts costs no memory of its own until
 * it is copied to where it is sent from. What was written stands until the next `begin`.
 */
export class OctetWriter {
  readonly #room: Uint8Array<ArrayBuffer>
  readonly #encoder = new TextEncoder()
  readonly #views: Uint8Array<ArrayBuffer>[] = []
  #at = 0
  #isFull = false

  constructor(octetsMax: number) {
    this.#room = new Uint8Array(octetsMax)
  }

  /** Begins anew. */
  begin(): void {
    this.#at = 0
    this.#isFull = false
  }

  /** What was written since; null: there was no room for it. To be copied before the next `begin`. */
  written(): Uint8Array<ArrayBuffer> | null {
    if (this.#isFull) return null
    const length = this.#at
    const held = this.#views[length]
    if (held !== undefined) return held
    const view = this.#room.subarray(0, length)
    if (length < VIEWS) this.#views[length] = view
    return view
  }

  /** Octets as they are. */
  octets(octets: Uint8Array): void {
    if (this.#hasRoom(octets.length)) {
      this.#room.set(octets, this.#at)
      this.#at += octets.length
    }
  }

  /** A text. */
  text(text: string): void {
    if (!this.#copy(text, IN_TEXT)) this.#encode(text)
  }

  /** A text as a JSON string. */
  json(text: string): void {
    if (!this.#hasRoom(text.length + 2)) return
    const start = this.#at
    this.#room[this.#at++] = QUOTE
    if (this.#copy(text, IN_JSON)) this.#room[this.#at++] = QUOTE
    else {
      this.#at = start
      this.#encode(JSON.stringify(text))
    }
  }

  /** Writes a short text in which every unit stands as it is; false: it is none, and nothing counts as written. */
  #copy(text: string, asIs: Uint8Array): boolean {
    const { length } = text
    if (length > SHORT_MAX || !this.#hasRoom(length)) return false
    const room = this.#room
    const start = this.#at
    for (let at = 0; at < length; at++) {
      const unit = text.charCodeAt(at)
      if (asIs[unit] !== 1) return false
      room[start + at] = unit
    }
    this.#at += length
    return true
  }

  #encode(text: string): void {
    const { read, written } = this.#encoder.encodeInto(text, this.#room.subarray(this.#at))
    this.#at += written
    if (read < text.length) this.#isFull = true
  }

  #hasRoom(octets: number): boolean {
    if (this.#at + octets > this.#room.length) this.#isFull = true
    return !this.#isFull
  }
}
